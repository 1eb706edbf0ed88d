//! The executor's time for each sender and function, which the newest blocks show.

use super::reading::Sources;
use ledger_actors::RecentBlock;
use ledger_api::Execution;
use std::mem;

/// Number of transactions of a second that are recorded, at least if there are as many. The share
/// of a sender with half of the time is then exact to about two percent.
const TRANSACTIONS_MAX: usize = 512;

/// The record of the executor's time.
#[derive(Debug, Default)]
pub(super) struct Executions {
    /// Height of the newest block that was recorded.
    height: u64,
}

impl Executions {
    /// Begins after the blocks that are committed.
    pub(super) fn new(sources: &Sources) -> Self {
        Self {
            height: sources.node.head().ledger_info().block_height,
        }
    }

    /// Records a sample of the transactions that were committed since the last call.
    pub(super) fn record(&mut self, sources: &Sources) {
        let head = sources.node.head();
        let newest = head.ledger_info().block_height;
        let recorded = mem::replace(&mut self.height, newest);
        let blocks: Vec<_> = head.blocks_above(recorded).collect();
        let transactions = blocks.iter().map(|recent| recent.block.transactions.len());
        let transactions: usize = transactions.sum();
        if transactions == 0 {
            return;
        }
        // The Head has the newest blocks only, which stand for all.
        let committed = newest.saturating_sub(recorded) as f64;
        let of_block = committed / blocks.len() as f64;
        let distance = transactions.div_ceil(TRANSACTIONS_MAX);
        let executions = blocks.iter().flat_map(executions);
        // The heights of a second differ from those of the next, and so do the first transactions.
        let first = newest as usize % distance;
        let sample = executions.skip(first).step_by(distance);
        let stands_for = of_block * distance as f64;
        let sample = sample.flatten().map(|execution| Execution {
            usecs: execution.usecs * stands_for,
            ..execution
        });
        sources.api.traffic.record_executions(sample);
    }
}

/// Returns the executions of a block, or `None` for transactions of the ledger itself. Each has a
/// part of the time of the block, by its gas.
fn executions<'a>(recent: &'a RecentBlock<'_>) -> impl Iterator<Item = Option<Execution<'a>>> {
    let transactions = &recent.block.transactions;
    let gas = |index: usize| transactions[index].info.v0().gas_used as f64;
    let sum: f64 = (0..transactions.len()).map(gas).sum();
    let usecs = recent.execution_usecs as f64 / sum.max(1.0);
    (0..transactions.len()).map(move |index| {
        Some(Execution {
            transaction: transactions[index].transaction.as_user()?,
            usecs: usecs * gas(index),
        })
    })
}
