//! Hashes of executed transactions: events, changes, transaction infos, and accumulator leaves.
//!
//! They are computed for all transactions of a block after their execution. Hashing was half of the
//! time of a block, and hashing many messages side by side costs a fraction of hashing them
//! separately (`crypto/hash/permutation.rs`).

use ledger_crypto::{HashBatch, HashValue};
use ledger_types::{
    Accumulator, ContractEvent, ExecutedTransaction, ExecutionStatus, Transaction, TransactionInfo,
    WriteSet, block::output_bytes, transaction::TransactionInfoV0,
};
use ledger_vm::Chain;

/// Effects of a transaction, before it has a version.
pub(crate) struct Output {
    /// Gas charged, in gas units.
    pub(crate) gas_used: u64,
    /// Status of the execution.
    pub(crate) status: ExecutionStatus,
    /// Events, in order of emission.
    pub(crate) events: Vec<ContractEvent>,
    /// Changes of the state.
    pub(crate) writes: WriteSet,
}

impl Output {
    /// Returns the size of the event data and of the written keys and values, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        output_bytes(&self.events, &self.writes)
    }
}

/// An executed transaction that the block includes.
pub(crate) struct ExecutedOutput {
    pub(crate) transaction: Transaction,
    /// Hash of the transaction.
    pub(crate) hash: HashValue,
    /// Effects of the transaction.
    pub(crate) output: Output,
}

/// Computes the infos of transactions and appends the transactions to the accumulator, in order.
pub(crate) fn finalize(
    chain: &Chain,
    accumulator: &mut Accumulator,
    outputs: Vec<ExecutedOutput>,
) -> Vec<ExecutedTransaction> {
    let seeds = chain.vendor().seeds();
    let mut batch = HashBatch::with_capacity(2 * OUTPUTS_PER_BATCH, OUTPUT_BYTES / 2);
    let mut hashes = Vec::with_capacity(2 * outputs.len());
    for outputs in outputs.chunks(OUTPUTS_PER_BATCH) {
        for ExecutedOutput { output, .. } in outputs {
            batch.push_bcs(&seeds.contract_events, &output.events);
            batch.push_bcs(&seeds.write_set, &output.writes);
        }
        hashes.extend(batch.finish());
    }
    let (hashes, _) = hashes.as_chunks::<2>();
    let infos: Vec<_> = outputs
        .iter()
        .zip(hashes)
        .map(
            |(ExecutedOutput { hash, output, .. }, &[event_root_hash, state_change_hash])| {
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

/// Number of transactions whose events and changes are hashed in one batch.
///
/// The number is large enough to leave few lanes of the permutation empty, and small enough for the
/// copies of events and changes to stay in the cache of a processor.
const OUTPUTS_PER_BATCH: usize = 64;

/// Initial capacity for the hashed events and changes of a transaction, in bytes, which a transfer
/// needs.
const OUTPUT_BYTES: usize = 2_200;
