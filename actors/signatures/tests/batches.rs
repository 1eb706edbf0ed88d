//! Tests of batches of submissions: their transactions enter a lane together.

use super::*;
use ledger_limits::FairQueue;

/// The verdicts of a batch that is awaited.
type WaitingBatch<'a> = Pin<Box<dyn Future<Output = Vec<Verdict>> + 'a>>;

/// Starts the check of a batch of [`ClientKey::NODE`], and adds its transactions to the lane.
fn begin<'a>(
    checks: &'a SignatureChecks,
    batch: Vec<SignedTransaction>,
    lane: Lane,
    waker: &Waker,
) -> WaitingBatch<'a> {
    let mut waiting: WaitingBatch<'a> = Box::pin(checks.check_all(batch, lane, ClientKey::NODE));
    let polled = waiting.as_mut().poll(&mut Context::from_waker(waker));
    assert!(polled.is_pending(), "no thread runs");
    waiting
}

/// Polls a batch until it is complete. `wait` blocks until a further job may be complete.
fn complete(mut waiting: WaitingBatch<'_>, waker: &Waker, wait: impl Fn()) -> Vec<Verdict> {
    loop {
        if let Poll::Ready(verdicts) = waiting.as_mut().poll(&mut Context::from_waker(waker)) {
            return verdicts;
        }
        wait();
    }
}

/// Returns the numbers of jobs that wait in both lanes.
fn jobs(checks: &SignatureChecks) -> [usize; 2] {
    [Lane::Trusted, Lane::Untrusted].map(|lane| FairQueue::len(&checks.lanes.of(lane).jobs))
}

#[test]
fn returns_a_verdict_for_each_transaction_in_order() {
    const COUNT: usize = 150;
    for lane in [Lane::Trusted, Lane::Untrusted] {
        let mut fixture = Fixture::new();
        let (checks, queues) = one_thread(10 * COUNT);
        let is_bad = |index: usize| index % 7 == 3;
        let batch: Vec<_> = (0..COUNT)
            .map(|index| match is_bad(index) {
                true => fixture.bad(),
                false => fixture.good(),
            })
            .collect();
        let expected: Vec<_> = batch.iter().map(|signed| signed.raw.clone()).collect();
        let (woken, wakes) = mpsc::channel();
        let waker = Waker::from(Arc::new(VerdictWaker {
            number: 0,
            completed: woken,
            release: None,
        }));
        let waiting = begin(&checks, batch, lane, &waker);
        let (shutdown, threads) = queues
            .start_threads(
                &fixture.chain,
                &FatalErrorReporter::new(),
                &Watches::default(),
            )
            .unwrap();
        let verdicts = complete(waiting, &waker, || {
            wakes.recv().unwrap();
        });
        assert_eq!(verdicts.len(), COUNT);
        for (index, (verdict, raw)) in verdicts.iter().zip(&expected).enumerate() {
            match verdict {
                Ok(checked) => assert_eq!((is_bad(index), checked.raw()), (false, raw)),
                Err(_) => assert!(is_bad(index) && is_invalid_signature(verdict), "{index}"),
            }
        }
        drop(shutdown);
        join(threads);
    }
}

#[test]
fn enters_a_lane_as_few_jobs_whose_transactions_count_one_by_one() {
    const COUNT: usize = 1_000;
    let mut fixture = Fixture::new();
    let (checks, _queues) = one_thread(10 * COUNT);
    let batch: Vec<_> = (0..COUNT).map(|_| fixture.good()).collect();
    let trusted = begin(&checks, batch.clone(), Lane::Trusted, Waker::noop());
    let untrusted = begin(&checks, batch, Lane::Untrusted, Waker::noop());
    let untrusted_jobs = COUNT / UNTRUSTED_BATCH_MAX;
    assert_eq!(
        jobs(&checks),
        [COUNT.div_ceil(JOB_COST_MAX), untrusted_jobs]
    );
    for lane in checks.status() {
        let counted = (lane.waiting, lane.waiting_signatures, lane.accepted);
        assert_eq!(counted, (COUNT, COUNT, COUNT as u64), "{}", lane.lane);
    }
    drop((trusted, untrusted));
}

