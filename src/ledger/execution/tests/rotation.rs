//! Transactions of an account after a key rotation: the new key of every kind signs, and the old
//! key is rejected.
//!
//! `functions/account/rotations.rs` covers rejected proofs and the rotations that the table of
//! originating addresses rejects.

use bytes::Bytes;
use k256::ecdsa::signature::hazmat::PrehashSigner;
use ledger_crypto::{Ed25519PrivateKey, HashValue};
use ledger_execution::{development_accounts, validate_for_admission, view};
use ledger_test_support::MemoryChain;
use ledger_types::{
    AccountAddress, CheckedTransaction, EntryFunction, RawTransaction, SignedTransaction,
    ValidationStatus, Vendor,
    transaction::{
        AccountAuthenticator, AnyPublicKey, AnySignature, MultiEd25519PublicKey,
        MultiEd25519Signature, MultiKey, TransactionAuthenticator,
    },
};

const UNKNOWN_ADDRESS: AccountAddress = AccountAddress::from_low_u64(0xabcdef);
/// Bitmap of the first two keys of a set.
const BITMAP: [u8; 4] = [0xc0, 0, 0, 0];

fn keys() -> [Ed25519PrivateKey; 2] {
    [1, 2].map(|n| Ed25519PrivateKey::from_seed(&[n; 32]))
}

type Sign = fn(&RawTransaction, &Vendor) -> TransactionAuthenticator;

fn ed25519(raw: &RawTransaction, vendor: &Vendor) -> TransactionAuthenticator {
    let [key, _] = keys();
    TransactionAuthenticator::Ed25519 {
        public_key: key.public_key(),
        signature: key.sign(&raw.signing_message(vendor)),
    }
}

fn multi_ed25519(raw: &RawTransaction, vendor: &Vendor) -> TransactionAuthenticator {
    let message = raw.signing_message(vendor);
    let mut public_key: Vec<u8> = keys().iter().flat_map(|key| key.public_key().0).collect();
    public_key.push(2);
    let mut signature: Vec<u8> = keys().iter().flat_map(|key| key.sign(&message).0).collect();
    signature.extend(BITMAP);
    TransactionAuthenticator::MultiEd25519 {
        public_key: MultiEd25519PublicKey(public_key.into()),
        signature: MultiEd25519Signature(signature.into()),
    }
}

fn single_key(raw: &RawTransaction, vendor: &Vendor) -> TransactionAuthenticator {
    let [key, _] = keys();
    let sender = Box::new(AccountAuthenticator::SingleKey {
        public_key: AnyPublicKey::Ed25519(key.public_key()),
        signature: AnySignature::Ed25519(key.sign(&raw.signing_message(vendor))),
    });
    TransactionAuthenticator::SingleSender { sender }
}

fn multi_key(raw: &RawTransaction, vendor: &Vendor) -> TransactionAuthenticator {
    let message = raw.signing_message(vendor);
    let public_keys = keys()
        .iter()
        .map(|key| AnyPublicKey::Ed25519(key.public_key()))
        .collect();
    let sender = Box::new(AccountAuthenticator::MultiKey {
        public_keys: MultiKey {
            public_keys,
            signatures_required: 2,
        },
        signatures: keys()
            .iter()
            .map(|key| AnySignature::Ed25519(key.sign(&message)))
            .collect(),
        signatures_bitmap: BITMAP.to_vec().into(),
    });
    TransactionAuthenticator::SingleSender { sender }
}

fn signed(chain: &MemoryChain, sender: AccountAddress, sign: Sign) -> CheckedTransaction {
    let old = &development_accounts()[0].private_key;
    let mut raw = chain.raw(old, chain.transfer(UNKNOWN_ADDRESS, 1));
    raw.sequence_number = chain.facts(&sender).sequence_number;
    let authenticator = sign(&raw, chain.chain.vendor());
    CheckedTransaction::check(
        SignedTransaction { raw, authenticator },
        chain.chain.vendor(),
        chain.chain.parameters(),
    )
    .unwrap()
}

