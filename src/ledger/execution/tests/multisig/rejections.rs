//! Multisig payloads that the prologue or admission rejects.

use crate::multisig::vault::{FUNDS, NOBODY, Vault, address, bcs_of, key, stored_form};
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

#[test]
fn what_the_owners_did_not_agree_to_is_refused_and_costs_nothing() {
    let mut vault = Vault::requiring(2);
    let call = vault.chain.transfer(NOBODY, 1_000);
    let other = vault.chain.transfer(NOBODY, 1_001);
    let next = vault.payload(None);
    assert_eq!(
        vault.refusal(1, next.clone()),
        ValidationStatus::MultisigTransactionNotFound
    );
    vault.propose(0, &stored_form(&call));
    vault.propose_hash(0, &stored_form(&call));
    assert_eq!(
        vault.refusal(3, next.clone()),
        ValidationStatus::NotMultisigOwner
    );
    assert_eq!(
        vault.refusal(0, next.clone()),
        ValidationStatus::MultisigTransactionInsufficientApprovals
    );
    let differs = vault.payload(Some(other));
    assert_eq!(
        vault.refusal(1, differs.clone()),
        ValidationStatus::MultisigTransactionPayloadDoesNotMatch
    );
    let balance = vault.chain.facts(&address(1)).balance;
    assert_eq!(balance, DEVELOPMENT_BALANCE);
    vault.send(1, next.clone());
    for payload in [differs, next] {
        assert_eq!(
            vault.refusal(1, payload),
            ValidationStatus::MultisigTransactionPayloadDoesNotMatchHash
        );
    }
    vault.address = NOBODY;
    let nowhere = vault.payload(Some(call));
    assert_eq!(
        vault.refusal(1, nowhere),
        ValidationStatus::AccountNotMultisig
    );
}

/// [`validate_for_admission`] does not read multisig accounts. It rejects unsupported payload kinds
/// and names them.
#[test]
fn admission_takes_calls_and_refuses_scripts() {
    let vault = Vault::requiring(2);
    let call = vault.chain.transfer(NOBODY, 1_000);
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
    for (payload, refused) in [
        (vault.payload(None), None),
        (vault.payload(Some(call.clone())), None),
        (vault.inner_payload(None), None),
        (vault.inner_payload(Some(call)), None),
        (with_script, Some("a script payload is not supported")),
        (
            inner(script, at, None),
            Some("a script payload is not supported"),
        ),
        (
            inner(TransactionExecutable::Empty, None, None),
            Some("an empty payload is not supported"),
        ),
    ] {
        let mut raw = vault.chain.raw(&key(3), vault.chain.transfer(NOBODY, 0));
        raw.payload = payload;
        let signed = vault.chain.sign(&key(3), raw);
        let facts = vault.chain.transaction_facts(&signed);
        let verdict = validate_for_admission(&vault.chain.chain, &facts, &signed, START_SECS);
        let detail = verdict.err().map(|discard| {
            assert_eq!(discard.status, ValidationStatus::FeatureUnderGating);
            discard.detail.unwrap()
        });
        assert_eq!(detail.as_deref(), refused);
    }
}

#[test]
fn votes_of_former_owners_do_not_count() {
    let mut vault = Vault::requiring(2);
    let leave = vault.call("remove_owner", vec![bcs_of(&address(1))]);
    let pay = vault.chain.transfer(NOBODY, 1_000);
    vault.propose(0, &stored_form(&leave));
    vault.propose(1, &stored_form(&pay));
    let executed = vault.send(2, vault.payload(None));
    let removed = "0x1::multisig_account::RemoveOwners";
    assert_eq!(vault.event_names(&executed)[0], removed);
    assert_eq!(
        vault.owners(),
        json!([address(0).to_string(), address(2).to_string()])
    );
    assert_eq!(
        vault.refusal(2, vault.payload(None)),
        ValidationStatus::MultisigTransactionInsufficientApprovals
    );
    assert_eq!(
        vault.refusal(1, vault.payload(None)),
        ValidationStatus::NotMultisigOwner
    );
    vault.vote(0, 2, true);
    vault.send(2, vault.payload(None));
    assert_eq!(vault.holds(), FUNDS - 1_000);
}
