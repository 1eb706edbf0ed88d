//! What a client signs and submits, its signing message and hash, and the proof that it was checked.

use super::{
    TransactionAuthenticator, TransactionPayload, authenticator::check_all, payload::EntryFunction,
};
use crate::{AccountAddress, Discard, Parameters, Vendor};
use ledger_crypto::{DecodedKeys, Ed25519PublicKey, HashBatch, HashValue};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// How deep a submitted transaction may nest in BCS; the reference's limit.
pub const SIGNED_TRANSACTION_DEPTH_MAX: usize = 16;

/// A transaction before it is signed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RawTransaction {
    /// Who sends it.
    pub sender: AccountAddress,
    /// The sender's sequence number; ignored when the payload carries a nonce.
    pub sequence_number: u64,
    /// What it does.
    pub payload: TransactionPayload,
    /// The most gas units it may use.
    pub max_gas_amount: u64,
    /// What the sender pays for a gas unit, in the coin's smallest unit.
    pub gas_unit_price: u64,
    /// Unix seconds; a block of this time or later does not take it.
    pub expiration_timestamp_secs: u64,
    /// The chain it is for.
    pub chain_id: u8,
}

/// What keeps a transaction from being executed twice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum ReplayProtector {
    /// A number that the sender uses once before the transaction expires.
    Nonce(u64),
    /// The sender's sequence number.
    SequenceNumber(u64),
}

impl RawTransaction {
    /// The bytes that a single signer signs: the chain's seed, then the BCS bytes.
    pub fn signing_message(&self, vendor: &Vendor) -> Vec<u8> {
        /// Those of a transfer take a half.
        const USUAL_BYTES: usize = 512;
        let mut message = Vec::with_capacity(USUAL_BYTES);
        message.extend_from_slice(vendor.seeds().raw_transaction.as_bytes());
        bcs::serialize_into(&mut message, self).expect("a transaction has a BCS form");
        message
    }

    /// The nonce of an orderless transaction, else the sequence number.
    pub fn replay_protector(&self) -> ReplayProtector {
        match self.payload.replay_protection_nonce() {
            Some(nonce) => ReplayProtector::Nonce(nonce),
            None => ReplayProtector::SequenceNumber(self.sequence_number),
        }
    }

    /// The entry function it calls, in either wire form.
    pub fn entry_function(&self) -> Option<&EntryFunction> {
        self.payload.entry_function()
    }
}

/// A transaction with its signatures.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SignedTransaction {
    /// What was signed.
    pub raw: RawTransaction,
    /// By whom.
    pub authenticator: TransactionAuthenticator,
}

impl SignedTransaction {
    /// The transaction hash: over `Transaction::User(self)`, so it covers the signatures.
    pub fn hash(&self, vendor: &Vendor) -> HashValue {
        hash_of_bytes(&bcs_bytes(self), vendor)
    }

    /// The account that pays: the fee payer where there is one, else the sender.
    pub fn gas_payer(&self) -> AccountAddress {
        let fee_payer = self.authenticator.fee_payer();
        fee_payer.map_or(self.raw.sender, |(address, _)| address)
    }

    /// How long its BCS form is.
    ///
    /// # Panics
    /// Never: a transaction has a BCS form.
    pub fn size_bytes(&self) -> usize {
        bcs::serialized_size(self).expect("a transaction has a BCS form")
    }

