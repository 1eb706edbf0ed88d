//! Keys of all kinds, in multi-keys and among several signers: the required signatures, and the
//! details of rejections.

use super::kit::{message, raw, signed_by, single_key};
use bytes::Bytes;
use ledger_crypto::Ed25519PrivateKey;
use ledger_test_support::{TestKey, TransactionSigner as _, development_chain};
use ledger_types::{
    AccountAddress, CheckedTransaction, Discard, EntryFunction, SignedTransaction,
    ValidationStatus,
    transaction::{
        AccountAuthenticator, AnyPublicKey, AnySignature, MultiEd25519PublicKey,
        MultiEd25519Signature, MultiKey, SIGNATURES_MAX, TransactionAuthenticator,
        TransactionPayload,
    },
};

fn ed25519(number: u8) -> Ed25519PrivateKey {
    Ed25519PrivateKey::from_seed(&[number; 32])
}

/// Returns a key and its signature: ed25519 if `number` is even, secp256k1 if it is odd.
fn any(number: u8, message: &[u8]) -> (AnyPublicKey, AnySignature) {
    let key = if number.is_multiple_of(2) {
        TestKey::ed25519(number)
    } else {
        TestKey::secp256k1(number)
    };
    (key.public_key(), key.sign(message))
}

/// Returns a multi-key of keys 0, 1, 2, and so on, of which `signers` sign.
fn set(
    keys: u8,
    required: u8,
    signers: &[u8],
    bitmap: &'static [u8],
    message: &[u8],
) -> AccountAuthenticator {
    AccountAuthenticator::MultiKey {
        public_keys: MultiKey {
            public_keys: (0..keys).map(|number| any(number, message).0).collect(),
            signatures_required: required,
        },
        signatures: signers
            .iter()
            .map(|&number| any(number, message).1)
            .collect(),
        signatures_bitmap: Bytes::from_static(bitmap),
    }
}

fn check(transaction: SignedTransaction) -> Result<(), Discard> {
    CheckedTransaction::check(
        transaction,
        development_chain().vendor(),
        development_chain().parameters(),
    )
    .map(|_| ())
}

#[track_caller]
fn assert_rejected(transaction: SignedTransaction, status: ValidationStatus, expected: &str) {
    let discard = check(transaction).expect_err("the transaction is invalid");
    assert_eq!(discard.status, status, "{discard}");
    let detail = discard.detail.expect("a rejection has a detail");
    assert!(detail.contains(expected), "{detail}");
}

#[track_caller]
fn assert_invalid(sender: AccountAuthenticator, expected: &str) {
    assert_rejected(
        signed_by(1, sender),
        ValidationStatus::InvalidSignature,
        expected,
    );
}

#[test]
fn accepts_a_multi_key_with_enough_signatures() {
    let message = message(1);
    let of = |signers: &[u8], bitmap| check(signed_by(1, set(4, 2, signers, bitmap, &message)));
    assert_eq!(of(&[0, 1], &[0b1100_0000]), Ok(()));
    assert_eq!(of(&[1, 3], &[0b0101_0000]), Ok(()));
    assert_eq!(of(&[0, 1, 2, 3], &[0b1111_0000, 0, 0, 0]), Ok(()));
    assert_invalid(
        set(4, 2, &[3], &[0b0001_0000], &message),
        "the sender: 1 signatures of the 2 required",
    );
    assert_invalid(
        set(4, 2, &[], &[], &message),
        "0 signatures of the 2 required",
    );
}

#[test]
fn rejects_a_bitmap_that_does_not_match_the_signatures() {
    let message = message(1);
    for (signers, bitmap) in [
        (&[0u8, 1][..], &[0b1110_0000u8][..]),
        (&[0, 1], &[0b1000_0000]),
        (&[0, 1], &[0b1000_1000]),
        (&[0, 1], &[0b1100_0000, 0, 0, 0, 0]),
        (&[0, 1], &[]),
    ] {
        assert_invalid(set(4, 1, signers, bitmap, &message), "the bitmap");
    }
    assert_invalid(
        set(4, 2, &[1, 0], &[0b1100_0000], &message),
        "key 0: the kind of the signature is not the key's",
    );
    assert_invalid(
        set(4, 2, &[2, 0], &[0b1010_0000], &message),
        "does not match",
    );
}

