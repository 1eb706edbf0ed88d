//! Fuzzing targets. A target accepts any bytes and panics if a property is violated.
//!
//! Shared by the fuzzer (`fuzz.rs`) and by the test that runs the corpus (`main.rs`).

mod genesis;
mod requests;
mod rows;
mod saved_pool;
mod submission;
mod text;
mod transaction;
mod types;
mod values;

use ledger_framework::new_chain;
use ledger_types::{Parameters, Vendor};
use ledger_vm::Chain;
use std::sync::OnceLock;

/// A function of the node that decodes bytes of others.
#[derive(Debug)]
pub struct Target {
    /// The name of its directory in the corpus.
    pub name: &'static str,
    /// Panics if `input` violates a property.
    pub run: fn(input: &[u8]),
}

/// All targets. The first five decode input of any client and the rows of the store.
pub const TARGETS: &[Target] = &[
    target("transaction", transaction::run),
    target("submission", submission::run),
    target("types", types::run),
    target("requests", requests::run),
    target("rows", rows::run),
    target("values", values::run),
    target("text", text::run),
    target("genesis", genesis::run),
    target("saved_pool", saved_pool::run),
];

const fn target(name: &'static str, run: fn(&[u8])) -> Target {
    Target { name, run }
}

/// Returns the chain for which inputs are decoded.
fn chain() -> &'static Chain {
    static CHAIN: OnceLock<Chain> = OnceLock::new();
    CHAIN.get_or_init(|| new_chain(4, Vendor::default(), Parameters::default()))
}

/// Splits an input at its first line break.
fn first_line(input: &[u8]) -> (&[u8], &[u8]) {
    let end = input.iter().position(|byte| *byte == b'\n');
    match end {
        Some(end) => (&input[..end], &input[end + 1..]),
        None => (input, &[]),
    }
}
