//! Tests of the stop, of checks on the calling thread, of batches, canceled checks, and nice
//! values.

use super::*;

#[test]
fn stop_ends_waiting_and_later_requests() {
    let mut fixture = Fixture::new();
    let (checks, queues) = one_thread(10);
    let (shutdown, threads) = queues
        .start_threads(
            &fixture.chain,
            &FatalErrorReporter::new(),
            &Watches::default(),
        )
        .unwrap();
    let (first, release) = loop {
        let (release, held) = mpsc::channel();
        let transaction = fixture.good();
        let lane = (Lane::Trusted, ClientKey::NODE);
        if let Ok(first) = fixture.try_enqueue(&checks, 0, transaction, lane, Some(held)) {
            break (first, release);
        }
    };
    assert_eq!(fixture.next_completed(), 0);
    let waiting: Vec<_> = [Lane::Trusted, Lane::Untrusted, Lane::Untrusted]
        .into_iter()
        .map(|lane| {
            let transaction = fixture.good();
            fixture.enqueue(&checks, 1, transaction, lane)
        })
        .collect();
    drop(shutdown);
    release.send(()).unwrap();
    join(threads);
    assert!(take_verdict(first).is_ok(), "its check was in progress");
    assert!(
        waiting
            .into_iter()
            .all(|waiting| is_stopping(&take_verdict(waiting)))
    );
    assert!(rejects_as_stopping(&checks, fixture.good()));
}

/// Returns whether a submission whose check begins now is rejected because the node is stopping.
fn rejects_as_stopping(checks: &SignatureChecks, transaction: SignedTransaction) -> bool {
    let permit = Permit::acquire(&checks.in_progress);
    let verdict = checks.queue(transaction, Lane::Trusted, ClientKey::NODE, permit);
    is_stopping(&take_verdict(Box::pin(verdict)))
}

/// The threads may have emptied the queue for the last time before the job arrives.
#[test]
fn rejects_requests_while_the_threads_end() {
    let mut fixture = Fixture::new();
    let (checks, _queues) = one_thread(10);
    checks.stopped.store(true, SeqCst);
    assert!(rejects_as_stopping(&checks, fixture.good()));
}

/// No thread runs, so every verdict comes from the calling thread.
#[test]
fn calling_thread_checks_a_plain_trusted_signature_that_is_alone_or_behind_costly_ones() {
    let mut fixture = Fixture::new();
    let (checks, _queues) = one_thread(10);
    let [first, concurrent, behind_costly, untrusted, alone] = [
        fixture.good(),
        fixture.good(),
        fixture.good(),
        fixture.good(),
        fixture.good(),
    ];
    let (chain, costly) = (fixture.chain.clone(), fixture.costly());
    let poll_check = |transaction, lane| -> Option<Verdict> {
        let mut waiting: Waiting<'_> =
            Box::pin(checks.check(&chain, transaction, lane, ClientKey::NODE));
        // The check yields once before it reads the number of checks in progress.
        (0..2).find_map(|_| poll_once(&mut waiting))
    };
    let waiting = fixture.enqueue(&checks, 0, first, Lane::Untrusted);
    assert!(
        poll_check(concurrent, Lane::Trusted).is_none(),
        "a check that can share a batch runs on a signature thread"
    );
    let costly_check = Permit::acquire(&*checks.lanes.costly);
    let verdict = poll_check(behind_costly, Lane::Trusted);
    assert!(verdict.is_some_and(|verdict| verdict.is_ok()));
    drop((costly_check, waiting));
    assert!(poll_check(untrusted, Lane::Untrusted).is_none());
    assert!(poll_check(costly, Lane::Trusted).is_none());
    assert!(poll_check(alone, Lane::Trusted).is_some_and(|verdict| verdict.is_ok()));
    let [trusted, _] = checks.status();
    assert_eq!((trusted.accepted, trusted.checked), (4, 2));
}

/// Polls the request once and returns its verdict, if it is ready.
fn poll_once(waiting: &mut Waiting<'_>) -> Option<Verdict> {
    match waiting
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(verdict) => Some(verdict),
        Poll::Pending => None,
    }
}

#[test]
fn concurrent_requests_share_a_batch() {
    let mut fixture = Fixture::new();
    let (checks, _queues) = one_thread(10);
    let chain = fixture.chain.clone();
    let mut started = [fixture.good(), fixture.good()].map(|transaction| -> Waiting<'_> {
        Box::pin(checks.check(&chain, transaction, Lane::Trusted, ClientKey::NODE))
    });
    for _ in 0..2 {
        assert!(
            started
                .iter_mut()
                .all(|waiting| poll_once(waiting).is_none())
        );
    }
    assert_eq!(checks.status()[0].waiting, 2);
}

#[test]
fn skips_canceled_requests() {
    let mut fixture = Fixture::new();
    let (checks, queues) = one_thread(10);
    let [canceled, active] = [fixture.good(), fixture.good()];
    drop(fixture.enqueue(&checks, 0, canceled, Lane::Trusted));
    let waiting = fixture.enqueue(&checks, 1, active, Lane::Trusted);
    let (shutdown, threads) = queues
        .start_threads(
            &fixture.chain,
            &FatalErrorReporter::new(),
            &Watches::default(),
        )
        .unwrap();
    assert_eq!(fixture.next_completed(), 1);
    assert!(take_verdict(waiting).is_ok());
    drop(shutdown);
    join(threads);
    let [trusted, _] = checks.status();
    assert_eq!((trusted.accepted, trusted.checked), (2, 1));
}

/// Returns the nice values of all signature threads of this process.
#[cfg(target_os = "linux")]
fn nice_values() -> Vec<i32> {
    let stat = |task: io::Result<std::fs::DirEntry>| {
        std::fs::read_to_string(task.unwrap().path().join("stat"))
    };
    // Threads of other tests may end during the iteration.
    let stats = std::fs::read_dir("/proc/self/task")
        .unwrap()
        .filter_map(|task| stat(task).ok());
    let checking = stats.filter(|stat| stat.contains("(signature-check)"));
    let nice = |stat: String| {
        let (_, fields) = stat.rsplit_once(") ").unwrap();
        // Field 19 of the line is the nice value. The first field after the name is field 3.
        fields.split(' ').nth(19 - 3).unwrap().parse().unwrap()
    };
    checking.map(nice).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn threads_have_the_configured_nice_value() {
    // A value that no other test uses.
    const NICE: u8 = 13;
    let mut fixture = Fixture::new();
    let (checks, queues) = SignatureChecks::new(&SignaturesConfig {
        threads: 2,
        nice: NICE,
        queue_capacity: 10,
    });
    let enqueued = [0, 1].map(|index| {
        let transaction = fixture.good();
        fixture.enqueue(&checks, index, transaction, Lane::Untrusted)
    });
    let (shutdown, threads) = queues
        .start_threads(
            &fixture.chain,
            &FatalErrorReporter::new(),
            &Watches::default(),
        )
        .unwrap();
    fixture.next_completed();
    assert!(nice_values().contains(&i32::from(NICE)));
    drop((enqueued, shutdown));
    join(threads);
}