#[test]
fn limits_multi_keys_to_32_keys() {
    let message = message(1);
    let required = "the signatures required are not between 1 and the number of keys";
    assert_invalid(set(0, 0, &[], &[], &message), "a set has 1 to 32 keys");
    assert_invalid(set(3, 0, &[], &[], &message), required);
    assert_invalid(set(3, 4, &[0, 1, 2], &[0b1110_0000], &message), required);
    assert_invalid(
        set(33, 1, &[0], &[0x80], &message),
        "a set has at most 32 keys",
    );
    let last = set(32, 1, &[31], &[0, 0, 0, 1], &message);
    assert_eq!(check(signed_by(1, last)), Ok(()));
}

#[test]
fn rejects_an_invalid_signature_beyond_the_threshold() {
    let (signed, other) = (message(1), message(2));
    for wrong in 0..4 {
        let mut all = set(4, 1, &[0, 1, 2, 3], &[0b1111_0000], &signed);
        if let AccountAuthenticator::MultiKey { signatures, .. } = &mut all {
            signatures[usize::from(wrong)] = any(wrong, &other).1;
        }
        assert_invalid(all, "does not match");
    }
}

#[test]
fn rejects_an_invalid_key_that_does_not_sign() {
    let message = message(1);
    let mut compressed = vec![2; 33];
    compressed[1..].fill(1);
    let mut hybrid = match any(1, &message).0 {
        AnyPublicKey::Secp256k1Ecdsa(point) => point.to_vec(),
        other => panic!("{other:?}"),
    };
    hybrid[0] = 6;
    let not_reduced = [&[4][..], &[0xff; 64]].concat();
    for (key, expected) in [
        (
            AnyPublicKey::Ed25519(ledger_crypto::Ed25519PublicKey([0xff; 32])),
            "a canonical point encoding",
        ),
        (
            AnyPublicKey::Secp256k1Ecdsa(compressed.into()),
            "an uncompressed point of 65 bytes",
        ),
        (
            AnyPublicKey::Secp256k1Ecdsa(hybrid.into()),
            "an uncompressed point of 65 bytes",
        ),
        (
            AnyPublicKey::Secp256r1Ecdsa(not_reduced.into()),
            "a point of the curve",
        ),
        (
            AnyPublicKey::Secp256r1Ecdsa(Bytes::new()),
            "an uncompressed point of 65 bytes",
        ),
    ] {
        let mut authenticator = set(3, 1, &[0], &[0x80], &message);
        if let AccountAuthenticator::MultiKey { public_keys, .. } = &mut authenticator {
            public_keys.public_keys[2] = key;
        }
        assert_invalid(
            authenticator,
            &format!("key 2: the public key is not {expected}"),
        );
    }
}

#[test]
fn rejects_signatures_of_another_kind_than_the_key() {
    let message = message(1);
    let (ed25519, secp256k1) = (any(0, &message), any(1, &message));
    let kinds = "the sender: the kind of the signature is not the key's";
    assert_invalid(single_key(ed25519.0.clone(), secp256k1.1.clone()), kinds);
    assert_invalid(single_key(secp256k1.0.clone(), ed25519.1.clone()), kinds);
    assert_eq!(
        check(signed_by(1, single_key(secp256k1.0, secp256k1.1))),
        Ok(())
    );
    assert_eq!(
        check(signed_by(1, single_key(ed25519.0, ed25519.1))),
        Ok(())
    );
}

const SECOND: AccountAddress = AccountAddress::from_low_u64(0xbeef);
const PAYER: AccountAddress = AccountAddress::from_low_u64(0xf00d);

/// Returns a sponsored transaction with one secondary signer. Each signer signs a message with the
/// fee payer address that is given for it.
fn sponsored(
    sender: AccountAddress,
    second: AccountAddress,
    payer: AccountAddress,
) -> SignedTransaction {
    let raw = raw(1);
    let message = |fee_payer| {
        raw.fee_payer_signing_message(&[SECOND], fee_payer, development_chain().vendor())
    };
    let two = message(second);
    let authenticator = TransactionAuthenticator::FeePayer {
        sender: Box::new(of_ed25519(20, &message(sender))),
        secondary_signer_addresses: vec![SECOND],
        // The batch contains one of the two signatures of this signer.
        secondary_signers: vec![set(2, 2, &[0, 1], &[0b1100_0000], &two)],
        fee_payer_address: PAYER,
        fee_payer_signer: Box::new(of_ed25519(21, &message(payer))),
    };
    SignedTransaction { raw, authenticator }
}

