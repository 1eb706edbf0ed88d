//! Stores of development chains.

use crate::test_genesis;
use ledger_execution::{build_chain, execute_genesis};
use ledger_store::{Store, StoreOptions};
use ledger_types::{Genesis, Parameters};
use ledger_vm::Chain;
use std::path::Path;

/// Size of the database cache, in bytes. The state of a test's chain fits.
const CACHE_BYTES: u64 = 8 << 20;

/// Opens the store in `directory`, and creates a development chain in it if it is empty.
///
/// # Panics
///
/// Panics if the store cannot be read or written, as all functions of this module do.
pub fn open_store(directory: &Path) -> (Chain, Store) {
    open_store_with(directory, Parameters::default())
}

/// Opens the store in `directory`. If it is empty, creates a development chain with these
/// parameters in it.
pub fn open_store_with(directory: &Path, parameters: Parameters) -> (Chain, Store) {
    let options = StoreOptions {
        cache_bytes: CACHE_BYTES,
    };
    let store = Store::open(directory, &options).expect("the store opens");
    initialize_store(store, &test_genesis(parameters))
}

/// Creates the chain of this genesis in the store if it is empty.
pub fn initialize_store(mut store: Store, genesis: &Genesis) -> (Chain, Store) {
    let chain = build_chain(genesis).expect("a valid genesis");
    if store.genesis().expect("a readable store").is_none() {
        store
            .initialize(genesis, &execute_genesis(genesis, &chain))
            .expect("a writable store");
    }
    (chain, store)
}
