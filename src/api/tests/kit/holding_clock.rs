//! A clock that stops the sequencer before it makes a block.

use super::{Settings, TestApi, Transfer, now_secs};
use ledger_actors::{ActorsConfig, Clock, NodeConfig};
use std::{
    collections::HashMap,
    fs,
    sync::{Arc, Mutex, mpsc},
    thread::{self, ThreadId},
};

/// A clock that can block a thread that reads it.
///
/// After [`Self::hold_next_block`] it blocks the first thread that has not read it while an earlier
/// submission was processed. That thread is the sequencer, which reads the time of a block once it
/// has the transactions of the block.
#[derive(Default)]
pub struct HoldingClock {
    /// Threads that have read the clock, each with whether the sequencer runs on it.
    known: Mutex<HashMap<ThreadId, bool>>,
    hold: Mutex<Option<(mpsc::Sender<()>, mpsc::Receiver<()>)>>,
}

/// A block that is held. The sequencer continues when this is dropped.
pub struct HeldBlock {
    held: mpsc::Receiver<()>,
    _release: mpsc::Sender<()>,
}

impl HeldBlock {
    /// Blocks until the sequencer has taken the transactions of the block.
    pub fn wait_until_taken(&self) {
        self.held.recv().unwrap();
    }
}

impl HoldingClock {
    /// Returns the settings of a node with this clock. Its mempool runs while its sequencer is
    /// held.
    pub fn settings(self: &Arc<Self>) -> Settings {
        let clock = Arc::clone(self);
        Settings {
            node: NodeConfig {
                actors: ActorsConfig { threads: 3 },
                ..NodeConfig::default()
            },
            clock: Clock::new(move || clock.now_usecs()),
            ..Settings::default()
        }
    }

    /// Holds the block of the next transaction.
    ///
    /// Submits a transaction that waits for an earlier one.
    pub async fn hold_next_block(&self, api: &TestApi) -> HeldBlock {
        self.known.lock().unwrap().clear();
        // Every other thread that reads the clock before a block is made reads it here.
        let parked = Transfer::new(1, 5).sign(&api.chain);
        assert_eq!(api.client.submit_bcs(&parked).await.status, 202);
        // The sequencer also reads the clock to see whether a heartbeat is due.
        self.known
            .lock()
            .unwrap()
            .retain(|_, is_sequencer| !*is_sequencer);
        let (held_sender, held) = mpsc::channel();
        let (release, wait) = mpsc::channel();
        *self.hold.lock().unwrap() = Some((held_sender, wait));
        HeldBlock {
            held,
            _release: release,
        }
    }

    fn now_usecs(&self) -> u64 {
        let mut known = self.known.lock().unwrap();
        let is_new = !known.contains_key(&thread::current().id());
        let runs_sequencer = *known
            .entry(thread::current().id())
            .or_insert_with(runs_sequencer);
        drop(known);
        // A timer of another thread may read the clock for the first time.
        let is_held = is_new && runs_sequencer;
        let hold = self.hold.lock().unwrap().take_if(|_| is_held);
        if let Some((held_sender, wait)) = hold {
            // An error means that the test has ended.
            let _ = held_sender.send(());
            // An error means that the block is released.
            let _ = wait.recv();
        }
        now_secs() * 1_000_000
    }
}

/// Returns whether the sequencer runs on the calling thread, by the name of the thread.
fn runs_sequencer() -> bool {
    let name = fs::read_to_string("/proc/thread-self/comm");
    name.is_ok_and(|name| name.trim() == "commit")
}
