//! A running attack: its rate, its end, and counts of its requests and responses.

use super::target::Target;
use futures::future::{FutureExt as _, LocalBoxFuture, join_all, ready};
use ledger_test_support::node::OpenLoop;
use ledger_vm::Chain;
use std::{
    collections::BTreeMap,
    iter,
    sync::{Arc, Mutex},
};
use tokio::sync::watch;

/// Seed of the first account of an attack. The bench derives its accounts in another way.
pub const ATTACKER_SEED: u64 = 1_000;
/// Seed of the first client after an attack.
pub const CLIENT_SEED: u64 = 2_000;

/// A prepared attack, which runs until [`Attacker::end`] is called.
pub type Assault = LocalBoxFuture<'static, ()>;

/// The preparation of an attack, which returns the attack.
pub type Preparation = LocalBoxFuture<'static, Assault>;

/// Returns the preparation of an attack that needs none.
pub fn prepared(attack: impl Future<Output = ()> + 'static) -> Preparation {
    ready(attack.boxed_local()).boxed_local()
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

    /// Runs a part of the attack until the attack ends.
    pub async fn until_ended<T>(&self, part: impl Future<Output = T>) {
        let mut is_over = self.is_over.subscribe();
        tokio::select! {
            // The sender lives as long as `self`, so the wait returns no error.
            _ = is_over.wait_for(|&is_over| is_over) => {}
            _ = part => {}
        }
    }

    /// Sends requests until the attack ends, and counts them and their responses.
    ///
    /// `senders` senders share the rate. Each has one request at a time. `send` sends the request
    /// with a number and returns the kind of its response, or `None` if there is none.
    pub async fn flood(
        &self,
        senders: usize,
        per_second: f64,
        send: impl AsyncFn(u64) -> Option<String>,
    ) {
        let turns = OpenLoop::new(per_second);
        let sender = async || loop {
            let number = turns.next().await;
            self.count_sent();
            let response = send(number).await;
            self.count(response.unwrap_or_else(|| "no response".to_owned()));
        };
        let senders = iter::repeat_with(sender).take(senders);
        self.until_ended(join_all(senders)).await;
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
