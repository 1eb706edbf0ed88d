//! How those who wait on one thread hear that their transactions are durable: together.
//!
//! Who waits on a thread with a relay is told by a task of that thread, which the committer wakes once for many: it then
//! takes no lock of the thread for each, and who has the block is counted by each thread for itself.

use super::messages::WaitEnd;
use crate::lookup::HeldBlock;
use ledger_types::LedgerInfo;
use std::{future::poll_fn, sync::Arc, task::Poll};
use tokio::sync::{mpsc, oneshot};

/// How many are told together at the most: a thread begins to answer while the others are looked up.
const TOGETHER_MAX: usize = 256;
/// After so many a thread does what else it has to do, first of all answer them: what they were told is in the
/// cache then.
const TURN_MAX: usize = 32;

/// A block that is durable, and the moment at which it is.
#[derive(Clone, Debug)]
pub(super) struct Announced {
    pub(super) ledger_info: LedgerInfo,
    pub(super) held: Arc<HeldBlock>,
}

/// Someone who waited, and where in the block the transaction is.
type Waited = (oneshot::Sender<WaitEnd>, usize);

/// Those of a thread who waited for transactions of one block.
#[derive(Debug)]
struct Together {
    announced: Announced,
    waited: Vec<Waited>,
}

/// The way to the task of a thread. What is on it is bounded by how many may wait at once.
#[derive(Debug)]
pub(crate) struct Relay(mpsc::UnboundedSender<Together>);

impl Relay {
    /// A relay, and what has to run on its thread until nobody can wait by it any more. When that is dropped, those on
    /// their way are let go, and all others told from where they were to be sent.
    pub(crate) fn new() -> (Self, impl Future<Output = ()> + use<>) {
        let (relay, mut told) = mpsc::unbounded_channel();
        let telling = async move {
            while let Some(together) = told.recv().await {
                tell(together).await;
            }
        };
        (Self(relay), telling)
    }
}

async fn tell(Together { announced, waited }: Together) {
    // The thread's own, so that it does not wait for others where it counts who has it.
    let held = Arc::new(HeldBlock::clone(&announced.held));
    let mut waited = waited.into_iter();
    while waited.len() > 0 {
        for waited in waited.by_ref().take(TURN_MAX) {
            tell_one(waited, announced.ledger_info, &held);
        }
        pass().await;
    }
}

