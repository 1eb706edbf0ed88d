//! Tests that inject a stall into each actor and thread of a real node.

use super::{handle::NodeHandle, stalls::Stalls};
use crate::{
    Node, NodeConfig, TransactionStatus,
    engine::{ACTORS, EngineReport, HEIGHTS, NETWORK},
    runtime::{
        actor::Actor, fatal::FatalErrorReporter, mailbox::Mailbox, work_meter::WorkMeter,
        worker::WorkerThread,
    },
};
use ledger_limits::{ClientKey, Demand, Work, WorkKind};
use ledger_test_support::{Wallet, store::open_store};
use std::{
    ops::ControlFlow,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
        mpsc,
    },
    time::{Duration, Instant},
};

/// Work of the test, whose cost does not matter.
const WORK: Work = Work::of_node(WorkKind::Page, Demand::rows(0));

/// Limit of the nodes under test.
const LIMIT: Duration = Duration::from_secs(1);

/// Maximum time until the monitor shows a change, on a busy machine.
const WAIT_TIMEOUT: Duration = Duration::from_secs(60);

/// Work that lasts until the test ends it.
struct Blocked {
    begun: mpsc::Receiver<Instant>,
    end: mpsc::Sender<()>,
}

/// Returns work that blocks its thread, and its control.
fn blocking_work() -> (impl FnOnce() + Send + 'static, Blocked) {
    let (begun_sender, begun) = mpsc::channel();
    let (end, ended) = mpsc::channel();
    let work = move || {
        begun_sender.send(Instant::now()).unwrap();
        // An error means that the test has failed, which also ends the work.
        let _ = ended.recv();
    };
    (work, Blocked { begun, end })
}

async fn node_with(threads: usize) -> (Node, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let (chain, store) = open_store(directory.path());
    let mut config = NodeConfig::default();
    config.actors.threads = threads;
    config.storage.readers = 2;
    config.stalls.secs = LIMIT.as_secs();
    // Longer than a test, so that only a notification ends a wait.
    config.wait.timeout_ms = 3_600_000;
    let node = Node::start(chain, store, None, config).await.unwrap();
    (node, directory)
}

/// Waits until `count` actors or threads of this name are stalled.
async fn wait_for_count(handle: &NodeHandle, name: &str, count: usize) {
    let begun = Instant::now();
    while handle.stalls_by_name()[name] != count {
        assert!(
            begun.elapsed() < WAIT_TIMEOUT,
            "{name} is not stalled {count} times: {:?}",
            handle.stalls_by_name()
        );
        tokio::task::yield_now().await;
    }
}

impl Blocked {
    /// Waits until the work blocks its thread, and returns when it began.
    async fn begun(&self) -> Instant {
        loop {
            match self.begun.try_recv() {
                Ok(begun) => break begun,
                Err(_) => tokio::task::yield_now().await,
            }
        }
    }

    /// Waits until the stall is named, checks the names and the time, and ends the work.
    #[expect(clippy::print_stderr, reason = "the time is a figure of the run")]
    async fn check_named(self, handle: &NodeHandle, name: &str, others: &[&str]) {
        let begun = self.begun().await;
        wait_for_count(handle, name, 1).await;
        let named_after = begun.elapsed();
        eprintln!("{name}: named after {named_after:?}");
        assert!(named_after >= LIMIT, "{name}: {named_after:?}");
        let stalled: Vec<_> = handle
            .stalls_by_name()
            .into_iter()
            .filter(|(stalled, count)| *count > 0 && !others.contains(&&**stalled))
            .map(|(stalled, _)| stalled)
            .collect();
        assert_eq!(stalled, [name.into()]);
        self.end.send(()).unwrap();
        wait_for_count(handle, name, 0).await;
    }
}

/// Blocks a handler of an actor. `others` share its thread, so messages may wait for them too.
async fn check_actor<A: Actor>(handle: &NodeHandle, mailbox: &Mailbox<A>, others: &[&str]) {
    let (work, blocked) = blocking_work();
    mailbox.send_call(move |_| work());
    blocked.check_named(handle, A::NAME, others).await;
}

