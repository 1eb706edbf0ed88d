//! `0x1::nonce_validation`: the nonces of orderless transactions that must not run again. Came with
//! version 3 of the framework; before that, no transaction is orderless.
//!
//! A nonce lies in one of [`BUCKETS`] buckets of a table, which a hash of sender and nonce chooses, so
//! that unrelated transactions rarely change the same slot. Whoever puts one into a bucket drops from it
//! what no longer matters, and a bucket holds [`BUCKET_NONCES_MAX`] at most: the table never needs a
//! sweep and never holds more than 65,536 x 512 x 24 bytes = 805 MB, however long it is used. To get
//! there takes 33 million paid transactions within [`REMEMBERED_SECS_MAX`].
//!
//! A sender can search for nonces that fall into one bucket, and fill it with 512 transactions. That
//! refuses one in 65,536 of the nonces that others choose at random, for 200 seconds, with a status that
//! says to take another. The bytes of a fuller bucket are charged to who uses it (`GasMeter::charge_nonces`).

use super::table::Table;
use ledger_crypto::HashValue;
use ledger_types::{AccountAddress, StateError, StateKey, StateView};
use ledger_vm::{Context, ModuleDeclaration, MoveStruct, VmError, move_structs};
use std::sync::LazyLock;

/// The version of the framework from which on transactions may be orderless.
pub const SINCE_FRAMEWORK_VERSION: u64 = 3;
/// How far ahead of the block an orderless transaction may expire, and how long after that its nonce
/// still refuses another one (the reference's overlap interval), in seconds.
pub const OVERLAP_SECS: u64 = 100;
/// The longest that a nonce is remembered, in seconds: until it expires, and the overlap.
pub const REMEMBERED_SECS_MAX: u64 = 2 * OVERLAP_SECS;
/// How many buckets there are. At 5,000 orderless transactions a second a million nonces are remembered,
/// 15 to a bucket: some 370 bytes to write for each, while two transactions of one block of 500 meet in
/// a slot about twice.
pub const BUCKETS: u64 = 65_536;
/// The most nonces of a bucket. At 100,000 orderless transactions a second a bucket holds 305 on average,
/// with a deviation of 17: only who searches for nonces fills one.
pub const BUCKET_NONCES_MAX: usize = 512;
/// The BCS length of a [`RememberedNonce`].
const NONCE_BYTES: usize = 24;

/// The table of buckets. It follows from its name, so that genesis need not make it.
static NONCE_TABLE: LazyLock<AccountAddress> = LazyLock::new(|| {
    let name = HashValue::sha3_of(&[
        AccountAddress::ONE.as_bytes(),
        b"nonce_validation::nonce_table",
    ]);
    AccountAddress::new(*name.as_bytes())
});

move_structs! {
    module "nonce_validation";

    /// A nonce that was used.
    RememberedNonce as "RememberedNonce" has ["copy", "drop", "store"] {
        /// The first 16 bytes of a hash of sender and nonce, as a little-endian number. To choose a nonce
        /// that stands for another sender's takes 2^128 tries.
        digest: u128,
        /// When the transaction expires, in seconds since 1970.
        txn_expiration_time: u64,
    }

    /// The nonces of a bucket, in the order in which they were used.
    Bucket as "Bucket" has ["store"] {
        /// At most 512.
        nonces: Vec<RememberedNonce>,
    }
}

/// Where a nonce of a sender is remembered, and as what.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NonceSlot {
    /// The number of its bucket.
    bucket: u64,
    /// Its digest.
    digest: u128,
}

impl NonceSlot {
    /// The place of `nonce` of `sender`.
    pub fn of(sender: &AccountAddress, nonce: u64) -> Self {
        let hash = HashValue::sha3_of(&[sender.as_bytes(), &nonce.to_le_bytes()]);
        let (digest, rest) = hash.as_bytes().split_at(16);
        let number = |bytes: &[u8]| {
            bytes
                .iter()
                .rev()
                .fold(0u128, |n, byte| n << 8 | u128::from(*byte))
        };
        Self {
            bucket: (number(&rest[..8]) % u128::from(BUCKETS)) as u64,
            digest: number(digest),
        }
    }

