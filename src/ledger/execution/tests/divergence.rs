//! A chain whose state differs from that of the validators finds the difference in the header that
//! names the result, [`Parameters::root_delay_blocks`] later.

use ledger_execution::{ExecuteError, development_accounts, execute_block};
use ledger_test_support::{MemoryChain, TestAccount, test_genesis};
use ledger_types::{ExecutedBlock, LedgerRoot, Parameters};

const DELAY_BLOCKS: u64 = 3;

/// Returns a chain, and a copy of it in which the balance of an account was changed.
fn validators_and_damaged() -> (MemoryChain, MemoryChain) {
    let genesis = test_genesis(Parameters {
        root_delay_blocks: DELAY_BLOCKS,
        ..Parameters::default()
    });
    let [validators, mut damaged] = [(); 2].map(|()| MemoryChain::new(&genesis));
    damaged.replace_balance(&development_accounts()[0].address, 7_000_000_000);
    (validators, damaged)
}

/// Executes the next block of the validators with a transfer of an account, or without a
/// transaction.
fn decide(validators: &mut MemoryChain, sender: Option<&TestAccount>) {
    let transfer = |sender: &TestAccount| {
        let call = validators.transfer(TestAccount::from_seed(1).address, 5);
        validators.sign(sender, validators.raw(sender, call))
    };
    let transactions = sender.map(transfer).into_iter().collect();
    validators.execute(transactions);
}

/// Executes the decided block at `height` on another chain.
fn follow(
    chain: &mut MemoryChain,
    validators: &MemoryChain,
    height: u64,
) -> Result<(), ExecuteError> {
    let block = validators.decided_block(height);
    let executed = execute_block(&chain.chain, &chain.tip, &*chain, block)?;
    chain.apply(executed);
    Ok(())
}

/// Returns the result of a block.
fn root_after(block: &ExecutedBlock) -> LedgerRoot {
    LedgerRoot {
        version: block.last_version(),
        accumulator_root: block.transactions.last().unwrap().accumulator_root,
    }
}

#[test]
fn headers_name_the_result_of_the_block_before_the_delay() {
    let (mut chain, _) = validators_and_damaged();
    for _ in 0..3 * DELAY_BLOCKS {
        decide(&mut chain, None);
    }
    for (height, block) in (0u64..).zip(&chain.blocks) {
        let named = height.saturating_sub(DELAY_BLOCKS) as usize;
        assert_eq!(block.header.executed, root_after(&chain.blocks[named]));
    }
}

#[test]
fn stops_at_the_header_that_names_another_result_of_a_changed_balance() {
    let (mut validators, mut damaged) = validators_and_damaged();
    let sender = &TestAccount::development()[0];
    decide(&mut validators, Some(sender));
    for _ in 0..DELAY_BLOCKS {
        decide(&mut validators, None);
    }
    for height in 1..=DELAY_BLOCKS {
        follow(&mut damaged, &validators, height).unwrap();
    }
    let first = DELAY_BLOCKS + 1;
    let error = follow(&mut damaged, &validators, first).unwrap_err();
    let expected = [&validators, &damaged].map(|chain| root_after(&chain.blocks[1]));
    let ExecuteError::Diverged {
        height,
        decided,
        own,
    } = &error
    else {
        panic!("{error:?}");
    };
    assert_eq!((*height, [*decided, *own]), (first, expected));
    for root in expected {
        assert!(error.to_string().contains(&root.to_string()), "{error}");
    }
    assert_eq!(damaged.tip.height, DELAY_BLOCKS);
}

/// Nothing depends on the changed balance, so no result differs.
#[test]
fn does_not_find_a_changed_balance_that_no_transaction_reads() {
    let (mut validators, mut damaged) = validators_and_damaged();
    let other = &TestAccount::development()[1];
    for height in 1..=3 * DELAY_BLOCKS {
        decide(&mut validators, Some(other));
        follow(&mut damaged, &validators, height).unwrap();
    }
    assert_eq!(damaged.tip, validators.tip);
    assert_ne!(damaged.state, validators.state);
}
