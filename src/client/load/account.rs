//! Accounts that send transfers, and the transfers that are signed for them.

use crate::signer::Signer;
use bytes::Bytes;
use ledger_crypto::HashValue;
use ledger_types::{AccountAddress, ReplayProtector};
use std::collections::VecDeque;

/// An account that one connection sends from.
///
/// Connections share an account only if transfers are orderless. Each then has its own copy.
#[derive(Debug)]
pub struct SendingAccount {
    pub(super) signer: Signer,
    /// The replay protector of the next transfer.
    pub(super) next_protector: ReplayProtector,
    /// The account that receives all transfers.
    pub(super) recipient: AccountAddress,
    /// The next transfers, as far as they were signed before the load.
    pub(super) signed_in_advance: VecDeque<SignedTransfer>,
}

/// A signed transfer, encoded as the body of its submission.
#[derive(Debug)]
pub struct SignedTransfer {
    pub(super) protector: ReplayProtector,
    pub(super) hash: HashValue,
    pub(super) body: Bytes,
}

/// Returns the replay protector of the transfer that is `count` transfers after the one with
/// `protector`.
pub(super) fn protector_after(protector: ReplayProtector, count: u64) -> ReplayProtector {
    match protector {
        ReplayProtector::SequenceNumber(number) => {
            ReplayProtector::SequenceNumber(number.saturating_add(count))
        }
        ReplayProtector::Nonce(nonce) => ReplayProtector::Nonce(nonce.wrapping_add(count)),
    }
}