fn new_key(chain: &MemoryChain, sender: AccountAddress, sign: Sign) -> HashValue {
    let transaction = signed(chain, sender, sign);
    let authenticator = &transaction.transaction().authenticator;
    authenticator.sender_authentication_key().unwrap().unwrap()
}

#[test]
fn accepts_only_the_new_key_after_a_rotation() {
    let account = development_accounts().remove(0);
    let cases: [(&str, Sign); 4] = [
        ("ed25519", ed25519),
        ("multi-ed25519", multi_ed25519),
        ("single key", single_key),
        ("multi key", multi_key),
    ];
    for (name, sign) in cases {
        let mut chain = MemoryChain::development();
        let before_rotation = signed(&chain, account.address, sign);
        let facts = chain.transaction_facts(&before_rotation);
        let rejection =
            validate_for_admission(&chain.chain, &facts, &before_rotation, chain.next_secs())
                .unwrap_err();
        assert_eq!(
            rejection.status,
            ValidationStatus::InvalidAuthKey,
            "{name}: before the rotation"
        );
        let hash = new_key(&chain, account.address, sign).as_bytes().to_vec();
        let arguments = vec![bcs::to_bytes(&hash).unwrap()];
        let rotate = chain.call(
            "0x1::account::rotate_authentication_key_call",
            &[],
            arguments,
        );
        chain.run(&account.private_key, rotate);
        let with_old_key = chain.sign(
            &account.private_key,
            chain.raw(&account.private_key, chain.transfer(UNKNOWN_ADDRESS, 1)),
        );
        let block = chain.execute(vec![with_old_key]);
        let expected = ValidationStatus::InvalidAuthKey.code();
        assert_eq!(
            block.discarded[0].status_code, expected,
            "{name}: the old key"
        );
        let with_new_key = signed(&chain, account.address, sign);
        assert_eq!(chain.execute(vec![with_new_key]).discarded, [], "{name}");
        assert_eq!(chain.facts(&UNKNOWN_ADDRESS).balance, 1, "{name}");
    }
}

fn bcs_of<T: serde::Serialize>(value: &T) -> Vec<u8> {
    bcs::to_bytes(value).unwrap()
}

fn secp256k1() -> (k256::ecdsa::SigningKey, AnyPublicKey) {
    let key = k256::ecdsa::SigningKey::from_slice(&[7; 32]).unwrap();
    let point = key.verifying_key().to_sec1_point(false);
    let public = AnyPublicKey::Secp256k1Ecdsa(Bytes::copy_from_slice(point.as_bytes()));
    (key, public)
}

fn signed_by_secp256k1(raw: &RawTransaction, vendor: &Vendor) -> AnySignature {
    let digest = HashValue::sha3_of(&[&raw.signing_message(vendor)]);
    let signature: k256::ecdsa::Signature = secp256k1().0.sign_prehash(digest.as_bytes()).unwrap();
    AnySignature::Secp256k1Ecdsa(Bytes::copy_from_slice(&signature.to_bytes()))
}

fn single_secp256k1(raw: &RawTransaction, vendor: &Vendor) -> TransactionAuthenticator {
    let sender = AccountAuthenticator::SingleKey {
        public_key: secp256k1().1,
        signature: signed_by_secp256k1(raw, vendor),
    };
    TransactionAuthenticator::SingleSender {
        sender: Box::new(sender),
    }
}

/// Returns an authenticator of [`set_of_three`] with signatures of its second and third key.
fn mixed_set(raw: &RawTransaction, vendor: &Vendor) -> TransactionAuthenticator {
    let sender = AccountAuthenticator::MultiKey {
        public_keys: set_of_three(),
        signatures: vec![
            AnySignature::Ed25519(keys()[1].sign(&raw.signing_message(vendor))),
            signed_by_secp256k1(raw, vendor),
        ],
        signatures_bitmap: vec![0b0110_0000, 0, 0, 0].into(),
    };
    TransactionAuthenticator::SingleSender {
        sender: Box::new(sender),
    }
}

fn set_of_three() -> MultiKey {
    let [first, second] = keys().map(|key| AnyPublicKey::Ed25519(key.public_key()));
    MultiKey {
        public_keys: vec![first, second, secp256k1().1],
        signatures_required: 2,
    }
}

