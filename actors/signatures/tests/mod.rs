//! Tests of the lanes and their threads: order, rejections, and replies at a stop.
//!
//! A verdict runs the waker of its request on the signature thread. So a test can record the
//! exact order of the verdicts and can block the thread.

mod batches;
mod threads;

use super::*;
use bytes::Bytes;
use ledger_crypto::{Ed25519PublicKey, Ed25519Signature};
use ledger_execution::{build_chain, development_genesis};
use ledger_limits::ClientKeys;
use ledger_test_support::Wallet;
use ledger_types::{
    Discard, Parameters, ValidationStatus, Vendor,
    transaction::{AccountAuthenticator, AnyPublicKey, AnySignature, MultiKey, SIGNATURES_MAX},
};
use scheduler::{TRUSTED_BATCH_MAX, TRUSTED_PER_UNTRUSTED};
use std::{
    future::Future,
    net::Ipv4Addr,
    pin::Pin,
    sync::{Mutex, mpsc},
    task::{Context, Poll, Wake, Waker},
};

/// Cost of the check of [`Fixture::costly`]: one per signature, and a quarter per key.
const COSTLY: usize = SIGNATURES_MAX + SIGNATURES_MAX / 4;

type Verdict = Result<CheckedTransaction, SubmitError>;

/// A request that waits for its verdict.
type Waiting<'a> = Pin<Box<dyn Future<Output = Verdict> + 'a>>;

/// A waker that records the number of its request and then blocks the thread until the test
/// releases it.
struct VerdictWaker {
    number: usize,
    completed: mpsc::Sender<usize>,
    release: Option<Mutex<mpsc::Receiver<()>>>,
}

impl Wake for VerdictWaker {
    fn wake(self: Arc<Self>) {
        // An error means that the test has ended.
        let _ = self.completed.send(self.number);
        if let Some(release) = &self.release {
            // An error means that the test has released the thread by dropping the sender, or has
            // failed.
            let _ = release.lock().unwrap().recv();
        }
    }
}

/// A chain, a wallet, and the numbers of the requests in the order of their verdicts.
struct Fixture {
    chain: Chain,
    wallet: Wallet,
    completed: (mpsc::Sender<usize>, mpsc::Receiver<usize>),
}

impl Fixture {
    fn new() -> Self {
        let genesis = development_genesis(4, Vendor::default(), Parameters::default());
        Self {
            chain: build_chain(&genesis).unwrap(),
            wallet: Wallet::development().remove(0),
            completed: mpsc::channel(),
        }
    }

    fn good(&mut self) -> SignedTransaction {
        let to = self.wallet.address;
        self.wallet
            .transfer(&self.chain, to, 1)
            .transaction()
            .clone()
    }

    /// Creates a transaction with the signature of another one.
    fn bad(&mut self) -> SignedTransaction {
        let mut signed = self.good();
        signed.raw.expiration_timestamp_secs += 1;
        signed
    }

    /// Creates a transaction with the maximum number of signatures, all of them bad.
    fn costly(&mut self) -> SignedTransaction {
        let mut signed = self.good();
        let sender = AccountAuthenticator::MultiKey {
            public_keys: MultiKey {
                public_keys: vec![AnyPublicKey::Ed25519(Ed25519PublicKey([0; 32])); SIGNATURES_MAX],
                signatures_required: 1,
            },
            signatures: vec![AnySignature::Ed25519(Ed25519Signature([0; 64])); SIGNATURES_MAX],
            signatures_bitmap: Bytes::from_static(&[0xff; SIGNATURES_MAX / 8]),
        };
        signed.authenticator = TransactionAuthenticator::SingleSender {
            sender: Box::new(sender),
        };
        signed
    }

