//! Tests of the events that waits for many receive.

use super::*;
use crate::{
    protocol::{notifier::CommitNotifier, wait::CommittedHash},
    state::committed::BlockHandle,
};
use ledger_test_support::{
    block::{block, ledger_info},
    draft::draft,
};
use proptest::prelude::*;
use std::{
    collections::{BTreeMap, BTreeSet},
    pin::pin,
    task::{Context, Waker},
};
use tokio::sync::mpsc::{self, UnboundedReceiver};

/// A wait, as its client sees it.
struct Client {
    events: UnboundedReceiver<WaitEvent>,
}

impl Client {
    /// Adds the wait `id` for the transactions with these numbers.
    fn subscribe(
        waiters: &mut ManyWaiters,
        id: u64,
        numbers: &[u64],
        notifier: Option<Arc<CommitNotifier>>,
    ) -> Self {
        let (sender, events) = mpsc::unbounded_channel();
        let hashes = numbers.iter().map(|number| hash(*number)).collect();
        waiters.insert(id, hashes, sender, notifier);
        Self { events }
    }

    fn next(&mut self) -> Option<WaitEvent> {
        self.events.try_recv().ok()
    }

    /// Returns the indices and versions of the next event, which is one of commits.
    fn next_committed(&mut self) -> Vec<(u32, u64)> {
        match self.next() {
            Some(WaitEvent::Committed(committed)) => committed
                .into_iter()
                .map(|CommittedHash { index, version, .. }| (index, version))
                .collect(),
            other => panic!("unexpected event: {other:?}"),
        }
    }

    fn is_closed(&mut self) -> bool {
        matches!(
            self.events.try_recv(),
            Err(mpsc::error::TryRecvError::Disconnected)
        )
    }
}

/// Returns the hash of the transaction with this number.
fn hash(number: u64) -> HashValue {
    draft(1, number).checked().hash()
}

/// Returns a durable block with the transactions with these numbers.
fn durable(height: u64, numbers: impl IntoIterator<Item = u64>) -> DurableBlock {
    let transactions = numbers.into_iter().map(|number| draft(1, number).checked());
    let block = block(height, &transactions.collect::<Vec<_>>(), &[]);
    DurableBlock {
        ledger_info: ledger_info(block.last_version()),
        block: Arc::new(BlockHandle {
            block,
            wal_block: None,
        }),
    }
}

fn absent(index: u32) -> Absent {
    Absent {
        index,
        reason: None,
    }
}

#[test]
fn sends_the_commits_of_a_block_as_one_event_per_wait() {
    let mut waiters = ManyWaiters::default();
    let mut one = Client::subscribe(&mut waiters, 1, &[3, 0, 7], None);
    let mut other = Client::subscribe(&mut waiters, 2, &[0, 1], None);
    let first = durable(1, 0..4);
    let first_version = first.block.block.first_version;
    waiters.notify_block(&first);
    assert_eq!(
        one.next_committed(),
        [(1, first_version), (0, first_version + 3)],
        "in ascending order of the versions"
    );
    assert_eq!(
        other.next_committed(),
        [(0, first_version), (1, first_version + 1)]
    );
    assert!(one.next().is_none() && other.next().is_none());
    waiters.end_check(2, Vec::new(), 0);
    assert!(matches!(other.next(), Some(WaitEvent::Checked { .. })));
    assert!(other.is_closed(), "all of its outcomes are sent");
    assert!(!one.is_closed());
}

