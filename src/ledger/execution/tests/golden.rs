//! Bytes, hashes, and addresses in comparison with golden vectors. The unmodified TypeScript SDK
//! generated them from fixed keys (`tests/sdk/golden_vectors.mjs` at the root of the workspace).

use ledger_crypto::{DecodedKeys, Ed25519PrivateKey, HashValue, Scheme, authentication_key};
use ledger_framework::new_chain;
use ledger_types::{
    AccountAddress, CheckedTransaction, Parameters, ReplayProtector, SignedTransaction, StructTag,
    Transaction, TypeTag, ValidationStatus, Vendor, decode_signed_transaction,
    transaction::{Executable, TransactionAuthenticator},
};
use ledger_vm::Chain;
use serde::{Deserialize, de::DeserializeOwned};
use std::{
    num::NonZero,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    thread,
};

/// Bytes of a vector, written as `0x` and hex digits.
#[derive(Deserialize, PartialEq, Eq, Clone)]
#[serde(try_from = "String")]
struct Bytes(Vec<u8>);

impl TryFrom<String> for Bytes {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let digits = text.strip_prefix("0x").ok_or("bytes without 0x")?;
        hex::decode(digits)
            .map(Self)
            .map_err(|error| error.to_string())
    }
}

impl std::fmt::Debug for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&hex::encode(&self.0))
    }
}

fn bcs_of<T: serde::Serialize>(value: &T) -> Bytes {
    Bytes(bcs::to_bytes(value).expect("the crate's types have a BCS form"))
}

fn vectors<T: DeserializeOwned>(json: &str) -> Vec<T> {
    let vectors: Vec<T> = serde_json::from_str(json).expect("a file of golden vectors");
    assert!(!vectors.is_empty(), "the file has no vectors");
    vectors
}

fn vendor() -> Vendor {
    "APTOS".parse().expect("a vendor word")
}

fn chain() -> Chain {
    new_chain(4, vendor(), Parameters::default())
}

/// The keys and the address of an account, as the SDK derives them.
#[derive(Deserialize)]
struct AccountVector {
    name: String,
    scheme: u8,
    public_key: Bytes,
    authentication_key: HashValueText,
    address: String,
    /// Private key, if the account has a single ed25519 key.
    seed: Option<Bytes>,
}

/// A hash in its printed form.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct HashValueText(HashValue);

impl TryFrom<String> for HashValueText {
    type Error = ledger_crypto::HashError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let hash: HashValue = text.parse()?;
        assert_eq!(
            hash.to_string(),
            text,
            "a hash does not print as in the SDK"
        );
        Ok(Self(hash))
    }
}

#[test]
fn derives_authentication_keys_and_addresses() {
    for vector in vectors::<AccountVector>(include_str!("../../../../tests/golden/accounts.json")) {
        let name = &vector.name;
        let scheme = match vector.scheme {
            0 => Scheme::Ed25519,
            1 => Scheme::MultiEd25519,
            2 => Scheme::SingleKey,
            3 => Scheme::MultiKey,
            other => panic!("{name}: scheme {other}"),
        };
        let key = authentication_key(&vector.public_key.0, scheme);
        assert_eq!(key, vector.authentication_key.0, "{name}");
        assert_eq!(
            AccountAddress::new(*key.as_bytes()).to_long_hex(),
            vector.address,
            "{name}"
        );
        if let Some(seed) = vector.seed {
            let seed = seed.0.as_slice().try_into().expect("a seed has 32 bytes");
            let public_key = Ed25519PrivateKey::from_seed(seed).public_key();
            assert_eq!(public_key.0.as_slice(), vector.public_key.0, "{name}");
            assert_eq!(public_key.authentication_key(), key, "{name}");
            assert_eq!(
                AccountAddress::from_public_key(&public_key).to_long_hex(),
                vector.address,
                "{name}"
            );
        }
    }
}

/// An address in each form of the SDK.
#[derive(Deserialize)]
struct AddressVector {
    text: String,
    long: String,
    short: String,
    bcs: Bytes,
}

