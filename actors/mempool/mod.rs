//! The mempool.

mod gas;

pub use gas::GasEstimate;