fn of_ed25519(number: u8, message: &[u8]) -> AccountAuthenticator {
    ed25519(number).authenticate(message)
}

#[test]
fn accepts_signatures_before_the_fee_payer_is_known() {
    let unknown = AccountAddress::ZERO;
    for sender in [PAYER, unknown] {
        for second in [PAYER, unknown] {
            assert_eq!(check(sponsored(sender, second, PAYER)), Ok(()));
            assert_rejected(
                sponsored(sender, second, unknown),
                ValidationStatus::InvalidSignature,
                &format!("the fee payer {PAYER}: the signature does not match"),
            );
        }
        assert_rejected(
            sponsored(sender, SECOND, PAYER),
            ValidationStatus::InvalidSignature,
            &format!("the secondary signer {SECOND}: "),
        );
    }
    assert_rejected(
        sponsored(SECOND, PAYER, PAYER),
        ValidationStatus::InvalidSignature,
        "the sender: the signature does not match",
    );
}

#[test]
fn rejects_signatures_of_one_account_over_different_messages() {
    let mut transaction = sponsored(PAYER, PAYER, PAYER);
    let unknown = raw(1).fee_payer_signing_message(
        &[SECOND],
        AccountAddress::ZERO,
        development_chain().vendor(),
    );
    let TransactionAuthenticator::FeePayer {
        secondary_signers, ..
    } = &mut transaction.authenticator
    else {
        panic!("not a sponsored transaction");
    };
    let AccountAuthenticator::MultiKey { signatures, .. } = &mut secondary_signers[0] else {
        panic!("not a multi-key");
    };
    signatures[0] = any(0, &unknown).1;
    assert_rejected(
        transaction,
        ValidationStatus::InvalidSignature,
        "does not match",
    );
}

/// Returns an authenticator with a fee payer, in which each signer signs `message`.
fn all_sign_with_payer(message: &[u8]) -> TransactionAuthenticator {
    TransactionAuthenticator::FeePayer {
        sender: Box::new(of_ed25519(20, message)),
        secondary_signer_addresses: vec![SECOND],
        secondary_signers: vec![of_ed25519(21, message)],
        fee_payer_address: PAYER,
        fee_payer_signer: Box::new(of_ed25519(22, message)),
    }
}

#[test]
fn rejects_a_signature_in_another_authenticator_form() {
    let (raw, chain) = (raw(1), development_chain());
    let messages = [
        raw.signing_message(chain.vendor()),
        raw.multi_agent_signing_message(&[SECOND], chain.vendor()),
        raw.multi_agent_signing_message(&[], chain.vendor()),
        raw.fee_payer_signing_message(&[SECOND], PAYER, chain.vendor()),
        raw.fee_payer_signing_message(&[], PAYER, chain.vendor()),
        raw.fee_payer_signing_message(&[PAYER], PAYER, chain.vendor()),
    ];
    type Form = fn(&[u8]) -> TransactionAuthenticator;
    let forms: [(Form, usize); 4] = [
        (
            |message| TransactionAuthenticator::SingleSender {
                sender: Box::new(of_ed25519(20, message)),
            },
            0,
        ),
        (
            |message| TransactionAuthenticator::MultiAgent {
                sender: Box::new(of_ed25519(20, message)),
                secondary_signer_addresses: vec![SECOND],
                secondary_signers: vec![of_ed25519(21, message)],
            },
            1,
        ),
        (
            |message| TransactionAuthenticator::MultiAgent {
                sender: Box::new(of_ed25519(20, message)),
                secondary_signer_addresses: vec![],
                secondary_signers: vec![],
            },
            2,
        ),
        (all_sign_with_payer, 3),
    ];
    for (form, own_message) in forms {
        for (number, message) in messages.iter().enumerate() {
            let authenticator = form(message);
            let raw = raw.clone();
            let verdict = check(SignedTransaction { raw, authenticator });
            assert_eq!(
                verdict.is_ok(),
                number == own_message,
                "message {number} in form {own_message}"
            );
        }
    }
}

/// Returns a transaction with `secondary` secondary signers. All of them sign.
fn multi_agent(secondary: usize) -> SignedTransaction {
    let raw = raw(1);
    let addresses: Vec<_> = (0..secondary as u64)
        .map(|number| AccountAddress::from_low_u64(0x1000 + number))
        .collect();
    let message = raw.multi_agent_signing_message(&addresses, development_chain().vendor());
    let authenticator = TransactionAuthenticator::MultiAgent {
        sender: Box::new(of_ed25519(0, &message)),
        secondary_signers: vec![of_ed25519(1, &message); secondary],
        secondary_signer_addresses: addresses,
    };
    SignedTransaction { raw, authenticator }
}