    /// Adds a transaction of [`ClientKey::NODE`] to the lane. The fixture receives `number` when
    /// the verdict is sent.
    fn enqueue<'a>(
        &self,
        checks: &'a SignatureChecks,
        number: usize,
        transaction: SignedTransaction,
        lane: Lane,
    ) -> Waiting<'a> {
        let client = ClientKey::NODE;
        let enqueued = self.try_enqueue(checks, number, transaction, (lane, client), None);
        enqueued.unwrap_or_else(|_| panic!("the verdict was ready at the first poll"))
    }

    /// Adds a transaction of `client` to the lane as [`Self::enqueue`] does. With `release`, blocks
    /// the thread after the verdict until a message arrives on it. Returns `Err` with the verdict
    /// if that is ready at the first poll.
    fn try_enqueue<'a>(
        &self,
        checks: &'a SignatureChecks,
        number: usize,
        transaction: SignedTransaction,
        (lane, client): (Lane, ClientKey),
        release: Option<mpsc::Receiver<()>>,
    ) -> Result<Waiting<'a>, Box<Verdict>> {
        let waker = Waker::from(Arc::new(VerdictWaker {
            number,
            completed: self.completed.0.clone(),
            release: release.map(Mutex::new),
        }));
        let mut waiting: Waiting<'a> = Box::pin(checks.queue(
            transaction,
            lane,
            client,
            Permit::acquire(&checks.in_progress),
        ));
        match waiting.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(verdict) => Err(Box::new(verdict)),
            Poll::Pending => Ok(waiting),
        }
    }

    fn next_completed(&self) -> usize {
        self.completed.1.recv().unwrap()
    }
}

/// Returns the verdict of a request whose waker has run.
fn take_verdict(mut waiting: Waiting<'_>) -> Verdict {
    match waiting
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(verdict) => verdict,
        Poll::Pending => panic!("the verdict is pending"),
    }
}

fn one_thread(queue_capacity: usize) -> (SignatureChecks, SignatureQueues) {
    SignatureChecks::new(&SignaturesConfig {
        threads: 1,
        nice: 0,
        queue_capacity,
    })
}

fn is_invalid_signature(verdict: &Verdict) -> bool {
    let expected = ValidationStatus::InvalidSignature;
    matches!(verdict, Err(SubmitError::Invalid(Discard { status, .. })) if *status == expected)
}

fn is_overloaded(verdict: &Verdict) -> bool {
    matches!(
        verdict,
        Err(SubmitError::Node(NodeError::Overloaded(Overload {
            limit: LIMIT,
            ..
        })))
    )
}

fn is_stopping(verdict: &Verdict) -> bool {
    matches!(verdict, Err(SubmitError::Node(NodeError::Stopping)))
}

