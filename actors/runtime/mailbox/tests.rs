//! Tests of the capacity of a mailbox, changes of the capacity, and metrics.

use super::*;
use actix::Arbiter;
use std::{
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

/// An actor that blocks in each message until the test releases it.
struct Slow {
    /// Sends the number of each message when the actor begins to handle it.
    started: mpsc::Sender<u32>,
    /// Receives one item for each message that the actor may complete.
    release: mpsc::Receiver<()>,
}

impl Actor for Slow {
    const NAME: &'static str = "slow";
    const CAPACITY: &'static str = "actors.slow.mailbox_capacity";
    const LABELS: &'static [&'static str] = &[Work::LABEL, Several::LABEL];
}

/// A message that counts as several requests.
struct Several(usize);

impl ActorMessage for Several {
    const LABEL: &'static str = "several";

    fn request_count(&self) -> usize {
        self.0
    }
}

impl Handler<Several> for Slow {
    fn handle(&mut self, _: Several) {}
}

/// A message with a number.
struct Work(u32);

impl ActorMessage for Work {
    const LABEL: &'static str = "test";
}

impl Handler<Work> for Slow {
    fn handle(&mut self, work: Work) {
        self.started.send(work.0).unwrap();
        self.release.recv().unwrap();
    }
}

/// A slow actor and the test's ends of its channels.
struct Fixture {
    mailbox: Mailbox<Slow>,
    reporter: FatalErrorReporter,
    started: mpsc::Receiver<u32>,
    release: mpsc::Sender<()>,
    arbiter: Arbiter,
}

impl Fixture {
    /// Starts an actor, and returns once it handles its first message, number 0.
    fn start_busy(capacity: usize) -> Self {
        let (started_sender, started) = mpsc::channel();
        let (release, released) = mpsc::channel();
        let arbiter = Arbiter::new();
        let actor = Slow {
            started: started_sender,
            release: released,
        };
        let reporter = FatalErrorReporter::new();
        let (mailbox, inbox) = Mailbox::open("slow", capacity, &reporter);
        inbox.run(&arbiter.handle(), actor);
        let fixture = Self {
            mailbox,
            reporter,
            started,
            release,
            arbiter,
        };
        fixture.mailbox.try_request(Work(0)).unwrap();
        assert_eq!(fixture.started.recv(), Ok(0));
        fixture
    }

    /// Sends requests 1 to `count`, and returns how many the mailbox accepts.
    fn send_requests(&self, count: u32) -> usize {
        let accepted = (1..=count).filter(|&n| self.mailbox.try_request(Work(n)).is_ok());
        accepted.count()
    }

    /// Lets the actor complete `count` messages. It then begins the next one, if any.
    fn release_messages(&self, count: usize) {
        for _ in 0..count {
            self.release.send(()).unwrap();
        }
    }

    /// Stops the actor, and returns the final status of its mailbox.
    fn stop(self) -> MailboxStatus {
        let Self {
            mailbox,
            arbiter,
            release,
            ..
        } = self;
        drop(release);
        arbiter.stop();
        // An error means that the thread has panicked, because the actor still handled a message.
        let _ = arbiter.join();
        mailbox.status()
    }
}

#[actix::test]
async fn message_counts_as_several_requests_and_is_accepted_while_one_is_free() {
    let fixture = Fixture::start_busy(5);
    let depth = || fixture.mailbox.status().depth;
    fixture.mailbox.try_request(Several(4)).unwrap();
    assert_eq!(depth(), 4);
    fixture.mailbox.try_request(Several(1_000)).unwrap();
    assert_eq!(depth(), 1_004);
    for rejected in [Several(1), Several(1_000)] {
        assert!(fixture.mailbox.try_request(rejected).is_err());
    }
    assert_eq!(fixture.send_requests(1), 0);
    // Number 0 ends, and the two are handled.
    fixture.release_messages(1);
    while depth() > 0 {
        thread::yield_now();
    }
    assert_eq!(fixture.send_requests(1), 1);
    assert_eq!(fixture.started.recv(), Ok(1));
    let status = fixture.stop();
    assert_eq!((status.accepted, status.refused), (4, 3));
}

#[actix::test]
async fn counts_the_high_water_since_the_last_change_of_the_capacity() {
    let fixture = Fixture::start_busy(8);
    assert_eq!(fixture.send_requests(8), 8);
    // Requests that wait stay beyond a lower capacity.
    assert_eq!(fixture.mailbox.set_capacity(4).high_water, 8);
    fixture.release_messages(9);
    while fixture.mailbox.status().depth > 0 {
        thread::yield_now();
    }
    assert_eq!(fixture.mailbox.status().high_water, 8);
    assert_eq!(fixture.mailbox.set_capacity(4).high_water, 0);
    fixture.stop();
}

