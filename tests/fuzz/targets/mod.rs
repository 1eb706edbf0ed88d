//! Targets of the fuzzer. Each takes any bytes, and panics if a property does not hold for them.
//!
//! The fuzzer (`fuzz.rs`) and the test that runs the corpus (`main.rs`) share them.

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

/// An entry point of the node that decodes input from outside.
#[derive(Debug)]
pub struct Target {
    /// Name of the target and of its file in the corpus.
    pub name: &'static str,
    /// Runs the target. Panics if a property does not hold for `input`.
    pub run: fn(input: &[u8]),
}

/// All targets. The first five decode input from the network and rows of the store; `run_target.sh`
/// runs them three times as long as the others.
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

/// Returns the chain whose types and parameters apply to the inputs.
fn chain() -> &'static Chain {
    static CHAIN: OnceLock<Chain> = OnceLock::new();
    CHAIN.get_or_init(|| new_chain(4, Vendor::default(), Parameters::default()))
}

/// Splits an input at its first line break, which is in neither part. Without a line break, the
/// second part is empty.
fn first_line(input: &[u8]) -> (&[u8], &[u8]) {
    let end = input.iter().position(|byte| *byte == b'\n');
    match end {
        Some(end) => (&input[..end], &input[end + 1..]),
        None => (input, &[]),
    }
}
