//! Multisig payloads that fail or run out of gas.

use crate::multisig::vault::{
    FUNDS, SUCCESS, UNKNOWN_ADDRESS, Vault, address, bcs_of, stored_form,
};
use bytes::Bytes;
use ledger_types::{
    AccountAddress,
    transaction::{MultisigPayload, Script},
};
use serde_json::json;

#[test]
fn resolves_a_failed_payload_with_an_event() {
    let mut vault = Vault::with_signatures_required(2);
    let call = |function: &str, args| vault.chain.call(function, &[], args);
    let script = MultisigPayload::Script(Script {
        code: Bytes::from_static(&[1]),
        type_args: vec![],
        args: vec![],
    });
    let nested_proposal = call(
        "0x1::multisig_account::create_transaction",
        vec![bcs_of(&UNKNOWN_ADDRESS), bcs_of(&vec![1u8])],
    );
    let conversion_to_multisig = call(
        "0x1::multisig_account::create_with_existing_account_call",
        vec![
            bcs_of(&vec![address(0)]),
            bcs_of(&1u64),
            bcs_of(&Vec::<String>::new()),
            bcs_of(&Vec::<Vec<u8>>::new()),
        ],
    );
    let unknown_function = call("0x1::multisig_account::no_such_function", vec![]);
    let coin = "0x1::node_coin::NodeCoin";
    let missing_argument = vault.chain.call(
        "0x1::coin::transfer",
        &[coin],
        vec![bcs_of(&UNKNOWN_ADDRESS)],
    );
    // The location of the failure has all digits of the address and no prefix.
    let module = &format!("{:0>64}::multisig_account", 1);
    let cases = [
        (
            stored_form(&nested_proposal),
            (module.as_str(), "MoveAbort", "198610"),
        ),
        (
            stored_form(&conversion_to_multisig),
            (module.as_str(), "MoveExecutionFailure", "4004"),
        ),
        (stored_form(&unknown_function), ("", "VMError", "1091")),
        (stored_form(&missing_argument), ("", "VMError", "1098")),
        (bcs_of(&script), ("", "VMError", "26")),
        (vec![7, 7, 7], ("", "VMError", "1100")),
    ];
    for (number, (payload, (location, kind, code))) in (1u64..).zip(cases) {
        vault.propose(0, &payload);
        let executed = vault.send(1, vault.payload(None));
        let error = vault.execution_error(&executed);
        assert_eq!(
            (error.0.as_str(), error.1.as_str(), error.2.as_str()),
            (location, kind, code)
        );
        assert_eq!(
            vault.event_names(&executed).len(),
            2,
            "the vote and the failure"
        );
        assert_eq!(vault.last_resolved_number(), json!(number.to_string()));
        assert_eq!(vault.balance(), FUNDS);
    }
}

#[test]
fn reverts_the_effects_of_a_failed_payload() {
    let mut vault = Vault::with_signatures_required(2);
    let to = vec![UNKNOWN_ADDRESS, AccountAddress::from_low_u64(0xabcdf0)];
    let amounts = vec![1_000, FUNDS];
    let batch = vault.chain.call(
        "0x1::node_account::batch_transfer",
        &[],
        vec![bcs_of(&to), bcs_of(&amounts)],
    );
    vault.propose(0, &stored_form(&batch));
    let executed = vault.send(1, vault.payload(None));
    let error = vault.execution_error(&executed);
    let location = format!("{:0>64}::fungible_asset", 1);
    assert_eq!(
        (error.0.as_str(), error.1.as_str()),
        (location.as_str(), "MoveAbort")
    );
    assert_eq!(
        (vault.balance(), vault.chain.facts(&UNKNOWN_ADDRESS).balance),
        (FUNDS, 0)
    );
    // The writes are the multisig account, the deleted proposal, and two slots of the sender.
    assert_eq!(executed.writes.iter().count(), 4);
}

/// A payload that runs out of gas fails the transaction, and its proposal stays pending. This holds
/// for every gas limit that is too low.
#[test]
fn fails_the_transaction_if_its_payload_runs_out_of_gas() {
    let mut vault = Vault::with_signatures_required(2);
    let payload = stored_form(&vault.chain.transfer(UNKNOWN_ADDRESS, 1_000));
    vault.propose(0, &payload);
    // The limit of an account's first transaction must cover the deposit of the account resource.
    vault.vote(1, 1, true);
    let (mut limit, mut out_of_gas) = (30, 0);
    let gas_used = loop {
        let executed = vault.try_send(1, vault.payload(None), limit).unwrap();
        let info = executed.info.v0();
        if vault.status(&executed) == SUCCESS {
            break info.gas_used;
        }
        assert_eq!(vault.status(&executed), "Out of gas", "limit {limit}");
        assert!(info.gas_used <= limit);
        assert_eq!(
            (vault.event_names(&executed), vault.balance()),
            (vec![], FUNDS)
        );
        assert_eq!(vault.last_resolved_number(), json!("0"));
        out_of_gas += 1;
        limit += 1 + limit / 4;
    };
    assert!(out_of_gas > 10, "{out_of_gas}");
    assert!(gas_used <= limit);
    assert_eq!(vault.balance(), FUNDS - 1_000);
}
