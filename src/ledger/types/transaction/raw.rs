//! Raw and signed transactions, their signing message and hash, and the proof that signatures were
//! checked.

use super::{
    TransactionAuthenticator, TransactionPayload, authenticator::check_all, payload::EntryFunction,
};
use crate::{AccountAddress, Discard, Parameters, Vendor};
use ledger_crypto::{DecodedKeys, Ed25519PublicKey, HashBatch, HashValue};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Maximum nesting depth of a submitted transaction in BCS. The reference node has the same limit.
pub const SIGNED_TRANSACTION_DEPTH_MAX: usize = 16;

/// A transaction without signatures.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RawTransaction {
    /// Account that sends the transaction.
    pub sender: AccountAddress,
    /// Sequence number of the sender; ignored if the payload has a nonce.
    pub sequence_number: u64,
    /// Action of the transaction.
    pub payload: TransactionPayload,
    /// Maximum gas that the transaction may use, in gas units.
    pub max_gas_amount: u64,
    /// Price of a gas unit, in the coin's smallest unit.
    pub gas_unit_price: u64,
    /// Expiration time, in Unix seconds. A block with this time or a later one rejects the
    /// transaction.
    pub expiration_timestamp_secs: u64,
    /// Id of the chain that the transaction is for.
    pub chain_id: u8,
}

/// The value that prevents a second execution of a transaction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum ReplayProtector {
    /// Number that the sender uses only once before the transaction expires.
    Nonce(u64),
    /// Sequence number of the sender.
    SequenceNumber(u64),
}

impl RawTransaction {
    /// Returns the bytes that a single signer signs: the hash prefix of the chain, then the BCS
    /// form.
    pub fn signing_message(&self, vendor: &Vendor) -> Vec<u8> {
        /// Initial capacity of the message, in bytes. A transfer takes half of it.
        const USUAL_BYTES: usize = 512;
        let mut message = Vec::with_capacity(USUAL_BYTES);
        message.extend_from_slice(vendor.seeds().raw_transaction.as_bytes());
        bcs::serialize_into(&mut message, self).expect("a transaction has a BCS form");
        message
    }

    /// Returns the nonce of an orderless transaction, or the sequence number of any other.
    pub fn replay_protector(&self) -> ReplayProtector {
        match self.payload.replay_protection_nonce() {
            Some(nonce) => ReplayProtector::Nonce(nonce),
            None => ReplayProtector::SequenceNumber(self.sequence_number),
        }
    }

    /// Returns the called entry function, if there is one, in either payload form.
    pub fn entry_function(&self) -> Option<&EntryFunction> {
        self.payload.entry_function()
    }
}

/// A transaction with its signatures.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SignedTransaction {
    /// Signed content.
    pub raw: RawTransaction,
    /// Keys and signatures of the signers.
    pub authenticator: TransactionAuthenticator,
}

impl SignedTransaction {
    /// Returns the transaction hash. It covers the signatures, because it hashes
    /// `Transaction::User(self)`.
    pub fn hash(&self, vendor: &Vendor) -> HashValue {
        hash_of_bytes(&bcs_bytes(self), vendor)
    }

    /// Returns the account that pays for gas: the fee payer, or the sender if there is none.
    pub fn gas_payer(&self) -> AccountAddress {
        let fee_payer = self.authenticator.fee_payer();
        fee_payer.map_or(self.raw.sender, |(address, _)| address)
    }

    /// Returns the size of the BCS form, in bytes.
    pub fn size_bytes(&self) -> usize {
        bcs::serialized_size(self).expect("a transaction has a BCS form")
    }

