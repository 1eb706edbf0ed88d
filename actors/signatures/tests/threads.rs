//! Tests of the stop, of checks on the calling thread, of batches, canceled checks, and nice
//! values.

use super::*;

#[test]
fn a_stop_answers_those_who_wait_and_those_who_come() {
    let mut fixture = Fixture::new();
    let (checks, queues) = one_thread(10);
    let (shutdown, threads) = queues
        .serve(&fixture.chain, &FatalErrorReporter::new())
        .unwrap();
    let (first, go_on) = loop {
        let (go_on, held) = mpsc::channel();
        let transaction = fixture.good();
        if let Ok(first) = fixture.try_ask(&checks, 0, transaction, Lane::Trusted, Some(held)) {
            break (first, go_on);
        }
    };
    assert_eq!(fixture.next_answered(), 0);
    let waiting: Vec<_> = [Lane::Trusted, Lane::Untrusted, Lane::Untrusted]
        .into_iter()
        .map(|lane| {
            let transaction = fixture.good();
            fixture.ask(&checks, 1, transaction, lane)
        })
        .collect();
    drop(shutdown);
    go_on.send(()).unwrap();
    join(threads);
    assert!(answer(first).is_ok(), "its check was under way");
    assert!(
        waiting
            .into_iter()
            .all(|waiting| is_stopping(&answer(waiting)))
    );
    let late = fixture.good();
    assert!(is_stopping(&answer(Box::pin(checks.queue(
        late,
        Lane::Trusted,
        Permit::acquire(&checks.in_progress)
    )))));
}

/// The threads may have emptied the queue for the last time before the job arrives.
#[test]
fn who_comes_while_the_threads_end_does_not_wait_for_them() {
    let mut fixture = Fixture::new();
    let (checks, _queues) = one_thread(10);
    checks.stopped.store(true, SeqCst);
    let late = fixture.good();
    assert!(is_stopping(&answer(Box::pin(checks.queue(
        late,
        Lane::Trusted,
        Permit::acquire(&checks.in_progress)
    )))));
}

/// No thread runs, so every verdict comes from the calling thread.
#[test]
fn only_a_plain_trusted_signature_beside_no_other_is_checked_where_it_arrives() {
    let mut fixture = Fixture::new();
    let (checks, _queues) = one_thread(10);
    let [first, beside, untrusted, alone] = [
        fixture.good(),
        fixture.good(),
        fixture.good(),
        fixture.good(),
    ];
    let (chain, costly) = (fixture.chain.clone(), fixture.costly());
    let asked = |transaction, lane| -> Option<Verdict> {
        let mut waiting: Waiting<'_> = Box::pin(checks.check(&chain, transaction, lane));
        // The check yields once before it reads the number of checks in progress.
        (0..2).find_map(|_| polled(&mut waiting))
    };
    let waiting = fixture.ask(&checks, 0, first, Lane::Untrusted);
    assert!(
        asked(beside, Lane::Trusted).is_none(),
        "it would share a batch"
    );
    drop(waiting);
    assert!(asked(untrusted, Lane::Untrusted).is_none());
    assert!(asked(costly, Lane::Trusted).is_none());
    assert!(asked(alone, Lane::Trusted).is_some_and(|verdict| verdict.is_ok()));
    let [trusted, _] = checks.status();
    assert_eq!((trusted.accepted, trusted.checked), (3, 1));
}

/// Polls the request once and returns its verdict, if it is ready.
fn polled(waiting: &mut Waiting<'_>) -> Option<Verdict> {
    match waiting
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(verdict) => Some(verdict),
        Poll::Pending => None,
    }
}

#[test]
fn those_who_come_at_once_share_a_check() {
    let mut fixture = Fixture::new();
    let (checks, _queues) = one_thread(10);
    let chain = fixture.chain.clone();
    let mut asked = [fixture.good(), fixture.good()].map(|transaction| -> Waiting<'_> {
        Box::pin(checks.check(&chain, transaction, Lane::Trusted))
    });
    for _ in 0..2 {
        assert!(asked.iter_mut().all(|waiting| polled(waiting).is_none()));
    }
    assert_eq!(checks.status()[0].waiting, 2);
}

#[test]
fn nothing_is_checked_for_a_client_that_went_away() {
    let mut fixture = Fixture::new();
    let (checks, queues) = one_thread(10);
    let [gone, here] = [fixture.good(), fixture.good()];
    drop(fixture.ask(&checks, 0, gone, Lane::Trusted));
    let waiting = fixture.ask(&checks, 1, here, Lane::Trusted);
    let (shutdown, threads) = queues
        .serve(&fixture.chain, &FatalErrorReporter::new())
        .unwrap();
    assert_eq!(fixture.next_answered(), 1);
    assert!(answer(waiting).is_ok());
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
fn the_threads_stand_back_as_far_as_they_are_told_to() {
    // A value that no other test uses.
    const NICE: u8 = 13;
    let mut fixture = Fixture::new();
    let (checks, queues) = SignatureChecks::new(&SignaturesConfig {
        threads: 2,
        nice: NICE,
        queue_capacity: 10,
    });
    let asked = [0, 1].map(|index| {
        let transaction = fixture.good();
        fixture.ask(&checks, index, transaction, Lane::Untrusted)
    });
    let (shutdown, threads) = queues
        .serve(&fixture.chain, &FatalErrorReporter::new())
        .unwrap();
    fixture.next_answered();
    assert!(nice_values().contains(&i32::from(NICE)));
    drop((asked, shutdown));
    join(threads);
}
