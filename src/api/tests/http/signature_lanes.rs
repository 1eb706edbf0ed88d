//! Lanes of submissions that wait for a signature check.
//!
//! The node has one thread for these checks. A test blocks it in a waker, which runs on the thread
//! that completes the check.

use crate::kit::{Connection, Settings, TestApi, Transfer, assert_error};
use futures::{FutureExt, future::LocalBoxFuture};
use ledger_actors::{Lane, NodeConfig, SignaturesConfig};
use ledger_types::SignedTransaction;
use std::{
    net::Ipv4Addr,
    sync::{Arc, Mutex, mpsc},
    task::{Context, Wake, Waker},
};

const PATH: &str = "/v1/transactions";
const BATCH: &str = "/v1/transactions/batch";
const SIMULATE: &str = "/v1/transactions/simulate";
const STATUS: &str = "/v1/transactions/status";

/// Number of trusted checks per check of the untrusted lane.
const TRUSTED_PER_UNTRUSTED: u64 = 3;

/// Number of valid signatures after which a connection is trusted again.
const VALID_UNTIL_TRUSTED: u64 = 8;

async fn start(queue_capacity: usize) -> TestApi {
    let signatures = SignaturesConfig {
        threads: 1,
        nice: 0,
        queue_capacity,
    };
    TestApi::start(Settings {
        node: NodeConfig {
            signatures,
            ..NodeConfig::default()
        },
        ..Settings::default()
    })
    .await
}

/// Returns a transfer with an invalid signature.
fn bad(api: &TestApi, number: u64) -> SignedTransaction {
    let mut signed = Transfer::new(1, number).sign(&api.chain);
    signed.raw.expiration_timestamp_secs += 1;
    signed
}

/// Returns a transfer of one account with a valid signature by another one.
fn of_another_key(api: &TestApi) -> SignedTransaction {
    let (transfer, sender) = (Transfer::new(3, 0), Transfer::new(4, 0).sender());
    let raw = transfer.raw(&api.chain, sender, transfer.payload(&api.chain));
    transfer.account().sign(&api.chain, raw)
}

/// A waker that blocks its thread until the other end of `release` is dropped.
struct Hold {
    held: mpsc::Sender<()>,
    release: Mutex<mpsc::Receiver<()>>,
}

impl Wake for Hold {
    fn wake(self: Arc<Self>) {
        // An error means that the holder is dropped, and `recv` then returns immediately.
        let _ = self.held.send(());
        // An error means that the holder is dropped, which releases the thread.
        let _ = self.release.lock().unwrap().recv();
    }
}

/// A check that blocks the thread of the checks at its completion, until this value is dropped.
pub struct Holder {
    held: mpsc::Receiver<()>,
    _release: mpsc::Sender<()>,
    _check: LocalBoxFuture<'static, ()>,
}

impl Holder {
    /// Requests a check, for the client of the tests, with a waker that blocks the thread.
    ///
    /// The check of a trusted submission runs on the thread only if other checks wait. Retries if
    /// the check completes before its waker is registered.
    pub fn request(api: &TestApi, lane: Lane) -> Self {
        loop {
            let (held_sender, held) = mpsc::channel();
            let (release, wait) = mpsc::channel();
            let waker = Waker::from(Arc::new(Hold {
                held: held_sender,
                release: Mutex::new(wait),
            }));
            let (handle, signed) = (api.handle(), Transfer::new(2, 0).sign(&api.chain));
            let client = api.state.client_keys.key_of(Ipv4Addr::LOCALHOST.into());
            let check = async move {
                handle.check_signatures(signed, lane, client).await.unwrap();
            };
            let mut check = check.boxed_local();
            // The first poll looks for other waiting checks and wakes itself.
            let first_poll = check.poll_unpin(&mut Context::from_waker(Waker::noop()));
            if first_poll.is_pending()
                && check
                    .poll_unpin(&mut Context::from_waker(&waker))
                    .is_pending()
            {
                return Self {
                    held,
                    _release: release,
                    _check: check,
                };
            }
        }
    }

