//! Estimates of the processor time that pending transactions take in a block: in the executor, and
//! in the writer.
//!
//! An estimate follows from the size of the transaction, its signatures, and the gas and output of
//! recent calls of the same function with a similar size. The gas limit of the transaction has no
//! influence: clients send the same high limit with every transaction, so it would only show which
//! client library they use.
//!
//! Estimates decide which transactions the sequencer takes. Execution does not read them.

use super::entry::Entry;
use crate::GroupEnd;
use ledger_crypto::{
    HashValue,
    map::{GenerationalMap, HashState},
};
use ledger_framework::modules::transaction_fee::FeeStatement;
use ledger_limits::{CostModel, Demand, Estimate, WorkKind};
use ledger_types::{
    CheckedTransaction, EntryFunction, ExecutedBlock, ExecutedTransaction, SignedTransaction,
};
use ledger_vm::intrinsic_gas_units;
use std::{hash::BuildHasher as _, sync::Arc};

/// Maximum number of kinds of calls in a generation.
///
/// The functions of the framework are a few hundred, and clients use each with one or two sizes. A
/// client that calls functions that do not exist can evict the kinds that no recent block had, at
/// the price of a transaction for each.
const GENERATION_CALLS_MAX: usize = 1_024;

/// Part of the means that one transaction replaces. The means follow the last dozens.
const WEIGHT: f64 = 1.0 / 16.0;

/// Work of a call without a recent one of its kind: that of a transfer of coins, and for each KiB
/// that of a batch of transfers, the most expensive function for its size that needs no
/// preparation. So a call that was never seen is rather charged too much, once.
const UNKNOWN_CALL: CallWork = CallWork {
    gas: 30.0,
    output_bytes: 800.0,
};
const UNKNOWN_PER_KIBIBYTE: CallWork = CallWork {
    gas: 180.0,
    output_bytes: 4_096.0,
};

/// Work of a block without user transactions: its metadata, its epilogue and its hashes. They take
/// some 35 us, as long as two transfers.
const EMPTY_BLOCK: Demand = Demand {
    rows: 0,
    bytes: 0,
    gas: 80,
    signatures: 0,
};

/// Work of a group of blocks beside the writes of its transactions: the system calls of an append,
/// which take some 60 us of processor time, as long as the writes of five transfers. The wait for
/// the sync is no processor time.
const EMPTY_GROUP: Demand = Demand {
    rows: 0,
    bytes: 10 * 1024,
    gas: 0,
    signatures: 0,
};

/// The estimates of a pool.
#[derive(Debug, Default)]
pub(super) struct Costs {
    model: Arc<CostModel>,
    calls: RecentCalls,
    /// Work of the blocks of a group that is not complete.
    group: Option<Estimate>,
}

/// The measured times of a durable block.
#[derive(Clone, Copy, Debug, Default)]
pub struct BlockTimes {
    /// Processor time of the executor for the block, in microseconds.
    pub execution_usecs: u64,
    /// The end of the group of blocks that the writer made durable together. `None` if a later
    /// block of the group follows.
    pub group_end: Option<GroupEnd>,
}

impl Costs {
    pub(super) fn model(&self) -> &Arc<CostModel> {
        &self.model
    }

    /// Returns the estimated time of a transaction in a block, in microseconds, at least 1.
    pub(super) fn estimate_usecs(&self, transaction: &CheckedTransaction) -> u64 {
        let transaction = transaction.into();
        let work = self.calls.expected(transaction);
        let write = self.write(transaction.size_bytes, work.output_bytes as u64);
        let execution = self.execution(transaction, work);
        execution.usecs.saturating_add(write.usecs)
    }

    /// Returns a lower bound of the estimates of all transactions of `size_bytes` bytes, in
    /// microseconds.
    pub(super) fn least_usecs(&self, size_bytes: usize) -> u64 {
        let demand = Demand {
            bytes: size_bytes as u64,
            ..Demand::default()
        };
        let estimate = |kind| self.model.estimate(kind, demand).usecs;
        estimate(WorkKind::Execution).saturating_add(estimate(WorkKind::Write))
    }