    /// Checks the size, then the form of the signatures, then the signatures.
    ///
    /// # Errors
    ///
    /// * `EXCEEDED_MAX_TRANSACTION_SIZE` if the BCS form is too large.
    /// * `SECONDARY_KEYS_ADDRESSES_COUNT_MISMATCH` if the numbers of secondary signers and of their
    ///   addresses differ.
    /// * `INVALID_SIGNATURE` if there are too many signatures, or if one does not verify.
    /// * `FEATURE_UNDER_GATING` if a signature is missing, or if this ledger does not check its
    ///   kind.
    pub fn check(&self, vendor: &Vendor, parameters: &Parameters) -> Result<(), Discard> {
        let mut verdicts = check_all(
            std::slice::from_ref(self),
            vendor,
            parameters,
            &mut DecodedKeys::default(),
        );
        verdicts.pop().expect("one transaction has one verdict")
    }
}

/// Returns the BCS form of a transaction.
fn bcs_bytes(transaction: &SignedTransaction) -> Vec<u8> {
    bcs::to_bytes(transaction).expect("a transaction has a BCS form")
}

/// Byte that precedes the BCS form of a signed transaction in the input of its hash: the variant
/// index of `Transaction::User`.
const USER_TRANSACTION: u8 = 0;

/// Returns the transaction hash of a signed transaction in its BCS form.
fn hash_of_bytes(bytes: &[u8], vendor: &Vendor) -> HashValue {
    vendor
        .seeds()
        .transaction
        .hash(&[&[USER_TRANSACTION], bytes])
}

/// Decodes the body of a submission.
///
/// # Errors
///
/// Returns [`bcs::Error`] if `bytes` are not a signed transaction, nest deeper than
/// [`SIGNED_TRANSACTION_DEPTH_MAX`], have trailing bytes, or use a variant that this ledger does
/// not know. The message names the variant.
pub fn decode_signed_transaction(bytes: &[u8]) -> Result<SignedTransaction, bcs::Error> {
    bcs::from_bytes_with_limit(bytes, SIGNED_TRANSACTION_DEPTH_MAX)
}

/// A signed transaction with checked signatures, its hash, and its size.
///
/// [`Self::check`] and [`Self::check_all`] are the only constructors for data from outside, so a
/// value proves the check. [`Self::trusted`] leaves the check to the caller.
///
/// The check of the transaction does not read the state. The prologue compares the authentication
/// key of the signer with the account, on the state of the block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckedTransaction {
    transaction: Arc<SignedTransaction>,
    hash: HashValue,
    size_bytes: usize,
    /// Authentication key of a plain Ed25519 key. It is stored because validation needs it twice.
    plain_authentication_key: Option<HashValue>,
}

impl CheckedTransaction {
    /// Checks a transaction as [`SignedTransaction::check`] does.
    ///
    /// # Errors
    ///
    /// Returns the error of [`SignedTransaction::check`].
    pub fn check(
        transaction: SignedTransaction,
        vendor: &Vendor,
        parameters: &Parameters,
    ) -> Result<Self, Discard> {
        transaction.check(vendor, parameters)?;
        Ok(Self::trusted(transaction, vendor))
    }

    /// Checks several transactions. The verdicts are those of [`Self::check`], in order.
    ///
    /// Ed25519 signatures are checked as a batch, at about half the cost per signature. `keys`
    /// caches the decoded keys of earlier calls.
    pub fn check_all(
        transactions: Vec<SignedTransaction>,
        vendor: &Vendor,
        parameters: &Parameters,
        keys: &mut DecodedKeys,
    ) -> Vec<Result<Self, Discard>> {
        let verdicts = check_all(&transactions, vendor, parameters, keys);
        let passed = transactions.iter().zip(&verdicts);
        let passed =
            passed.filter_map(|(transaction, verdict)| verdict.is_ok().then_some(transaction));
        let mut hashes = TransactionHashes::of(passed, vendor);
        let judged = transactions.into_iter().zip(verdicts);
        judged
            .map(|(transaction, verdict)| verdict.map(|()| hashes.next_of(transaction)))
            .collect()
    }

    /// Creates a checked transaction without checking it.
    ///
    /// The signatures must have been checked before, as those in the node's own durable files, or
    /// must not matter, as in a simulation.
    pub fn trusted(transaction: SignedTransaction, vendor: &Vendor) -> Self {
        let bytes = bcs_bytes(&transaction);
        Self::of_bytes(transaction, &bytes, vendor)
    }