    /// Returns whether the thread has been blocked since the last call.
    pub fn is_blocking(&self) -> bool {
        self.held.try_recv().is_ok()
    }
}

/// Yields to other tasks until the condition is true.
pub async fn wait_until(condition: impl Fn() -> bool) {
    while !condition() {
        tokio::task::yield_now().await;
    }
}

/// Returns the numbers of checked transactions with valid and with invalid signatures.
fn checked(api: &TestApi) -> (u64, u64) {
    let lanes = api.handle().signature_lanes();
    let bad = lanes.iter().map(|lane| lane.bad).sum::<u64>();
    (
        lanes.iter().map(|lane| lane.checked).sum::<u64>() - bad,
        bad,
    )
}

fn waiting(api: &TestApi) -> [usize; 2] {
    api.handle().signature_lanes().map(|lane| lane.waiting)
}

/// Sends half of the flood over connections with an invalid last signature, half over new ones.
/// Connections with an accepted transaction send valid signatures after it. All of these are
/// checked before the flood has had more than its share.
#[actix_web::test]
async fn does_not_starve_valid_signatures_in_a_flood_of_invalid_ones() {
    const INVALID: usize = 60;
    const VALID: usize = 24;
    let api = start(1_000).await;
    let mut flood = Vec::new();
    for number in 0..INVALID as u64 {
        let mut connection = Connection::open(&api.client).await;
        let response = connection.submit(&bad(&api, number)).await;
        assert_error(&response, (400, "vm_error"), "the first of a connection");
        flood.push(connection);
    }
    let mut honest = Vec::new();
    for number in 0..VALID as u64 {
        let mut connection = Connection::open(&api.client).await;
        let first = Transfer::new(0, number).sign(&api.chain);
        assert_eq!(connection.submit(&first).await.status, 202);
        honest.push(connection);
    }
    let holder = Holder::request(&api, Lane::Untrusted);
    wait_until(|| holder.is_blocking()).await;
    // Half of the flood uses new connections, which are not trusted either.
    for connection in flood.iter_mut().take(INVALID / 2) {
        *connection = Connection::open(&api.client).await;
    }
    for (connection, number) in flood.iter_mut().zip(100..) {
        connection.send(PATH, &bad(&api, number)).await;
    }
    wait_until(|| waiting(&api).iter().sum::<usize>() == INVALID).await;
    for (waiting_before, connection) in honest.iter_mut().enumerate() {
        let number = VALID as u64 + waiting_before as u64;
        let second = Transfer::new(0, number).sign(&api.chain);
        connection.send(PATH, &second).await;
        // One after another, so that they are checked in the order of their sequence numbers.
        wait_until(|| waiting(&api).iter().sum::<usize>() == INVALID + waiting_before + 1).await;
    }
    let after = Holder::request(&api, Lane::Trusted);
    let (good_before, bad_before) = checked(&api);
    drop(holder);
    wait_until(|| after.is_blocking()).await;
    let (good, bad) = checked(&api);
    assert_eq!(good - good_before, VALID as u64 + 1);
    let overtaking = bad - bad_before;
    assert!(
        overtaking <= VALID as u64 / TRUSTED_PER_UNTRUSTED,
        "{overtaking}"
    );
    for connection in &mut honest {
        let response = connection.response().await;
        assert_eq!(response.status, 202, "{}", response.text());
    }
    // The flood gets its responses later.
    drop(after);
    for connection in &mut flood {
        assert_error(
            &connection.response().await,
            (400, "vm_error"),
            "the second",
        );
    }
    api.stop().await;
}