#[test]
fn requires_one_message_for_all_signers() {
    assert_eq!(check(multi_agent(3)), Ok(()));
    let mut other = multi_agent(3);
    if let TransactionAuthenticator::MultiAgent {
        secondary_signer_addresses,
        ..
    } = &mut other.authenticator
    {
        secondary_signer_addresses.swap(0, 1);
    }
    assert_rejected(other, ValidationStatus::InvalidSignature, "does not match");
}

#[test]
fn rejects_missing_secondary_signatures() {
    let mut fewer = multi_agent(3);
    if let TransactionAuthenticator::MultiAgent {
        secondary_signers, ..
    } = &mut fewer.authenticator
    {
        secondary_signers.pop();
    }
    assert_rejected(
        fewer,
        ValidationStatus::SecondaryKeysAddressesCountMismatch,
        "3 secondary signers are named, 2 sign",
    );
}

#[test]
fn rejects_more_than_32_signatures() {
    assert_eq!(check(multi_agent(SIGNATURES_MAX - 1)), Ok(()));
    let invalid = ValidationStatus::InvalidSignature;
    assert_rejected(
        multi_agent(SIGNATURES_MAX),
        invalid,
        "33 signatures are more than the 32",
    );
    assert_rejected(
        multi_agent(SIGNATURES_MAX + 1),
        invalid,
        "33 secondary signers are more than the 32",
    );
    // The limit counts the signatures of all signers, including those of both kinds of multi-keys.
    let message = message(1);
    let mut sets = multi_agent(2);
    if let TransactionAuthenticator::MultiAgent {
        secondary_signers, ..
    } = &mut sets.authenticator
    {
        secondary_signers[0] = set(16, 1, &[0; 16], &[0xff, 0xff], &message);
        secondary_signers[1] = AccountAuthenticator::MultiEd25519 {
            public_key: MultiEd25519PublicKey(Bytes::new()),
            signature: MultiEd25519Signature(vec![0; 16 * 64 + 4].into()),
        };
    }
    assert_eq!(
        sets.authenticator
            .check_form()
            .map_err(|discard| discard.status),
        Err(invalid)
    );
    assert_rejected(sets, invalid, "33 signatures are more than the 32");
}

#[test]
fn counts_the_signature_of_the_fee_payer() {
    let raw = raw(1);
    let second = vec![SECOND; SIGNATURES_MAX - 1];
    let message = raw.fee_payer_signing_message(&second, PAYER, development_chain().vendor());
    let mut authenticator = all_sign_with_payer(&message);
    if let TransactionAuthenticator::FeePayer {
        secondary_signer_addresses,
        secondary_signers,
        ..
    } = &mut authenticator
    {
        *secondary_signers = vec![of_ed25519(21, &message); second.len()];
        *secondary_signer_addresses = second;
    }
    assert_rejected(
        SignedTransaction { raw, authenticator },
        ValidationStatus::InvalidSignature,
        "33 signatures are more than the 32",
    );
}

/// The time to check a signature grows with the size of the message.
#[test]
fn rejects_a_large_transaction_before_checking_signatures() {
    let mut large = multi_agent(SIGNATURES_MAX);
    large.raw.payload = TransactionPayload::EntryFunction(EntryFunction {
        module: "0x1::coin".parse().unwrap(),
        function: "transfer".parse().unwrap(),
        type_args: vec![],
        args: vec![vec![0; 70_000].into()],
    });
    assert_rejected(
        large,
        ValidationStatus::ExceededMaxTransactionSize,
        "the bound is",
    );
}

#[test]
fn rejects_absent_signatures_outside_simulations() {
    let mut transaction = multi_agent(1);
    if let TransactionAuthenticator::MultiAgent {
        secondary_signers, ..
    } = &mut transaction.authenticator
    {
        secondary_signers[0] = AccountAuthenticator::NoAccountAuthenticator;
    }
    assert_eq!(
        transaction.authenticator.check_form(),
        Ok(()),
        "a simulation may omit the signature"
    );
    assert_rejected(
        transaction,
        ValidationStatus::InvalidSignature,
        "the transaction has no signature",
    );
}