#[test]
fn parses_and_prints_addresses() {
    for vector in vectors::<AddressVector>(include_str!("../../../../tests/golden/addresses.json"))
    {
        let address: AccountAddress = vector.text.parse().expect("an address");
        assert_eq!(address.to_long_hex(), vector.long);
        assert_eq!(address.to_string(), vector.short);
        assert_eq!(bcs_of(&address), vector.bcs);
        for form in [&vector.long, &vector.short] {
            assert_eq!(form.parse(), Ok(address), "{form}");
        }
    }
}

/// A Move type in each form of the SDK.
#[derive(Deserialize)]
struct TypeVector {
    text: String,
    /// Text that the SDK prints. The length of addresses in it may differ.
    printed: String,
    bcs: Bytes,
    /// BCS form of the struct tag alone, if the type is a struct.
    struct_bcs: Option<Bytes>,
}

#[test]
fn parses_and_encodes_type_tags() {
    for vector in vectors::<TypeVector>(include_str!("../../../../tests/golden/types.json")) {
        let text = &vector.text;
        let tag: TypeTag = text.parse().expect("a type");
        assert_eq!(bcs_of(&tag), vector.bcs, "{text}");
        assert_eq!(bcs::from_bytes(&vector.bcs.0), Ok(tag.clone()), "{text}");
        assert_eq!(vector.printed.parse(), Ok(tag.clone()), "{text}");
        assert_eq!(tag.to_string().parse(), Ok(tag.clone()), "{text}");
        let as_struct = text.parse::<StructTag>();
        assert_eq!(
            as_struct.as_ref().ok().map(bcs_of),
            vector.struct_bcs,
            "{text}: only structs are struct tags"
        );
        if let Ok(struct_tag) = as_struct {
            assert_eq!(TypeTag::from(struct_tag), tag, "{text}");
        }
    }
}

/// The SDK that generated the vectors uses indices for signed integers that are one lower, starting
/// at the index of function types. This test therefore compares the indices with those of the
/// reference node (docs/reference/reference-node.md#r27).
#[test]
fn encodes_signed_integer_types_after_the_function_type() {
    for (index, text) in (12..).zip(["i8", "i16", "i32", "i64", "i128", "i256"]) {
        let tag: TypeTag = text.parse().expect("a type");
        assert_eq!(bcs_of(&tag), Bytes(vec![index]), "{text}");
    }
    let error = bcs::from_bytes::<TypeTag>(&[11]).expect_err("the function type");
    assert!(
        error
            .to_string()
            .contains("function types are not supported"),
        "{error}"
    );
}

/// A transaction in each form of the SDK.
#[derive(Deserialize)]
struct TransactionVector {
    name: String,
    sender: String,
    sequence_number: String,
    authentication_key: HashValueText,
    raw: Bytes,
    signing_message: Bytes,
    signed: Bytes,
    hash: HashValueText,
}

impl TransactionVector {
    fn all() -> Vec<Self> {
        vectors(include_str!("../../../../tests/golden/transactions.json"))
    }

