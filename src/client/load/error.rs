//! Errors of the load generator.

use crate::ClientError;
use ledger_types::AccountAddress;
use std::io;

/// An error that ends a run, or prevents it.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A request to the node or the faucet failed.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The operating system did not start a thread or its runtime.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The operating system provided no random number.
    #[error("the operating system returned no random bytes: {0}")]
    Randomness(getrandom::Error),
    /// The sum of all grants and fees exceeds 64 bits. Nothing was paid.
    #[error("the total balance of the accounts exceeds 64 bits")]
    GrantOverflow,
    /// The faucet paid less than the accounts need. No account was funded.
    #[error(
        "the faucet paid {paid} of the {needed} that the accounts need; raise faucet.amount_max"
    )]
    GrantTooSmall {
        /// The balance after the payment, in the coin's smallest unit.
        paid: u64,
        /// The sum of all grants and fees, in the coin's smallest unit.
        needed: u64,
    },
    /// The account that pays for the run holds less than the accounts need. Nothing was paid.
    #[error(
        "{address}, which pays for the run, holds {held} of the {needed} that the accounts need; use \
         fewer accounts, or another key"
    )]
    AccountTooPoor {
        /// The account.
        address: AccountAddress,
        /// Its balance, in the coin's smallest unit.
        held: u64,
        /// The sum of all grants and fees, in the coin's smallest unit.
        needed: u64,
    },
    /// A batch transfer was committed and failed. Earlier batches have funded their accounts.
    #[error("funding the accounts failed: {vm_status}")]
    FundingFailed {
        /// The status of the execution, in words.
        vm_status: String,
    },
    /// A thread of the load panicked.
    #[error("a thread of the load generator panicked")]
    ThreadPanicked,
}
