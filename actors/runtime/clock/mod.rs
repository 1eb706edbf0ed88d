//! The system clock as a value that tests replace, and the ledger's time that is derived from it.

mod bounded;
mod ledger_clock;
mod source;
#[cfg(test)]
mod tests;

pub use bounded::ClockState;
pub use ledger_clock::ClockStatus;
pub(crate) use ledger_clock::LedgerClock;
pub use source::{Clock, ClockReading, thread_processor_usecs};
