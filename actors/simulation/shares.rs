//! Shares of accounts whose transactions take different times, on a whole node.
//!
//! Each account always has transactions in the pool, all at one price, and each has transactions of
//! its own size. The seed chooses the sizes, the order of steps, and the limits of a block.

use super::{
    fixture::{Call, Draft, FUNDED_WALLETS, Fixture, ReplayProtection, START_SECS},
    node::{NodeUnderTest, StartUp},
    scheduler::{InterruptionRates, Scheduler},
};
use crate::{Clock, ClockReading, NodeConfig, SubmitError, protocol::mempool::Submit};
use fastrand::Rng;
use ledger_crypto::HashValue;
use ledger_limits::{CostModel, Demand, WorkKind};
use ledger_test_support::Disk;
use ledger_types::CheckedTransaction;
use std::{collections::HashMap, sync::Arc};
use tokio::sync::oneshot;

const SEEDS: u64 = 12;
const ACCOUNTS: usize = FUNDED_WALLETS;
/// Number of transactions of each account that are always in the pool.
const PENDING: usize = 40;
/// Sizes of the arguments of an account's transactions, in bytes.
const ARGUMENT_BYTES: [usize; 4] = [10, 1_000, 4_000, 15_000];
/// Number of transactions of an account after which its share counts. The pool has learned the gas
/// of the calls then, and the transactions with the first estimates have left it.
const WARM_UP: usize = 2 * PENDING;
/// Number of transactions of the account with the fewest after which a run ends.
const TRANSACTIONS: usize = WARM_UP + 20;
/// Maximum number of steps of a run.
const STEPS_MAX: usize = 200_000;

/// An account that always has [`PENDING`] transactions in the pool, once its first one is committed.
struct Account {
    wallet: usize,
    argument_bytes: usize,
    next_nonce: u64,
    pending: HashMap<HashValue, PendingTransaction>,
    committed: usize,
}

/// A transaction that is not committed.
struct PendingTransaction {
    transaction: Arc<CheckedTransaction>,
    /// Receiver of the response to the submission, without which the mempool ignores it.
    _response: oneshot::Receiver<Result<Arc<CheckedTransaction>, SubmitError>>,
}

/// A committed transaction.
#[derive(Debug)]
struct Committed {
    version: u64,
    wallet: usize,
    cost_usecs: u64,
}

impl Account {
    fn submit(&mut self, node: &NodeUnderTest, fixture: &Fixture) {
        let draft = Draft {
            sender: self.wallet,
            replay_protection: ReplayProtection::Nonce(self.next_nonce),
            call: Call::Invalid {
                bytes: self.argument_bytes,
            },
            price: 100,
            max_gas: 20_000,
            expiration_secs: START_SECS + 50,
            signature: 0,
        };
        self.next_nonce += 1;
        let transaction = draft.build_checked(&fixture.chain);
        // A rejected transaction stays pending, so that the run does not end.
        let (reply, response) = oneshot::channel();
        let pending = PendingTransaction {
            transaction: Arc::clone(&transaction),
            _response: response,
        };
        self.pending.insert(transaction.hash(), pending);
        node.mailboxes.mempool.send(Submit {
            transaction,
            sequence_number: 0,
            reply,
        });
    }

    /// Moves the pending transactions that are committed to `log`, with their estimated time.
    fn observe(&mut self, node: &NodeUnderTest, log: &mut Vec<Committed>) {
        let head = node.head.load();
        let costs = &node.mailboxes.meters.costs;
        self.pending
            .retain(|hash, PendingTransaction { transaction, .. }| {
                let Some(committed) = head.committed(hash) else {
                    return true;
                };
                let content = committed.content().expect("a block in memory");
                // The call fails before it uses gas.
                let demand = Demand {
                    bytes: (transaction.size_bytes() + content.output_bytes()) as u64,
                    signatures: 1,
                    ..Demand::default()
                };
                let usecs = |kind| costs.estimate(kind, demand).usecs;
                self.committed += 1;
                log.push(Committed {
                    version: committed.version,
                    wallet: self.wallet,
                    cost_usecs: usecs(WorkKind::Execution) + usecs(WorkKind::Write),
                });
                false
            });
    }
}

