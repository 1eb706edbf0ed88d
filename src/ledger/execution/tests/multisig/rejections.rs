//! Multisig payloads that the prologue or admission rejects.

use crate::multisig::vault::{FUNDS, UNKNOWN_ADDRESS, Vault, address, bcs_of, key, stored_form};
use bytes::Bytes;
use ledger_execution::{genesis::DEVELOPMENT_BALANCE, validate_for_admission};
use ledger_test_support::START_SECS;
use ledger_types::{
    ValidationStatus,
    transaction::{
        ExtraConfig, InnerPayload, Multisig, MultisigPayload, Script, TransactionExecutable,
        TransactionPayload,
    },
};
use serde_json::json;

/// Detail of the rejection of a script.
const NO_BYTECODE: &str = "a script payload is not supported: this chain runs native modules, see \
                           docs/use/programs.md";

#[test]
fn rejects_unapproved_payloads_without_a_fee() {
    let mut vault = Vault::with_signatures_required(2);
    let call = vault.chain.transfer(UNKNOWN_ADDRESS, 1_000);
    let other = vault.chain.transfer(UNKNOWN_ADDRESS, 1_001);
    let stored_payload = vault.payload(None);
    assert_eq!(
        vault.rejection_status(1, stored_payload.clone()),
        ValidationStatus::MultisigTransactionNotFound
    );
    vault.propose(0, &stored_form(&call));
    vault.propose_hash(0, &stored_form(&call));
    assert_eq!(
        vault.rejection_status(3, stored_payload.clone()),
        ValidationStatus::NotMultisigOwner
    );
    assert_eq!(
        vault.rejection_status(0, stored_payload.clone()),
        ValidationStatus::MultisigTransactionInsufficientApprovals
    );
    let other_payload = vault.payload(Some(other));
    assert_eq!(
        vault.rejection_status(1, other_payload.clone()),
        ValidationStatus::MultisigTransactionPayloadDoesNotMatch
    );
    let balance = vault.chain.facts(&address(1)).balance;
    assert_eq!(balance, DEVELOPMENT_BALANCE);
    vault.send(1, stored_payload.clone());
    for payload in [other_payload, stored_payload] {
        assert_eq!(
            vault.rejection_status(1, payload),
            ValidationStatus::MultisigTransactionPayloadDoesNotMatchHash
        );
    }
    vault.address = UNKNOWN_ADDRESS;
    let unknown_account_payload = vault.payload(Some(call));
    assert_eq!(
        vault.rejection_status(1, unknown_account_payload),
        ValidationStatus::AccountNotMultisig
    );
}

/// [`validate_for_admission`] does not read multisig accounts. It rejects unsupported payload kinds
/// and names them.
#[test]
fn admits_calls_and_rejects_scripts() {
    let vault = Vault::with_signatures_required(2);
    let call = vault.chain.transfer(UNKNOWN_ADDRESS, 1_000);
    let script = Script {
        code: Bytes::from_static(&[1]),
        type_args: vec![],
        args: vec![],
    };
    let inner = |executable, multisig_address, replay_protection_nonce| {
        TransactionPayload::Payload(InnerPayload::V1 {
            executable,
            extra_config: ExtraConfig::V1 {
                multisig_address,
                replay_protection_nonce,
            },
        })
    };
    let at = Some(vault.address);
    let with_script = TransactionPayload::Multisig(Multisig {
        multisig_address: vault.address,
        payload: Some(MultisigPayload::Script(script.clone())),
    });
    let script = TransactionExecutable::Script(script);
    for (payload, expected_detail) in [
        (vault.payload(None), None),
        (vault.payload(Some(call.clone())), None),
        (vault.inner_payload(None), None),
        (vault.inner_payload(Some(call)), None),
        (with_script, Some(NO_BYTECODE)),
        (inner(script, at, None), Some(NO_BYTECODE)),
        (
            inner(TransactionExecutable::Empty, None, None),
            Some("an empty payload is not supported"),
        ),
    ] {
        let mut raw = vault
            .chain
            .raw(&key(3), vault.chain.transfer(UNKNOWN_ADDRESS, 0));
        raw.payload = payload;
        let signed = vault.chain.sign(&key(3), raw);
        let facts = vault.chain.transaction_facts(&signed);
        let admitted = validate_for_admission(&vault.chain.chain, &facts, &signed, START_SECS);
        let detail = admitted.err().map(|discard| {
            assert_eq!(discard.status, ValidationStatus::FeatureUnderGating);
            discard.detail.unwrap()
        });
        assert_eq!(detail.as_deref(), expected_detail);
    }
}

#[test]
fn ignores_votes_of_former_owners() {
    let mut vault = Vault::with_signatures_required(2);
    let remove_owner = vault.call("remove_owner", vec![bcs_of(&address(1))]);
    let pay = vault.chain.transfer(UNKNOWN_ADDRESS, 1_000);
    vault.propose(0, &stored_form(&remove_owner));
    vault.propose(1, &stored_form(&pay));
    let executed = vault.send(2, vault.payload(None));
    let removed = "0x1::multisig_account::RemoveOwners";
    assert_eq!(vault.event_names(&executed)[0], removed);
    assert_eq!(
        vault.owners(),
        json!([address(0).to_string(), address(2).to_string()])
    );
    assert_eq!(
        vault.rejection_status(2, vault.payload(None)),
        ValidationStatus::MultisigTransactionInsufficientApprovals
    );
    assert_eq!(
        vault.rejection_status(1, vault.payload(None)),
        ValidationStatus::NotMultisigOwner
    );
    vault.vote(0, 2, true);
    vault.send(2, vault.payload(None));
    assert_eq!(vault.balance(), FUNDS - 1_000);
}