fn join(threads: Vec<JoinHandle<()>>) {
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn serves_good_transactions_before_a_flood_of_bad_ones() {
    const GOOD: usize = 3 * TRUSTED_BATCH_MAX;
    const BAD: usize = 2 * GOOD;
    let mut fixture = Fixture::new();
    let (checks, queues) = one_thread(2 * BAD);
    let mut requests = Vec::new();
    for number in 0..BAD {
        let bad = fixture.bad();
        requests.push(fixture.enqueue(&checks, number, bad, Lane::Untrusted));
    }
    for number in BAD..BAD + GOOD {
        let good = fixture.good();
        requests.push(fixture.enqueue(&checks, number, good, Lane::Trusted));
    }
    let reporter = FatalErrorReporter::new();
    let (shutdown, threads) = queues
        .start_threads(&fixture.chain, &reporter, &Watches::default())
        .unwrap();
    let order: Vec<_> = requests.iter().map(|_| fixture.next_completed()).collect();

    let last_good = order.iter().rposition(|number| *number >= BAD).unwrap();
    let overtaking = order[..last_good]
        .iter()
        .filter(|number| **number < BAD)
        .count();
    assert!(overtaking <= GOOD / TRUSTED_PER_UNTRUSTED, "{overtaking}");
    assert!(overtaking > 0, "the flood gets no share");
    let (bad, good): (Vec<usize>, Vec<usize>) = order.into_iter().partition(|number| *number < BAD);
    assert!(bad.is_sorted() && good.is_sorted(), "first in, first out");
    for (number, waiting) in requests.into_iter().enumerate() {
        let verdict = take_verdict(waiting);
        assert_eq!(
            (is_invalid_signature(&verdict), verdict.is_ok()),
            (number < BAD, number >= BAD)
        );
    }
    let [trusted, untrusted] = checks.status();
    assert_eq!((trusted.checked, trusted.bad), (GOOD as u64, 0));
    assert_eq!((untrusted.checked, untrusted.bad), (BAD as u64, BAD as u64));
    assert!(trusted.batches < GOOD as u64, "batches contain many jobs");
    drop(shutdown);
    join(threads);
    let work = checks.work_status();
    assert_eq!(work.took.count(), trusted.batches + untrusted.batches);
    assert_eq!(work.waited.count() as usize, GOOD + BAD);
}

/// Without this rule, a flood of transactions with many signatures would take nearly all of the
/// time.
#[test]
fn measures_the_share_of_a_flood_by_its_cost() {
    const GOOD: usize = 3 * TRUSTED_BATCH_MAX;
    let mut fixture = Fixture::new();
    let (checks, queues) = one_thread(2 * GOOD * COSTLY);
    let mut requests = Vec::new();
    for number in 0..GOOD {
        let bad = fixture.costly();
        requests.push(fixture.enqueue(&checks, number, bad, Lane::Untrusted));
    }
    for number in GOOD..2 * GOOD {
        let good = fixture.good();
        requests.push(fixture.enqueue(&checks, number, good, Lane::Trusted));
    }
    let (shutdown, threads) = queues
        .start_threads(
            &fixture.chain,
            &FatalErrorReporter::new(),
            &Watches::default(),
        )
        .unwrap();
    let order: Vec<_> = requests.iter().map(|_| fixture.next_completed()).collect();
    let last_good = order.iter().rposition(|number| *number >= GOOD).unwrap();
    let overtaking = order[..last_good]
        .iter()
        .filter(|number| **number < GOOD)
        .count();
    let share = GOOD / TRUSTED_PER_UNTRUSTED / SIGNATURES_MAX;
    assert!(
        (1..=share).contains(&overtaking),
        "{overtaking} overtake, the share is {share}"
    );
    assert!(
        requests
            .drain(..GOOD)
            .all(|waiting| is_invalid_signature(&take_verdict(waiting)))
    );
    drop(requests);
    drop(shutdown);
    join(threads);
}

#[test]
fn full_lane_rejects_while_the_other_accepts() {
    let mut fixture = Fixture::new();
    let (checks, queues) = one_thread(1);
    let [first, second, third] = [fixture.good(), fixture.good(), fixture.good()];
    let waiting = [fixture.enqueue(&checks, 0, first, Lane::Untrusted)];
    assert!(is_overloaded(&take_verdict(Box::pin(checks.queue(
        second,
        Lane::Untrusted,
        ClientKey::NODE,
        Permit::acquire(&checks.in_progress)
    )))));
    let waiting = waiting
        .into_iter()
        .chain([fixture.enqueue(&checks, 1, third, Lane::Trusted)]);
    let waiting: Vec<_> = waiting.collect();
    let [trusted, untrusted] = checks.status();
    assert_eq!(
        (trusted.waiting, trusted.accepted, trusted.refused),
        (1, 1, 0)
    );
    assert_eq!(
        (untrusted.waiting, untrusted.accepted, untrusted.refused),
        (1, 1, 1)
    );

    let (shutdown, threads) = queues
        .start_threads(
            &fixture.chain,
            &FatalErrorReporter::new(),
            &Watches::default(),
        )
        .unwrap();
    assert_eq!([fixture.next_completed(), fixture.next_completed()], [1, 0]);
    assert!(
        waiting
            .into_iter()
            .all(|waiting| take_verdict(waiting).is_ok())
    );
    drop(shutdown);
    join(threads);
}

/// Without this rule, a lane full of transactions with many signatures would take many seconds.
#[test]
fn bounds_a_lane_by_cost() {
    const CAPACITY: usize = 100 * COSTLY;
    let mut fixture = Fixture::new();
    let (checks, queues) = one_thread(CAPACITY);
    let mut waiting = Vec::new();
    let rejection = loop {
        let costly = fixture.costly();
        let lane = (Lane::Trusted, ClientKey::NODE);
        match fixture.try_enqueue(&checks, waiting.len(), costly, lane, None) {
            Ok(request) => waiting.push(request),
            Err(verdict) => break verdict,
        }
    };
    assert!(is_overloaded(&rejection));
    assert_eq!(waiting.len(), 50, "one half is reserved for other clients");
    let plain = fixture.good();
    let enqueued = fixture.try_enqueue(&checks, 50, plain, (Lane::Trusted, other()), None);
    waiting.extend(enqueued);
    let [trusted, untrusted] = checks.status();
    assert_eq!(
        (trusted.capacity_signatures, trusted.waiting),
        (CAPACITY, 51)
    );
    assert_eq!(
        (trusted.waiting_signatures, trusted.refused),
        (50 * COSTLY + 1, 1)
    );
    assert_eq!(untrusted.waiting_signatures, 0);

    let (shutdown, threads) = queues
        .start_threads(
            &fixture.chain,
            &FatalErrorReporter::new(),
            &Watches::default(),
        )
        .unwrap();
    let order: Vec<_> = waiting.iter().map(|_| fixture.next_completed()).collect();
    let turn = order.iter().position(|number| *number == 50).unwrap();
    assert!(
        turn <= 1,
        "the other client waits for one transaction: {order:?}"
    );
    assert!(take_verdict(waiting.remove(50)).is_ok());
    let [trusted, _] = checks.status();
    assert_eq!((trusted.waiting, trusted.waiting_signatures), (0, 0));
    drop(waiting);
    drop(shutdown);
    join(threads);
}

#[test]
fn accepts_costly_transactions_during_a_flood_of_plain_ones() {
    const CAPACITY: usize = 4;
    let mut fixture = Fixture::new();
    let (checks, _queues) = one_thread(CAPACITY);
    let mut waiting = Vec::new();
    loop {
        let plain = fixture.good();
        let lane = (Lane::Trusted, ClientKey::NODE);
        match fixture.try_enqueue(&checks, waiting.len(), plain, lane, None) {
            Ok(request) => waiting.push(request),
            Err(verdict) => break assert!(is_overloaded(&verdict)),
        }
    }
    assert_eq!(waiting.len(), 2);
    let costly = fixture.costly();
    waiting.extend(fixture.try_enqueue(&checks, 2, costly, (Lane::Trusted, other()), None));
    assert_eq!(checks.status()[0].waiting_signatures, 2 + COSTLY);
}

/// Returns a client other than [`ClientKey::NODE`].
fn other() -> ClientKey {
    ClientKeys::default().key_of(Ipv4Addr::LOCALHOST.into())
}

/// Without turns, a client would wait for all transactions that others have sent before.
#[test]
fn checks_one_transaction_of_a_client_before_the_hundredth_of_another() {
    const FLOOD: usize = 5 * TRUSTED_BATCH_MAX;
    for lane in [Lane::Trusted, Lane::Untrusted] {
        let mut fixture = Fixture::new();
        let (checks, queues) = one_thread(4 * FLOOD);
        let mut waiting = Vec::new();
        for number in 0..FLOOD {
            let transaction = fixture.good();
            waiting.push(fixture.enqueue(&checks, number, transaction, lane));
        }
        let transaction = fixture.good();
        waiting.extend(fixture.try_enqueue(&checks, FLOOD, transaction, (lane, other()), None));
        let (shutdown, threads) = queues
            .start_threads(
                &fixture.chain,
                &FatalErrorReporter::new(),
                &Watches::default(),
            )
            .unwrap();
        let order: Vec<_> = waiting.iter().map(|_| fixture.next_completed()).collect();
        let turn = order.iter().position(|number| *number == FLOOD).unwrap();
        assert!(turn <= 1, "{turn} transactions of {lane:?} come first");
        let of_flood: Vec<_> = order.iter().filter(|number| **number != FLOOD).collect();
        assert!(of_flood.is_sorted(), "first in, first out within a client");
        drop(waiting);
        drop(shutdown);
        join(threads);
    }
}