/// Checks that the accounts have equal time in the order of the blocks, up to two transactions and a tenth,
/// once each has [`WARM_UP`] of them committed.
fn check_shares(seed: u64, log: &mut [Committed]) {
    log.sort_by_key(|committed| committed.version);
    let mut counts = [0; ACCOUNTS];
    let warm_up = log.iter().position(|committed| {
        counts[committed.wallet] += 1;
        counts.iter().all(|&count| count >= WARM_UP)
    });
    let log = &log[warm_up.expect("the run ended after it") + 1..];
    let largest = log.iter().map(|committed| committed.cost_usecs).max();
    let bound = 2 * largest.expect("not empty");
    let mut usecs = [0; ACCOUNTS];
    for committed in log {
        usecs[committed.wallet] += committed.cost_usecs;
        let least = usecs.iter().min().expect("not empty");
        let most = usecs.iter().max().expect("not empty");
        // The pool charges the mean output of recent calls, which differs a little.
        let bound = bound + most / 10;
        assert!(
            most - least <= bound,
            "seed {seed}: the accounts had {usecs:?} us at version {}, which may differ by {bound}",
            committed.version
        );
    }
}

/// Sets the corrections to their upper bound, so that costs are not rounded to few microseconds.
///
/// The clock of a run stands still. The work that is recorded here outweighs all measured blocks.
fn imitate_slow_machine(costs: &CostModel) {
    let demand = Demand {
        bytes: 1 << 40,
        gas: 1 << 40,
        ..Demand::default()
    };
    for kind in [WorkKind::Execution, WorkKind::Write] {
        let estimate = costs.estimate(kind, demand);
        costs.record(estimate, 64 * estimate.usecs);
    }
}

/// Runs a node until each account has [`TRANSACTIONS`] committed, and checks their shares.
fn run(seed: u64) {
    let mut random = Rng::with_seed(seed);
    let fixture = Fixture::of(false);
    let rates = InterruptionRates {
        interruptions: [0, 50][random.usize(..2)],
        slow_syncs: [0, 100, 500][random.usize(..3)],
    };
    let scheduler = Scheduler::new(random.fork(), rates);
    let _guard = scheduler.enter();
    let mut config = NodeConfig::default();
    config.sequencer.block_time_max_ms = random.u64(1..20);
    config.sequencer.block_transactions_max = random.usize(5..100);
    config.sequencer.blocks_in_flight_max = random.usize(1..4);
    let start_up = StartUp {
        fixture,
        config: &config,
        clock: Clock::from_readings(|| ClockReading {
            wall_usecs: START_SECS * 1_000_000,
            elapsed_usecs: 0,
        }),
        disk: Disk::new(fixture.image.clone()),
        saved: None,
        has_eager_compaction: false,
    };
    let node = start_up
        .start(&scheduler, |_| ())
        .expect("a disk without faults");
    imitate_slow_machine(&node.mailboxes.meters.costs);
    let mut accounts: Vec<_> = (0..ACCOUNTS)
        .map(|wallet| Account {
            wallet,
            argument_bytes: random.choice(ARGUMENT_BYTES).expect("not empty"),
            next_nonce: 0,
            pending: HashMap::new(),
            committed: 0,
        })
        .collect();
    let mut log = Vec::new();
    let mut steps = 0;
    let mut observed_version = 0;
    while accounts
        .iter()
        .any(|account| account.committed < TRANSACTIONS)
    {
        steps += 1;
        assert!(steps < STEPS_MAX, "seed {seed}: an account waits forever");
        observed_version = node.head.ledger_info().version;
        for account in &mut accounts {
            account.observe(&node, &mut log);
            // The estimate of the first transaction is that of an unknown call.
            let pending = if account.committed == 0 { 1 } else { PENDING };
            while account.pending.len() < pending {
                account.submit(&node, fixture);
            }
        }
        scheduler.step();
    }
    assert!(!node.has_failed(), "seed {seed}: {:?}", node.failure.get());
    // A submission may let other processes run, so only some accounts observe the blocks after it.
    log.retain(|committed| committed.version <= observed_version);
    check_shares(seed, &mut log);
    scheduler.halt();
    scheduler.clear();
}

#[test]
fn accounts_with_unequal_transactions_get_equal_time() {
    for seed in 1..=SEEDS {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        runtime.block_on(tokio::task::unconstrained(async { run(seed) }));
    }
}
