//! Gives what transactions did its place in the ledger: the hashes of events and changes, the info over them, and the
//! place at the end of the accumulator. Done for all transactions of a block together, when they have run: half of a
//! block's time was hashing, and hashes of many messages side by side cost a fraction (`crypto/hash/permutation.rs`).

use ledger_crypto::{HashBatch, HashValue};
use ledger_types::{
    Accumulator, ContractEvent, ExecutedTransaction, ExecutionStatus, Transaction, TransactionInfo,
    WriteSet, accumulator::roots_of, block::output_bytes, transaction::TransactionInfoV0,
};
use ledger_vm::Chain;

/// What a transaction did, before it has a place in the ledger.
pub(crate) struct Output {
    /// Gas units charged.
    pub(crate) gas_used: u64,
    /// How it ended.
    pub(crate) status: ExecutionStatus,
    /// Its events.
    pub(crate) events: Vec<ContractEvent>,
    /// What it changed.
    pub(crate) writes: WriteSet,
}

impl Output {
    /// The data of its events, and the keys and values it wrote, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        output_bytes(&self.events, &self.writes)
    }
}

/// A transaction that has run and stays.
pub(crate) struct ExecutedOutput {
    pub(crate) transaction: Transaction,
    /// Its hash.
    pub(crate) hash: HashValue,
    /// What it did.
    pub(crate) output: Output,
}

/// Gives transactions, in their order, their infos and their places at the end of the accumulator.
pub(crate) fn finalize(
    chain: &Chain,
    accumulator: &mut Accumulator,
    outputs: Vec<ExecutedOutput>,
) -> Vec<ExecutedTransaction> {
    let seeds = chain.vendor().seeds();
    let event_roots = event_roots(chain, &outputs);
    let mut batch = HashBatch::with_capacity(outputs.len(), MESSAGE_BYTES);
    for ExecutedOutput { output, .. } in &outputs {
        batch.push_bcs(&seeds.write_set, &output.writes);
    }
    let infos: Vec<_> = outputs
        .iter()
        .zip(event_roots)
        .zip(batch.finish())
        .map(
            |((ExecutedOutput { hash, output, .. }, event_root_hash), state_change_hash)| {
                TransactionInfo::V0(TransactionInfoV0 {
                    gas_used: output.gas_used,
                    status: output.status.clone(),
                    transaction_hash: *hash,
                    event_root_hash,
                    state_change_hash,
                    state_checkpoint_hash: None,
                    auxiliary_info_hash: None,
                })
            },
        )
        .collect();
    for info in &infos {
        batch.push_bcs(&seeds.transaction_info, info);
    }
    let roots = accumulator.extend(batch.finish(), &seeds.transaction_accumulator);
    outputs
        .into_iter()
        .zip(infos)
        .zip(roots)
        .map(
            |(
                (
                    ExecutedOutput {
                        transaction,
                        hash,
                        output,
                    },
                    info,
                ),
                accumulator_root,
            )| ExecutedTransaction {
                transaction,
                hash,
                info,
                events: output.events,
                writes: output.writes,
                accumulator_root,
            },
        )
        .collect()
}

/// What most messages have room in: a transfer's events, changes and info.
const MESSAGE_BYTES: usize = 400;

/// The roots over the events of each transaction, in their order.
fn event_roots(chain: &Chain, outputs: &[ExecutedOutput]) -> Vec<HashValue> {
    let seeds = chain.vendor().seeds();
    let mut batch = HashBatch::with_capacity(3 * outputs.len(), MESSAGE_BYTES);
    for event in outputs.iter().flat_map(|executed| &executed.output.events) {
        batch.push_bcs(&seeds.contract_event, event);
    }
    let mut leaves = batch.finish().into_iter();
    let trees = outputs
        .iter()
        .map(|executed| leaves.by_ref().take(executed.output.events.len()).collect());
    roots_of(trees.collect(), &seeds.event_accumulator)
}
