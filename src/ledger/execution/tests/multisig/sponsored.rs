//! Sponsored multisig payloads: the fee payer is neither an owner nor the multisig account.

use super::vault::{FUNDS, SUCCESS, UNKNOWN_ADDRESS, Vault, address, key, stored_form};
use ledger_execution::genesis::DEVELOPMENT_BALANCE;
use ledger_test_support::GAS_UNIT_PRICE;
use ledger_types::{ExecutedTransaction, RawTransaction};

/// Development account that pays the fees.
///
/// Account 4 funded the vault; account 3 has neither sent nor paid anything.
const PAYER: usize = 3;

fn raw(vault: &Vault) -> RawTransaction {
    let mut raw = vault
        .chain
        .raw(&key(1), vault.chain.transfer(UNKNOWN_ADDRESS, 0));
    raw.payload = vault.payload(None);
    raw
}

fn execute_sponsored(vault: &mut Vault, raw: RawTransaction) -> ExecutedTransaction {
    let signed = vault
        .chain
        .sign_together(&[&key(1)], Some(&key(PAYER)), raw);
    let block = vault.chain.execute(vec![signed]);
    assert_eq!(block.discarded, []);
    block.transactions[1].clone()
}

/// Returns the storage refund of the fee statement, in the coin's smallest unit.
fn refund(vault: &Vault, executed: &ExecutedTransaction) -> u64 {
    let statement = executed.events.last().unwrap();
    let registry = vault.chain.chain.registry();
    let json = registry.value_to_json(statement.type_tag(), statement.data());
    let refund = &json.unwrap()["storage_fee_refund_octas"];
    refund.as_str().unwrap().parse().unwrap()
}

/// Checks that only the fee payer paid the fee and that it received the refund.
fn assert_paid(vault: &Vault, executed: &ExecutedTransaction) {
    let fee = executed.info.v0().gas_used * GAS_UNIT_PRICE;
    let expected_balance = DEVELOPMENT_BALANCE - fee + refund(vault, executed);
    assert_eq!(vault.chain.facts(&address(PAYER)).balance, expected_balance);
    assert_eq!(vault.chain.facts(&address(1)).balance, DEVELOPMENT_BALANCE);
}

#[test]
fn charges_the_fee_payer_for_a_multisig_payload() {
    for nonce in [None, Some(7)] {
        let mut vault = Vault::with_signatures_required(2);
        let payload = stored_form(&vault.chain.transfer(UNKNOWN_ADDRESS, 1_000));
        vault.propose(0, &payload);
        let raw = match nonce {
            None => raw(&vault),
            Some(nonce) => vault.chain.orderless(raw(&vault), nonce),
        };
        let executed = execute_sponsored(&mut vault, raw);
        assert_eq!(vault.status(&executed), SUCCESS);
        assert_eq!(vault.balance(), FUNDS - 1_000);
        assert_eq!(vault.chain.facts(&UNKNOWN_ADDRESS).balance, 1_000);
        assert!(refund(&vault, &executed) > 400_000, "the proposal's slot");
        assert_paid(&vault, &executed);
        let number = vault.chain.facts(&address(1)).sequence_number;
        assert_eq!(number, u64::from(nonce.is_none()));
    }
}

#[test]
fn charges_the_fee_payer_for_a_failed_payload() {
    let mut vault = Vault::with_signatures_required(2);
    let payload = stored_form(&vault.chain.transfer(UNKNOWN_ADDRESS, FUNDS + 1));
    vault.propose(0, &payload);
    let raw = raw(&vault);
    let executed = execute_sponsored(&mut vault, raw);
    assert_eq!(
        vault.status(&executed),
        SUCCESS,
        "the transaction of the failed payload"
    );
    assert_eq!(vault.balance(), FUNDS);
    assert_paid(&vault, &executed);
}

#[test]
fn charges_the_fee_payer_for_a_payload_out_of_gas() {
    let mut vault = Vault::with_signatures_required(2);
    let payload = stored_form(&vault.chain.transfer(UNKNOWN_ADDRESS, 1_000));
    vault.propose(0, &payload);
    let mut raw = raw(&vault);
    // Enough for the deposit of the owner's account, but not for that of the recipient's coins.
    raw.max_gas_amount = 6_000;
    let executed = execute_sponsored(&mut vault, raw);
    assert_eq!(vault.status(&executed), "Out of gas");
    assert_eq!(executed.info.v0().gas_used, 6_000);
    assert_eq!(vault.last_resolved_number(), serde_json::json!("0"));
    assert_paid(&vault, &executed);
}
