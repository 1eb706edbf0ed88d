//! Turns of clients for the threads of the node, over real connections from two addresses.

use crate::{
    http::verdict_kit::{self, with_nonce},
    kit::{Settings, TestApi, Transfer},
};
use ledger_limits::{Demand, Work, WorkKind};
use ledger_store::{Snapshot, StoreError};
use ledger_test_support::http::{RawConnection, post_bytes, submission_bytes};
use std::{cell::RefCell, rc::Rc, sync::mpsc};
use tokio::net::TcpSocket;

/// Number of requests of the client that sends many.
const MANY: usize = 100;

/// A page, which waits for a reader thread.
const PAGE: &str = "/v1/transactions?limit=1";

/// Connects from an address whose class is not that of the other clients of the test.
async fn connect_from_elsewhere(api: &TestApi) -> RawConnection {
    let class = |number| api.state.client_keys.key_of([127, 0, 0, number].into());
    let number = (2..=254).find(|number| class(*number) != class(1)).unwrap();
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(([127, 0, 0, number], 0).into()).unwrap();
    RawConnection::over(socket.connect(api.client.address()).await.unwrap())
}

/// Occupies a reader thread until the returned value is dropped.
pub(super) async fn occupy_reader(api: &TestApi) -> mpsc::Sender<()> {
    let (started_sender, started) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let handle = api.handle();
    actix_web::rt::spawn(async move {
        let query = move |_: &Snapshot| {
            started_sender.send(()).unwrap();
            // An error means that the test has dropped the sender, which ends the query.
            let _ = released.recv();
            Ok::<_, StoreError>(())
        };
        let work = Work::of_node(WorkKind::Page, Demand::rows(1));
        handle.read(work, query).await.unwrap();
    });
    while started.try_recv().is_err() {
        tokio::task::yield_now().await;
    }
    release
}

/// Waits until this many queries wait for a reader thread.
pub(super) async fn wait_for_queries(api: &TestApi, count: usize) {
    let waiting = || {
        let budgets = api.handle().budgets();
        let reads = budgets.iter().find(|status| status.name == "reads");
        reads.unwrap().waiting
    };
    while waiting() != count {
        tokio::task::yield_now().await;
    }
}

/// Sends a request many times from one address and then once from another, and asserts that the one
/// is served before most of the others. Each waits for a reader thread.
async fn assert_one_is_served_before_many(api: &TestApi, request: &[u8], status: u16) {
    let reader = occupy_reader(api).await;
    let served: Rc<RefCell<Vec<&str>>> = Rc::default();
    let send = |mut connection: RawConnection, name| {
        let (served, request) = (Rc::clone(&served), request.to_vec());
        actix_web::rt::spawn(async move {
            let response = connection.exchange(&request).await.unwrap();
            assert_eq!(response.status, status, "{}", response.text());
            served.borrow_mut().push(name);
        })
    };
    let mut requests = Vec::new();
    for _ in 0..MANY {
        requests.push(send(api.client.connect().await, "many"));
    }
    wait_for_queries(api, MANY).await;
    let connection = connect_from_elsewhere(api).await;
    requests.push(send(connection, "one"));
    wait_for_queries(api, MANY + 1).await;
    drop(reader);
    for request in requests {
        request.await.unwrap();
    }
    let position = served.borrow().iter().position(|name| *name == "one");
    // Responses of several connections may overtake each other on their way.
    assert!(position.unwrap() < MANY / 2, "{position:?}");
}

/// The requests are a page, a verdict, whose first read is the look-up of its hash, and a submission
/// whose rejection searches the user of its nonce.
// Only Linux has all addresses of 127.0.0.0/8 without configuration.
#[cfg(target_os = "linux")]
#[actix_web::test]
async fn one_request_of_a_client_is_served_before_the_hundredth_of_another() {
    let mut settings = Settings::default();
    settings.node.storage.readers = 1;
    let api = TestApi::start(settings).await;
    let transfer = Transfer::orderless(0);
    api.commit_signed(&with_nonce(&api, 0, 5, &transfer)).await;
    let other = Transfer {
        amount: transfer.amount + 1,
        ..transfer
    };
    let rejected = with_nonce(&api, 0, 5, &other);
    let body = bcs::to_bytes(&rejected).unwrap();
    let media_type = api.client.signed_transaction_type();
    for (request, status) in [
        (
            format!("GET {PAGE} HTTP/1.1\r\nhost: node\r\n\r\n").into(),
            200,
        ),
        (post_bytes(verdict_kit::PATH, &media_type, &body), 200),
        (submission_bytes(&rejected), 400),
    ] {
        assert_one_is_served_before_many(&api, &request, status).await;
    }
    api.stop().await;
}

#[actix_web::test]
async fn point_reads_and_the_health_check_are_served_while_pages_fill_their_budget() {
    let mut settings = Settings::default();
    settings.node.storage.readers = 1;
    settings.node.work.read_budget_ms = 1;
    let api = TestApi::start(settings).await;
    let reader = occupy_reader(&api).await;
    let mut pages = Vec::new();
    let rejected = loop {
        let mut connection = api.client.connect().await;
        let mut page = Box::pin(async move {
            let request = format!("GET {PAGE} HTTP/1.1\r\nhost: node\r\n\r\n");
            connection.exchange(request.as_bytes()).await.unwrap()
        });
        let queued = pages.len() + 1;
        tokio::select! {
            biased;
            rejected = &mut page => break rejected,
            () = wait_for_queries(&api, queued) => pages.push(page),
        }
    };
    assert_eq!(rejected.status, 503);
    let message = rejected.json()["message"].as_str().unwrap().to_owned();
    assert_eq!(message, "overloaded: work.read_budget_ms = 1");
    let retry_after: u64 = rejected.headers["retry-after"].parse().unwrap();
    assert!((1..=60).contains(&retry_after), "{retry_after}");
    for path in [
        "/v1/accounts/0x1",
        "/v1/-/healthy",
        "/v1/accounts/0x1/module/coin",
    ] {
        let response = api.client.get(path).await;
        assert_eq!(response.status, 200, "{path}: {}", response.text());
    }
    drop(reader);
    for page in pages {
        assert_eq!(page.await.status, 200);
    }
    api.stop().await;
}
