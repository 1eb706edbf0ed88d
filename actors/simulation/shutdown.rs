//! Crashes and graceful stops of a simulated node, and the transactions that the next node must
//! account for.

use super::{
    host::Task,
    node::save,
    properties,
    scheduler::{Process, Scheduler},
    world::World,
};
use crate::{
    Pending,
    mempool::persistence::{file, restore::merge_pending},
    node::quiesce,
    protocol::mempool::{GetPending, PendingStatus},
};
use ledger_crypto::HashValue;
use ledger_test_support::{Disk, Fault, Image};
use std::{
    cell::{Cell, RefCell},
    collections::BTreeSet,
    rc::Rc,
};
use tokio::sync::oneshot;

/// Content of the disk after a crash.
#[derive(Clone, Copy, Debug)]
enum Remains {
    /// All writes, because only the process was killed.
    Written,
    /// Only synced writes, because the power failed.
    Synced,
    /// Synced writes and a part of the others, because the power failed.
    Torn,
}

/// Cell for the disk image that a crash leaves.
type Wreck = Rc<RefCell<Option<Image>>>;

/// Process that ends the node at a random step, between two steps of others or within one.
struct Crash {
    scheduler: Rc<Scheduler>,
    disk: Disk,
    remains: Remains,
    wreck: Wreck,
}

impl Process for Crash {
    fn name(&self) -> &str {
        "crash"
    }

    fn is_ready(&self) -> bool {
        true
    }

    fn step(&mut self) -> bool {
        let image = match self.remains {
            Remains::Written => self.disk.written(),
            Remains::Synced => self.disk.synced(),
            Remains::Torn => self.disk.torn(&mut |bound| self.scheduler.below(bound)),
        };
        self.wreck.replace(Some(image));
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
        self.failure();
        let Some(node) = &self.node else { return };
        let (remains, what) = match self.random.u8(..3) {
            0 => (Remains::Written, "crashes: killed"),
            1 => (Remains::Synced, "crashes: power loss"),
            _ => (Remains::Torn, "crashes: power loss, torn writes"),
        };
        self.oracle.count(what);
        let wreck = Wreck::default();
        self.scheduler.add(Box::new(Crash {
            scheduler: Rc::clone(&self.scheduler),
            disk: node.disk.clone(),
            remains,
            wreck: Rc::clone(&wreck),
        }));
        while wreck.borrow().is_none() && self.scheduler.step() {}
        let Some(image) = wreck.take() else { return };
        self.end_node();
        if self.saved.is_some() {
            self.oracle.count("crashes before a start was complete");
        }
        self.hold(&hashes(&self.saved_pending()));
        self.start(image);
    }

    /// Returns the transactions of the saved mempool, which exists until a start is complete.
    fn saved_pending(&self) -> Vec<Pending> {
        let decode = |bytes: &Vec<u8>| {
            file::decode(bytes, &self.oracle.fixture.chain).expect("the file is whole")
        };
        self.saved.as_ref().map(decode).unwrap_or_default()
    }

    /// Sets the transactions that the next node must account for to exactly `held`.
    fn hold(&self, held: &BTreeSet<HashValue>) {
        for (hash, sent) in &mut self.oracle.model().sent {
            sent.is_held = held.contains(hash);
        }
    }

    /// Drops the node.
    fn end_node(&mut self) {
        self.oracle.watch(None);
        self.scheduler.halt();
        self.scheduler.clear();
        self.node = None;
        self.scheduler.resume();
        self.clients.forget();
        for sent in self.oracle.model().sent.values_mut() {
            sent.open_submits = 0;
            sent.told_left = None;
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
    /// `was_quiet` states that the node has been idle for longer than any wait; otherwise, clients
    /// may begin requests during the stop. Every accepted transaction must be accounted for.
    /// Returns `None` if no node runs or a property is violated.
    pub(super) async fn stop(&mut self, was_quiet: bool) -> Option<Image> {
        let node = self.node.as_ref()?;
        self.oracle.count("graceful stops");
        let contents = Rc::new(RefCell::new(None));
        let (mailboxes, failure) = (node.mailboxes.clone(), node.failure.clone());
        let result = Rc::clone(&contents);
        let stopping = async move {
            let pending = quiesce(&mailboxes, &failure).await;
            result.replace(pending);
        };
        self.scheduler.add(Task::new(
            "stop".to_owned(),
            Rc::new(Cell::new(true)),
            stopping,
        ));
        if !was_quiet {
            for _ in 0..self.random.usize(..4) {
                self.scheduler.step();
                self.begin();
            }
        }
        self.settle();
        if self.scheduler.is_halted() {
            return None;
        }
        let Some(pending) = contents.take() else {
            let verdict = Err("the stop does not end".to_owned());
            self.oracle.hold(properties::EVERY_QUESTION_ENDS, verdict);
            return None;
        };
        self.account_for(&pending);
        let disk = node.disk.clone();
        let has_failed = node.failure.get().is_some();
        if !has_failed {
            self.has_worked_off(&pending, was_quiet);
        }
        if self.saved.is_some() {
            self.oracle
                .count("graceful stops before a start was complete");
        }
        let before = self.saved_pending();
        let mut held = hashes(&before);
        held.append(&mut hashes(&pending));
        let pending = merge_pending(before, pending);
        self.saved = save(self.oracle.fixture, &pending);
        self.oracle
            .figures()
            .add("transactions saved", pending.len() as u64);
        self.end_node();
        self.hold(&held);
        Some(if self.random.bool() {
            disk.written()
        } else {
            disk.synced()
        })
    }

    /// Checks that every accepted transaction is in a block, in the saved mempool, or removed with
    /// a reason.
    fn account_for(&self, pending: &[Pending]) {
        let saved = hashes(pending);
        let missing: Vec<HashValue> = {
            let model = self.oracle.model();
            let missing = model.sent.iter().filter(|(hash, sent)| {
                sent.is_held && sent.version.is_none() && !saved.contains(hash)
            });
            missing.map(|(hash, _)| *hash).collect()
        };
        for hash in missing {
            let verdict = match self.ask_pool(hash) {
                Some(PendingStatus::Removed(_)) => {
                    self.oracle.count("transactions dropped with a reason");
                    Ok(())
                }
                other => Err(format!(
                    "{hash} is neither committed nor saved nor left: {other:?}"
                )),
            };
            self.oracle.hold(properties::NOTHING_VANISHES, verdict);
        }
    }

    /// Checks that every saved transaction may be pending: see [`properties::may_be_pending`].
    fn has_worked_off(&self, pending: &[Pending], was_quiet: bool) {
        let model = self.oracle.model();
        let ttl_secs = self.options.node.mempool.ttl_secs;
        let quiet_until_secs = was_quiet.then(|| self.now_secs());
        for pending in pending {
            let verdict = properties::may_be_pending(&model, pending, ttl_secs, quiet_until_secs);
            self.oracle.hold(properties::NOTHING_VANISHES, verdict);
        }
    }

    /// Returns the status of a transaction in the pool of an idle node.
    ///
    /// Returns `None` if no node runs or the mempool does not respond.
    pub(super) fn ask_pool(&self, hash: HashValue) -> Option<PendingStatus> {
        let (reply, mut answer) = oneshot::channel();
        let node = self.node.as_ref()?;
        node.mailboxes.mempool.send(GetPending { hash, reply });
        while self.scheduler.step() {}
        answer.try_recv().ok()
    }
}
