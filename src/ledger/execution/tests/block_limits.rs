//! Limits of a block: its gas, its output, and the transactions that it omits.

use ledger_execution::{development_accounts, development_genesis, execute_block};
use ledger_framework::new_chain;
use ledger_test_support::{MemoryChain, next_block};
use ledger_types::{
    AccountAddress, CheckedTransaction, DiscardedTransaction, ExecutedBlock, ExecutedTransaction,
    OrderedBlock, Parameters, Transaction, ValidationStatus, Vendor,
    transaction::{BlockEndInfo, BlockEpilogue},
};
use std::sync::Arc;

/// Maximum number of transactions in a block under the node's default configuration.
const BLOCK_TRANSACTIONS: u64 = 5_000;

fn development(change: impl FnOnce(&mut Parameters)) -> MemoryChain {
    let mut parameters = Parameters::default();
    change(&mut parameters);
    MemoryChain::new(&development_genesis(4, Vendor::default(), parameters))
}

/// Returns `each` transfers of each of three senders, with the senders in turn.
fn transfers(chain: &MemoryChain, each: u64) -> Vec<CheckedTransaction> {
    let accounts = development_accounts();
    let mut all = Vec::new();
    for offset in 0..each {
        for account in &accounts[..3] {
            let mut raw = chain.raw(&account.private_key, chain.transfer(accounts[4].address, 1));
            raw.sequence_number += offset;
            all.push(chain.sign(&account.private_key, raw));
        }
    }
    all
}

/// Executes a block twice on the same tip, checks that the results are equal, and appends the
/// block.
fn execute(chain: &mut MemoryChain, transactions: &[CheckedTransaction]) -> ExecutedBlock {
    let ordered = || OrderedBlock {
        transactions: transactions.iter().cloned().map(Arc::new).collect(),
        ..next_block(&chain.tip)
    };
    let block = execute_block(&chain.chain, &chain.tip, &*chain, ordered()).unwrap();
    let again = execute_block(&chain.chain, &chain.tip, &*chain, ordered()).unwrap();
    assert_eq!(block, again);
    chain.apply(block.clone());
    block
}

/// Returns the content of the block's epilogue.
///
/// The fields are, in this order: whether the gas limit was reached, whether the output limit was
/// reached, the gas units, and the output bytes.
fn end_info(block: &ExecutedBlock) -> (bool, bool, u64, u64) {
    let Some(Transaction::BlockEpilogue(BlockEpilogue::V0 { block_end_info, .. })) =
        block.transactions.last().map(|last| &last.transaction)
    else {
        panic!("a block ends with its epilogue");
    };
    let BlockEndInfo::V0 {
        block_gas_limit_reached,
        block_output_limit_reached,
        block_effective_block_gas_units,
        block_approx_output_size,
    } = *block_end_info;
    (
        block_gas_limit_reached,
        block_output_limit_reached,
        block_effective_block_gas_units,
        block_approx_output_size,
    )
}

/// Returns the execution and IO gas of a user transaction from its fee statement, in gas units.
fn work_units(executed: &ExecutedTransaction) -> u64 {
    let statement = executed.events.last().expect("the fee statement");
    let [_, execution, io, _, _]: [u64; 5] = bcs::from_bytes(statement.data()).unwrap();
    execution + io
}

/// Returns the user transactions of a block.
fn user_transactions(block: &ExecutedBlock) -> &[ExecutedTransaction] {
    &block.transactions[1..block.transactions.len() - 1]
}

/// Executes blocks until all `transactions` are committed, and returns the blocks.
///
/// Each block is ordered to execute the transactions that the block before it omitted. All of them
/// must succeed.
fn execute_all(
    chain: &mut MemoryChain,
    mut transactions: Vec<CheckedTransaction>,
) -> Vec<ExecutedBlock> {
    let mut blocks = Vec::new();
    while !transactions.is_empty() {
        let block = execute(chain, &transactions);
        let executed_count = user_transactions(&block).len();
        assert!(executed_count > 0, "every block makes progress");
        assert!(
            user_transactions(&block)
                .iter()
                .all(|t| t.info.v0().status.is_success())
        );
        let remaining = transactions.split_off(executed_count);
        let left_out = (executed_count as u32..).zip(&remaining);
        let left_out = left_out.map(|(position, transaction)| {
            DiscardedTransaction::not_included(position, transaction.hash(), bytes::Bytes::new())
        });
        assert_eq!(block.discarded, left_out.collect::<Vec<_>>());
        transactions = remaining;
        blocks.push(block);
    }
    blocks
}

#[test]
fn shares_ordered_transactions_without_copying_them() {
    let mut chain = development(|_| ());
    let ordered = transfers(&chain, 1);
    let block = execute(&mut chain, &ordered);
    assert_eq!(user_transactions(&block).len(), ordered.len());
    for (executed, ordered) in user_transactions(&block).iter().zip(&ordered) {
        let Transaction::User(executed) = &executed.transaction else {
            unreachable!("every ordered transaction is a user transaction");
        };
        assert!(Arc::ptr_eq(executed, &ordered.shared()));
    }
}

