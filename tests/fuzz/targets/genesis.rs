//! The genesis in the operator's file (TOML) and in the store (JSON). A valid one executes as the
//! first block of a chain.

use ledger_execution::{build_chain, execute_genesis};
use ledger_types::Genesis;

/// Maximum number of accounts of an executed genesis. More take time and reach no new code.
const ACCOUNTS_MAX: usize = 8;

pub fn run(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else {
        return;
    };
    let genesis: Option<Genesis> = serde_json::from_str(text).ok();
    let Some(genesis) = genesis.or_else(|| toml::from_str(text).ok()) else {
        return;
    };
    let written = serde_json::to_vec(&genesis).expect("a genesis has a JSON form");
    let again: Genesis =
        serde_json::from_slice(&written).expect("a genesis that was written is read");
    assert!(again == genesis, "a genesis changes when it is written");
    genesis.faucet_key();
    if genesis.accounts.len() > ACCOUNTS_MAX {
        return;
    }
    if let Ok(chain) = build_chain(&genesis) {
        let block = execute_genesis(&genesis, &chain);
        assert_eq!(block.last_version(), 0, "the first block is one version");
    }
}
