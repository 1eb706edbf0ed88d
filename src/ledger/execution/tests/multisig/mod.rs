//! Execution of multisig payloads: required approvals, effects, failures, and rejections.

mod failures;
mod limits;
mod random;
mod refusals;
mod sponsored;
mod vault;

use ledger_execution::{genesis::DEVELOPMENT_BALANCE, simulate};
use ledger_types::LedgerInfo;
use serde_json::json;
use vault::{FUNDS, NOBODY, SUCCESS, Vault, address, bcs_of, key, stored_form};

const SUCCEEDED: &str = "0x1::multisig_account::TransactionExecutionSucceeded";
const PAID_OUT: [&str; 5] = [
    "0x1::coin::WithdrawEvent",
    "0x1::account::CoinRegisterEvent",
    "0x1::coin::DepositEvent",
    "0x1::multisig_account::Vote",
    SUCCEEDED,
];

#[test]
fn two_of_three_pay_out_by_a_stored_payload() {
    let mut vault = Vault::requiring(2);
    let payload = stored_form(&vault.chain.transfer(NOBODY, 1_000));
    vault.propose(0, &payload);
    let executed = vault.send(1, vault.payload(None));
    assert_eq!(vault.status(&executed), SUCCESS);
    assert_eq!(vault.event_names(&executed), PAID_OUT);
    let closing = vault.events(&executed).pop().unwrap().1;
    assert_eq!(
        closing,
        json!({
            "multisig_account": vault.address.to_string(),
            "executor": address(1).to_string(),
            "sequence_number": "1",
            "transaction_payload": format!("0x{}", hex::encode(payload)),
            "num_approvals": "2",
        })
    );
    // The multisig account pays the amount. The sender pays the fee and receives the refund of the
    // proposal's slot.
    assert_eq!(vault.holds(), FUNDS - 1_000);
    assert_eq!(vault.chain.facts(&NOBODY).balance, 1_000);
    let statement = executed.events.last().unwrap();
    let registry = vault.chain.chain.registry();
    let statement = registry
        .value_to_json(statement.type_tag(), statement.data())
        .unwrap();
    let refund: u64 = statement["storage_fee_refund_octas"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    assert!(refund > 400_000, "{refund}");
    let fee = executed.info.v0().gas_used * ledger_test_support::GAS_UNIT_PRICE;
    let balance = vault.chain.facts(&address(1)).balance;
    assert_eq!(balance, DEVELOPMENT_BALANCE - fee + refund);
    assert_eq!(vault.last_resolved(), json!("1"));
}

#[test]
fn an_approval_given_before_is_not_given_again() {
    let mut vault = Vault::requiring(2);
    let payload = stored_form(&vault.chain.transfer(NOBODY, 1_000));
    vault.propose(0, &payload);
    vault.vote(1, 1, true);
    let executed = vault.send(0, vault.payload(None));
    let names = vault.event_names(&executed);
    assert!(
        !names.contains(&"0x1::multisig_account::Vote".to_owned()),
        "{names:?}"
    );
    assert_eq!(vault.holds(), FUNDS - 1_000);
}

#[test]
fn both_wire_forms_match_what_was_proposed() {
    for form in [Vault::payload, Vault::inner_payload] {
        let mut vault = Vault::requiring(2);
        let call = vault.chain.transfer(NOBODY, 1_000);
        vault.propose(0, &stored_form(&call));
        vault.propose_hash(0, &stored_form(&call));
        vault.propose(0, &stored_form(&call));
        for (payload, holds) in [
            (form(&vault, Some(call.clone())), FUNDS - 1_000),
            (form(&vault, Some(call.clone())), FUNDS - 2_000),
            (form(&vault, None), FUNDS - 3_000),
        ] {
            let executed = vault.send(1, payload);
            assert_eq!(vault.event_names(&executed).last().unwrap(), SUCCEEDED);
            assert_eq!(vault.holds(), holds);
        }
    }
}

#[test]
fn who_removes_itself_by_the_payload_has_still_executed_it() {
    let mut vault = Vault::requiring(2);
    let leave = vault.call("remove_owner", vec![bcs_of(&address(1))]);
    vault.propose(0, &stored_form(&leave));
    let executed = vault.send(1, vault.payload(None));
    let (name, closing) = vault.events(&executed).pop().unwrap();
    assert_eq!(
        (name.as_str(), &closing["num_approvals"]),
        (SUCCEEDED, &json!("2"))
    );
}

#[test]
fn rejected_transactions_make_room_for_the_next() {
    let mut vault = Vault::requiring(2);
    let bad = stored_form(&vault.chain.transfer(NOBODY, FUNDS));
    let good = stored_form(&vault.chain.transfer(NOBODY, 1_000));
    vault.propose(0, &bad);
    vault.propose(0, &good);
    vault.vote(1, 1, false);
    vault.must(
        2,
        "execute_rejected_transaction",
        vec![bcs_of(&vault.address)],
    );
    assert_eq!(vault.last_resolved(), json!("1"));
    vault.send(1, vault.payload(None));
    assert_eq!(vault.holds(), FUNDS - 1_000);
}

#[test]
fn a_simulation_tells_what_the_payload_will_do() {
    let mut vault = Vault::requiring(2);
    let payload = stored_form(&vault.chain.transfer(NOBODY, 1_000));
    vault.propose(0, &payload);
    let mut raw = vault.chain.raw(&key(1), vault.chain.transfer(NOBODY, 0));
    raw.payload = vault.payload(None);
    let signed = vault.chain.sign(&key(1), raw).transaction().clone();
    let info = LedgerInfo {
        chain_id: vault.chain.chain.id(),
        epoch: vault.chain.tip.epoch,
        version: vault.chain.tip.version,
        oldest_version: 0,
        block_height: vault.chain.tip.height,
        oldest_block_height: 0,
        timestamp_usecs: vault.chain.tip.timestamp_usecs,
    };
    let now_usecs = info.timestamp_usecs;
    let simulated = simulate(&vault.chain.chain, &vault.chain, &info, now_usecs, &signed).unwrap();
    let executed = vault.send(1, vault.payload(None));
    assert_eq!(simulated.info.v0().gas_used, executed.info.v0().gas_used);
    assert_eq!(vault.events(&simulated), vault.events(&executed));
    let again = simulate(&vault.chain.chain, &vault.chain, &info, now_usecs, &signed).unwrap();
    let status = vault.chain.chain.vm_status(&again.info.v0().status);
    assert_eq!(status, "SEQUENCE_NUMBER_TOO_OLD");
}
