//! Shares of accounts whose transactions take different times, on a whole node.
//!
//! All transactions have one price. An account always has transactions in the pool, or it submits
//! one whenever a block has taken the previous one. The seed chooses that, the content of the
//! transactions, the order of steps, the limits of a block, and the speed of the machine.
//!
//! The costs are those of the admission, because they determine the turns. An account waits while
//! one of its transactions is in the pool and in no block, according to the pool's log. The bound
//! does not hold for an account whose transactions are all in blocks in flight.

use super::{
    fixture::{FUNDED_WALLETS, Fixture, START_SECS, wallets},
    node::{NodeUnderTest, StartUp},
    scheduler::{InterruptionRates, Scheduler},
};
use crate::{
    Clock, ClockReading, NodeConfig, SubmitError,
    mempool::{AccountTurn, DEBT_MIN_USECS},
    protocol::mempool::Submit,
};
use fastrand::Rng;
use ledger_crypto::Ed25519Signature;
use ledger_limits::{CostModel, Demand, WorkKind};
use ledger_test_support::{Disk, TransactionBuilder, bcs_bytes, function_call, transfer_call};
use ledger_types::{AccountAddress, CheckedTransaction, EntryFunction};
use std::{env, sync::Arc};
use tokio::sync::oneshot::{self, error::TryRecvError};

/// Number of seeds of a default run.
pub(super) const SEEDS: u64 = 20;
const ACCOUNTS: usize = FUNDED_WALLETS;
const PRICE: u64 = 100;
/// Number of turns of each account after which a run ends.
const TURNS: usize = 12;
/// Number of turns of all accounts after which a run ends anyway. An account whose transactions
/// take ten thousand times as long as those of another rightly has fewer turns. It does not starve:
/// [`Shares::check`] bounds what the others gain while it waits.
const TURNS_MAX: usize = 1_500;
/// Maximum number of steps of a run. A run takes some thousands.
const STEPS_MAX: usize = 200_000;

/// Content of the transactions of an account. Their sizes vary.
#[derive(Clone, Copy, Debug)]
enum Content {
    Transfer,
    /// Transfers to several accounts, at most this many.
    Batch(usize),
    /// A call that fails because of a superfluous argument of at most this size, in bytes.
    Large(usize),
}

impl Content {
    fn random(random: &mut Rng) -> Self {
        match random.u8(..4) {
            0 => Self::Transfer,
            1 => Self::Batch(random.usize(1..300)),
            _ => Self::Large(random.choice([100, 1_000, 10_000, 60_000]).expect("one")),
        }
    }

    /// Returns a call of at most this size.
    fn call(self, fixture: &Fixture, random: &mut Rng) -> EntryFunction {
        let vendor = fixture.chain.vendor();
        let recipient = |number| AccountAddress::from_low_u64(1_000 + number);
        match self {
            Self::Transfer => transfer_call(vendor, recipient(0), 1),
            Self::Batch(max) => {
                let count = random.u64(1..=max as u64);
                let recipients: Vec<_> = (0..count).map(recipient).collect();
                let amounts = vec![1_u64; recipients.len()];
                let function = format!("0x1::{}_account::batch_transfer", vendor.lower());
                let args = vec![bcs_bytes(&recipients), bcs_bytes(&amounts)];
                function_call(&function, &[], args)
            }
            Self::Large(max) => {
                let mut call = transfer_call(vendor, recipient(0), 1);
                call.args.push(vec![7; random.usize(max / 2..=max)].into());
                call
            }
        }
    }
}

/// The response to a submission.
type Response = oneshot::Receiver<Vec<Result<Arc<CheckedTransaction>, SubmitError>>>;

/// A client with an account.
struct Client {
    wallet: usize,
    content: Content,
    is_orderless: bool,
    /// Number of transactions that the client keeps waiting.
    waiting: usize,
    submitted: usize,
    /// The mempool ignores a submission whose response is not awaited.
    responses: Vec<Response>,
}