#[actix::test]
async fn names_each_actor_whose_handler_does_not_return() {
    let (node, _directory) = node_with(3).await;
    let handle = node.handle();
    let mailboxes = &node.handle.node().mailboxes;
    check_actor(&handle, &mailboxes.mempool, &[]).await;
    check_actor(&handle, &mailboxes.sequencer, &["committer"]).await;
    check_actor(&handle, &mailboxes.committer, &["sequencer"]).await;
    check_actor(&handle, &mailboxes.storage, &["pruner"]).await;
    check_actor(&handle, &mailboxes.pruner, &["storage"]).await;
    assert_eq!(handle.commit_stall(), None);
    node.stop().await.unwrap();
}

#[actix::test]
async fn names_the_message_and_the_actors_that_wait_for_the_same_thread() {
    let (node, _directory) = node_with(1).await;
    let handle = node.handle();
    let (work, blocked) = blocking_work();
    node.handle
        .node()
        .mailboxes
        .storage
        .send_call(move |_| work());
    // The thread, which both actors share, handles no message of the mempool any more.
    blocked.begun().await;
    node.handle.node().mailboxes.mempool.send_call(|_| ());
    wait_for_count(&handle, "storage", 1).await;
    wait_for_count(&handle, "mempool", 1).await;
    let stalled = node.handle().node().stalls.stalled();
    let message = |name: &str| {
        let stall = stalled.iter().find(|stall| &*stall.thread == name);
        stall.unwrap().message
    };
    assert_eq!(
        (message("storage"), message("mempool")),
        (Some("read"), None)
    );
    let stall = handle.commit_stall().unwrap();
    assert_eq!(&*stall.thread, "mempool");
    blocked.end.send(()).unwrap();
    wait_for_count(&handle, "mempool", 0).await;
    node.stop().await.unwrap();
}

#[actix::test]
async fn names_one_of_two_readers_while_the_other_serves() {
    let (node, _directory) = node_with(1).await;
    let handle = node.handle();
    let (work, blocked) = blocking_work();
    let query = |work: Box<dyn FnOnce() + Send>| {
        move |_: &ledger_store::Snapshot| {
            work();
            Ok::<_, ledger_store::StoreError>(())
        }
    };
    let stuck = {
        let handle = handle.clone();
        let query = query(Box::new(work));
        tokio::task::spawn_local(async move { handle.read(WORK, query).await })
    };
    let served = {
        let handle = handle.clone();
        tokio::task::spawn_local(async move {
            loop {
                handle.read(WORK, query(Box::new(|| ()))).await.unwrap();
            }
        })
    };
    blocked.check_named(&handle, "store-reader", &[]).await;
    stuck.await.unwrap().unwrap();
    served.abort();
    node.stop().await.unwrap();
}

#[actix::test]
async fn names_a_renderer() {
    let (node, _directory) = node_with(1).await;
    let handle = node.handle();
    let (work, blocked) = blocking_work();
    let rendering = {
        let handle = handle.clone();
        tokio::task::spawn_local(async move { handle.render(WORK, work).await })
    };
    blocked.check_named(&handle, "renderer", &[]).await;
    rendering.await.unwrap().unwrap();
    node.stop().await.unwrap();
}

#[actix::test]
async fn names_a_thread_that_has_ended_while_jobs_wait_for_it() {
    let (node, _directory) = node_with(1).await;
    let (handle, stalls) = (node.handle(), Stalls::clone(&node.handle().node().stalls));
    let (jobs, queue) = crossbeam_channel::bounded(2);
    let thread = WorkerThread::new("ended", queue, |(), _| ControlFlow::Break(()));
    let meter = Arc::new(WorkMeter::new("ended", 1));
    let thread = thread.spawn(&FatalErrorReporter::new(), &meter).unwrap();
    stalls.watch_all(meter.watches());
    jobs.send(()).unwrap();
    thread.join().unwrap();
    jobs.send(()).unwrap();
    wait_for_count(&handle, "ended", 1).await;
    node.stop().await.unwrap();
    assert!(jobs.send(()).is_err(), "the queue ends with the node");
}

