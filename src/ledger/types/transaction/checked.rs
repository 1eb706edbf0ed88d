//! Transactions with checked signatures, and the hashes of many of them.

use super::{
    RawTransaction, SignedTransaction, TransactionAuthenticator,
    check::check_all,
    raw::{USER_VARIANT, bcs_bytes, hash_of_bytes},
};
use crate::{Discard, Parameters, Vendor};
use bytes::Bytes;
use ledger_crypto::{DecodedKeys, Ed25519PublicKey, HashBatch, HashValue};
use std::sync::Arc;

impl SignedTransaction {
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

/// A signed transaction with checked signatures, its hash, and its size.
///
/// [`Self::check`] and [`Self::check_all`] are the only constructors for data from outside, so a
/// value proves the check. [`Self::new_unchecked`] leaves the check to the caller.
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
        Ok(Self::new_unchecked(transaction, vendor))
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
        let checked = transactions.into_iter().zip(verdicts);
        checked
            .map(|(transaction, verdict)| verdict.map(|()| hashes.attach_next(transaction)))
            .collect()
    }

    /// Creates a checked transaction without checking it.
    ///
    /// The signatures must have been checked before, as those in the node's own durable files, or
    /// must not matter, as in a simulation.
    pub fn new_unchecked(transaction: SignedTransaction, vendor: &Vendor) -> Self {
        let bytes = bcs_bytes(&transaction);
        Self::from_bytes(transaction, &bytes, vendor)
    }

    /// Creates a checked transaction from its BCS form `bytes`.
    fn from_bytes(transaction: SignedTransaction, bytes: &[u8], vendor: &Vendor) -> Self {
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

    /// Returns the BCS form of the signed transaction.
    pub fn encoded(&self) -> Bytes {
        bcs_bytes(&self.transaction).into()
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
                batch.push_bcs(seed, &(USER_VARIANT, transaction)) - size_of_val(&USER_VARIANT)
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
    fn attach_next(&mut self, transaction: SignedTransaction) -> CheckedTransaction {
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