/// Lets the others of the thread go first, at once: tokio's own way asks the system for what has come before that, which
/// would be once for each turn.
async fn pass() {
    let mut has_passed = false;
    poll_fn(|context| {
        if has_passed {
            return Poll::Ready(());
        }
        has_passed = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

fn tell_one((waiter, index): Waited, ledger_info: LedgerInfo, held: &Arc<HeldBlock>) {
    let committed = held.committed(index).expect("the index is the block's own");
    // Who went away does not need to know.
    let _ = waiter.send(WaitEnd::Committed(ledger_info, committed));
}

/// Those who waited for transactions of a block, on their way to where they are told.
pub(super) struct Outgoing<'a> {
    announced: &'a Announced,
    by_thread: Vec<(Arc<Relay>, Vec<Waited>)>,
}

impl<'a> Outgoing<'a> {
    pub(super) fn new(announced: &'a Announced) -> Self {
        Self {
            announced,
            by_thread: Vec::new(),
        }
    }

    /// Tells one: at once, or by a relay at [`Self::flush`] at the latest.
    pub(super) fn push(&mut self, relay: Option<Arc<Relay>>, waited: Waited) {
        let Some(relay) = relay else {
            return tell_one(waited, self.announced.ledger_info, &self.announced.held);
        };
        let place = self
            .by_thread
            .iter()
            .position(|(of, _)| Arc::ptr_eq(of, &relay));
        let place = place.unwrap_or_else(|| {
            self.by_thread.push((relay, Vec::new()));
            self.by_thread.len() - 1
        });
        let (relay, together) = &mut self.by_thread[place];
        together.push(waited);
        if together.len() >= TOGETHER_MAX {
            send(relay, self.announced, std::mem::take(together));
        }
    }

    /// Tells all who are left.
    pub(super) fn flush(self) {
        for (relay, together) in self.by_thread {
            if !together.is_empty() {
                send(&relay, self.announced, together);
            }
        }
    }
}

fn send(relay: &Relay, announced: &Announced, waited: Vec<Waited>) {
    let announced = announced.clone();
    let Err(unsent) = relay.0.send(Together { announced, waited }) else {
        return;
    };
    // The thread's task is gone.
    let Together { announced, waited } = unsent.0;
    for waited in waited {
        tell_one(waited, announced.ledger_info, &announced.held);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{block, draft, ledger_info};
    use std::{
        pin::{Pin, pin},
        task::{Context, Waker},
    };
    use tokio::sync::oneshot::error::TryRecvError;

    type Waits = Vec<oneshot::Receiver<WaitEnd>>;

    fn announced(transactions: u64) -> Announced {
        let transactions: Vec<_> = (0..transactions)
            .map(|number| draft(1, number).checked())
            .collect();
        let held = HeldBlock {
            block: block(1, &transactions, &[]),
            logged: None,
        };
        Announced {
            ledger_info: ledger_info(1_000),
            held: Arc::new(held),
        }
    }

    /// Has someone wait by each of these for each transaction of the block, and tells them.
    fn tell_all(announced: &Announced, relays: &[Option<&Arc<Relay>>]) -> Vec<Waits> {
        let mut outgoing = Outgoing::new(announced);
        let mut waits: Vec<Waits> = relays.iter().map(|_| Vec::new()).collect();
        for index in 0..announced.held.block.transactions.len() {
            for (relay, waits) in relays.iter().zip(&mut waits) {
                let (waiter, wait) = oneshot::channel();
                outgoing.push(relay.cloned(), (waiter, index));
                waits.push(wait);
            }
        }
        outgoing.flush();
        waits
    }

    fn told(waits: &mut Waits) -> Vec<u64> {
        let ends = waits.iter_mut().filter_map(|wait| match wait.try_recv() {
            Ok(WaitEnd::Committed(_, committed)) => Some(committed.version),
            Ok(other) => panic!("{other:?}"),
            Err(_) => None,
        });
        ends.collect()
    }

    fn run(task: &mut Pin<&mut impl Future<Output = ()>>) -> Poll<()> {
        task.as_mut().poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn each_thread_tells_its_own_in_turns_and_who_has_no_relay_is_told_at_once() {
        let announced = announced(600);
        let block = &announced.held.block;
        let versions: Vec<_> = (block.first_version..=block.last_version()).collect();
        let [(one, of_one), (other, of_other)] = [Relay::new(), Relay::new()];
        let (one, other) = (Arc::new(one), Arc::new(other));
        let (mut of_one, mut of_other) = (pin!(of_one), pin!(of_other));
        let mut waits = tell_all(&announced, &[Some(&one), None, Some(&other)]);
        assert_eq!(told(&mut waits[1]), versions);
        assert!(run(&mut of_one).is_pending());
        assert_eq!(
            told(&mut waits[0]),
            versions[..TURN_MAX],
            "the others of the thread have their turn"
        );
        assert_eq!(told(&mut waits[2]), [0; 0], "another thread's");
        let mut left = versions[TURN_MAX..].to_vec();
        while !left.is_empty() {
            assert!(run(&mut of_one).is_pending());
            let now = told(&mut waits[0]);
            assert!(
                !now.is_empty() && now.len() <= TURN_MAX && left.starts_with(&now),
                "{now:?}"
            );
            left.drain(..now.len());
        }
        drop((one, other));
        while run(&mut of_other).is_pending() {}
        assert_eq!(
            told(&mut waits[2]),
            versions,
            "also those who came before nobody could come any more"
        );
    }

    #[test]
    fn who_is_on_the_way_to_a_task_that_ends_is_let_go_and_who_comes_later_is_told() {
        let announced = announced(3);
        let (relay, telling) = Relay::new();
        let relay = Arc::new(relay);
        let mut waits = tell_all(&announced, &[Some(&relay)]);
        drop(telling);
        for wait in &mut waits[0] {
            assert!(matches!(wait.try_recv(), Err(TryRecvError::Closed)));
        }
        let mut waits = tell_all(&announced, &[Some(&relay)]);
        assert_eq!(told(&mut waits[0]).len(), 3);
    }
}
