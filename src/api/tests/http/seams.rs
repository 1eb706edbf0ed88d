//! Commits at every point of a request.
//!
//! Two kinds of seams let a test run a commit in the middle of a request without a race: the
//! node's clock, which a read consults before and after its query, and the suspensions of the
//! request's future. The request runs on the thread of the test. At one of its seams the thread
//! blocks until another thread has committed a block. The next run commits at the next seam, until
//! none is left.
//!
//! A future is not suspended if an actor replies before it is polled. Such a request is sent again
//! until it has the seam.

use crate::kit::{RawResponse, Settings, TestApi, ledger_headers, ok_json};
use actix_http::Request;
use actix_web::{
    body::{MessageBody, to_bytes},
    dev::{Service, ServiceResponse},
    http::header,
    rt::System,
    test::{TestRequest, call_service},
};
use ledger_actors::{Clock, Lane, NodeHandle, TransactionStatus, WaitConfig};
use ledger_crypto::HashValue;
use ledger_limits::{ClientKey, Demand, Work, WorkKind};
use ledger_store::Snapshot;
use ledger_types::SignedTransaction;
use std::{
    fmt::Debug,
    future::poll_fn,
    pin::pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    task::{Context, Poll, Wake, Waker},
    thread::{self, ThreadId},
};

pub(crate) const JSON: &str = "application/json";
pub(crate) const BCS: &str = "application/x-bcs";
/// Duration of a slow read, in microseconds. It exceeds the time for which a thread leaves its
/// reads to the reader threads after one.
const SLOW_USECS: u64 = 2_000_000;
/// Maximum number of times that a request is sent until it has the seam for the commit.
const TRIES_MAX: usize = 10_000;

/// A point of a request at which other threads may commit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Seam {
    ClockReading,
    /// The future was suspended and then woken.
    Suspension,
}

/// The threads that read the store for the request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Source {
    /// Its own thread.
    Direct,
    /// The reader threads, because the last read of its own thread was slow.
    Readers,
}

type Commit = Box<dyn FnOnce() + Send>;

/// A request, and the commit in the middle of it.
pub(crate) struct Case<'a> {
    pub(crate) path: &'a str,
    /// Body in JSON of a `POST`.
    pub(crate) body: Option<String>,
    pub(crate) accept: &'a str,
    pub(crate) source: Source,
    /// Number of the seam for the commit, from 0.
    pub(crate) commit_at: usize,
    /// Transaction to submit.
    pub(crate) transaction: &'a SignedTransaction,
    /// Hash of the transaction that the thread waits for at the seam.
    pub(crate) awaited: HashValue,
}

/// One run of a request, with a commit at one of its seams.
struct Run {
    passed: Vec<Seam>,
    commit_at: usize,
    /// Absent once it was committed.
    commit: Option<Commit>,
}

/// The node's clock, and the seams of the request that runs.
struct Seams {
    request_thread: ThreadId,
    /// Time on the request's thread, and how far each reading moves it, in microseconds.
    request_clock: Mutex<(u64, u64)>,
    run: Mutex<Option<Run>>,
}

impl Seams {
    /// Creates the seams of requests on this thread.
    fn new() -> Arc<Self> {
        Arc::new(Self {
            request_thread: thread::current().id(),
            request_clock: Mutex::new((Clock::default().now_usecs(), 0)),
            run: Mutex::new(None),
        })
    }

    fn clock(self: &Arc<Self>) -> Clock {
        let seams = Arc::clone(self);
        Clock::new(move || {
            if thread::current().id() != seams.request_thread {
                return Clock::default().now_usecs();
            }
            seams.pass(Seam::ClockReading);
            let mut clock = seams.request_clock.lock().unwrap();
            let (now_usecs, step_usecs) = *clock;
            clock.0 += step_usecs;
            now_usecs
        })
    }

    /// Passes a seam, and runs the commit if this seam is the chosen one.
    fn pass(&self, seam: Seam) {
        let commit = {
            let mut run = self.run.lock().unwrap();
            let Some(run) = run.as_mut() else { return };
            let number = run.passed.len();
            run.passed.push(seam);
            run.commit.take_if(|_| number == run.commit_at)
        };
        if let Some(commit) = commit {
            commit();
        }
    }
}

/// A waker that records whether it was called. A future may also be polled without that.
struct Woken {
    is_woken: AtomicBool,
    waker: Waker,
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.is_woken.store(true, SeqCst);
        self.waker.wake_by_ref();
    }
}

/// A node, and the seams of the requests that run on the test's thread.
pub(crate) struct Fixture {
    pub(crate) api: TestApi,
    seams: Arc<Seams>,
}

impl Fixture {
    pub(crate) async fn start() -> Self {
        let seams = Seams::new();
        let mut settings = Settings {
            clock: seams.clock(),
            ..Settings::default()
        };
        // Time is paused during a wait, so the wait times out as soon as the runtime is idle.
        settings.node.wait = WaitConfig {
            timeout_ms: 600_000,
            ..WaitConfig::default()
        };
        let api = TestApi::start(settings).await;
        Self { api, seams }
    }