    /// Checks the size, the form of the signatures, then the signatures.
    ///
    /// # Errors
    /// The validation status that refuses the transaction: too large, a signature that does not hold,
    /// or a kind of signature that this ledger does not check.
    ///
    /// # Panics
    /// Never: one transaction has one verdict.
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

fn bcs_bytes(transaction: &SignedTransaction) -> Vec<u8> {
    bcs::to_bytes(transaction).expect("a transaction has a BCS form")
}

/// The byte that stands before the BCS form of a signed transaction in what its hash is made of.
const USER_TRANSACTION: u8 = 0;

/// The transaction hash from the BCS form of a signed transaction.
fn hash_of_bytes(bytes: &[u8], vendor: &Vendor) -> HashValue {
    vendor
        .seeds()
        .transaction
        .hash(&[&[USER_TRANSACTION], bytes])
}

/// Decodes the body of a submission.
///
/// # Errors
/// When `bytes` are no signed transaction, nest too deep, have bytes left over, or use a variant
/// that this ledger does not know; the text names it.
pub fn decode_signed_transaction(bytes: &[u8]) -> Result<SignedTransaction, bcs::Error> {
    bcs::from_bytes_with_limit(bytes, SIGNED_TRANSACTION_DEPTH_MAX)
}

/// A signed transaction whose signatures hold, with its hash and size.
///
/// Only [`CheckedTransaction::check`] makes one from outside data, so holding one is the proof.
/// The authentication key of the signer is compared with the account by the prologue, against the
/// state of the block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckedTransaction {
    transaction: Arc<SignedTransaction>,
    hash: HashValue,
    size_bytes: usize,
    /// What a plain ed25519 key stands for: it is asked for twice.
    plain_authentication_key: Option<HashValue>,
}

impl CheckedTransaction {
    /// Takes a transaction that passes [`SignedTransaction::check`].
    ///
    /// # Errors
    /// The validation status that refuses the transaction.
    pub fn check(
        transaction: SignedTransaction,
        vendor: &Vendor,
        parameters: &Parameters,
    ) -> Result<Self, Discard> {
        transaction.check(vendor, parameters)?;
        Ok(Self::trusted(transaction, vendor))
    }

    /// As [`Self::check`], for many at once, with the same verdicts: ed25519 signatures are checked
    /// together, which costs about half as much for each. `keys` spares the
    /// decoding of keys that were met before.
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

    /// Takes a transaction that was checked before: read back from the node's own durable files.
    pub fn trusted(transaction: SignedTransaction, vendor: &Vendor) -> Self {
        let bytes = bcs_bytes(&transaction);
        Self::of_bytes(transaction, &bytes, vendor)
    }

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

    /// The transaction.
    pub fn transaction(&self) -> &SignedTransaction {
        &self.transaction
    }

    /// What was signed.
    pub fn raw(&self) -> &RawTransaction {
        &self.transaction.raw
    }

    /// The transaction hash.
    pub fn hash(&self) -> HashValue {
        self.hash
    }

    /// The length of the BCS form, in bytes.
    pub fn size_bytes(&self) -> usize {
        self.size_bytes
    }

    /// The authentication key that the sender's key stands for; see
    /// [`TransactionAuthenticator::sender_authentication_key`].
    ///
    /// # Errors
    /// As there.
    pub fn sender_authentication_key(&self) -> Result<Option<HashValue>, Discard> {
        match self.plain_authentication_key {
            Some(key) => Ok(Some(key)),
            None => self.transaction.authenticator.sender_authentication_key(),
        }
    }

    /// The transaction, for whoever keeps it.
    pub fn shared(&self) -> Arc<SignedTransaction> {
        Arc::clone(&self.transaction)
    }
}

/// The hashes of many transactions and of their plain keys, made side by side.
struct TransactionHashes {
    sizes_bytes: std::vec::IntoIter<usize>,
    hashes: std::vec::IntoIter<HashValue>,
    plain_authentication_keys: std::vec::IntoIter<HashValue>,
}

impl TransactionHashes {
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

    /// The next of the transactions that these are the hashes of.
    ///
    /// # Panics
    /// When there is none.
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

/// The key of a transaction that one ed25519 key signed in the plain form.
fn plain_key(transaction: &SignedTransaction) -> Option<&Ed25519PublicKey> {
    match &transaction.authenticator {
        TransactionAuthenticator::Ed25519 { public_key, .. } => Some(public_key),
        _ => None,
    }
}