#[actix::test]
async fn rejects_requests_beyond_the_capacity() {
    let fixture = Fixture::start_busy(4);
    assert_eq!(fixture.send_requests(2_000), 4);
    let is_overloaded = |outcome| {
        matches!(
            outcome,
            Err(NodeError::Overloaded(Overload {
                limit: "actors.slow.mailbox_capacity",
                ..
            }))
        )
    };
    assert!(is_overloaded(fixture.mailbox.try_request(Work(0))));
    let clone = fixture.mailbox.clone();
    assert!(
        is_overloaded(clone.try_request(Work(0))),
        "clones share the capacity"
    );
    let status = fixture.mailbox.status();
    assert_eq!(
        (status.depth, status.high_water, status.capacity),
        (4, 4, 4)
    );
    assert_eq!((status.accepted, status.refused), (5, 1_998));
    fixture.release_messages(2);
    assert_eq!(
        (fixture.started.recv(), fixture.started.recv()),
        (Ok(1), Ok(2))
    );
    assert_eq!(
        fixture.send_requests(10),
        2,
        "a message in progress uses no capacity"
    );
    let status = fixture.stop();
    assert_eq!(status.depth, 0, "dropped requests release their permits");
}

#[actix::test]
async fn applies_a_new_capacity_to_the_next_request() {
    let fixture = Fixture::start_busy(1);
    assert_eq!(fixture.send_requests(10), 1);
    assert_eq!(fixture.mailbox.set_capacity(3).capacity, 3);
    assert_eq!(fixture.send_requests(10), 2);
    fixture.mailbox.set_capacity(1);
    assert_eq!(fixture.send_requests(10), 0);
    fixture.release_messages(1);
    assert_eq!(fixture.started.recv(), Ok(1));
    assert_eq!(
        fixture.send_requests(10),
        0,
        "2 waiting requests exceed the capacity of 1"
    );
    fixture.release_messages(2);
    assert_eq!(
        (fixture.started.recv(), fixture.started.recv()),
        (Ok(1), Ok(2))
    );
    assert_eq!(fixture.send_requests(10), 1);
    fixture.stop();
}

#[actix::test]
async fn accepts_protocol_messages_beyond_the_capacity_and_counts_them_separately() {
    let fixture = Fixture::start_busy(1);
    let recipient = fixture.mailbox.recipient();
    for _ in 0..100 {
        recipient.send(Work(7));
    }
    assert_eq!(
        fixture.send_requests(10),
        1,
        "protocol messages use no capacity"
    );
    let status = fixture.mailbox.status();
    assert_eq!(
        (status.protocol, status.accepted, status.depth),
        (100, 2, 1)
    );
    fixture.release_messages(101);
    for _ in 0..100 {
        assert_eq!(fixture.started.recv(), Ok(7));
    }
    assert_eq!(fixture.started.recv(), Ok(1));
    assert_eq!(fixture.mailbox.status().handled, 101);
    fixture.stop();
}

#[actix::test]
async fn counts_handled_messages_by_kind_and_duration() {
    const BUSY_TIME: Duration = Duration::from_millis(2);
    let fixture = Fixture::start_busy(4);
    assert_eq!(fixture.send_requests(2), 2);
    let begun = Instant::now();
    while begun.elapsed() < BUSY_TIME {
        std::hint::spin_loop();
    }
    let oldest_ms = fixture.mailbox.status().oldest_waiting_ms;
    assert!(oldest_ms >= BUSY_TIME.as_millis() as u64, "{oldest_ms}");
    fixture.release_messages(2);
    assert_eq!(
        (fixture.started.recv(), fixture.started.recv()),
        (Ok(1), Ok(2))
    );
    let status = fixture.mailbox.status();
    assert_eq!(status.oldest_waiting_ms, 0, "none waits");
    assert_eq!(status.handled, 2, "the third message is in progress");
    assert_eq!(status.handled_by_kind, [("test", 2)].into());
    assert_eq!((status.waited.count(), status.handling.count()), (2, 2));
    let busy_micros = BUSY_TIME.as_micros() as u64;
    assert!(status.handled_micros >= busy_micros, "{status:?}");
    assert!(
        status.waited_micros >= busy_micros,
        "the second message has waited for the first: {status:?}"
    );
    assert!(status.busy_permille > 0, "{status:?}");
    fixture.stop();
}

#[actix::test]
async fn rejects_requests_to_a_stopped_actor() {
    let fixture = Fixture::start_busy(4);
    let mailbox = fixture.mailbox.clone();
    fixture.stop();
    let outcome = mailbox.try_request(Work(1));
    assert!(matches!(outcome, Err(NodeError::Stopping)), "{outcome:?}");
}

#[actix::test]
async fn reports_a_panic_of_a_handler() {
    let fixture = Fixture::start_busy(1);
    assert!(fixture.reporter.get().is_none());
    let reporter = fixture.reporter.clone();
    // Closes the release channel, so the handler in progress panics.
    fixture.stop();
    assert_eq!(reporter.get().expect("a panic was reported").thread, "slow");
}