    /// Creates a checked transaction from its BCS form `bytes`.
    fn of_bytes(transaction: SignedTransaction, bytes: &[u8], vendor: &Vendor) -> Self {
        let hash = hash_of_bytes(bytes, vendor);
        let plain_key = plain_key(&transaction);
        Self {
            plain_authentication_key: plain_key.map(Ed25519PublicKey::authentication_key),
            transaction: Arc::new(transaction),
            hash,
            size_bytes: bytes.len(),
        }
    }

    /// Returns the signed transaction.
    pub fn transaction(&self) -> &SignedTransaction {
        &self.transaction
    }

    /// Returns the signed content.
    pub fn raw(&self) -> &RawTransaction {
        &self.transaction.raw
    }

    /// Returns the transaction hash.
    pub fn hash(&self) -> HashValue {
        self.hash
    }

    /// Returns the size of the BCS form, in bytes.
    pub fn size_bytes(&self) -> usize {
        self.size_bytes
    }

    /// Returns the authentication key of the sender's public key, or `None` if there is no key.
    ///
    /// # Errors
    ///
    /// Returns the error of [`TransactionAuthenticator::sender_authentication_key`].
    pub fn sender_authentication_key(&self) -> Result<Option<HashValue>, Discard> {
        match self.plain_authentication_key {
            Some(key) => Ok(Some(key)),
            None => self.transaction.authenticator.sender_authentication_key(),
        }
    }

    /// Returns a shared handle to the signed transaction.
    pub fn shared(&self) -> Arc<SignedTransaction> {
        Arc::clone(&self.transaction)
    }
}

/// Hashes of several transactions and of their plain keys, computed as two batches.
struct TransactionHashes {
    sizes_bytes: std::vec::IntoIter<usize>,
    hashes: std::vec::IntoIter<HashValue>,
    plain_authentication_keys: std::vec::IntoIter<HashValue>,
}

impl TransactionHashes {
    /// Computes the hashes of `transactions`.
    fn of<'t>(
        transactions: impl Iterator<Item = &'t SignedTransaction> + Clone,
        vendor: &Vendor,
    ) -> Self {
        let seed = &vendor.seeds().transaction;
        let mut batch = HashBatch::default();
        let sizes_bytes: Vec<_> = transactions
            .clone()
            .map(|transaction| {
                batch.push_bcs(seed, &(USER_TRANSACTION, transaction))
                    - size_of_val(&USER_TRANSACTION)
            })
            .collect();
        let hashes = batch.finish();
        for key in transactions.filter_map(plain_key) {
            key.push_authentication_key(&mut batch);
        }
        Self {
            sizes_bytes: sizes_bytes.into_iter(),
            hashes: hashes.into_iter(),
            plain_authentication_keys: batch.finish().into_iter(),
        }
    }

    /// Combines a transaction with its hashes. The calls must follow the order of the hashed
    /// transactions.
    ///
    /// # Panics
    ///
    /// Panics if there is no hash left.
    fn next_of(&mut self, transaction: SignedTransaction) -> CheckedTransaction {
        let mut next_key = || {
            self.plain_authentication_keys
                .next()
                .expect("one of each plain key")
        };
        CheckedTransaction {
            plain_authentication_key: plain_key(&transaction).map(|_| next_key()),
            hash: self.hashes.next().expect("one of each"),
            size_bytes: self.sizes_bytes.next().expect("one of each"),
            transaction: Arc::new(transaction),
        }
    }
}

/// Returns the key of a transaction with a single Ed25519 signature in the plain form.
fn plain_key(transaction: &SignedTransaction) -> Option<&Ed25519PublicKey> {
    match &transaction.authenticator {
        TransactionAuthenticator::Ed25519 { public_key, .. } => Some(public_key),
        _ => None,
    }
}