impl Client {
    fn random(wallet: usize, random: &mut Rng, config: &NodeConfig) -> Self {
        // Transactions in flight do not count, so the next block cannot take all of them.
        let many = 2 * config.sequencer.block_transactions_max;
        // The first two have many, so that accounts always compete.
        let is_alone = wallet >= 2 && random.u8(..3) == 0;
        Self {
            wallet,
            content: Content::random(random),
            is_orderless: random.bool(),
            waiting: if is_alone { 1 } else { many },
            submitted: 0,
            responses: Vec::new(),
        }
    }

    /// Submits transactions until the client has submitted enough beyond the `taken` ones.
    fn submit(&mut self, taken: usize, node: &NodeUnderTest, fixture: &Fixture, random: &mut Rng) {
        while self.submitted < taken + self.waiting {
            let wallet = &wallets()[self.wallet];
            let call = self.content.call(fixture, random);
            let number = self.submitted as u64;
            let builder = TransactionBuilder::call(&fixture.chain, wallet.address, call)
                .max_gas_amount(200_000)
                .gas_unit_price(PRICE)
                .expiration_secs(START_SECS + 50);
            let builder = if self.is_orderless {
                builder.nonce(number)
            } else {
                builder.sequence_number(number)
            };
            let signed = builder.with_signature(wallet.key.public_key(), Ed25519Signature([0; 64]));
            let vendor = fixture.chain.vendor();
            let (reply, response) = oneshot::channel();
            self.submitted += 1;
            self.responses.push(response);
            let checked = Arc::new(CheckedTransaction::new_unchecked(signed, vendor));
            // The mempool replaces the 0 by the number of the newest block.
            node.mailboxes.mempool.send(Submit::one(checked, 0, reply));
        }
    }

    /// Drops the responses that have arrived.
    ///
    /// # Panics
    ///
    /// Panics if the pool rejected or ignored a submission.
    fn receive(&mut self) {
        self.responses
            .retain_mut(|response| match response.try_recv() {
                Ok(mut outcomes) => {
                    outcomes.remove(0).expect("an admission");
                    false
                }
                Err(TryRecvError::Empty) => true,
                Err(TryRecvError::Closed) => panic!("a submission was dropped"),
            });
    }
}

/// The time that blocks have given to an account.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    turns: usize,
    usecs: u64,
    largest_usecs: u64,
    waiting: usize,
    /// Number of times that the account has begun to wait.
    waits: u64,
    /// Lowest lead of each other account over this one since it began to wait, in microseconds.
    lowest_lead_usecs: [i64; ACCOUNTS],
}

/// The shares of all accounts.
#[derive(Default)]
struct Shares {
    of: [Share; ACCOUNTS],
    /// Turns of the log that are processed.
    processed: usize,
}

impl Shares {
    /// Returns whether each account has had [`TURNS`] turns, or all together [`TURNS_MAX`].
    fn is_complete(&self) -> bool {
        let turns = self.of.iter().map(|share| share.turns);
        turns.clone().all(|turns| turns >= TURNS) || turns.sum::<usize>() >= TURNS_MAX
    }

    /// Processes the new turns of the log.
    fn observe(&mut self, seed: u64, node: &NodeUnderTest) {
        let log = node.turns.lock().expect("no test panics with it");
        for turn in &log[self.processed..] {
            match *turn {
                AccountTurn::Admitted { sender, cost_usecs } => {
                    self.admitted(number(&sender), cost_usecs);
                }
                AccountTurn::Taken { sender, cost_usecs } => {
                    let taken = &mut self.of[number(&sender)];
                    taken.turns += 1;
                    taken.usecs += cost_usecs;
                    taken.waiting -= 1;
                    self.check(seed);
                }
            }
        }
        self.processed = log.len();
    }

    fn admitted(&mut self, account: usize, cost_usecs: u64) {
        let share = &mut self.of[account];
        share.largest_usecs = share.largest_usecs.max(cost_usecs);
        share.waiting += 1;
        if share.waiting == 1 {
            share.waits += 1;
            for other in 0..ACCOUNTS {
                self.of[account].lowest_lead_usecs[other] = self.lead_usecs(other, account);
            }
        }
    }

    /// Returns the lead of `other` over `account`, without the debts that `other` may have escaped.
    fn lead_usecs(&self, other: usize, account: usize) -> i64 {
        let [other, account] = [other, account].map(|number| &self.of[number]);
        let gained_usecs = DEBT_MIN_USECS * other.waits;
        other.usecs as i64 - gained_usecs as i64 - account.usecs as i64
    }

