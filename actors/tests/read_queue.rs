//! Tests of the queues of queries through the handle of a whole node.

use futures::FutureExt;
use ledger_actors::{Node, NodeConfig, NodeError, NodeHandle, Overload, SubmitError};
use ledger_limits::{ClientKey, ClientKeys, Demand, Work, WorkKind};
use ledger_store::{Snapshot, StoreError};
use ledger_test_support::{TransactionBuilder, Wallet, store::open_store};
use std::sync::mpsc;

/// A page, whose cost does not matter.
const PAGE: Work = Work::of_node(WorkKind::Page, Demand::rows(1));

/// A node with one reader thread beside that of point reads.
struct Fixture {
    node: Node,
    _directory: tempfile::TempDir,
}

impl Fixture {
    async fn start(change: impl FnOnce(&mut NodeConfig)) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut config = NodeConfig::default();
        config.storage.readers = 1;
        change(&mut config);
        let (chain, store) = open_store(directory.path());
        let node = Node::start(chain, store, None, config).await.unwrap();
        Self {
            node,
            _directory: directory,
        }
    }

    fn handle(&self) -> NodeHandle {
        self.node.handle()
    }

    /// Occupies the reader thread until the returned value is dropped.
    async fn occupy_reader(&self) -> mpsc::Sender<()> {
        self.occupy(PAGE).await
    }

    /// Occupies the thread of this work until the returned value is dropped.
    async fn occupy(&self, work: Work) -> mpsc::Sender<()> {
        let (started_sender, started) = mpsc::channel();
        let (release, released) = mpsc::channel::<()>();
        let handle = self.handle();
        actix::spawn(async move {
            let query = move |_: &Snapshot| {
                started_sender.send(()).unwrap();
                // An error means that the test has dropped the sender, which ends the query.
                let _ = released.recv();
                Ok::<_, StoreError>(())
            };
            handle.read(work, query).await.unwrap();
        });
        while started.try_recv().is_err() {
            tokio::task::yield_now().await;
        }
        release
    }

    /// Begins a query that sends `name` when it runs, and waits until it is queued.
    async fn queue(
        &self,
        work: Work,
        name: &'static str,
        sent: &mpsc::Sender<&'static str>,
    ) -> impl Future<Output = Result<(), NodeError>> + use<> {
        let (handle, sent) = (self.handle(), sent.clone());
        let waiting = self.waiting("reads");
        let mut read = Box::pin(async move {
            let query = move |_: &Snapshot| {
                // An error means that the test has ended.
                let _ = sent.send(name);
                Ok::<_, StoreError>(())
            };
            handle.read(work, query).await.map(|_| ())
        });
        assert!((&mut read).now_or_never().is_none());
        while self.waiting("reads") == waiting {
            tokio::task::yield_now().await;
        }
        read
    }

    fn waiting(&self, budget: &str) -> usize {
        let budgets = self.handle().budgets();
        let found = budgets.iter().find(|status| status.name == budget);
        found.unwrap().waiting
    }
}

/// Returns two clients of different classes.
fn clients() -> [ClientKey; 2] {
    let keys = ClientKeys::default();
    let mut classes = (1..).map(|number| keys.key_of([127, 0, 0, number].into()));
    let one = classes.next().unwrap();
    [one, classes.find(|class| *class != one).unwrap()]
}

fn version(snapshot: &Snapshot) -> Result<u64, StoreError> {
    Ok(snapshot.ledger_info().version)
}

#[actix::test]
async fn rejects_queries_beyond_the_number_that_may_wait() {
    let fixture = Fixture::start(|config| config.storage.read_queue_capacity = 1).await;
    let handle = fixture.handle();
    let reader = fixture.occupy_reader().await;
    let queued = handle.read(PAGE, version);
    let rejected = handle.read(PAGE, version);
    let release = async { drop(reader) };
    let (queued, (rejected, ())) =
        futures::join!(queued, async { (rejected.await, release.await) });
    let Err(NodeError::Overloaded(overload)) = rejected else {
        panic!("{rejected:?}");
    };
    assert_eq!(overload.limit, "storage.read_queue_capacity");
    assert_eq!((overload.value, overload.retry_after_secs), (1, 1));
    assert_eq!(queued.unwrap().1, 0);
    fixture.node.stop().await.unwrap();
}

#[actix::test]
async fn rejects_queries_beyond_the_budget_and_accepts_more_after_a_change_of_it() {
    let fixture = Fixture::start(|config| config.work.read_budget_ms = 1).await;
    let handle = fixture.handle();
    let reader = fixture.occupy_reader().await;
    let large = Work {
        demand: Demand::rows(1_000_000),
        ..PAGE
    };
    let mut first = Box::pin(handle.read(large, version));
    assert!((&mut first).now_or_never().is_none());
    let rejected = handle.read(large, version).await;
    assert!(
        matches!(
            &rejected,
            Err(NodeError::Overloaded(Overload {
                limit: "work.read_budget_ms",
                value: 1,
                ..
            }))
        ),
        "{rejected:?}"
    );
    assert_eq!(
        handle.set_budget("reads", 600_000).unwrap().capacity_ms,
        600_000
    );
    let second = handle.read(large, version);
    let release = async { drop(reader) };
    let (first, second, ()) = futures::join!(first, second, release);
    assert_eq!((first.unwrap().1, second.unwrap().1), (0, 0));
    let error = handle.set_budget("none", 1).unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is no budget \"none\"; the budgets are point_reads, reads and renderings"
    );
    fixture.node.stop().await.unwrap();
}

