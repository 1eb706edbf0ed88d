//! The order in which accounts wait and are served, for the simulation of shares.

use ledger_types::AccountAddress;
use std::sync::{Arc, Mutex};

/// A change of the waiting transactions of an account.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AccountTurn {
    /// The pool admitted a transaction.
    Admitted {
        sender: AccountAddress,
        /// Estimate of the transaction, in microseconds.
        cost_usecs: u64,
    },
    /// A block took a transaction.
    Taken {
        sender: AccountAddress,
        /// Estimate of the transaction as of its admission, in microseconds.
        cost_usecs: u64,
    },
}

/// The changes of a pool since the log was created.
pub(crate) type TurnLog = Arc<Mutex<Vec<AccountTurn>>>;
