//! Crashes and graceful stops of a simulated node, and the transactions that the next node must
//! account for.

use super::{
    host::Task,
    node::encode_saved,
    properties,
    scheduler::{Process, Scheduler},
    world::World,
};
use crate::{
    Pending,
    mempool::persistence::{file, restore::merge_pending},
    node::stop::quiesce,
    protocol::mempool::{GetPending, PendingStatus},
};
use fastrand::Rng;
use ledger_crypto::HashValue;
use ledger_metrics::Metric as _;
use ledger_test_support::{Disk, Fault, Image};
use std::{
    cell::{Cell, RefCell},
    collections::BTreeSet,
    rc::Rc,
};
use tokio::sync::oneshot;

/// Content of the disk after a crash.
#[derive(Clone, Copy, Debug)]
pub(super) enum CrashImage {
    /// All writes, because only the process was killed.
    Written,
    /// Only synced writes, because the power failed.
    Synced,
    /// Synced writes and a part of the others, because the power failed.
    Torn,
}

impl CrashImage {
    /// Chooses a content, and returns it with the counter of such crashes.
    pub(super) fn choose(random: &mut Rng) -> (Self, &'static str) {
        match random.u8(..3) {
            0 => (Self::Written, "crashes: killed"),
            1 => (Self::Synced, "crashes: power loss"),
            _ => (Self::Torn, "crashes: power loss, torn writes"),
        }
    }

    /// Returns this content of `disk`.
    pub(super) fn of(self, disk: &Disk, scheduler: &Scheduler) -> Image {
        match self {
            Self::Written => disk.written(),
            Self::Synced => disk.synced(),
            Self::Torn => disk.torn(&mut |bound| scheduler.random_below(bound)),
        }
    }
}

/// Cell for the disk image that a crash leaves.
type CrashedDisk = Rc<RefCell<Option<Image>>>;

/// Process that ends the node at a random step, between two steps of others or within one.
struct Crash {
    scheduler: Rc<Scheduler>,
    disk: Disk,
    content: CrashImage,
    crashed_disk: CrashedDisk,
}

impl Process for Crash {
    fn name(&self) -> &str {
        "crash"
    }

    fn is_ready(&self) -> bool {
        true
    }

    fn step(&mut self) -> bool {
        let image = self.content.of(&self.disk, &self.scheduler);
        self.crashed_disk.replace(Some(image));
        self.disk.inject(Fault::Gone { after: 0 });
        self.scheduler.halt();
        false
    }
}

/// Returns the hashes of transactions.
fn hashes(pending: &[Pending]) -> BTreeSet<HashValue> {
    pending
        .iter()
        .map(|pending| pending.transaction.hash())
        .collect()
}

impl World {
    /// Ends the node at a random step, and starts a new one on the remaining content of the disk.
    pub(super) fn crash(&mut self) {
        self.check_storage_fault();
        let Some(node) = &self.node else { return };
        let (content, counter) = CrashImage::choose(&mut self.random);
        self.oracle.count(counter);
        let crashed_disk = CrashedDisk::default();
        self.scheduler.add(Box::new(Crash {
            scheduler: Rc::clone(&self.scheduler),
            disk: node.disk.clone(),
            content,
            crashed_disk: Rc::clone(&crashed_disk),
        }));
        while crashed_disk.borrow().is_none() && self.scheduler.step() {}
        let Some(image) = crashed_disk.take() else {
            return;
        };
        self.end_node();
        if self.saved.is_some() {
            self.oracle.count("crashes before a start was complete");
        }
        self.set_accountable(&hashes(&self.saved_pending()));
        self.start(image);
    }

    /// Returns the transactions of the saved mempool, which exists until a start is complete.
    fn saved_pending(&self) -> Vec<Pending> {
        let decode = |bytes: &Vec<u8>| {
            file::decode(bytes, &self.oracle.fixture.chain).expect("the file is whole")
        };
        self.saved.as_ref().map(decode).unwrap_or_default()
    }

    /// Sets the transactions that the next node must account for to exactly `accountable`.
    fn set_accountable(&self, accountable: &BTreeSet<HashValue>) {
        for (hash, sent) in &mut self.oracle.model().sent {
            sent.is_accepted = accountable.contains(hash);
        }
    }

    /// Drops the node.
    fn end_node(&mut self) {
        self.oracle.observe(None);
        self.scheduler.halt();
        self.scheduler.clear();
        self.node = None;
        self.scheduler.resume();
        self.clients.discard_all();
        for sent in self.oracle.model().sent.values_mut() {
            sent.open_submits = 0;
            sent.reported_removed = None;
        }
    }

