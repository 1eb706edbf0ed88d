//! Cases of capabilities that accounts offer and revoke.

use super::{INVALID_PROOF, INVALID_SCHEME, fresh_key, public_bytes, signature, signed_prefix};
use crate::functions::{Case, Expected, World, args};
use ledger_types::{AccountAddress, ExecutedTransaction};
use serde_json::json;

const OFFER_ROTATION: &str = "0x1::account::offer_rotation_capability";
const OFFER_SIGNER: &str = "0x1::account::offer_signer_capability";
const REVOKE_ROTATION: &str = "0x1::account::revoke_rotation_capability";
const REVOKE_SIGNER: &str = "0x1::account::revoke_signer_capability";
const REVOKE_ANY_ROTATION: &str = "0x1::account::revoke_any_rotation_capability";
const REVOKE_ANY_SIGNER: &str = "0x1::account::revoke_any_signer_capability";

const SUCCESS: Expected = Expected::Success(&[]);
const WRONG_KEY: Expected = Expected::Abort(
    "0x1::account: EWRONG_CURRENT_PUBLIC_KEY(0x10007): the public key is not the account's current one",
);
const NOT_OFFERED_ROTATION: Expected = Expected::Abort(
    "0x1::account: ENO_SUCH_ROTATION_CAPABILITY_OFFER(0x60012): the right to change the key is not offered to this address",
);
const NOT_OFFERED_SIGNER: Expected = Expected::Abort(
    "0x1::account: ENO_SUCH_SIGNER_CAPABILITY(0x6000e): the right to sign is not offered to this address",
);
const NOT_SET: Expected = Expected::Abort(
    "0x1::option: EOPTION_NOT_SET(0x40001): there is nothing to take back: no value is set",
);

