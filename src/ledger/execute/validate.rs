//! The rules that a transaction must meet before it may cost anything: the same function decides
//! at submission, against the newest committed facts, and in a block's prologue, against its state.

use super::Discard;
use crate::{AccountAddress, Chain, CheckedTransaction, HashValue, StateError, StateView};

/// Sequence numbers from here on are refused (`SEQUENCE_NUMBER_TOO_BIG`).
pub const SEQUENCE_NUMBER_MAX: u64 = 1 << 63;

/// What validation needs to know of an account.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccountFacts {
    /// The sequence number of its next transaction.
    pub sequence_number: u64,
    /// Which key may sign for it.
    pub authentication_key: HashValue,
    /// Its balance of the chain's coin, in the smallest unit.
    pub balance: u64,
}

impl AccountFacts {
    /// Reads the facts of `address`. An account without an account resource has sequence number 0,
    /// its own address as authentication key, and whatever its coin store holds.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub fn read(chain: &Chain, view: &dyn StateView, address: &AccountAddress) -> Result<Self, StateError> {
        let _ = (chain, view, address);
        todo!()
    }
}

/// Checks a submitted transaction against the newest committed facts of its sender. A sequence
/// number above the account's is fine here: the pool parks it.
///
/// `now_secs` is Unix time. Order of the checks: rest-behaviour section 2.2, last paragraph.
///
/// # Errors
/// The first rule that is broken.
pub fn validate_for_admission(
    chain: &Chain,
    sender: &AccountFacts,
    transaction: &CheckedTransaction,
    now_secs: u64,
) -> Result<(), Discard> {
    let _ = (chain, sender, transaction, now_secs);
    todo!()
}
