//! `sequence_number_too_old`: what the pool alone knows.

use crate::{
    kit::{Settings, TestApi, Transfer, now_secs, refused},
    rows::row,
};
use ledger_actors::{ActorsConfig, Clock, NodeConfig};
use std::{
    collections::HashSet,
    sync::{Arc, Mutex, mpsc},
    thread::{self, ThreadId},
};

/// A clock that holds the one thread that has not asked it before it was told to: the sequencer's, which
/// asks it for the time of a block after the pool gave it the transactions.
#[derive(Default)]
struct HoldingClock {
    known: Mutex<HashSet<ThreadId>>,
    holds: Mutex<Option<(mpsc::Sender<()>, mpsc::Receiver<()>)>>,
}

impl HoldingClock {
    fn now_usecs(&self) -> u64 {
        let is_new = self.known.lock().unwrap().insert(thread::current().id());
        let hold = self.holds.lock().unwrap().take_if(|_| is_new);
        if let Some((held, go_on)) = hold {
            let _ = held.send(());
            // Gone: the test goes on, or has failed.
            let _ = go_on.recv();
        }
        now_secs() * 1_000_000
    }
}

/// The pool's own word: a block has taken the number already, and the ledger does not show it yet.
#[actix_web::test]
async fn a_number_that_a_block_has_taken_is_too_old() {
    let clock = Arc::new(HoldingClock::default());
    let asked = Arc::clone(&clock);
    let api = TestApi::start(Settings {
        // While the sequencer is held, the mempool goes on.
        node: NodeConfig {
            actors: ActorsConfig { threads: 3 },
            ..NodeConfig::default()
        },
        clock: Clock::new(move || asked.now_usecs()),
        ..Settings::default()
    })
    .await;
    let submit = async |transfer: &Transfer| api.client.submit_bcs(&transfer.sign(&api.chain)).await;
    clock.known.lock().unwrap().clear();
    // One that waits for a number makes everybody ask for the time who does so before a block is made.
    assert_eq!(submit(&Transfer::new(1, 5)).await.status, 202);
    let (tell_held, held) = mpsc::channel();
    let (go_on, wait) = mpsc::channel();
    *clock.holds.lock().unwrap() = Some((tell_held, wait));
    let first = Transfer::new(0, 0);
    assert_eq!(submit(&first).await.status, 202);
    held.recv().unwrap();
    let other = Transfer {
        amount: 8,
        ..first.clone()
    };
    let answer = submit(&other).await;
    row("POST /transactions", 400, "sequence_number_too_old").holds(&answer, "taken by a block");
    assert_eq!(
        answer.json()["message"],
        "transaction sequence number is 0, current sequence number is 1"
    );
    // The one that was taken comes again, and is still pending.
    assert_eq!(submit(&first).await.status, 202);
    go_on.send(()).unwrap();
    let committed = api
        .client
        .wait(&first.sign(&api.chain).hash(api.chain.vendor()))
        .await;
    assert_eq!(committed["success"], true, "{committed}");
    // Now the ledger itself says so.
    refused(&submit(&other).await, (400, "vm_error"), "executed");
    api.stop().await;
}
