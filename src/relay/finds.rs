//! Look-ups at the other nodes, and the answers to theirs.

use crate::codec::Found;
use crate::context::Shared;
use crate::peers::{PeerState, Question, Reach};
use crate::settings::Times;
use crate::sizes;
use ledger_actors::relay::{Find, FoundElsewhere, FoundHere, RelayNode};
use ledger_crypto::{Ed25519PublicKey, HashValue};
use ledger_limits::{ClientKey, Permit};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

/// Answers the look-ups of this node until it has stopped.
pub(crate) async fn serve<N: RelayNode>(cx: Rc<Shared<N>>, mut finds: mpsc::Receiver<Find>) {
    while let Some(find) = finds.recv().await {
        // `look_up` bounds the number of these tasks: above it, they end without waiting.
        let task = {
            let cx = Rc::clone(&cx);
            async move {
                let found = look_up(&cx, find.hash, None).await;
                // An error means that the client of the node does not wait any more.
                let _ = find.reply.send(found);
            }
        };
        cx.spawn(task);
    }
}

/// Asks the other nodes for a transaction. `asking` is the node whose question is passed on, which
/// is not asked.
///
/// The first answer that the transaction is committed decides. An answer that it is pending decides
/// unless another follows within [`sizes::PENDING_GRACE`] that it is committed. Otherwise the answer
/// is [`FoundElsewhere::Unknown`] if each node that counts answered that it has no record. A node
/// counts unless it has been absent for [`Times::absence`].
pub(crate) async fn look_up<N: RelayNode>(
    cx: &Shared<N>,
    hash: HashValue,
    asking: Option<&Ed25519PublicKey>,
) -> FoundElsewhere {
    let Some(_permit) = Permit::try_acquire(Arc::clone(&cx.lookups)) else {
        return FoundElsewhere::Unreachable;
    };
    let mut deadline = Instant::now() + time_limit(&cx.times, asking.is_some());
    let asked =
        cx.peers.all().into_iter().filter(|state| {
            asking != Some(&state.key) && state.read(|peer| cx.role.connects(peer))
        });
    let mut answers = ask(cx, hash, asked);
    let mut found = match answers.is_complete {
        true => FoundElsewhere::Unknown,
        false => FoundElsewhere::Unreachable,
    };
    for _ in 0..answers.asked {
        match timeout_at(deadline, answers.receiver.recv()).await {
            Ok(Some(committed @ FoundElsewhere::Committed { .. })) => return committed,
            Ok(Some(pending @ FoundElsewhere::Pending(_))) => {
                found = pending;
                deadline = deadline.min(Instant::now() + sizes::PENDING_GRACE);
            }
            Ok(Some(FoundElsewhere::Unknown)) => {}
            // A connection ended, or a node is too slow.
            Ok(Some(FoundElsewhere::Unreachable) | None) | Err(_) => {
                if found == FoundElsewhere::Unknown {
                    found = FoundElsewhere::Unreachable;
                }
            }
        }
    }
    found
}

/// Returns the time within which peers answer a look-up. It is shorter for the question of another
/// node, so that the answer arrives there before that node gives up.
fn time_limit(times: &Times, is_passed_on: bool) -> Duration {
    match is_passed_on {
        true => times.answer * 3 / 4,
        false => times.answer,
    }
}

/// The answers that a look-up waits for.
struct Answers {
    receiver: mpsc::Receiver<FoundElsewhere>,
    /// Number of nodes that were asked.
    asked: usize,
    /// Whether all nodes that count were asked.
    is_complete: bool,
}

fn ask<N: RelayNode>(
    cx: &Shared<N>,
    hash: HashValue,
    peers: impl Iterator<Item = Arc<PeerState>>,
) -> Answers {
    let (reply, receiver) = mpsc::channel(sizes::PEERS_MAX);
    let mut answers = Answers {
        receiver,
        asked: 0,
        is_complete: true,
    };
    for peer in peers {
        let question = Question {
            hash,
            is_passed_on: !cx.role.is_validator,
            reply: reply.clone(),
        };
        let is_asked = match peer.reach() {
            Reach::Connected(connection) => connection.questions.try_send(question).is_ok(),
            Reach::Absent(absence) if absence >= cx.times.absence => continue,
            Reach::Absent(_) => false,
        };
        match is_asked {
            true => answers.asked += 1,
            false => answers.is_complete = false,
        }
    }
    answers
}

/// Returns the answer to a look-up of a peer.
pub(crate) async fn answer<N: RelayNode>(
    cx: &Shared<N>,
    hash: HashValue,
    is_passed_on: bool,
    peer: &Ed25519PublicKey,
    client: ClientKey,
) -> Found {
    match cx.node.find_here(hash, client).await {
        Ok(FoundHere::Committed { version }) => Found::Committed { version },
        Ok(FoundHere::Pending(transaction)) => Found::Pending(transaction.encoded()),
        // Only validators pass on, and not what was passed on to them, so there is no cycle.
        Ok(FoundHere::Unknown) if is_passed_on && cx.role.is_validator => {
            match look_up(cx, hash, Some(peer)).await {
                FoundElsewhere::Unknown => Found::Unknown,
                FoundElsewhere::Pending(transaction) => {
                    let bytes = bcs::to_bytes(&transaction).expect("a transaction has a BCS form");
                    Found::Pending(bytes.into())
                }
                FoundElsewhere::Committed { version } => Found::Committed { version },
                FoundElsewhere::Unreachable => Found::Unreachable,
            }
        }
        Ok(FoundHere::Unknown) => Found::Unknown,
        // It may know the transaction, and cannot look.
        Err(_) => Found::Unreachable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passed_on_answer_has_time_to_travel() {
        let times = Times::default();
        let round_trip = Duration::from_millis(400);
        assert!(time_limit(&times, true) + round_trip <= time_limit(&times, false));
    }
}
