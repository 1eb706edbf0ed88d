//! SHA3-256 hashes: of one value (`value`), and of many values in parallel (`batch`,
//! `permutation`).

mod batch;
mod permutation;
mod value;

pub use batch::HashBatch;
pub use value::{HashError, HashValue, Seed};
