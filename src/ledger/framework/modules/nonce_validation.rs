//! `0x1::nonce_validation`: the nonces of recent orderless transactions, which must not run again.
//!
//! Version 3 of the framework introduced this module. Before that version, a chain accepts no
//! orderless transactions.
//!
//! A hash of sender and nonce selects one of [`BUCKETS`] buckets in a table, so that unrelated
//! transactions rarely change the same slot. Each insertion into a bucket drops the nonces that can
//! no longer reject a transaction, and a bucket holds at most [`BUCKET_NONCES_MAX`] nonces. The
//! table therefore needs no sweep and never holds more than 65,536 x 512 x 24 bytes = 805 MB.
//! Reaching this size takes 33 million paid transactions within [`REMEMBERED_SECS_MAX`].
//!
//! A sender can search for nonces of one bucket and fill it with 512 transactions. For 200 seconds,
//! this rejects one in 65,536 of the random nonces of other senders, with a status that requires
//! another nonce. Transactions that use the bucket pay for its bytes (`GasMeter::charge_nonces`).

use super::table::Table;
use ledger_crypto::HashValue;
use ledger_types::{AccountAddress, StateError, StateKey, StateView};
use ledger_vm::{Context, ModuleDeclaration, MoveStruct, VmError, move_structs};
use std::sync::LazyLock;

/// Framework version that introduced orderless transactions.
pub const SINCE_FRAMEWORK_VERSION: u64 = 3;

/// Maximum time from the block to the expiration of an orderless transaction, in seconds.
///
/// For the same time after the expiration, the nonce still rejects other transactions. This is the
/// overlap interval of the reference node.
pub const OVERLAP_SECS: u64 = 100;

/// Maximum time that a nonce is remembered, in seconds: until its expiration, plus the overlap.
pub const REMEMBERED_SECS_MAX: u64 = 2 * OVERLAP_SECS;

/// Number of buckets.
///
/// At 5,000 orderless transactions per second, a million nonces are remembered, 15 per bucket. Each
/// transaction then writes about 370 bytes. In a block of 500 transactions, two transactions share
/// a slot about twice.
pub const BUCKETS: u64 = 65_536;

/// Maximum number of nonces in a bucket.
///
/// At 100,000 orderless transactions per second, a bucket holds 305 on average, with a standard
/// deviation of 17. Only a sender that searches for nonces of one bucket can fill it.
pub const BUCKET_NONCES_MAX: usize = 512;

/// Length of the BCS form of a [`RememberedNonce`], in bytes.
const NONCE_BYTES: usize = 24;

/// Handle of the table of buckets. It is derived from a name, so genesis does not create the table.
static NONCE_TABLE: LazyLock<AccountAddress> = LazyLock::new(|| {
    let name = HashValue::sha3_of(&[
        AccountAddress::ONE.as_bytes(),
        b"nonce_validation::nonce_table",
    ]);
    AccountAddress::new(*name.as_bytes())
});

move_structs! {
    module "nonce_validation";

    /// A used nonce.
    RememberedNonce as "RememberedNonce" has ["copy", "drop", "store"] {
        /// First 16 bytes of a hash of sender and nonce, as a little-endian number. Finding a nonce
        /// whose digest equals that of another sender's nonce takes 2^128 tries.
        digest: u128,
        /// Expiration time of the transaction, in seconds since 1970.
        txn_expiration_time: u64,
    }

    /// The nonces of a bucket, in order of use.
    Bucket as "Bucket" has ["store"] {
        /// Remembered nonces, at most [`BUCKET_NONCES_MAX`].
        nonces: Vec<RememberedNonce>,
    }
}

/// The bucket and the digest of a sender's nonce.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NonceSlot {
    /// Number of the bucket.
    bucket: u64,
    /// Digest of sender and nonce.
    digest: u128,
}

impl NonceSlot {
    /// Computes the slot of `nonce` of `sender`.
    pub fn new(sender: &AccountAddress, nonce: u64) -> Self {
        let hash = HashValue::sha3_of(&[sender.as_bytes(), &nonce.to_le_bytes()]);
        let (digest, bucket_bytes) = hash.as_bytes().split_at(16);
        let from_little_endian = |bytes: &[u8]| {
            bytes
                .iter()
                .rev()
                .fold(0u128, |n, byte| n << 8 | u128::from(*byte))
        };
        Self {
            bucket: (from_little_endian(&bucket_bytes[..8]) % u128::from(BUCKETS)) as u64,
            digest: from_little_endian(digest),
        }
    }

    /// Returns the number of the bucket.
    pub fn bucket(&self) -> u64 {
        self.bucket
    }

    fn table_key(&self) -> Vec<u8> {
        bcs::to_bytes(&self.bucket).expect("numbers have a BCS form")
    }