    /// The number of its bucket.
    pub fn bucket(&self) -> u64 {
        self.bucket
    }

    fn table_key(&self) -> Vec<u8> {
        bcs::to_bytes(&self.bucket).expect("numbers have a BCS form")
    }

    /// The state key of its bucket.
    pub fn state_key(&self) -> StateKey {
        StateKey::table_item(&NONCE_TABLE, &self.table_key())
    }
}

/// Why a nonce cannot be taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NonceError {
    /// It is remembered: a transaction that carried it expires at this time, in seconds since 1970.
    Used(u64),
    /// Its bucket is full.
    Full,
}

impl Bucket {
    /// Reads the bucket of `slot`; an empty one where nothing is.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub fn read(view: &dyn StateView, slot: &NonceSlot) -> Result<Self, StateError> {
        let Some(bytes) = view.get(&slot.state_key())? else {
            return Ok(Self { nonces: Vec::new() });
        };
        bcs::from_bytes(&bytes)
            .map_err(|error| StateError(format!("a bucket of nonces does not decode: {error}")))
    }

    /// Writes the bucket of `slot`. The first nonce of a bucket sees to it that the types of the table are
    /// recorded: the first one of a chain writes them, beside its own slots.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub fn write(&self, context: &mut Context<'_>, slot: &NonceSlot) -> Result<(), VmError> {
        if self.nonces.len() == 1 {
            Table::<u64, Self>::ensure_at(context, *NONCE_TABLE)?;
        }
        let bytes = bcs::to_bytes(self).expect("declared types have a BCS form");
        context.put_item(&NONCE_TABLE, &slot.table_key(), Some(bytes.into()))
    }

    /// How long the nonces are, in bytes.
    pub fn size_bytes(&self) -> usize {
        self.nonces.len().saturating_mul(NONCE_BYTES)
    }

    /// Whether a transaction that expires at `expiration_secs` may take the nonce of `slot` in a block
    /// at `now_secs`. It must have been seen that it expires at most [`OVERLAP_SECS`] after that block:
    /// while a remembered transaction is not expired, the overlap alone refuses every other.
    ///
    /// # Errors
    /// Why it may not.
    pub fn check(
        &self,
        slot: &NonceSlot,
        expiration_secs: u64,
        now_secs: u64,
    ) -> Result<(), NonceError> {
        let matters = || self.nonces.iter().filter(|nonce| nonce.matters(now_secs));
        match matters().find(|nonce| nonce.digest == slot.digest) {
            Some(used) if expiration_secs <= used.forgotten_secs() => {
                Err(NonceError::Used(used.txn_expiration_time))
            }
            Some(_) => Ok(()),
            None if matters().count() >= BUCKET_NONCES_MAX => Err(NonceError::Full),
            None => Ok(()),
        }
    }

    /// Puts in a nonce that [`Self::check`] let through, and drops those that no longer matter.
    pub fn remember(&mut self, slot: &NonceSlot, expiration_secs: u64, now_secs: u64) {
        self.nonces
            .retain(|nonce| nonce.matters(now_secs) && nonce.digest != slot.digest);
        self.nonces.push(RememberedNonce {
            digest: slot.digest,
            txn_expiration_time: expiration_secs,
        });
    }
}

impl RememberedNonce {
    /// The last second at which it matters.
    fn forgotten_secs(&self) -> u64 {
        self.txn_expiration_time.saturating_add(OVERLAP_SECS)
    }

    /// Whether it can still refuse a transaction: one in a block later than this expires later too.
    fn matters(&self, now_secs: u64) -> bool {
        now_secs <= self.forgotten_secs()
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