/// Requires several, because a client that sends a valid signature after each invalid one would
/// otherwise always be trusted when the invalid one arrives.
#[actix_web::test]
async fn trusts_a_connection_again_after_several_valid_signatures() {
    let api = start(10).await;
    let mut connection = Connection::open(&api.client).await;
    let checked = || api.handle().signature_lanes().map(|lane| lane.checked);
    let good = |number| (Transfer::new(0, number).sign(&api.chain), 202);
    let mut steps = vec![
        // The first submission of a connection. The connection is trusted after it.
        (good(0), [0, 1]),
        (good(1), [1, 1]),
        ((bad(&api, 0), 400), [2, 1]),
        (good(2), [2, 2]),
        // A valid signature by a key that is not the account's.
        ((of_another_key(&api), 400), [2, 3]),
    ];
    for number in 3..3 + VALID_UNTIL_TRUSTED {
        steps.push((good(number), [2, number + 1]));
    }
    steps.push((good(3 + VALID_UNTIL_TRUSTED), [3, 3 + VALID_UNTIL_TRUSTED]));
    for ((signed, status), expected) in steps {
        let response = connection.submit(&signed).await;
        assert_eq!(response.status, status, "{}", response.text());
        assert_eq!(checked(), expected);
    }
    // The signature is valid, the expiration is not.
    let mut late = Transfer::new(0, 4 + VALID_UNTIL_TRUSTED);
    late.expiration_timestamp_secs = 1;
    for trusted in [4, 5] {
        let response = connection.submit(&late.sign(&api.chain)).await;
        assert_error(&response, (400, "vm_error"), "expired");
        assert_eq!(checked(), [trusted, 3 + VALID_UNTIL_TRUSTED]);
    }
    api.stop().await;
}

/// An invalid signature at the end of a batch outweighs the valid ones before it.
#[actix_web::test]
async fn remembers_the_outcomes_of_a_batch_in_its_order() {
    let api = start(100).await;
    let checked = || api.handle().signature_lanes().map(|lane| lane.checked);
    let good = |number| Transfer::new(0, number).sign(&api.chain);
    let batch_size = VALID_UNTIL_TRUSTED + 1;
    let mut next = 0;
    for (is_last_bad, expected) in [
        (true, [0, batch_size + 1]),
        (false, [1, 2 * batch_size + 1]),
    ] {
        let mut connection = Connection::open(&api.client).await;
        let mut batch: Vec<_> = (next..next + VALID_UNTIL_TRUSTED).map(good).collect();
        next += VALID_UNTIL_TRUSTED;
        let at = if is_last_bad { batch.len() } else { 0 };
        batch.insert(at, bad(&api, 0));
        connection.send(BATCH, &batch).await;
        let response = connection.response().await;
        assert_eq!(response.status, 206, "{}", response.text());
        let failures = response.json()["transaction_failures"].clone();
        assert_eq!(failures.as_array().unwrap().len(), 1, "{failures}");
        assert_eq!(failures[0]["transaction_index"], at, "{failures}");
        let response = connection.submit(&good(next)).await;
        assert_eq!(response.status, 202, "{}", response.text());
        next += 1;
        assert_eq!(checked(), expected, "the last is invalid: {is_last_bad}");
    }
    api.stop().await;
}

/// Ignores the signature of a simulation, because an invalid one says nothing about its client.
#[actix_web::test]
async fn simulations_use_the_untrusted_lane_and_do_not_change_trust() {
    let api = start(10).await;
    let mut connection = Connection::open(&api.client).await;
    connection.send(SIMULATE, &bad(&api, 0)).await;
    assert_eq!(connection.response().await.status, 200);
    let response = connection
        .submit(&Transfer::new(0, 0).sign(&api.chain))
        .await;
    assert_eq!(response.status, 202, "{}", response.text());
    let checked = api.handle().signature_lanes().map(|lane| lane.checked);
    assert_eq!(
        checked,
        [0, 2],
        "the first submission of a new connection is not trusted"
    );
    let response = connection
        .submit(&Transfer::new(0, 1).sign(&api.chain))
        .await;
    assert_eq!(response.status, 202, "{}", response.text());
    let checked = api.handle().signature_lanes().map(|lane| lane.checked);
    assert_eq!(checked, [1, 2]);
    api.stop().await;
}