    /// Moves the time of the request's thread past the pause after a slow read, and sets how far
    /// each reading moves it. The time never decreases, so the times of tries add up.
    fn set_clock(&self, step_usecs: u64) {
        let mut clock = self.seams.request_clock.lock().unwrap();
        let after_pause_usecs = clock.0 + SLOW_USECS;
        *clock = (
            after_pause_usecs.max(Clock::default().now_usecs()),
            step_usecs,
        );
    }

    /// Returns the response to a request with a commit in the middle, and the seams that the
    /// request passed.
    pub(crate) async fn respond<S, B>(&self, app: &S, case: &Case<'_>) -> (RawResponse, Vec<Seam>)
    where
        S: Service<Request, Response = ServiceResponse<B>, Error = actix_web::Error>,
        B: MessageBody<Error: Debug>,
    {
        for _ in 0..TRIES_MAX {
            if case.source == Source::Readers {
                self.set_clock(SLOW_USECS);
                let slow = TestRequest::get().uri("/v1/accounts/0xb0b/balance/0xa");
                call_service(app, slow.to_request()).await;
                // The clock stays at the end of the slow read.
                let mut clock = self.seams.request_clock.lock().unwrap();
                *clock = (clock.0 - SLOW_USECS, 0);
            } else {
                self.set_clock(0);
            }
            let (handle, transaction) = (self.api.handle(), case.transaction.clone());
            let awaited = case.awaited;
            let commit: Commit =
                Box::new(move || commit_on_another_thread(handle, transaction, awaited));
            *self.seams.run.lock().unwrap() = Some(Run {
                passed: Vec::new(),
                commit_at: case.commit_at,
                commit: Some(commit),
            });
            let request = match &case.body {
                None => TestRequest::get(),
                Some(body) => TestRequest::post()
                    .insert_header(header::ContentType::json())
                    .set_payload(body.clone()),
            };
            let request = request
                .uri(case.path)
                .insert_header((header::ACCEPT, case.accept));
            let response = self.run_to_end(call(app, request.to_request())).await;
            let run = self.seams.run.lock().unwrap().take().unwrap();
            if run.commit.is_none() {
                return (response, run.passed);
            }
        }
        panic!("{} has no seam {}", case.path, case.commit_at);
    }

    /// Polls the future only when it was woken, and passes a seam before each further poll.
    async fn run_to_end<T>(&self, future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        let mut woken: Option<Arc<Woken>> = None;
        poll_fn(|context| {
            if let Some(woken) = &woken {
                if !woken.is_woken.load(SeqCst) {
                    return Poll::Pending;
                }
                self.seams.pass(Seam::Suspension);
            }
            let next = Arc::new(Woken {
                is_woken: AtomicBool::new(false),
                waker: context.waker().clone(),
            });
            let polled = future
                .as_mut()
                .poll(&mut Context::from_waker(&Arc::clone(&next).into()));
            woken = Some(next);
            polled
        })
        .await
    }

    /// Asserts that the headers are those of one block, and returns its last version.
    pub(crate) async fn version_of(&self, response: &RawResponse, label: &str) -> u64 {
        let [_, version, _, timestamp_usecs, _, height, _] = ledger_headers(response, "node");
        let path = format!("/v1/blocks/by_version/{version}");
        let block = ok_json(&self.api.client.get(&path).await);
        let of_block = ["last_version", "block_timestamp", "block_height"].map(|name| &block[name]);
        let expected = [version, timestamp_usecs, height].map(|number| number.to_string());
        assert_eq!(of_block, expected.each_ref().map(String::as_str), "{label}");
        version
    }
}

async fn call<S, B>(app: &S, request: Request) -> RawResponse
where
    S: Service<Request, Response = ServiceResponse<B>, Error = actix_web::Error>,
    B: MessageBody<Error: Debug>,
{
    let response = call_service(app, request).await;
    let header = |(name, value): (&header::HeaderName, &header::HeaderValue)| {
        (name.to_string(), value.to_str().unwrap().to_owned())
    };
    RawResponse {
        version: "HTTP/1.1".to_owned(),
        status: response.status().as_u16(),
        headers: response.headers().iter().map(header).collect(),
        body: to_bytes(response.into_body()).await.unwrap().to_vec(),
    }
}

/// Submits the transaction, and returns when the newest durable block has the awaited one.
fn commit_on_another_thread(
    handle: NodeHandle,
    transaction: SignedTransaction,
    awaited: HashValue,
) {
    let committed = async move {
        let checked = handle
            .check_signatures(transaction, Lane::Trusted, ClientKey::NODE)
            .await
            .unwrap();
        handle.submit(checked, ClientKey::NODE).await.unwrap();
        while !matches!(
            handle
                .wait_for_commit(awaited, ClientKey::NODE)
                .await
                .unwrap()
                .1,
            TransactionStatus::Committed(_)
        ) {}
        // A read waits until the store has applied the block, so that direct reads see it.
        let work = Work::of_node(WorkKind::PointRead, Demand::rows(1));
        handle
            .read(work, |snapshot: &Snapshot| {
                Ok(snapshot.ledger_info().version)
            })
            .await
            .unwrap();
    };
    thread::spawn(|| System::new().block_on(committed))
        .join()
        .unwrap();
}