    fn decode(&self) -> SignedTransaction {
        decode_signed_transaction(&self.signed.0)
            .unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    /// Returns the status and detail of the rejection of the signatures, or `None` if they are
    /// valid.
    fn signature_rejection(&self) -> Option<(ValidationStatus, &'static str)> {
        let unsupported = |detail| (ValidationStatus::FeatureUnderGating, detail);
        let invalid = |detail| (ValidationStatus::InvalidSignature, detail);
        Some(match self.name.as_str() {
            "keyless" | "simulation with a keyless key" | "multi key with keyless" => {
                unsupported("a keyless signature is not supported")
            }
            "federated keyless" => unsupported("a federated keyless signature is not supported"),
            "abstract" | "derivable abstract" => {
                unsupported("an abstract account signature is not supported")
            }
            "simulation without an authenticator" => invalid("the transaction has no signature"),
            "simulation with a zero signature" => {
                invalid("the sender: the signature's R has small order")
            }
            "simulation of a multi key" => {
                invalid("the sender: key 0: the signature's R has small order")
            }
            _ => return None,
        })
    }
}

#[test]
fn encodes_transactions_to_the_same_bytes() {
    for vector in TransactionVector::all() {
        let (name, transaction) = (&vector.name, vector.decode());
        assert_eq!(bcs_of(&transaction), vector.signed, "{name}");
        assert_eq!(bcs_of(&transaction.raw), vector.raw, "{name}");
        assert_eq!(
            transaction.raw.sender.to_long_hex(),
            vector.sender,
            "{name}"
        );
        assert_eq!(
            transaction.raw.sequence_number.to_string(),
            vector.sequence_number,
            "{name}"
        );
        assert_eq!(transaction.raw.chain_id, 4, "{name}");
    }
}

#[test]
fn computes_transaction_hashes() {
    for vector in TransactionVector::all() {
        let (name, transaction) = (&vector.name, vector.decode());
        assert_eq!(transaction.hash(&vendor()), vector.hash.0, "{name}");
        let checked = CheckedTransaction::new_unchecked(transaction.clone(), &vendor());
        assert_eq!(checked.hash(), vector.hash.0, "{name}");
        assert_eq!(checked.size_bytes(), vector.signed.0.len(), "{name}");
        assert_eq!(
            Transaction::User(transaction.into()).hash(&vendor()),
            vector.hash.0,
            "{name}"
        );
    }
}

#[test]
fn builds_signing_messages() {
    let vendor = vendor();
    for vector in TransactionVector::all() {
        let (name, transaction) = (&vector.name, vector.decode());
        let (raw, secondary) = (
            &transaction.raw,
            transaction.authenticator.secondary_signer_addresses(),
        );
        let message = match transaction.authenticator {
            TransactionAuthenticator::MultiAgent { .. } => {
                raw.multi_agent_signing_message(secondary, &vendor)
            }
            TransactionAuthenticator::FeePayer {
                fee_payer_address, ..
            } => raw.fee_payer_signing_message(secondary, fee_payer_address, &vendor),
            _ => raw.signing_message(&vendor),
        };
        assert_eq!(Bytes(message), vector.signing_message, "{name}");
    }
}

#[test]
fn returns_the_nonce_of_orderless_transactions() {
    for vector in TransactionVector::all() {
        let expected = match vector.name.as_str() {
            "orderless transfer" => ReplayProtector::Nonce(0x0123_4567_89ab_cdef),
            "empty inner payload" => ReplayProtector::Nonce(5),
            "orderless multi key with WebAuthn" => ReplayProtector::Nonce(0),
            _ => ReplayProtector::SequenceNumber(vector.sequence_number.parse().expect("a number")),
        };
        assert_eq!(
            vector.decode().raw.replay_protector(),
            expected,
            "{}",
            vector.name
        );
    }
}

/// Detail of the rejection of a script.
const NO_BYTECODE: &str = "a script payload is not supported: this chain runs native modules, see \
                           docs/use/programs.md";

#[test]
fn rejects_unsupported_payloads_by_name() {
    for vector in TransactionVector::all() {
        let (name, transaction) = (&vector.name, vector.decode());
        let payload = &transaction.raw.payload;
        let rejection = match name.as_str() {
            "script payload" | "inner script payload" => Some(NO_BYTECODE),
            _ => None,
        };
        match (payload.executable(), rejection) {
            (Err(discard), Some(detail)) => {
                assert_eq!(
                    discard.status,
                    ValidationStatus::FeatureUnderGating,
                    "{name}"
                );
                assert_eq!(discard.detail.as_deref(), Some(detail), "{name}");
            }
            (Ok(Executable::EntryFunction(call)), None) => {
                assert_eq!(Some(call), transaction.raw.entry_function(), "{name}");
            }
            (Ok(Executable::Multisig { account, call }), None) => {
                assert_eq!(Some(account), payload.multisig_address(), "{name}");
                assert_eq!(call, transaction.raw.entry_function(), "{name}");
            }
            (executable, rejection) => panic!("{name}: {executable:?}, expected {rejection:?}"),
        }
    }
}

#[test]
fn verifies_signatures_and_rejects_unsupported_kinds_by_name() {
    for vector in TransactionVector::all() {
        let (name, transaction) = (&vector.name, vector.decode());
        let signer = transaction.authenticator.sender_authentication_key();
        let checked =
            CheckedTransaction::check(transaction, chain().vendor(), chain().parameters());
        match vector.signature_rejection() {
            Some((status, detail)) => {
                let discard = checked.expect_err(name);
                assert_eq!(discard.status, status, "{name}");
                assert_eq!(discard.detail.as_deref(), Some(detail), "{name}");
            }
            None => {
                assert_eq!(
                    checked.map(|checked| checked.hash()),
                    Ok(vector.hash.0),
                    "{name}: the signature of the SDK is valid"
                );
                assert_eq!(signer, Ok(Some(vector.authentication_key.0)), "{name}");
            }
        }
    }
}

#[test]
fn checks_a_batch_like_single_transactions() {
    let transactions: Vec<_> = TransactionVector::all()
        .iter()
        .map(TransactionVector::decode)
        .collect();
    let expected: Vec<_> = transactions
        .iter()
        .map(|transaction| {
            CheckedTransaction::check(transaction.clone(), chain().vendor(), chain().parameters())
        })
        .collect();
    assert_eq!(
        CheckedTransaction::check_all(
            transactions,
            chain().vendor(),
            chain().parameters(),
            &mut DecodedKeys::default()
        ),
        expected
    );
}

/// Covers each kind of signature. Each byte is part of the signed message, of a signature, or of a
/// key that must equal the key of the account.
#[test]
fn rejects_a_flipped_bit_of_every_byte() {
    let mut vectors = TransactionVector::all();
    vectors.retain(|vector| vector.signature_rejection().is_none());
    assert!(!vectors.is_empty());
    // All cores check vectors, because this is the longest test of its binary.
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, NonZero::get) {
            scope.spawn(|| {
                while let Some(vector) = vectors.get(next.fetch_add(1, Relaxed)) {
                    check_flipped_bits(vector);
                }
            });
        }
    });
}