#[test]
fn sends_many_commits_in_events_of_bounded_length() {
    const COUNT: u64 = 2 * COMMITTED_PER_EVENT_MAX as u64 + 10;
    let mut waiters = ManyWaiters::default();
    let numbers: Vec<_> = (0..COUNT).collect();
    let (notifier, task) = crate::notifier::notifier();
    let notifier = Arc::new(notifier);
    let mut client = Client::subscribe(&mut waiters, 1, &numbers, Some(Arc::clone(&notifier)));
    waiters.end_check(1, Vec::new(), 0);
    waiters.notify_block(&durable(1, 0..COUNT));
    assert!(client.next().is_none(), "the task sends the events");
    drop(notifier);
    let mut task = pin!(task);
    let context = &mut Context::from_waker(Waker::noop());
    while task.as_mut().poll(context).is_pending() {}
    assert!(matches!(client.next(), Some(WaitEvent::Checked { .. })));
    let sizes: Vec<_> = (0..3).map(|_| client.next_committed().len()).collect();
    assert_eq!(
        sizes,
        [COMMITTED_PER_EVENT_MAX, COMMITTED_PER_EVENT_MAX, 10]
    );
    assert!(client.is_closed() && waiters.is_empty());
}

#[test]
fn reports_a_transaction_once_that_is_removed_before_the_check() {
    let mut waiters = ManyWaiters::default();
    let mut client = Client::subscribe(&mut waiters, 1, &[0, 1, 2], None);
    let reason = RemovalReason::Expired { at_secs: 1 };
    waiters.remove_all(&[Removed {
        hash: hash(1),
        reason: reason.clone(),
    }]);
    let expected = [Absent {
        index: 1,
        reason: Some(reason),
    }];
    assert!(matches!(client.next(), Some(WaitEvent::Removed(removed)) if removed == expected));
    waiters.end_check(1, vec![absent(1), absent(2)], 9);
    let Some(WaitEvent::Checked {
        absent: checked,
        version: 9,
    }) = client.next()
    else {
        panic!("the check has no event");
    };
    assert_eq!(checked, [absent(2)]);
    waiters.end(1, ledger_info(10));
    assert!(matches!(client.next(), Some(WaitEvent::Ended(info)) if info == ledger_info(10)));
    assert!(client.is_closed() && waiters.is_empty() && waiters.by_hash.is_empty());
}

#[test]
fn ends_only_the_waits_that_are_checked() {
    let mut waiters = ManyWaiters::default();
    let mut checked = Client::subscribe(&mut waiters, 1, &[0], None);
    let mut unchecked = Client::subscribe(&mut waiters, 2, &[0], None);
    waiters.end_check(1, Vec::new(), 0);
    waiters.end_all(ledger_info(3));
    assert!(matches!(checked.next(), Some(WaitEvent::Checked { .. })));
    assert!(matches!(checked.next(), Some(WaitEvent::Ended(_))));
    assert!(unchecked.next().is_none() && !waiters.is_empty());
    waiters.end(2, ledger_info(3));
    assert!(waiters.is_empty());
}

#[test]
fn releases_the_memory_of_a_wait_that_has_ended() {
    let mut waiters = ManyWaiters::default();
    let numbers: Vec<_> = (0..3_000).collect();
    let _client = Client::subscribe(&mut waiters, 1, &numbers, None);
    assert!(waiters.by_hash.capacity() >= numbers.len());
    waiters.end(1, ledger_info(1));
    assert_eq!(waiters.by_hash.capacity(), 0);
}

/// Number of the transactions of the model.
const NUMBERS: u64 = 8;

/// A change in the model.
#[derive(Clone, Debug)]
enum Step {
    Subscribe(BTreeSet<u64>),
    Check { wait: usize, absent: BTreeSet<u64> },
    Commit(BTreeSet<u64>),
    Remove(BTreeSet<u64>),
    End(usize),
}

fn numbers() -> impl Strategy<Value = BTreeSet<u64>> {
    prop::collection::btree_set(0..NUMBERS, 1..5)
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => numbers().prop_map(Step::Subscribe),
        2 => (0..6usize, numbers()).prop_map(|(wait, absent)| Step::Check { wait, absent }),
        2 => numbers().prop_map(Step::Commit),
        1 => numbers().prop_map(Step::Remove),
        1 => (0..6usize).prop_map(Step::End),
    ];
    prop::collection::vec(step, 1..60)
}