#[test]
fn costly_transaction_of_a_batch_is_a_job_of_its_own() {
    let mut fixture = Fixture::new();
    let batch = vec![
        fixture.good(),
        fixture.costly(),
        fixture.good(),
        fixture.good(),
    ];
    let counts: Vec<_> = jobs_of(batch, Lane::Trusted).iter().map(Vec::len).collect();
    assert_eq!(counts, [1, 1, 2]);
}

/// The signatures of a batch are as many as single ones to the limit and to the turns.
#[test]
fn leaves_capacity_to_other_clients_and_rejects_the_rest_of_the_batch() {
    const CAPACITY: usize = 6 * JOB_COST_MAX;
    let mut fixture = Fixture::new();
    let (checks, queues) = one_thread(CAPACITY);
    let batch: Vec<_> = (0..CAPACITY).map(|_| fixture.good()).collect();
    let waiting = begin(&checks, batch, Lane::Trusted, Waker::noop());
    let accepted = CAPACITY / 2;
    let [trusted, _] = checks.status();
    assert_eq!(
        (trusted.waiting, trusted.refused),
        (accepted, accepted as u64)
    );
    let plain = fixture.good();
    let of_other = fixture.try_enqueue(&checks, 1, plain, (Lane::Trusted, other()), None);
    assert!(of_other.is_ok(), "the other client finds capacity");
    let (shutdown, threads) = queues
        .start_threads(
            &fixture.chain,
            &FatalErrorReporter::new(),
            &Watches::default(),
        )
        .unwrap();
    let verdicts = complete(waiting, Waker::noop(), std::thread::yield_now);
    let (checked, rejected) = verdicts.split_at(accepted);
    assert!(checked.iter().all(Result::is_ok));
    assert!(rejected.iter().all(is_overloaded));
    drop(of_other);
    drop(shutdown);
    join(threads);
}

/// A batch takes turns with single transactions: they are verified with the first job.
#[test]
fn checks_one_transaction_of_a_client_before_the_rest_of_a_batch_of_another() {
    const COUNT: usize = 5 * TRUSTED_BATCH_MAX;
    for lane in [Lane::Trusted, Lane::Untrusted] {
        let mut fixture = Fixture::new();
        let (checks, queues) = one_thread(4 * COUNT);
        let batch: Vec<_> = (0..COUNT).map(|_| fixture.good()).collect();
        let waiting = begin(&checks, batch, lane, Waker::noop());
        let (release, held) = mpsc::channel();
        let plain = fixture.good();
        let of_other = fixture
            .try_enqueue(&checks, 1, plain, (lane, other()), Some(held))
            .unwrap_or_else(|_| panic!("no thread runs"));
        let (shutdown, threads) = queues
            .start_threads(
                &fixture.chain,
                &FatalErrorReporter::new(),
                &Watches::default(),
            )
            .unwrap();
        assert_eq!(fixture.next_completed(), 1);
        // The thread is blocked while it sends the verdicts of this verification batch.
        let batch_max = match lane {
            Lane::Trusted => TRUSTED_BATCH_MAX,
            Lane::Untrusted => UNTRUSTED_BATCH_MAX,
        };
        let checked: u64 = checks.status().iter().map(|lane| lane.checked).sum();
        assert!(
            checked <= 2 * batch_max as u64,
            "{checked} checked first, {lane:?}"
        );
        assert!(
            checks
                .status()
                .map(|lane| lane.waiting)
                .iter()
                .sum::<usize>()
                > COUNT / 2
        );
        drop(release);
        assert!(take_verdict(of_other).is_ok());
        let verdicts = complete(waiting, Waker::noop(), std::thread::yield_now);
        assert!(verdicts.iter().all(Result::is_ok) && verdicts.len() == COUNT);
        drop(shutdown);
        join(threads);
    }
}

#[test]
fn stop_ends_a_batch_that_waits() {
    let mut fixture = Fixture::new();
    let (checks, _queues) = one_thread(1_000);
    checks.stopped.store(true, SeqCst);
    let batch: Vec<_> = (0..100).map(|_| fixture.good()).collect();
    let waiting: WaitingBatch<'_> =
        Box::pin(checks.check_all(batch, Lane::Trusted, ClientKey::NODE));
    let verdicts = complete(waiting, Waker::noop(), || panic!("it does not wait"));
    assert!(verdicts.len() == 100 && verdicts.iter().all(is_stopping));
}