/// Checks that no transaction with one flipped bit is accepted: the lowest bit of the first byte, the
/// next one of the second byte, and so on. Seven other bits of each byte would take a minute.
fn check_flipped_bits(vector: &TransactionVector) {
    let keys = keys_of(&vector.decode());
    for byte in 0..vector.signed.0.len() {
        let mut bytes = vector.signed.0.clone();
        bytes[byte] ^= 1 << (byte % 8);
        let accepted = decode_signed_transaction(&bytes).is_ok_and(|transaction| {
            keys_of(&transaction) == keys
                && CheckedTransaction::check(transaction, chain().vendor(), chain().parameters())
                    .is_ok()
        });
        assert!(
            !accepted,
            "{}: a change of byte {byte} of the signed bytes is accepted",
            vector.name
        );
    }
}

/// Returns the authentication keys of all signers. The prologue compares them with those of the
/// accounts.
fn keys_of(transaction: &SignedTransaction) -> Vec<Option<HashValue>> {
    let authenticator = &transaction.authenticator;
    let fee_payer = authenticator.fee_payer().map(|(_, signer)| signer);
    let others = authenticator.secondary_signers().iter().chain(fee_payer);
    let others = others.map(|signer| signer.authentication_key().ok().flatten());
    let sender = authenticator.sender_authentication_key().ok().flatten();
    std::iter::once(sender).chain(others).collect()
}

#[test]
fn rejects_truncated_and_extended_bytes() {
    for vector in TransactionVector::all() {
        let mut bytes = vector.signed.0.clone();
        bytes.push(0);
        assert!(
            decode_signed_transaction(&bytes).is_err(),
            "{}: one trailing byte",
            vector.name
        );
        for length in 0..vector.signed.0.len() {
            let result = decode_signed_transaction(&vector.signed.0[..length]);
            assert!(
                result.is_err(),
                "{}: truncated to {length} bytes",
                vector.name
            );
        }
    }
}
