//! Raw and signed transactions, their signing message and their hash.

use super::{TransactionAuthenticator, TransactionPayload, payload::EntryFunction};
use crate::{AccountAddress, Vendor};
use ledger_crypto::HashValue;
use serde::{Deserialize, Serialize};

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
        const TYPICAL_BYTES: usize = 512;
        let mut message = Vec::with_capacity(TYPICAL_BYTES);
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
}

/// Returns the BCS form of a transaction.
pub(super) fn bcs_bytes(transaction: &SignedTransaction) -> Vec<u8> {
    bcs::to_bytes(transaction).expect("a transaction has a BCS form")
}

/// Byte that precedes the BCS form of a signed transaction in the input of its hash: the variant
/// index of `Transaction::User`.
pub(super) const USER_VARIANT: u8 = 0;

/// Returns the transaction hash of a signed transaction in its BCS form.
pub(super) fn hash_of_bytes(bytes: &[u8], vendor: &Vendor) -> HashValue {
    vendor.seeds().transaction.hash(&[&[USER_VARIANT], bytes])
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