#[actix::test]
async fn serves_the_first_query_of_a_client_before_the_second_of_another() {
    let fixture = Fixture::start(|_| ()).await;
    let reader = fixture.occupy_reader().await;
    let [one, other] = clients();
    let (sent, order) = mpsc::channel();
    let mut reads = Vec::new();
    for (client, name) in [
        (one, "first"),
        (one, "second"),
        (one, "third"),
        (other, "other"),
    ] {
        reads.push(fixture.queue(Work { client, ..PAGE }, name, &sent).await);
    }
    drop(reader);
    for read in reads {
        read.await.unwrap();
    }
    let order: Vec<_> = order.try_iter().collect();
    assert_eq!(order, ["first", "other", "second", "third"]);
    fixture.node.stop().await.unwrap();
}

#[actix::test]
async fn serves_point_reads_while_all_readers_are_busy() {
    let fixture = Fixture::start(|_| ()).await;
    let reader = fixture.occupy_reader().await;
    let point_read = Work::of_node(WorkKind::PointRead, Demand::rows(1));
    let (_, found) = fixture.handle().read(point_read, version).await.unwrap();
    assert_eq!(found, 0);
    drop(reader);
    fixture.node.stop().await.unwrap();
}

#[actix::test]
async fn rejects_point_reads_beyond_their_budget_and_serves_other_queries() {
    let fixture = Fixture::start(|_| ()).await;
    let handle = fixture.handle();
    // Nearly the longest point read, so that the number of queries does not bound them.
    let point_read = Work::of_node(WorkKind::PointRead, Demand::rows(90));
    let reader = fixture.occupy(point_read).await;
    let mut queued = Vec::new();
    let rejected = 'rejected: loop {
        let mut read = Box::pin(handle.read(point_read, version));
        while fixture.waiting("point_reads") == queued.len() {
            if let Some(answer) = (&mut read).now_or_never() {
                break 'rejected answer;
            }
            tokio::task::yield_now().await;
        }
        queued.push(read);
    };
    assert!(
        matches!(
            &rejected,
            Err(NodeError::Overloaded(Overload {
                limit: "work.point_read_budget_ms",
                value: 100,
                ..
            }))
        ),
        "{rejected:?}"
    );
    handle.read(PAGE, version).await.unwrap();
    drop(reader);
    for read in queued {
        read.await.unwrap();
    }
    fixture.node.stop().await.unwrap();
}

#[actix::test]
async fn reads_of_submissions_wait_as_those_of_their_client() {
    let fixture = Fixture::start(|config| config.storage.read_queue_capacity = 3).await;
    let handle = fixture.handle();
    let point_reader = fixture
        .occupy(Work::of_node(WorkKind::PointRead, Demand::rows(1)))
        .await;
    let [one, other] = clients();
    // An orderless transaction is validated with a read of its nonce.
    let mut submissions: Vec<_> = (0..4)
        .zip([one, one, one, other])
        .map(|(nonce, client)| {
            let sender = &Wallet::development()[0];
            let to = Wallet::new(1).address;
            let builder = TransactionBuilder::transfer(handle.chain(), sender.address, to, 1);
            let transfer = builder.expiration_secs(handle.now_usecs() / 1_000_000 + 30);
            let transfer = transfer
                .nonce(nonce)
                .sign_checked(handle.chain(), &sender.account);
            let handle = fixture.handle();
            Box::pin(async move { handle.submit(transfer, client).await })
        })
        .collect();
    let rejected = loop {
        let mut waiting = submissions.iter_mut().take(3);
        if let Some(rejected) = waiting.find_map(FutureExt::now_or_never) {
            break rejected;
        }
        tokio::task::yield_now().await;
    };
    assert!(
        matches!(rejected, Err(SubmitError::Node(NodeError::Overloaded(_)))),
        "{rejected:?}"
    );
    let mut of_other = submissions.remove(3);
    while fixture.waiting("point_reads") < 3 {
        assert!((&mut of_other).now_or_never().is_none());
        tokio::task::yield_now().await;
    }
    drop(point_reader);
    of_other.await.unwrap();
    fixture.node.stop().await.unwrap();
}

#[actix::test]
async fn skips_queries_whose_client_has_disconnected() {
    let fixture = Fixture::start(|_| ()).await;
    let reader = fixture.occupy_reader().await;
    let (sent, order) = mpsc::channel();
    let canceled = fixture.queue(PAGE, "canceled", &sent).await;
    let waits = fixture.queue(PAGE, "waits", &sent).await;
    drop(canceled);
    drop(reader);
    waits.await.unwrap();
    assert_eq!(order.try_iter().collect::<Vec<_>>(), ["waits"]);
    fixture.node.stop().await.unwrap();
}

#[actix::test]
async fn serves_the_next_part_of_a_page_before_the_first_parts_of_others_of_its_client() {
    let fixture = Fixture::start(|config| config.work.read_budget_ms = 1).await;
    let reader = fixture.occupy_reader().await;
    let (sent, order) = mpsc::channel();
    let large = Work {
        demand: Demand::rows(1_000_000),
        ..PAGE
    };
    let next = Work {
        is_continued: true,
        ..large
    };
    let reads = [
        fixture.queue(large, "first part", &sent).await,
        fixture.queue(next, "next part", &sent).await,
    ];
    drop(reader);
    for read in reads {
        read.await.unwrap();
    }
    let order: Vec<_> = order.try_iter().collect();
    assert_eq!(order, ["next part", "first part"]);
    fixture.node.stop().await.unwrap();
}