    /// Checks that no account gets more time than one that waits, except twice the largest
    /// transactions of both.
    ///
    /// An account is at most its largest transaction ahead of its even part, and at most as much
    /// behind it: a transaction is taken between its start and its end tag.
    fn check(&mut self, seed: u64) {
        for account in 0..ACCOUNTS {
            for other in 0..ACCOUNTS {
                if self.of[account].waiting == 0 || account == other {
                    continue;
                }
                let lead_usecs = self.lead_usecs(other, account);
                let lowest = &mut self.of[account].lowest_lead_usecs[other];
                *lowest = lead_usecs.min(*lowest);
                let gained_usecs = lead_usecs - *lowest;
                let [largest, largest_other] =
                    [account, other].map(|number| self.of[number].largest_usecs);
                let bound = 2 * (largest + largest_other);
                assert!(
                    gained_usecs <= bound as i64,
                    "seed {seed}: account {other} has gained {gained_usecs} us on account \
                     {account}, which waits; {bound} are allowed: {:?}",
                    self.of
                        .map(|share| (share.turns, share.usecs, share.largest_usecs))
                );
            }
        }
    }
}

/// Returns the number of the wallet with this address.
fn number(address: &AccountAddress) -> usize {
    let mut all = wallets().iter();
    all.position(|wallet| wallet.address == *address)
        .expect("a wallet")
}

/// Sets the corrections to their upper bound, so that costs are not rounded to few microseconds.
///
/// The clock of a run stands still, so corrections fall to their lower bound otherwise. The work
/// that is recorded here outweighs all measured blocks.
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

/// Returns a configuration with random limits of a block.
fn config(random: &mut Rng) -> NodeConfig {
    let mut config = NodeConfig::default();
    config.sequencer.block_time_max_ms = random.u64(1..20);
    config.sequencer.block_transactions_max = random.usize(5..100);
    config.sequencer.blocks_in_flight_max = random.usize(1..4);
    // An account with many waiting transactions has some in each block in flight too.
    config.mempool.capacity_per_account = 1_000;
    config
}

/// Runs a node until the accounts have had their turns, and checks their shares.
fn run(seed: u64) {
    let mut random = Rng::with_seed(seed);
    let fixture = Fixture::of(false);
    let rates = InterruptionRates {
        interruptions: [0, 50][random.usize(..2)],
        slow_syncs: [0, 100, 500][random.usize(..3)],
    };
    let scheduler = Scheduler::new(random.fork(), rates);
    let _guard = scheduler.enter();
    let config = config(&mut random);
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
        consensus: None,
    };
    let node = start_up
        .start(&scheduler, |_, _| ())
        .expect("a disk without faults");
    if random.bool() {
        imitate_slow_machine(&node.mailboxes.meters.costs);
    }
    let mut clients: Vec<_> = (0..ACCOUNTS)
        .map(|wallet| Client::random(wallet, &mut random, &config))
        .collect();
    let mut shares = Shares::default();
    let mut steps = 0;
    while !shares.is_complete() {
        steps += 1;
        assert!(
            steps < STEPS_MAX,
            "seed {seed}: accounts wait for turns: {:?}",
            shares.of.map(|share| share.turns)
        );
        for client in &mut clients {
            shares.observe(seed, &node);
            client.receive();
            client.submit(shares.of[client.wallet].turns, &node, fixture, &mut random);
        }
        scheduler.step();
    }
    assert!(!node.has_failed(), "seed {seed}: {:?}", node.failure.get());
    scheduler.halt();
    scheduler.clear();
}

/// Returns the number in an environment variable.
fn variable(name: &str) -> Option<u64> {
    let text = env::var(name).ok()?;
    Some(text.parse().expect("a number"))
}

#[test]
fn no_account_exceeds_its_share_or_starves_on_a_whole_node() {
    let only = variable("SHARES_SEED");
    let first = only.unwrap_or(1);
    let count = only.map_or_else(|| variable("SHARES_SEEDS").unwrap_or(SEEDS), |_| 1);
    for seed in first..first + count {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        runtime.block_on(tokio::task::unconstrained(async { run(seed) }));
    }
}
