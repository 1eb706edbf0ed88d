//! Tests of the estimates, and of their corrections by measured blocks.

use super::*;
use bytes::Bytes;
use ledger_crypto::{Ed25519PublicKey, Ed25519Signature};
use ledger_test_support::{
    TransactionBuilder,
    block::{block, leaving_out},
    development_chain,
    draft::{Draft, draft, orderless},
    function_call,
};
use ledger_types::{AccountAddress, ContractEvent, StructTag, TransactionInfo, ValidationStatus};

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
        admitted_ticks: 0,
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
        group_end: None,
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
            group_end: is_last.then_some(GroupEnd {
                // One group in two is measured.
                write_usecs: (height % 20 == 19).then_some(5 * 10 * before.1),
            }),
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
            group_end: Some(GroupEnd {
                write_usecs: Some(1_000),
            }),
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