/// A wait of the model: the numbers without an outcome, and whether it is checked or ended.
struct Expected {
    client: Client,
    all: Vec<u64>,
    waiting: BTreeSet<u64>,
    is_checked: bool,
    is_ended: bool,
}

impl Expected {
    /// Receives all events, which must report exactly `outcomes`, each once.
    fn receive(&mut self, outcomes: &BTreeSet<u64>) {
        let mut received = Vec::new();
        while let Some(event) = self.client.next() {
            match event {
                WaitEvent::Committed(committed) => {
                    assert!(committed.is_sorted_by_key(|one| one.version));
                    received.extend(committed.iter().map(|one| one.index));
                }
                WaitEvent::Removed(absent) | WaitEvent::Checked { absent, .. } => {
                    received.extend(absent.iter().map(|one| one.index));
                }
                WaitEvent::Ended(_) => {}
            }
        }
        let numbers = received.iter().map(|index| self.all[*index as usize]);
        assert_eq!(numbers.clone().count(), outcomes.len(), "{received:?}");
        assert_eq!(&numbers.collect::<BTreeSet<_>>(), outcomes);
        self.waiting.retain(|number| !outcomes.contains(number));
    }
}

proptest! {
    #[test]
    fn reports_each_hash_once_and_holds_only_those_without_an_outcome(steps in steps()) {
        let mut waiters = ManyWaiters::default();
        let mut waits: BTreeMap<usize, Expected> = BTreeMap::new();
        let mut height = 0;
        for step in steps {
            match step {
                Step::Subscribe(numbers) => {
                    let all: Vec<_> = numbers.iter().copied().collect();
                    let id = waits.len();
                    let client = Client::subscribe(&mut waiters, id as u64, &all, None);
                    waits.insert(id, Expected {
                        client, all, waiting: numbers, is_checked: false, is_ended: false,
                    });
                }
                Step::Check { wait, absent: numbers } => {
                    let Some(expected) = waits.get_mut(&wait) else { continue };
                    let indices = (0..).zip(&expected.all);
                    let missing: Vec<_> = indices
                        .filter(|(_, number)| numbers.contains(number))
                        .map(|(index, _)| absent(index))
                        .collect();
                    waiters.end_check(wait as u64, missing, 0);
                    let found = &numbers & &expected.waiting;
                    let found = if expected.is_ended { BTreeSet::new() } else { found };
                    expected.receive(&found);
                    expected.is_checked = true;
                }
                Step::Commit(numbers) => {
                    height += 1;
                    waiters.notify_block(&durable(height, numbers.iter().copied()));
                    for expected in waits.values_mut().filter(|wait| !wait.is_ended) {
                        expected.receive(&(&numbers & &expected.waiting.clone()));
                    }
                }
                Step::Remove(numbers) => {
                    let removed = numbers.iter().map(|number| Removed {
                        hash: hash(*number),
                        reason: RemovalReason::Expired { at_secs: 1 },
                    });
                    waiters.remove_all(&removed.collect::<Vec<_>>());
                    for expected in waits.values_mut().filter(|wait| !wait.is_ended) {
                        expected.receive(&(&numbers & &expected.waiting.clone()));
                    }
                }
                Step::End(wait) => {
                    waiters.end(wait as u64, ledger_info(1));
                    if let Some(expected) = waits.get_mut(&wait) {
                        expected.is_ended = true;
                    }
                }
            }
            let open = waits.values().filter(|wait| !wait.is_ended);
            let entries: usize = open.clone().map(|wait| wait.waiting.len()).sum();
            let held: usize = waiters.by_hash.values().map(|all| all.as_slice().len()).sum();
            prop_assert_eq!(held, entries);
            let open = open.filter(|wait| !wait.is_checked || !wait.waiting.is_empty());
            prop_assert_eq!(waiters.waits.len(), open.count());
        }
    }
}