#[actix::test]
async fn names_a_notifier_whose_task_does_not_run() {
    let (node, _directory) = node_with(2).await;
    let (handle, task) = node.handle().for_thread();
    // No block is ordered before the wait has begun.
    let (work, blocked) = blocking_work();
    let sequencer = &node.handle.node().mailboxes.sequencer;
    sequencer.send_call(move |_| work());
    let transfer =
        Wallet::development()
            .remove(0)
            .transfer(handle.chain(), Wallet::new(1).address, 1);
    let hash = transfer.hash();
    handle.submit(transfer, ClientKey::NODE).await.unwrap();
    let wait = {
        let handle = handle.clone();
        tokio::task::spawn_local(async move { handle.wait_for_commit(hash, ClientKey::NODE).await })
    };
    while node.handle().meters().waits.waiting == 0 {
        tokio::task::yield_now().await;
    }
    blocked.end.send(()).unwrap();
    wait_for_count(&handle, "notifier", 1).await;
    assert_eq!(handle.commit_stall(), None);
    tokio::task::spawn_local(task);
    wait_for_count(&handle, "notifier", 0).await;
    let (_, status) = wait.await.unwrap().unwrap();
    assert!(
        matches!(status, TransactionStatus::Committed(_)),
        "{status:?}"
    );
    node.stop().await.unwrap();
}

#[actix::test]
async fn watches_an_event_loop_from_the_first_run_of_its_task_to_its_end() {
    let (node, _directory) = node_with(1).await;
    let handle = node.handle();
    let task = handle.watch_event_loop("loop".into());
    let (work, blocked) = blocking_work();
    let thread = std::thread::spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().build().unwrap();
        tokio::task::LocalSet::new().block_on(&runtime, async {
            let mut task = Box::pin(task);
            assert!(futures::poll!(&mut task).is_pending());
            work();
            let ticks = tokio::task::spawn_local(task);
            tokio::time::sleep(LIMIT).await;
            ticks.abort();
        });
    });
    blocked.check_named(&handle, "loop", &[]).await;
    thread.join().unwrap();
    node.stop().await.unwrap();
}

/// An engine whose state a test decides. It has one height.
#[derive(Default)]
struct FakeEngine {
    is_deciding: AtomicBool,
    is_answering: AtomicBool,
    answers: AtomicU64,
}

impl FakeEngine {
    fn report(&self) -> EngineReport {
        let answer = u64::from(self.is_answering.load(Relaxed));
        let answers = self.answers.fetch_add(answer, Relaxed);
        EngineReport {
            is_running: true,
            is_deciding: self.is_deciding.load(Relaxed),
            height: 7,
            actor_answers: answers,
            network_answers: answers,
            ..EngineReport::default()
        }
    }
}

#[actix::test]
async fn names_the_parts_of_an_engine_without_progress() {
    let (node, _directory) = node_with(1).await;
    let handle = node.handle();
    assert_eq!(handle.engine_report(), None);
    let engine = Arc::new(FakeEngine::default());
    engine.is_answering.store(true, Relaxed);
    let reports = Arc::clone(&engine);
    handle.observe_engine(move || reports.report());
    assert_eq!(handle.engine_report().unwrap().height, 7);

    engine.is_deciding.store(true, Relaxed);
    wait_for_count(&handle, HEIGHTS, 1).await;
    assert_eq!(&*handle.commit_stall().unwrap().thread, HEIGHTS);
    engine.is_deciding.store(false, Relaxed);
    wait_for_count(&handle, HEIGHTS, 0).await;
    assert_eq!(handle.commit_stall(), None);

    engine.is_answering.store(false, Relaxed);
    for part in [ACTORS, NETWORK] {
        wait_for_count(&handle, part, 1).await;
    }
    // Another engine replaces the one that hangs.
    handle.observe_engine(EngineReport::default);
    for part in [ACTORS, NETWORK] {
        wait_for_count(&handle, part, 0).await;
    }
    assert_eq!(handle.commit_stall(), None);
    node.stop().await.unwrap();
}