/// A verdict costs its client nothing, so a valid signature does not make a connection trusted.
#[actix_web::test]
async fn verdicts_use_the_lane_of_their_connection_and_do_not_raise_its_trust() {
    let api = start(10).await;
    let mut connection = Connection::open(&api.client).await;
    let good = |number| Transfer::new(0, number).sign(&api.chain);
    for (path, signed, status, expected) in [
        (STATUS, good(0), 200, [0, 1]),
        (STATUS, good(0), 200, [0, 2]),
        (PATH, good(0), 202, [0, 3]),
        (STATUS, good(1), 200, [1, 3]),
        (STATUS, bad(&api, 0), 200, [2, 3]),
        (STATUS, good(1), 200, [2, 4]),
    ] {
        connection.send(path, &signed).await;
        let response = connection.response().await;
        assert_eq!(response.status, status, "{}", response.text());
        let checked = api.handle().signature_lanes().map(|lane| lane.checked);
        assert_eq!(checked, expected);
    }
    let mut connection = Connection::open(&api.client).await;
    connection.submit(&good(1)).await;
    for expected in [[3, 5], [3, 6]] {
        connection.send(STATUS, &of_another_key(&api)).await;
        let verdict = connection.response().await.json();
        assert_eq!(verdict["cause"], "authentication_key", "{verdict}");
        let checked = api.handle().signature_lanes().map(|lane| lane.checked);
        assert_eq!(checked, expected);
    }
    api.stop().await;
}

/// Checks no signature, and ignores the acceptance, because anyone can read committed bytes.
#[actix_web::test]
async fn committed_bytes_do_not_make_a_connection_trusted() {
    let api = start(10).await;
    let checked = || api.handle().signature_lanes().map(|lane| lane.checked);
    let committed = Transfer::new(0, 0);
    api.commit(&committed).await;
    let mut connection = Connection::open(&api.client).await;
    for _ in 0..2 {
        let response = connection.submit(&committed.sign(&api.chain)).await;
        assert_eq!(response.status, 202, "{}", response.text());
        assert_eq!(checked(), [0, 1]);
    }
    for (number, expected) in [(1, [0, 2]), (2, [1, 2])] {
        let new = Transfer::new(0, number).sign(&api.chain);
        assert_eq!(connection.submit(&new).await.status, 202);
        assert_eq!(checked(), expected);
    }
    api.stop().await;
}

#[actix_web::test]
async fn responds_503_while_a_lane_is_full() {
    let api = start(1).await;
    let signed = |number| Transfer::new(0, number).sign(&api.chain);
    let mut trusted = Vec::new();
    for number in 0..2 {
        let mut connection = Connection::open(&api.client).await;
        assert_eq!(connection.submit(&signed(number)).await.status, 202);
        trusted.push(connection);
    }
    let [queued, excess] = &mut trusted[..] else {
        unreachable!("there are two")
    };
    let holder = Holder::request(&api, Lane::Untrusted);
    wait_until(|| holder.is_blocking()).await;
    queued.send(PATH, &signed(2)).await;
    wait_until(|| waiting(&api) == [1, 0]).await;
    let response = excess.submit(&signed(3)).await;
    assert_error(&response, (503, "internal_error"), "the lane is full");
    assert_eq!(response.headers["retry-after"], "1");
    assert!(
        response
            .text()
            .contains("overloaded: signatures.queue_capacity = 1"),
        "{}",
        response.text()
    );
    excess.send(STATUS, &signed(3)).await;
    let response = excess.response().await;
    assert_error(&response, (503, "internal_error"), "also for a verdict");
    // The other lane is not full.
    let mut simulating = Connection::open(&api.client).await;
    simulating.send(SIMULATE, &bad(&api, 0)).await;
    wait_until(|| waiting(&api) == [1, 1]).await;
    let mut rejected_simulation = Connection::open(&api.client).await;
    rejected_simulation.send(SIMULATE, &bad(&api, 0)).await;
    let response = rejected_simulation.response().await;
    assert_error(&response, (503, "internal_error"), "the other lane is full");
    drop(holder);
    assert_eq!(queued.response().await.status, 202);
    assert_eq!(simulating.response().await.status, 200);
    assert_eq!(excess.submit(&signed(3)).await.status, 202);
    let rejected = api.handle().signature_lanes().map(|lane| lane.refused);
    assert_eq!(rejected, [2, 1]);
    api.stop().await;
}
