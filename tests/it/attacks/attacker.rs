//! A running attack: its rate, its end, and counts of its requests and responses.

use super::target::Target;
use futures::future::{BoxFuture, FutureExt as _, ready};
use ledger_test_support::node::OpenLoop;
use ledger_vm::Chain;
use rustix::time::{ClockId, clock_gettime};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::sync::watch;

/// Seed of the first account of an attack. The bench derives its accounts in another way.
pub const ATTACKER_SEED: u64 = 1_000;
/// Seed of the first client after an attack.
pub const CLIENT_SEED: u64 = 2_000;

/// A prepared attack.
pub struct Assault(BoxFuture<'static, ()>);

impl Assault {
    pub fn new(attack: impl Future<Output = ()> + Send + 'static) -> Self {
        Self(attack.boxed())
    }

    /// Runs the attack until [`Attacker::end`] is called.
    pub async fn run(self) {
        self.0.await;
    }
}

/// The preparation of an attack, which returns the attack.
pub type Preparation = BoxFuture<'static, Assault>;

/// Returns the preparation of an attack that needs none.
pub fn prepared(attack: impl Future<Output = ()> + Send + 'static) -> Preparation {
    ready(Assault::new(attack)).boxed()
}

/// Counts of sent requests, and of responses by kind.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub sent: u64,
    pub responses: BTreeMap<String, u64>,
}

/// A run of an attack.
pub struct Attacker {
    pub target: Arc<Target>,
    pub chain: Chain,
    /// Number of the round, which selects accounts that no other round uses.
    pub round: u64,
    is_over: watch::Sender<bool>,
    tally: Mutex<Tally>,
}

impl Attacker {
    pub async fn new(target: &Arc<Target>, round: u64) -> Arc<Self> {
        Arc::new(Self {
            target: Arc::clone(target),
            chain: target.chain().await,
            round,
            is_over: watch::Sender::new(false),
            tally: Mutex::default(),
        })
    }

    /// Ends the attack.
    pub fn end(&self) {
        self.is_over.send_replace(true);
    }

    /// Waits for the end of the attack.
    pub async fn ended(&self) {
        // The sender lives as long as `self`, so the wait returns no error.
        let _ = self.is_over.subscribe().wait_for(|&is_over| is_over).await;
    }

    /// Counts a sent request, connection or signal.
    pub fn count_sent(&self) {
        self.tally.lock().unwrap().sent += 1;
    }

    /// Counts a response.
    pub fn count(&self, response: impl Into<String>) {
        self.count_many(response, 1);
    }

    /// Counts `number` responses of one kind.
    pub fn count_many(&self, response: impl Into<String>, number: u64) {
        let mut tally = self.tally.lock().unwrap();
        *tally.responses.entry(response.into()).or_default() += number;
    }

    /// Returns the counts so far.
    pub fn tally(&self) -> Tally {
        self.tally.lock().unwrap().clone()
    }
}

/// A fixed rate that all senders of an attack share, until it ends.
pub struct Pace {
    attacker: Arc<Attacker>,
    turns: OpenLoop,
}

impl Pace {
    pub fn new(attacker: &Arc<Attacker>, per_second: f64) -> Arc<Self> {
        Arc::new(Self {
            attacker: Arc::clone(attacker),
            turns: OpenLoop::new(per_second),
        })
    }

    /// Waits for the next turn and returns its number. Returns `None` after the end of the attack.
    pub async fn next(&self) -> Option<u64> {
        tokio::select! {
            biased;
            () = self.attacker.ended() => None,
            number = self.turns.next() => Some(number),
        }
    }
}

/// Returns the processor time that this process has used.
pub fn processor_time() -> Duration {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(
        used.tv_sec.try_into().unwrap(),
        used.tv_nsec.try_into().unwrap(),
    )
}
