//! Execution time and gas of each entry function of the framework, to check that gas follows cost.
//!
//! `cargo bench -p ledger-execution --bench functions` prints the time, the gas and the calls per
//! second of one core.
//!
//! The calls are the first successful case of each function in the tests
//! (`src/ledger/execution/tests/functions`), all successful cases of `bounds.rs` there, and the
//! cases with the worst arguments (`functions_worst.rs`). Each call is executed repeatedly on the
//! state before it. Gas excludes the storage fee, which pays for space, not for time.
//!
//! The column `dear` is the time per gas unit, relative to a transfer of the chain's coin. With
//! `--check` the run fails if it is above 5 for any call.

// The bench prints its table.
#![allow(clippy::print_stdout)]

#[allow(
    dead_code,
    unused_imports,
    reason = "the bench uses a part of what the tests do"
)]
#[path = "../src/ledger/execution/tests/functions/mod.rs"]
mod functions;
#[path = "functions_worst.rs"]
mod worst;

pub(crate) use functions::*;

use ledger_execution::execute_block;
use ledger_test_support::next_block;
use ledger_types::OrderedBlock;
use ledger_vm::Chain;
use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, Instant},
};

/// Number of executions of each block. The result is their median.
const ROUNDS: usize = 201;
/// Maximum time per gas unit, relative to the transfer.
const DEAR_MAX: f64 = 5.0;
/// Function that all others are compared with.
const TRANSFER: &str = "0x1::node_account::transfer";

/// The measurement of one function.
struct Row {
    function: &'static str,
    gas_units: u64,
    micros: f64,
}

impl Row {
    fn micros_per_gas_unit(&self) -> f64 {
        self.micros / self.gas_units as f64
    }
}

fn main() {
    let mut measured_functions = BTreeSet::new();
    let first = cases()
        .into_iter()
        .filter(|case| case.succeeds() && measured_functions.insert(case.function()));
    let rows: Vec<Row> = first
        .chain(worst::cases())
        .chain(bounds::cases().into_iter().filter(Case::succeeds))
        .map(|case| measure(&case))
        .collect();
    let transfer = rows
        .iter()
        .find(|row| row.function == TRANSFER)
        .expect("the transfer is among the cases")
        .micros_per_gas_unit();
    println!(
        "{:<72} {:>8} {:>8} {:>10} {:>6}",
        "function", "gas", "us", "per s", "dear"
    );
    let mut is_within_limit = true;
    for row in &rows {
        let dear = row.micros_per_gas_unit() / transfer;
        is_within_limit &= dear <= DEAR_MAX;
        let per_second = 1e6 / row.micros;
        let Row {
            function,
            gas_units,
            micros,
        } = row;
        println!("{function:<72} {gas_units:>8} {micros:>8.1} {per_second:>10.0} {dear:>6.2}");
    }
    if std::env::args().any(|argument| argument == "--check") && !is_within_limit {
        std::process::exit(1);
    }
}

/// Measures the call of a case on the state before it.
///
/// The time of an empty block is subtracted, so that the result is the time of the call alone.
fn measure(case: &Case) -> Row {
    let mut world = World::new();
    let executed = case.run(&mut world);
    let newest = world.newest.as_ref().expect("a case runs a call");
    let block_time = median(
        world.chain(),
        newest,
        &[Arc::new(newest.transaction.clone())],
    );
    let empty_block_time = median(world.chain(), newest, &[]);
    Row {
        function: case.function(),
        gas_units: world.gas_without_storage(&executed),
        micros: block_time.saturating_sub(empty_block_time).as_secs_f64() * 1e6,
    }
}

fn median(
    chain: &Chain,
    newest: &Newest,
    transactions: &[Arc<ledger_types::CheckedTransaction>],
) -> Duration {
    let state = |key: &ledger_types::StateKey| Ok(newest.state.get(key).cloned());
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let block = OrderedBlock {
                transactions: transactions.to_vec(),
                ..next_block(&newest.tip)
            };
            let begin = Instant::now();
            let executed =
                execute_block(chain, &newest.tip, &state, block).expect("the case ran before");
            let time = begin.elapsed();
            assert!(executed.discarded.is_empty(), "it ran before");
            time
        })
        .collect();
    times.sort();
    times[ROUNDS / 2]
}