pub fn cases() -> Vec<Case> {
    [
        offers(),
        rejected_offers(),
        revocations(),
        rejected_revocations(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns the arguments that offer the rotation capability of account 0 to account `recipient`.
pub fn rotation_offer(world: &World, recipient: usize) -> Vec<Vec<u8>> {
    let (key, recipient) = (world.key(0), world.address(recipient));
    let source = world.address(0);
    let sequence_number = world.chain.facts(&source).sequence_number;
    let mut message = signed_prefix("RotationCapabilityOfferProofChallengeV2");
    let fields = (world.chain().id(), sequence_number, source, recipient);
    message.extend(bcs::to_bytes(&fields).unwrap());
    args![
        signature(&key, &message),
        0u8,
        public_bytes(&key),
        recipient
    ]
}

/// Returns the arguments that offer the signer capability of account 0 to account `recipient`.
fn signer_offer(world: &World, recipient: usize) -> Vec<Vec<u8>> {
    let (key, recipient) = (world.key(0), world.address(recipient));
    let source = world.address(0);
    let sequence_number = world.chain.facts(&source).sequence_number;
    let mut message = signed_prefix("SignerCapabilityOfferProofChallengeV2");
    message.extend(bcs::to_bytes(&(sequence_number, source, recipient)).unwrap());
    args![
        signature(&key, &message),
        0u8,
        public_bytes(&key),
        recipient
    ]
}

fn offer_rotation(world: &mut World, recipient: usize) -> ExecutedTransaction {
    let args = rotation_offer(world, recipient);
    world.call(0, OFFER_ROTATION, &[], args)
}

fn offer_signer(world: &mut World, recipient: usize) -> ExecutedTransaction {
    let args = signer_offer(world, recipient);
    world.call(0, OFFER_SIGNER, &[], args)
}

/// Asserts that account 0 offers a capability to `to`; `kind` is `rotation` or `signer`.
fn assert_offered(world: &World, kind: &str, to: Option<AccountAddress>) {
    let address = world.address(0);
    let is_offered = format!("0x1::account::is_{kind}_capability_offered");
    assert_eq!(
        world.view(&is_offered, &[], args![address]),
        [json!(to.is_some())]
    );
    let offered_for = format!("0x1::account::get_{kind}_capability_offer_for");
    let holder = world.try_view(&offered_for, &[], args![address]).ok();
    assert_eq!(holder, to.map(|to| vec![json!(to.to_string())]));
}

fn offers() -> Vec<Case> {
    vec![
        Case::new(
            OFFER_ROTATION,
            "signed by the account's key",
            SUCCESS,
            |world| {
                let executed = offer_rotation(world, 1);
                assert_offered(world, "rotation", Some(world.address(1)));
                assert_offered(world, "signer", None);
                executed
            },
        ),
        Case::new(
            OFFER_ROTATION,
            "second offer replaces the first",
            SUCCESS,
            |world| {
                offer_rotation(world, 1);
                let executed = offer_rotation(world, 2);
                assert_offered(world, "rotation", Some(world.address(2)));
                executed
            },
        ),
        Case::new(
            OFFER_SIGNER,
            "signed by the account's key",
            SUCCESS,
            |world| {
                let executed = offer_signer(world, 1);
                assert_offered(world, "signer", Some(world.address(1)));
                assert_offered(world, "rotation", None);
                executed
            },
        ),
    ]
}

fn rejected_offers() -> Vec<Case> {
    vec![
        Case::new(OFFER_ROTATION, "wrong public key", WRONG_KEY, |world| {
            let mut args = rotation_offer(world, 1);
            args[2] = bcs::to_bytes(&public_bytes(&fresh_key(101))).unwrap();
            world.call(0, OFFER_ROTATION, &[], args)
        }),
        Case::new(
            OFFER_ROTATION,
            "signed for another recipient",
            INVALID_PROOF,
            |world| {
                let mut args = rotation_offer(world, 1);
                args[3] = bcs::to_bytes(&world.address(2)).unwrap();
                world.call(0, OFFER_ROTATION, &[], args)
            },
        ),
        Case::new(
            OFFER_ROTATION,
            "signature over a signer capability offer",
            INVALID_PROOF,
            |world| {
                let args = signer_offer(world, 1);
                world.call(0, OFFER_ROTATION, &[], args)
            },
        ),
        Case::new(
            OFFER_ROTATION,
            "unsupported scheme",
            INVALID_SCHEME,
            |world| {
                let mut args = rotation_offer(world, 1);
                args[1] = vec![2];
                world.call(0, OFFER_ROTATION, &[], args)
            },
        ),
        Case::new(OFFER_SIGNER, "wrong public key", WRONG_KEY, |world| {
            let mut args = signer_offer(world, 1);
            args[2] = bcs::to_bytes(&public_bytes(&fresh_key(101))).unwrap();
            world.call(0, OFFER_SIGNER, &[], args)
        }),
        Case::new(
            OFFER_SIGNER,
            "signed for another recipient",
            INVALID_PROOF,
            |world| {
                let mut args = signer_offer(world, 1);
                args[3] = bcs::to_bytes(&world.address(2)).unwrap();
                world.call(0, OFFER_SIGNER, &[], args)
            },
        ),
        Case::new(
            OFFER_SIGNER,
            "unsupported scheme",
            INVALID_SCHEME,
            |world| {
                let mut args = signer_offer(world, 1);
                args[1] = vec![3];
                world.call(0, OFFER_SIGNER, &[], args)
            },
        ),
    ]
}

fn revocations() -> Vec<Case> {
    vec![
        Case::new(
            REVOKE_ROTATION,
            "offered to the given account",
            SUCCESS,
            |world| {
                offer_rotation(world, 1);
                let executed = world.call(0, REVOKE_ROTATION, &[], args![world.address(1)]);
                assert_offered(world, "rotation", None);
                executed
            },
        ),
        Case::new(
            REVOKE_SIGNER,
            "offered to the given account",
            SUCCESS,
            |world| {
                offer_signer(world, 1);
                let executed = world.call(0, REVOKE_SIGNER, &[], args![world.address(1)]);
                assert_offered(world, "signer", None);
                executed
            },
        ),
        Case::new(
            REVOKE_ANY_ROTATION,
            "revokes only the rotation capability",
            SUCCESS,
            |world| {
                offer_rotation(world, 1);
                offer_signer(world, 2);
                let executed = world.call(0, REVOKE_ANY_ROTATION, &[], args![]);
                assert_offered(world, "rotation", None);
                assert_offered(world, "signer", Some(world.address(2)));
                executed
            },
        ),
        Case::new(
            REVOKE_ANY_SIGNER,
            "revokes only the signer capability",
            SUCCESS,
            |world| {
                offer_rotation(world, 1);
                offer_signer(world, 2);
                let executed = world.call(0, REVOKE_ANY_SIGNER, &[], args![]);
                assert_offered(world, "rotation", Some(world.address(1)));
                assert_offered(world, "signer", None);
                executed
            },
        ),
    ]
}

fn rejected_revocations() -> Vec<Case> {
    vec![
        Case::new(
            REVOKE_ROTATION,
            "offered to another account",
            NOT_OFFERED_ROTATION,
            |world| {
                offer_rotation(world, 1);
                world.call(0, REVOKE_ROTATION, &[], args![world.address(2)])
            },
        ),
        Case::new(
            REVOKE_SIGNER,
            "offered to another account",
            NOT_OFFERED_SIGNER,
            |world| {
                offer_signer(world, 1);
                world.call(0, REVOKE_SIGNER, &[], args![world.address(2)])
            },
        ),
        Case::new(
            REVOKE_ANY_ROTATION,
            "no rotation capability offered",
            NOT_SET,
            |world| {
                offer_signer(world, 1);
                world.call(0, REVOKE_ANY_ROTATION, &[], args![])
            },
        ),
        Case::new(
            REVOKE_ANY_SIGNER,
            "no signer capability offered",
            NOT_SET,
            |world| {
                offer_rotation(world, 1);
                world.call(0, REVOKE_ANY_SIGNER, &[], args![])
            },
        ),
    ]
}