/// Returns the arguments that rotate account 0 to the keys of [`multi_ed25519`].
///
/// The old key and both new keys sign the proof.
fn proven_arguments(chain: &MemoryChain) -> Vec<Vec<u8>> {
    let account = development_accounts().remove(0);
    let to: Vec<u8> = keys()
        .iter()
        .flat_map(|key| key.public_key().0)
        .chain([2])
        .collect();
    let number = chain.facts(&account.address).sequence_number;
    let name = (AccountAddress::ONE, "account", "RotationProofChallenge");
    let challenge = bcs_of(&(name, number, account.address, account.address, &to));
    let mut proof: Vec<u8> = keys()
        .iter()
        .flat_map(|key| key.sign(&challenge).0)
        .collect();
    proof.extend(BITMAP);
    vec![
        bcs_of(&0u8),
        bcs_of(&account.private_key.public_key().0.to_vec()),
        bcs_of(&1u8),
        bcs_of(&to),
        bcs_of(&account.private_key.sign(&challenge).0.to_vec()),
        bcs_of(&proof),
    ]
}

/// Returns the originating address that the ledger records for an authentication key.
fn originating_address(chain: &MemoryChain, key: HashValue) -> Option<AccountAddress> {
    let arguments = vec![key.as_bytes().to_vec()];
    let viewed = view(
        &chain.chain,
        chain,
        &chain.call("0x1::account::originating_address", &[], arguments),
        None,
    );
    bcs::from_bytes(&viewed.unwrap().values[0].1).unwrap()
}

/// Rotates the key of account 0 with the call `rotate`, and returns the chain and the new
/// authentication key.
///
/// Checks that the old key is rejected and that `sign` signs for the account.
fn rotate_and_check_keys(
    rotate: impl Fn(&MemoryChain) -> EntryFunction,
    sign: Sign,
) -> (MemoryChain, HashValue) {
    let account = development_accounts().remove(0);
    let mut chain = MemoryChain::development();
    let call = rotate(&chain);
    let block = chain.run(&account.private_key, call);
    assert!(block.transactions[1].info.v0().status.is_success());
    let raw = chain.raw(&account.private_key, chain.transfer(UNKNOWN_ADDRESS, 1));
    let with_old_key = chain.sign(&account.private_key, raw);
    let status_code = chain.execute(vec![with_old_key]).discarded[0].status_code;
    assert_eq!(status_code, ValidationStatus::InvalidAuthKey.code());
    let with_new_key = signed(&chain, account.address, sign);
    assert_eq!(chain.execute(vec![with_new_key]).discarded, []);
    assert_eq!(chain.facts(&UNKNOWN_ADDRESS).balance, 1);
    let new = new_key(&chain, account.address, sign);
    (chain, new)
}

#[test]
fn records_a_proven_rotation_to_a_key_set() {
    let account = development_accounts().remove(0);
    let rotate = |chain: &MemoryChain| {
        let arguments = proven_arguments(chain);
        chain.call("0x1::account::rotate_authentication_key", &[], arguments)
    };
    let (chain, new) = rotate_and_check_keys(rotate, multi_ed25519);
    assert_eq!(originating_address(&chain, new), Some(account.address));
    let old = account.private_key.public_key().authentication_key();
    assert_eq!(originating_address(&chain, old), None);
}

#[test]
fn does_not_record_a_rotation_from_a_public_key() {
    let cases: [(u8, Vec<u8>, Sign); 2] = [
        (2, bcs_of(&secp256k1().1), single_secp256k1),
        (3, bcs_of(&set_of_three()), mixed_set),
    ];
    for (scheme, public_key, sign) in cases {
        let rotate = |chain: &MemoryChain| {
            let arguments = vec![bcs_of(&scheme), bcs_of(&public_key)];
            let function = "0x1::account::rotate_authentication_key_from_public_key";
            chain.call(function, &[], arguments)
        };
        let (chain, new) = rotate_and_check_keys(rotate, sign);
        assert_eq!(originating_address(&chain, new), None, "scheme {scheme}");
    }
}
