//! The genesis file of a chain: its reader with all faults of a file, its writer with explanations,
//! and its description in words.

mod describe;
mod read;
mod write;

pub use describe::{describe_accounts, describe_chain};
pub use read::{GenesisFileError, parse_genesis, read_genesis};
pub use write::genesis_text;