    /// Stops the node gracefully, and starts one with the saved mempool.
    pub(super) async fn restart(&mut self) {
        if let Some(image) = self.stop(false).await {
            self.start(image);
        }
    }

    /// Stops the node gracefully, and returns the disk image for the next start.
    ///
    /// `was_idle` states that the node has been idle for longer than any wait; otherwise, clients
    /// may begin requests during the stop. Every accepted transaction must be accounted for.
    /// Returns `None` if no node runs or a property is violated.
    pub(super) async fn stop(&mut self, was_idle: bool) -> Option<Image> {
        let node = self.node.as_ref()?;
        self.oracle.count("graceful stops");
        let quiesced = Rc::new(RefCell::new(None));
        let (mailboxes, failure) = (node.mailboxes.clone(), node.failure.clone());
        let health = node.storage_health.clone();
        let result = Rc::clone(&quiesced);
        let stop = async move {
            let pending = quiesce(&mailboxes, &health, &failure).await;
            result.replace(pending);
        };
        self.scheduler
            .add(Task::new("stop".to_owned(), Rc::new(Cell::new(true)), stop));
        if !was_idle {
            for _ in 0..self.random.usize(..4) {
                self.scheduler.step();
                self.begin_request();
            }
        }
        self.run_until_idle();
        if self.scheduler.is_halted() {
            return None;
        }
        let Some(pending) = quiesced.take() else {
            let verdict = Err("the stop is not complete".to_owned());
            self.oracle.report(properties::EVERY_REQUEST_ENDS, verdict);
            return None;
        };
        self.check_accepted_accounted_for(&pending);
        let disk = node.disk.clone();
        let has_failed = node.has_failed();
        if !has_failed {
            self.check_saved(&pending, was_idle);
            let usecs = node.mailboxes.meters.pool.usecs.snapshot();
            let verdict = self.oracle.pool_rules().check_content(&pending, usecs);
            self.oracle.report(properties::CAPACITY, verdict);
        }
        if self.saved.is_some() {
            self.oracle
                .count("graceful stops before a start was complete");
        }
        let saved_before = self.saved_pending();
        let mut accountable = hashes(&saved_before);
        accountable.append(&mut hashes(&pending));
        let pending = merge_pending(saved_before, pending);
        self.saved = encode_saved(self.oracle.fixture, &pending);
        self.oracle
            .counters()
            .add("transactions saved", pending.len() as u64);
        self.end_node();
        self.set_accountable(&accountable);
        Some(if self.random.bool() {
            disk.written()
        } else {
            disk.synced()
        })
    }

    /// Checks that every accepted transaction is in a block, in the saved mempool, or removed with
    /// a reason.
    fn check_accepted_accounted_for(&self, pending: &[Pending]) {
        let saved = hashes(pending);
        let missing: Vec<HashValue> = {
            let model = self.oracle.model();
            let missing = model.sent.iter().filter(|(hash, sent)| {
                sent.is_accepted && sent.version.is_none() && !saved.contains(hash)
            });
            missing.map(|(hash, _)| *hash).collect()
        };
        for hash in missing {
            let verdict = match self.pool_status(hash) {
                Some(PendingStatus::Removed(_)) => {
                    self.oracle.count("transactions removed with a reason");
                    Ok(())
                }
                other => Err(format!(
                    "{hash} is neither committed nor saved nor removed: {other:?}"
                )),
            };
            self.oracle
                .report(properties::ACCEPTED_IS_ACCOUNTED_FOR, verdict);
        }
    }

    /// Checks that every saved transaction may be pending: see [`properties::check_saved_pending`].
    fn check_saved(&self, pending: &[Pending], was_idle: bool) {
        let model = self.oracle.model();
        let ttl_secs = self.options.node.mempool.ttl_secs;
        let idle_until_secs = was_idle.then(|| self.now_secs());
        for pending in pending {
            let verdict =
                properties::check_saved_pending(&model, pending, ttl_secs, idle_until_secs);
            self.oracle
                .report(properties::ACCEPTED_IS_ACCOUNTED_FOR, verdict);
        }
    }

    /// Returns the status of a transaction in the pool of an idle node.
    ///
    /// Returns `None` if no node runs or the mempool does not respond.
    pub(super) fn pool_status(&self, hash: HashValue) -> Option<PendingStatus> {
        let (reply, mut response) = oneshot::channel();
        let node = self.node.as_ref()?;
        node.mailboxes.mempool.send(GetPending { hash, reply });
        while self.scheduler.step() {}
        response.try_recv().ok()
    }
}
