//! The genesis, in the operator's file (TOML) and in the store (JSON).
//!
//! Checks that an accepted genesis keeps its value in JSON, and that it either is rejected as a
//! chain or executes to a first block of one version.

use ledger_execution::{build_chain, execute_genesis};
use ledger_types::Genesis;

/// Maximum number of accounts of a genesis that is executed.
///
/// Execution time is proportional to the number of accounts, and more accounts reach no new code.
const ACCOUNTS_MAX: usize = 8;

/// Checks a genesis in JSON or TOML.
///
/// # Panics
///
/// Panics if the JSON form decodes to another genesis, or if the first block has several versions.
pub fn run(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else {
        return;
    };
    let genesis: Option<Genesis> = serde_json::from_str(text).ok();
    let Some(genesis) = genesis.or_else(|| toml::from_str(text).ok()) else {
        return;
    };
    let json = serde_json::to_vec(&genesis).expect("a genesis has a JSON form");
    let decoded: Genesis =
        serde_json::from_slice(&json).expect("the JSON form of a genesis is a genesis");
    assert!(
        decoded == genesis,
        "the JSON form decodes to another genesis"
    );
    // Must not panic for any key.
    genesis.faucet_key();
    if genesis.accounts.len() > ACCOUNTS_MAX {
        return;
    }
    if let Ok(chain) = build_chain(&genesis) {
        let block = execute_genesis(&genesis, &chain);
        assert_eq!(block.last_version(), 0, "the first block has one version");
    }
}
