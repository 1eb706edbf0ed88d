//! Execution of multisig payloads: required approvals, effects, failures, and rejections.

mod failures;
mod limits;
mod random;
mod rejections;
mod sponsored;
mod vault;

use ledger_execution::{genesis::DEVELOPMENT_BALANCE, simulate};
use ledger_types::LedgerInfo;
use serde_json::json;
use vault::{FUNDS, SUCCESS, UNKNOWN_ADDRESS, Vault, address, bcs_of, key, stored_form};

const SUCCEEDED: &str = "0x1::multisig_account::TransactionExecutionSucceeded";
const PAYOUT_EVENTS: [&str; 6] = [
    "0x1::fungible_asset::Withdraw",
    "0x1::fungible_asset::WithdrawEvent",
    "0x1::fungible_asset::Deposit",
    "0x1::fungible_asset::DepositEvent",
    "0x1::multisig_account::Vote",
    SUCCEEDED,
];

#[test]
fn executes_a_stored_payload_with_two_of_three_approvals() {
    let mut vault = Vault::with_signatures_required(2);
    let payload = stored_form(&vault.chain.transfer(UNKNOWN_ADDRESS, 1_000));
    vault.propose(0, &payload);
    let executed = vault.send(1, vault.payload(None));
    assert_eq!(vault.status(&executed), SUCCESS);
    assert_eq!(vault.event_names(&executed), PAYOUT_EVENTS);
    let success_event = vault.events(&executed).pop().unwrap().1;
    assert_eq!(
        success_event,
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
    assert_eq!(vault.balance(), FUNDS - 1_000);
    assert_eq!(vault.chain.facts(&UNKNOWN_ADDRESS).balance, 1_000);
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
    assert_eq!(vault.last_resolved_number(), json!("1"));
}

#[test]
fn emits_no_vote_if_the_sender_has_already_approved() {
    let mut vault = Vault::with_signatures_required(2);
    let payload = stored_form(&vault.chain.transfer(UNKNOWN_ADDRESS, 1_000));
    vault.propose(0, &payload);
    vault.vote(1, 1, true);
    let executed = vault.send(0, vault.payload(None));
    let names = vault.event_names(&executed);
    assert!(
        !names.contains(&"0x1::multisig_account::Vote".to_owned()),
        "{names:?}"
    );
    assert_eq!(vault.balance(), FUNDS - 1_000);
}

#[test]
fn executes_proposals_in_both_wire_forms() {
    for form in [Vault::payload, Vault::inner_payload] {
        let mut vault = Vault::with_signatures_required(2);
        let call = vault.chain.transfer(UNKNOWN_ADDRESS, 1_000);
        vault.propose(0, &stored_form(&call));
        vault.propose_hash(0, &stored_form(&call));
        vault.propose(0, &stored_form(&call));
        for (payload, expected_balance) in [
            (form(&vault, Some(call.clone())), FUNDS - 1_000),
            (form(&vault, Some(call.clone())), FUNDS - 2_000),
            (form(&vault, None), FUNDS - 3_000),
        ] {
            let executed = vault.send(1, payload);
            assert_eq!(vault.event_names(&executed).last().unwrap(), SUCCEEDED);
            assert_eq!(vault.balance(), expected_balance);
        }
    }
}

#[test]
fn counts_the_approval_of_a_sender_that_the_payload_removes() {
    let mut vault = Vault::with_signatures_required(2);
    let remove_sender = vault.call("remove_owner", vec![bcs_of(&address(1))]);
    vault.propose(0, &stored_form(&remove_sender));
    let executed = vault.send(1, vault.payload(None));
    let (name, success_event) = vault.events(&executed).pop().unwrap();
    assert_eq!(
        (name.as_str(), &success_event["num_approvals"]),
        (SUCCEEDED, &json!("2"))
    );
}

#[test]
fn executes_the_proposal_after_a_rejected_one() {
    let mut vault = Vault::with_signatures_required(2);
    let bad = stored_form(&vault.chain.transfer(UNKNOWN_ADDRESS, FUNDS));
    let good = stored_form(&vault.chain.transfer(UNKNOWN_ADDRESS, 1_000));
    vault.propose(0, &bad);
    vault.propose(0, &good);
    vault.vote(1, 1, false);
    vault.call_successfully(
        2,
        "execute_rejected_transaction",
        vec![bcs_of(&vault.address)],
    );
    assert_eq!(vault.last_resolved_number(), json!("1"));
    vault.send(1, vault.payload(None));
    assert_eq!(vault.balance(), FUNDS - 1_000);
}

#[test]
fn simulates_a_payload_with_the_gas_and_events_of_its_execution() {
    let mut vault = Vault::with_signatures_required(2);
    let payload = stored_form(&vault.chain.transfer(UNKNOWN_ADDRESS, 1_000));
    vault.propose(0, &payload);
    let mut raw = vault
        .chain
        .raw(&key(1), vault.chain.transfer(UNKNOWN_ADDRESS, 0));
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
    let simulated = simulate(
        &vault.chain.chain,
        &vault.chain,
        &info,
        now_usecs,
        &signed,
        None,
    )
    .unwrap();
    let executed = vault.send(1, vault.payload(None));
    assert_eq!(simulated.info.v0().gas_used, executed.info.v0().gas_used);
    assert_eq!(vault.events(&simulated), vault.events(&executed));
    let again = simulate(
        &vault.chain.chain,
        &vault.chain,
        &info,
        now_usecs,
        &signed,
        None,
    )
    .unwrap();
    let status = vault.chain.chain.vm_status(&again.info.v0().status);
    assert_eq!(status, "SEQUENCE_NUMBER_TOO_OLD");
}