    /// Records the work of a durable block, and its times.
    ///
    /// The times are those of the whole block, so its work is too: the block itself, and all
    /// transactions, whether the pool holds them or not. `held` returns the transaction with this
    /// hash if the pool holds it. It is called once for each transaction.
    ///
    /// The work of a group whose time was not measured is not recorded.
    ///
    /// Returns the sum of the estimates with which the pool admitted the executed transactions that
    /// it holds, in microseconds.
    pub(super) fn record<'p>(
        &mut self,
        block: &ExecutedBlock,
        held: impl Fn(&HashValue) -> Option<&'p Entry>,
        times: BlockTimes,
    ) -> u64 {
        let mut admitted_usecs = 0u64;
        let mut execution = self.model.estimate(WorkKind::Execution, EMPTY_BLOCK);
        let mut group = self
            .group
            .take()
            .unwrap_or_else(|| self.model.estimate(WorkKind::Write, EMPTY_GROUP));
        for executed in &block.transactions {
            let write = match executed.transaction.as_user() {
                Some(transaction) => {
                    let transaction = match held(&executed.hash) {
                        Some(held) => {
                            admitted_usecs = admitted_usecs.saturating_add(held.cost_usecs);
                            (&*held.transaction).into()
                        }
                        None => SizedTransaction {
                            transaction,
                            size_bytes: transaction.size_bytes(),
                        },
                    };
                    let work = CallWork::of(transaction, executed);
                    self.calls.record(transaction, work);
                    execution = execution.plus(self.execution(transaction, work));
                    self.write(transaction.size_bytes, work.output_bytes as u64)
                }
                None => self.write(0, executed.output_bytes() as u64),
            };
            group = group.plus(write);
        }
        for discarded in &block.discarded {
            if !discarded.is_not_included() {
                let rejected = Demand {
                    signatures: held(&discarded.hash).map_or(1, |held| {
                        let transaction = held.transaction.transaction();
                        transaction.authenticator.billed_signatures()
                    }),
                    ..Demand::default()
                };
                execution = execution.plus(self.model.estimate(WorkKind::Execution, rejected));
            }
        }
        self.model.record(execution, times.execution_usecs);
        match times.group_end {
            Some(GroupEnd {
                write_usecs: Some(usecs),
            }) => self.model.record(group, usecs),
            Some(GroupEnd { write_usecs: None }) => {}
            None => self.group = Some(group),
        }
        admitted_usecs
    }

    fn execution(&self, transaction: SizedTransaction<'_>, work: CallWork) -> Estimate {
        let demand = Demand {
            bytes: transaction.size_bytes as u64,
            gas: work.gas as u64,
            signatures: transaction.transaction.authenticator.billed_signatures(),
            ..Demand::default()
        };
        self.model.estimate(WorkKind::Execution, demand)
    }

    fn write(&self, size_bytes: usize, output_bytes: u64) -> Estimate {
        let demand = Demand {
            bytes: size_bytes as u64 + output_bytes,
            ..Demand::default()
        };
        self.model.estimate(WorkKind::Write, demand)
    }
}

/// A transaction with the size of its BCS form.
#[derive(Clone, Copy, Debug)]
struct SizedTransaction<'t> {
    transaction: &'t SignedTransaction,
    size_bytes: usize,
}

impl<'t> From<&'t CheckedTransaction> for SizedTransaction<'t> {
    fn from(checked: &'t CheckedTransaction) -> Self {
        Self {
            transaction: checked.transaction(),
            size_bytes: checked.size_bytes(),
        }
    }
}

/// What a call demands beside the size and the signatures of its transaction.
#[derive(Clone, Copy, Debug, PartialEq)]
struct CallWork {
    /// Gas without the intrinsic gas of the transaction and without the storage fee, which pays for
    /// space, not for time.
    gas: f64,
    /// Bytes of events and writes.
    output_bytes: f64,
}

impl CallWork {
    /// Returns the work of an executed transaction.
    ///
    /// The fee statement is the last event of a user transaction. Without it, all gas counts.
    fn of(transaction: SizedTransaction<'_>, executed: &ExecutedTransaction) -> Self {
        let statement = executed
            .events
            .last()
            .and_then(|event| bcs::from_bytes::<FeeStatement>(event.data()).ok());
        let gas = statement.map_or(executed.info.v0().gas_used, |statement| {
            statement
                .execution_gas_units
                .saturating_add(statement.io_gas_units)
        });
        let authenticator = &transaction.transaction.authenticator;
        let intrinsic = intrinsic_gas_units(transaction.size_bytes, authenticator);
        Self {
            gas: gas.saturating_sub(intrinsic) as f64,
            output_bytes: executed.output_bytes() as f64,
        }
    }

    /// Returns the work that is `weight` of the way from this one to `other`.
    fn toward(self, other: Self, weight: f64) -> Self {
        let mean = |from: f64, to: f64| from + weight * (to - from);
        Self {
            gas: mean(self.gas, other.gas),
            output_bytes: mean(self.output_bytes, other.output_bytes),
        }
    }
}

/// Mean work of recent calls by kind, at most twice [`GENERATION_CALLS_MAX`] kinds.
///
/// A kind is the hash of the function and of the length of the transaction's size in bits, so that
/// calls of one kind differ in size by less than a factor of two. The hash has a secret, so clients
/// cannot choose calls with equal hashes.
#[derive(Debug, Default)]
struct RecentCalls {
    means: GenerationalMap<u64, CallWork>,
    secret: HashState,
}

impl RecentCalls {
    /// Returns the expected work of a transaction.
    fn expected(&self, transaction: SizedTransaction<'_>) -> CallWork {
        if let Some(&mean) = self.means.get(&self.kind(transaction)) {
            return mean;
        }
        let kibibytes = transaction.size_bytes as f64 / 1024.0;
        CallWork {
            gas: UNKNOWN_CALL.gas + kibibytes * UNKNOWN_PER_KIBIBYTE.gas,
            output_bytes: UNKNOWN_CALL.output_bytes + kibibytes * UNKNOWN_PER_KIBIBYTE.output_bytes,
        }
    }

    /// Records the work of an executed transaction.
    fn record(&mut self, transaction: SizedTransaction<'_>, work: CallWork) {
        let kind = self.kind(transaction);
        let mean = self.means.get(&kind);
        let mean = mean.map_or(work, |mean| mean.toward(work, WEIGHT));
        let younger = self.means.younger();
        if younger.len() >= GENERATION_CALLS_MAX && !younger.contains_key(&kind) {
            self.means.rotate();
        }
        self.means.insert(kind, mean);
    }

    fn kind(&self, transaction: SizedTransaction<'_>) -> u64 {
        // A multisig transaction may have its call on the ledger; all such calls are of one kind.
        let function = transaction.transaction.raw.entry_function();
        let function = function.map(
            |EntryFunction {
                 module, function, ..
             }| (module, function),
        );
        let size_bits = usize::BITS - transaction.size_bytes.leading_zeros();
        self.secret.hash_one((function, size_bits))
    }
}

#[cfg(test)]
mod tests;