#[test]
fn ends_a_block_after_the_transaction_that_reaches_the_gas_limit() {
    let mut chain = development(|parameters| parameters.block_gas_max = 1_000);
    // The number is prime, so the last block is not full.
    let mut transactions = transfers(&chain, 16);
    transactions.truncate(47);
    let blocks = execute_all(&mut chain, transactions);
    assert!(blocks.len() > 2);
    for (block, is_last) in blocks.iter().zip((1..).map(|n| n == blocks.len())) {
        let work_by_transaction: Vec<u64> =
            user_transactions(block).iter().map(work_units).collect();
        let all: u64 = work_by_transaction.iter().sum();
        assert_eq!(end_info(block).2, all);
        assert!(
            all - work_by_transaction.last().unwrap() < 1_000,
            "only the last transaction reaches the limit"
        );
        assert_eq!(all >= 1_000, !is_last);
        assert_eq!((end_info(block).0, end_info(block).1), (!is_last, false));
    }
}

#[test]
fn ends_a_block_after_the_transaction_that_reaches_the_output_limit() {
    let limit = 16 * 1024;
    let mut chain = development(|parameters| parameters.block_output_bytes_max = limit);
    let transactions = transfers(&chain, 30);
    let blocks = execute_all(&mut chain, transactions);
    assert!(blocks.len() > 2);
    for (block, is_last) in blocks.iter().zip((1..).map(|n| n == blocks.len())) {
        let outputs: Vec<u64> = block
            .transactions
            .iter()
            .map(|t| t.output_bytes() as u64)
            .collect();
        // The epilogue reports the output of the transactions before it.
        let all: u64 = outputs[..outputs.len() - 1].iter().sum();
        assert_eq!(end_info(block).3, all);
        assert!(
            all - outputs[outputs.len() - 2] < limit,
            "only the last transaction reaches the limit"
        );
        assert_eq!(all >= limit, !is_last);
        assert_eq!((end_info(block).0, end_info(block).1), (false, !is_last));
    }
}

#[test]
fn excludes_storage_deposits_from_the_gas_of_a_block() {
    let mut chain = development(|parameters| parameters.block_gas_max = 1_000);
    let accounts = development_accounts();
    let creating_accounts: Vec<_> = (0..3)
        .map(|n| {
            let to = AccountAddress::from_low_u64(0xabcdef + n as u64);
            let key = &accounts[n].private_key;
            chain.sign(key, chain.raw(key, chain.transfer(to, 1)))
        })
        .collect();
    let blocks = execute_all(&mut chain, creating_accounts);
    assert_eq!(blocks.len(), 1);
    let charged: u64 = user_transactions(&blocks[0])
        .iter()
        .map(|t| t.info.v0().gas_used)
        .sum();
    assert!(charged > 10_000 && end_info(&blocks[0]).2 < 1_000);
}

#[test]
fn executes_one_transaction_per_block_if_each_reaches_a_limit() {
    let mut chain = development(|_| ());
    let transactions = transfers(&chain, 2);
    for (gas, output) in [(1, u64::MAX), (u64::MAX, 1), (0, 0)] {
        let parameters = Parameters {
            block_gas_max: gas,
            block_output_bytes_max: output,
            ..Parameters::default()
        };
        chain.chain = new_chain(4, Vendor::default(), parameters);
        let mut fork = MemoryChain {
            chain: chain.chain.clone(),
            tip: chain.tip.clone(),
            state: chain.state.clone(),
            blocks: Vec::new(),
        };
        let blocks = execute_all(&mut fork, transactions.clone());
        assert_eq!(blocks.len(), transactions.len(), "{gas} {output}");
    }
}

/// A transaction is discarded as too new if a block omitted an earlier one of its account. The
/// payload root covers all ordered transactions, including the ones that the block omits.
#[test]
fn discards_transactions_after_a_gap_in_sequence_numbers() {
    let mut chain = development(|parameters| parameters.block_gas_max = 1_000);
    let mut unlimited = development(|_| ());
    let transactions = transfers(&chain, 15);
    let (first, second) = transactions.split_at(36);
    let narrow_block = execute(&mut chain, first);
    let wide_block = execute(&mut unlimited, first);
    assert_eq!(wide_block.discarded, []);
    assert_ne!(narrow_block.discarded, []);
    assert_eq!(
        narrow_block.header.payload_root,
        wide_block.header.payload_root
    );
    let after_gap = execute(&mut chain, second);
    let too_new = ValidationStatus::SequenceNumberTooNew.code();
    assert_eq!(after_gap.discarded.len(), second.len());
    assert!(
        after_gap
            .discarded
            .iter()
            .all(|discarded| discarded.status_code == too_new)
    );
    assert_eq!(
        (end_info(&after_gap).0, end_info(&after_gap).1),
        (false, false)
    );
}

#[test]
fn fits_a_full_block_of_transfers_within_the_limits() {
    let mut chain = development(|_| ());
    let parameters = chain.chain.parameters().clone();
    let mut transactions = transfers(&chain, 1);
    // A transfer that creates an account uses the most gas and has the largest output.
    let key = &development_accounts()[3].private_key;
    let new_address = AccountAddress::from_low_u64(0xabcdef);
    transactions.push(chain.sign(key, chain.raw(key, chain.transfer(new_address, 1))));
    let block = execute(&mut chain, &transactions);
    for transfer in user_transactions(&block) {
        let (work_units, output) = (work_units(transfer), transfer.output_bytes() as u64);
        assert!(
            work_units * BLOCK_TRANSACTIONS < parameters.block_gas_max,
            "{work_units}"
        );
        assert!(
            output * BLOCK_TRANSACTIONS < parameters.block_output_bytes_max,
            "{output}"
        );
    }
}
