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
    /// Processor time of the writer for the group of blocks that ends with this one, in
    /// microseconds. `None` if a later block of the group follows.
    pub group_write_usecs: Option<u64>,
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
        match times.group_write_usecs {
            Some(usecs) => self.model.record(group, usecs),
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
mod tests {
    use super::*;
    use crate::testing::{Draft, block, draft, leaving_out, orderless};
    use bytes::Bytes;
    use ledger_crypto::{Ed25519PublicKey, Ed25519Signature};
    use ledger_test_support::{TransactionBuilder, development_chain, function_call};
    use ledger_types::{
        AccountAddress, ContractEvent, StructTag, TransactionInfo, ValidationStatus,
    };

    /// Returns a block of one transaction whose call used this gas, and paid a large storage fee.
    fn executed(transaction: &Arc<CheckedTransaction>, call_gas: u64) -> ExecutedBlock {
        let mut block = Arc::unwrap_or_clone(block(1, &[Arc::clone(transaction)], &[]));
        let executed = &mut block.transactions[0];
        let authenticator = &transaction.transaction().authenticator;
        let gas = call_gas + intrinsic_gas_units(transaction.size_bytes(), authenticator);
        let TransactionInfo::V0(info) = &mut executed.info;
        info.gas_used = gas + 1_000_000;
        let statement = FeeStatement {
            total_charge_gas_units: gas + 1_000_000,
            execution_gas_units: gas / 2,
            io_gas_units: gas - gas / 2,
            storage_fee_octas: 100_000_000,
            storage_fee_refund_octas: 0,
        };
        executed.events.push(ContractEvent::V2 {
            type_tag: StructTag::framework("transaction_fee", "FeeStatement", vec![]).into(),
            data: Bytes::from(bcs::to_bytes(&statement).unwrap()),
        });
        block
    }

    /// Returns the work of the only transaction of a block.
    fn work(transaction: &CheckedTransaction, block: &ExecutedBlock) -> CallWork {
        CallWork::of(transaction.into(), &block.transactions[0])
    }

    /// Returns the entry of a transaction in a pool that admitted it with this estimate.
    fn entry(transaction: &Arc<CheckedTransaction>, cost_usecs: u64) -> Entry {
        Entry {
            transaction: Arc::clone(transaction),
            insertion: 0,
            start_tag: 0,
            cost_usecs,
            inserted_at_secs: 0,
            expires_at_secs: u64::MAX,
            is_taken: true,
        }
    }

    /// Records a block of one transaction that took as long as estimated.
    fn record(costs: &mut Costs, transaction: &Arc<CheckedTransaction>, call_gas: u64) {
        let block = executed(transaction, call_gas);
        let execution = costs.execution((&**transaction).into(), work(transaction, &block));
        let empty = costs.model.estimate(WorkKind::Execution, EMPTY_BLOCK);
        let times = BlockTimes {
            execution_usecs: empty.usecs + execution.usecs,
            group_write_usecs: None,
        };
        let held = entry(transaction, 1);
        costs.record(&block, |_| Some(&held), times);
    }

    #[test]
    fn estimates_do_not_depend_on_the_gas_limit() {
        let costs = Costs::default();
        let usecs = |max_gas| {
            let mut draft = draft(1, 0);
            draft.max_gas = max_gas;
            costs.estimate_usecs(&draft.checked())
        };
        assert_eq!(usecs(100), usecs(2_000_000));
    }

    #[test]
    fn estimates_grow_with_the_size() {
        let costs = Costs::default();
        let usecs = |bytes| costs.estimate_usecs(&draft(1, 0).argument(&vec![0; bytes]).checked());
        assert!(
            usecs(60_000) > 20 * usecs(0),
            "{} {}",
            usecs(60_000),
            usecs(0)
        );
        assert!(usecs(0) >= costs.least_usecs(draft(1, 0).checked().size_bytes()));
    }

    #[test]
    fn estimates_follow_the_gas_of_recent_calls_without_the_storage_fee() {
        let mut costs = Costs::default();
        let transaction = draft(1, 0).checked();
        record(&mut costs, &transaction, 5_000);
        let expected = |costs: &Costs, of: &CheckedTransaction| costs.calls.expected(of.into());
        assert_eq!(expected(&costs, &transaction).gas, 5_000.0);
        for _ in 0..200 {
            record(&mut costs, &transaction, 40_000);
        }
        let same_function = orderless(2, 7).checked();
        let gas = expected(&costs, &same_function).gas;
        assert!((gas - 40_000.0).abs() < 100.0, "{gas}");
        assert!(costs.estimate_usecs(&same_function) > 7_000);
        let larger = draft(1, 0).argument(&[0; 5_000]).checked();
        assert_eq!(
            expected(&costs, &larger),
            expected(&Costs::default(), &larger),
            "calls of another size are of another kind"
        );
    }

    #[test]
    fn estimates_follow_the_measured_times() {
        let mut costs = Costs::default();
        let transaction = draft(1, 0).argument(&[0; 60_000]).checked();
        let block = executed(&transaction, 10_000);
        let work = work(&transaction, &block);
        let estimates = |costs: &Costs| {
            let transaction: SizedTransaction = (&*transaction).into();
            (
                costs.execution(transaction, work).usecs,
                costs
                    .write(transaction.size_bytes, work.output_bytes as u64)
                    .usecs,
            )
        };
        let before = estimates(&costs);
        let held = entry(&transaction, 1);
        // Ten blocks of each group have one transaction each.
        for height in 0..20_000 {
            let is_last = height % 10 == 9;
            let times = BlockTimes {
                execution_usecs: 3 * before.0,
                group_write_usecs: is_last.then_some(5 * 10 * before.1),
            };
            costs.record(&block, |_| Some(&held), times);
        }
        let after = estimates(&costs);
        let is_near = |now: u64, expected: u64| now.abs_diff(expected) <= expected / 3;
        assert!(is_near(after.0, 3 * before.0), "{before:?}, then {after:?}");
        assert!(is_near(after.1, 5 * before.1), "{before:?}, then {after:?}");
    }

    #[test]
    fn records_the_work_of_a_whole_block_whatever_the_pool_holds() {
        let transactions = [
            draft(1, 0),
            draft(2, 0).argument(&[0; 60_000]),
            draft(3, 0),
            draft(4, 0),
        ];
        let [first, second, rejected, left_out] = transactions.map(Draft::checked);
        let recorded_usecs = |executed: &[_], discarded: &[_], is_held| {
            let mut costs = Costs::default();
            let times = BlockTimes {
                execution_usecs: 1_000,
                group_write_usecs: Some(1_000),
            };
            let all = [&first, &second, &rejected, &left_out].map(|held| entry(held, 7));
            let held = |hash: &HashValue| {
                let mut held = all.iter().filter(|_| is_held);
                held.find(|held| held.transaction.hash() == *hash)
            };
            let block = leaving_out(block(1, executed, discarded), &[Arc::clone(&left_out)]);
            let admitted_usecs = costs.record(&block, held, times);
            let held_count = if is_held { executed.len() as u64 } else { 0 };
            assert_eq!(admitted_usecs, 7 * held_count);
            [WorkKind::Execution, WorkKind::Write].map(|kind| {
                let status = costs.model.status();
                status[kind as usize].estimated_usecs
            })
        };
        let executed = [Arc::clone(&first), Arc::clone(&second)];
        let status = ValidationStatus::SequenceNumberTooOld;
        let discarded = [(Arc::clone(&rejected), status)];
        let whole = recorded_usecs(&executed, &discarded, true);
        assert_eq!(recorded_usecs(&executed, &discarded, false), whole);
        let without_rejected = recorded_usecs(&executed, &[], true);
        assert!(
            without_rejected[0] < whole[0],
            "{without_rejected:?}, {whole:?}"
        );
        assert_eq!(without_rejected[1], whole[1], "it is not written");
        let without_second = recorded_usecs(&executed[..1], &discarded, true);
        assert!(
            without_second[1] + 290 < whole[1],
            "{without_second:?}, {whole:?}"
        );
    }

    #[test]
    fn remembers_a_bounded_number_of_recent_calls() {
        let transaction = |n: usize| {
            let chain = development_chain();
            let call = function_call(&format!("0x1::coin::f{n}"), &[], vec![]);
            let signed = TransactionBuilder::call(&chain, AccountAddress::ONE, call)
                .with_signature(Ed25519PublicKey([1; 32]), Ed25519Signature([1; 64]));
            CheckedTransaction::new_unchecked(signed, chain.vendor())
        };
        let work = |gas| CallWork {
            gas,
            output_bytes: 0.0,
        };
        let mut calls = RecentCalls::default();
        for n in 0..3 * GENERATION_CALLS_MAX {
            calls.record((&transaction(n)).into(), work(1e6));
            calls.record((&transaction(0)).into(), work(77.0));
        }
        let means = &calls.means;
        assert!(means.younger().len() + means.older().len() <= 2 * GENERATION_CALLS_MAX);
        let newest = 3 * GENERATION_CALLS_MAX - 1;
        let gas = |n| calls.expected((&transaction(n)).into()).gas;
        assert_eq!(gas(newest), 1e6);
        let used_in_every_block = gas(0);
        assert!(used_in_every_block < 100.0, "{used_in_every_block}");
        let forgotten = gas(1);
        assert!(forgotten < 1_000.0, "{forgotten}");
    }
}