    /// Returns the state key of the bucket.
    pub fn state_key(&self) -> StateKey {
        StateKey::table_item(&NONCE_TABLE, &self.table_key())
    }
}

/// The reason for the rejection of a nonce.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NonceError {
    /// The nonce was used by a transaction that expires at this time, in seconds since 1970.
    Used(u64),
    /// The bucket is full.
    Full,
}

impl Bucket {
    /// Reads the bucket of `slot`, which is empty if the state has none.
    ///
    /// # Errors
    ///
    /// Returns [`StateError`] if the state cannot be read or the bucket does not decode.
    pub fn read(view: &dyn StateView, slot: &NonceSlot) -> Result<Self, StateError> {
        let Some(bytes) = view.get(&slot.state_key())? else {
            return Ok(Self { nonces: Vec::new() });
        };
        bcs::from_bytes(&bytes)
            .map_err(|error| StateError(format!("a bucket of nonces does not decode: {error}")))
    }

    /// Writes the bucket of `slot`.
    ///
    /// A bucket with one nonce also records the types of the table if they are missing. The first
    /// nonce of a chain therefore writes one more slot than later ones.
    ///
    /// # Errors
    ///
    /// Returns [`VmError::State`] if the state cannot be read or decoded, and [`VmError::OutOfGas`]
    /// if gas runs out.
    pub fn write(&self, context: &mut Context<'_>, slot: &NonceSlot) -> Result<(), VmError> {
        if self.nonces.len() == 1 {
            Table::<u64, Self>::ensure_at(context, *NONCE_TABLE)?;
        }
        let bytes = bcs::to_bytes(self).expect("declared types have a BCS form");
        context.write_item(&NONCE_TABLE, &slot.table_key(), Some(bytes.into()))
    }

    /// Returns the size of the nonces, in bytes.
    pub fn size_bytes(&self) -> usize {
        self.nonces.len().saturating_mul(NONCE_BYTES)
    }

    /// Returns the expiration of the newest transaction that used the nonce of `slot`, in seconds
    /// since 1970, or `None` if the bucket does not hold the nonce.
    pub fn expiration_secs(&self, slot: &NonceSlot) -> Option<u64> {
        let mut nonces = self.nonces.iter();
        let used = nonces.find(|nonce| nonce.digest == slot.digest)?;
        Some(used.txn_expiration_time)
    }

    /// Checks whether a transaction that expires at `expiration_secs` may use the nonce of `slot`
    /// in a block at `now_secs`.
    ///
    /// The caller must have checked that the transaction expires at most [`OVERLAP_SECS`] after the
    /// block. If a remembered transaction with the same nonce has not expired, the new one
    /// therefore expires within its overlap and is rejected.
    ///
    /// # Errors
    ///
    /// Returns [`NonceError::Used`] if the nonce is remembered and the transaction expires within
    /// the overlap of the remembered one, and [`NonceError::Full`] if the bucket is full.
    pub fn check(
        &self,
        slot: &NonceSlot,
        expiration_secs: u64,
        now_secs: u64,
    ) -> Result<(), NonceError> {
        let can_reject = || {
            self.nonces
                .iter()
                .filter(|nonce| nonce.can_reject(now_secs))
        };
        match can_reject().find(|nonce| nonce.digest == slot.digest) {
            Some(used) if expiration_secs <= used.last_rejection_secs() => {
                Err(NonceError::Used(used.txn_expiration_time))
            }
            Some(_) => Ok(()),
            None if can_reject().count() >= BUCKET_NONCES_MAX => Err(NonceError::Full),
            None => Ok(()),
        }
    }

    /// Inserts a nonce that passed [`Self::check`], and drops the nonces that can no longer reject
    /// a transaction.
    pub fn insert(&mut self, slot: &NonceSlot, expiration_secs: u64, now_secs: u64) {
        self.nonces
            .retain(|nonce| nonce.can_reject(now_secs) && nonce.digest != slot.digest);
        self.nonces.push(RememberedNonce {
            digest: slot.digest,
            txn_expiration_time: expiration_secs,
        });
    }
}

impl RememberedNonce {
    /// Returns the last second at which the nonce can reject a transaction, in seconds since 1970.
    fn last_rejection_secs(&self) -> u64 {
        self.txn_expiration_time.saturating_add(OVERLAP_SECS)
    }

    /// Returns whether the nonce can reject a transaction in a block at `now_secs`.
    ///
    /// A transaction in a block after [`Self::last_rejection_secs`] also expires after it, so the
    /// nonce cannot reject the transaction.
    fn can_reject(&self, now_secs: u64) -> bool {
        now_secs <= self.last_rejection_secs()
    }
}

pub(super) fn module() -> ModuleDeclaration {
    ModuleDeclaration {
        name: "nonce_validation",
        structs: vec![Bucket::declaration(), RememberedNonce::declaration()],
        functions: vec![],
        errors: &[],
    }
}
