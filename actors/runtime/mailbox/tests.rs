//! Tests of the bound of a mailbox, its changes, and its metrics.

use super::*;
use actix::Arbiter;
use std::{
    sync::mpsc,
    time::{Duration, Instant},
};

/// An actor that handles a message until the test releases it.
struct Slow {
    begun: mpsc::Sender<u32>,
    go_on: mpsc::Receiver<()>,
}

impl Actor for Slow {
    const NAME: &'static str = "slow";
    const LABELS: &'static [&'static str] = &[Work::LABEL];
}

struct Work(u32);

impl ActorMessage for Work {
    const LABEL: &'static str = "test";
}

impl Handler<Work> for Slow {
    fn handle(&mut self, work: Work) {
        self.begun.send(work.0).unwrap();
        self.go_on.recv().unwrap();
    }
}

struct Fixture {
    mailbox: Mailbox<Slow>,
    failure: FatalErrorReporter,
    begun: mpsc::Receiver<u32>,
    go_on: mpsc::Sender<()>,
    arbiter: Arbiter,
}

impl Fixture {
    /// Starts an actor and waits until it handles its first message.
    fn busy(capacity: usize) -> Self {
        let (begun, has_begun) = mpsc::channel();
        let (go_on, may_go_on) = mpsc::channel();
        let arbiter = Arbiter::new();
        let actor = Slow {
            begun,
            go_on: may_go_on,
        };
        let failure = FatalErrorReporter::new();
        let fixture = Self {
            mailbox: Mailbox::start(&arbiter.handle(), "slow", capacity, actor, &failure),
            failure,
            begun: has_begun,
            go_on,
            arbiter,
        };
        fixture.mailbox.try_request(Work(0)).unwrap();
        assert_eq!(fixture.begun.recv(), Ok(0));
        fixture
    }

    fn request_many(&self, count: u32) -> usize {
        let admitted = (1..=count).filter(|&n| self.mailbox.try_request(Work(n)).is_ok());
        admitted.count()
    }

    /// Releases `count` messages, after which the actor begins the next one, if any.
    fn finish(&self, count: usize) {
        for _ in 0..count {
            self.go_on.send(()).unwrap();
        }
    }

    fn end(self) -> MailboxStatus {
        let Self {
            mailbox,
            arbiter,
            go_on,
            ..
        } = self;
        drop(go_on);
        arbiter.stop();
        // The thread panics if the actor still handles a message. The test does not depend on it.
        let _ = arbiter.join();
        mailbox.status()
    }
}

#[actix::test]
async fn requests_beyond_the_capacity_are_refused_at_once() {
    let fixture = Fixture::busy(4);
    assert_eq!(fixture.request_many(2_000), 4);
    let is_overloaded = |outcome| matches!(outcome, Err(NodeError::Overloaded { actor: "slow" }));
    assert!(is_overloaded(fixture.mailbox.try_request(Work(0))));
    let clone = fixture.mailbox.clone();
    assert!(
        is_overloaded(clone.try_request(Work(0))),
        "clones share the bound"
    );
    let status = fixture.mailbox.status();
    assert_eq!(
        (status.depth, status.high_water, status.capacity),
        (4, 4, 4)
    );
    assert_eq!((status.accepted, status.refused), (5, 1_998));
    fixture.finish(2);
    assert_eq!((fixture.begun.recv(), fixture.begun.recv()), (Ok(1), Ok(2)));
    assert_eq!(fixture.request_many(10), 2, "what has begun waits no more");
    let status = fixture.end();
    assert_eq!(
        status.depth, 0,
        "what was never handled gives its place back"
    );
}

#[actix::test]
async fn the_capacity_changes_at_once_in_both_directions() {
    let fixture = Fixture::busy(1);
    assert_eq!(fixture.request_many(10), 1);
    assert_eq!(fixture.mailbox.set_capacity(3).capacity, 3);
    assert_eq!(fixture.request_many(10), 2);
    fixture.mailbox.set_capacity(1);
    assert_eq!(fixture.request_many(10), 0);
    fixture.finish(1);
    assert_eq!(fixture.begun.recv(), Ok(1));
    assert_eq!(fixture.request_many(10), 0, "2 still wait, 1 may");
    fixture.finish(2);
    assert_eq!((fixture.begun.recv(), fixture.begun.recv()), (Ok(1), Ok(2)));
    assert_eq!(fixture.request_many(10), 1);
    fixture.end();
}

#[actix::test]
async fn messages_of_the_protocols_are_always_admitted_and_counted_apart() {
    let fixture = Fixture::busy(1);
    let recipient = fixture.mailbox.recipient();
    for _ in 0..100 {
        recipient.send(Work(7));
    }
    assert_eq!(
        fixture.request_many(10),
        1,
        "they take no place of a request"
    );
    let status = fixture.mailbox.status();
    assert_eq!(
        (status.protocol, status.accepted, status.depth),
        (100, 2, 1)
    );
    fixture.finish(101);
    for _ in 0..100 {
        assert_eq!(fixture.begun.recv(), Ok(7));
    }
    assert_eq!(fixture.begun.recv(), Ok(1));
    assert_eq!(fixture.mailbox.status().handled, 101);
    fixture.end();
}

#[actix::test]
async fn what_was_handled_is_counted_by_kind_and_by_time() {
    const WORKED: Duration = Duration::from_millis(2);
    let fixture = Fixture::busy(4);
    assert_eq!(fixture.request_many(2), 2);
    let begun = Instant::now();
    while begun.elapsed() < WORKED {
        std::hint::spin_loop();
    }
    fixture.finish(2);
    assert_eq!((fixture.begun.recv(), fixture.begun.recv()), (Ok(1), Ok(2)));
    let status = fixture.mailbox.status();
    assert_eq!(status.handled, 2, "the third is at work");
    assert_eq!(status.handled_by_kind, [("test", 2)].into());
    assert_eq!((status.waited.count(), status.handling.count()), (2, 2));
    let at_least = WORKED.as_micros() as u64;
    assert!(status.handled_micros >= at_least, "{status:?}");
    assert!(
        status.waited_micros >= at_least,
        "the second waited for the first: {status:?}"
    );
    assert!(status.busy_permille > 0, "{status:?}");
    fixture.end();
}

#[actix::test]
async fn who_asks_an_actor_that_is_gone_is_told() {
    let fixture = Fixture::busy(4);
    let mailbox = fixture.mailbox.clone();
    fixture.end();
    let outcome = mailbox.try_request(Work(1));
    assert!(matches!(outcome, Err(NodeError::Stopping)), "{outcome:?}");
}

#[actix::test]
async fn a_handler_that_panics_is_told() {
    let fixture = Fixture::busy(1);
    assert!(fixture.failure.get().is_none());
    let failure = fixture.failure.clone();
    // Ends the release channel, so the handler in progress panics.
    fixture.end();
    assert_eq!(failure.get().expect("it is told").thread, "slow");
}
