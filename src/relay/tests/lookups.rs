//! Look-ups at other nodes.

use crate::fake_node::{Answer, FakeNode};
use crate::raw_peer::{Closed, Found, Message, RawPeer, Tls};
use crate::support::{GENESIS, NEVER, Node, answer, connect, keys, peer, settings, wait_until};
use ledger_actors::relay::{FoundElsewhere, FoundHere};
use ledger_crypto::{Ed25519PrivateKey, HashValue};
use ledger_test_support::draft::draft;
use ledger_types::CheckedTransaction;
use std::sync::Arc;
use std::time::Duration;

const COMMITTED: Answer = Answer::Found(FoundHere::Committed { version: 7 });

fn pending(transaction: &Arc<CheckedTransaction>) -> Answer {
    Answer::Found(FoundHere::Pending(Arc::clone(transaction)))
}

/// Starts a node whose look-ups wait for an answer and count absent peers for these times.
fn start(key: &Ed25519PrivateKey, is_validator: bool, answer: Duration, absence: Duration) -> Node {
    let mut settings = settings(key, is_validator);
    settings.times.answer = answer;
    settings.times.absence = absence;
    Node::start(settings, FakeNode::new())
}

#[tokio::test]
async fn a_committed_transaction_is_found_before_a_pending_one() {
    let [first, second, third] = keys();
    let nodes = [first, second, third].map(|key| start(&key, true, NEVER, NEVER));
    let [node, one, other] = &nodes;
    connect([node, one, other], [2, 2, 2]).await;
    let transaction = draft(1, 1).checked();
    let hash = transaction.hash();
    assert_eq!(node.find(hash).await, FoundElsewhere::Unknown);

    one.fake.set_answer(hash, pending(&transaction));
    let found = FoundElsewhere::Pending(transaction.transaction().clone().into());
    assert_eq!(node.find(hash).await, found);

    other.fake.set_answer(hash, COMMITTED);
    let found = FoundElsewhere::Committed { version: 7 };
    assert_eq!(node.find(hash).await, found);

    // The others need not answer then, nor for long after one has it pending.
    one.fake.set_answer(hash, Answer::Never);
    assert_eq!(node.find(hash).await, found);
    other.fake.set_answer(hash, pending(&transaction));
    let found = FoundElsewhere::Pending(transaction.transaction().clone().into());
    assert_eq!(node.find(hash).await, found);
}

#[tokio::test]
async fn a_peer_that_does_not_answer_may_know_the_transaction() {
    let [first, second, third] = keys();
    let node = start(&first, true, Duration::from_millis(50), NEVER);
    let others = [second, third].map(|key| start(&key, true, NEVER, NEVER));
    connect([&node, &others[0], &others[1]], [2, 2, 2]).await;
    let hash = HashValue::new([1; 32]);
    for answer in [Answer::Busy, Answer::Never] {
        others[0].fake.set_answer(hash, answer);
        assert_eq!(node.find(hash).await, FoundElsewhere::Unreachable);
    }
    others[1].fake.set_answer(hash, COMMITTED);
    let found = FoundElsewhere::Committed { version: 7 };
    assert_eq!(node.find(hash).await, found);
}

#[tokio::test]
async fn a_peer_counts_until_it_was_absent_for_a_time() {
    let [first, second] = keys();
    let hash = HashValue::new([1; 32]);
    for (absence, expected) in [
        (NEVER, FoundElsewhere::Unreachable),
        (Duration::ZERO, FoundElsewhere::Unknown),
    ] {
        let node = start(&first, true, NEVER, absence);
        // Never connected: the time counts since the node knows the peer.
        node.relay.admit(peer(&second, true, None)).unwrap();
        assert_eq!(node.find(hash).await, expected);

        let other = Node::validator(&second);
        connect([&node, &other], [1, 1]).await;
        assert_eq!(node.find(hash).await, FoundElsewhere::Unknown);
        let key = other.key();
        other.relay.stop();
        node.wait_for_report(&key, |report| !report.is_connected)
            .await;
        assert_eq!(node.find(hash).await, expected);
    }
}

#[tokio::test]
async fn a_connection_that_ends_is_no_answer() {
    let [first, second] = keys();
    let node = start(&first, true, NEVER, Duration::ZERO);
    let other = Node::validator(&second);
    connect([&node, &other], [1, 1]).await;
    let hash = HashValue::new([1; 32]);
    other.fake.set_answer(hash, Answer::Never);
    let found = node.begin_find(hash);
    wait_until(|| other.fake.questions() == 1).await;
    other.relay.stop();
    assert_eq!(answer(found).await, FoundElsewhere::Unreachable);
}

#[tokio::test]
async fn validators_pass_on_the_question_of_a_full_node() {
    let [first, second, third] = keys();
    let validator = start(&first, true, NEVER, NEVER);
    let full_nodes = [second, third].map(|key| start(&key, false, NEVER, NEVER));
    let [asking, other] = &full_nodes;
    connect([&validator, asking, other], [2, 1, 1]).await;
    let transaction = draft(1, 1).checked();
    let hash = transaction.hash();
    assert_eq!(asking.find(hash).await, FoundElsewhere::Unknown);
    assert_eq!(other.fake.questions(), 1);
    assert_eq!(asking.fake.questions(), 0, "the asking node is not asked");

    other.fake.set_answer(hash, pending(&transaction));
    let found = FoundElsewhere::Pending(transaction.transaction().clone().into());
    assert_eq!(asking.find(hash).await, found);
    other.fake.set_answer(hash, COMMITTED);
    let found = FoundElsewhere::Committed { version: 7 };
    assert_eq!(asking.find(hash).await, found);
    other.fake.set_answer(hash, Answer::Busy);
    assert_eq!(asking.find(hash).await, FoundElsewhere::Unreachable);

    // The question of a validator is not passed on.
    let questions = other.fake.questions();
    validator.fake.set_answer(hash, COMMITTED);
    assert_eq!(asking.find(hash).await, found);
    assert_eq!(other.fake.questions(), questions);
}

#[tokio::test]
async fn a_validator_answers_for_a_peer_that_does_not() {
    let [first, second, third] = keys();
    let validator = start(&first, true, Duration::from_millis(100), NEVER);
    let asking = start(&second, false, NEVER, NEVER);
    let other = start(&third, false, NEVER, NEVER);
    connect([&validator, &asking, &other], [2, 1, 1]).await;
    let hash = HashValue::new([1; 32]);
    other.fake.set_answer(hash, Answer::Never);
    assert_eq!(asking.find(hash).await, FoundElsewhere::Unreachable);
    assert_eq!(asking.report(&validator.key()).traffic.answers, 1);
}

#[tokio::test]
async fn many_lookups_are_answered() {
    let [first, second] = keys();
    let mut settings = settings(&first, true);
    // A message of another kind would let the next look-ups follow.
    (settings.times.answer, settings.times.ping) = (NEVER, NEVER);
    let (node, other) = (
        Node::start(settings, FakeNode::new()),
        Node::validator(&second),
    );
    connect([&node, &other], [1, 1]).await;
    let hash = HashValue::new([1; 32]);
    // More than a peer has open at a time: the others wait.
    let finds: Vec<_> = (0..500).map(|_| node.begin_find(hash)).collect();
    for found in finds {
        assert_eq!(answer(found).await, FoundElsewhere::Unknown);
    }
    assert_eq!(other.fake.questions(), 500);
}

#[tokio::test]
async fn a_peer_has_a_maximum_number_of_open_questions() {
    let [first, second] = keys();
    let node = Node::validator(&second);
    node.relay.admit(peer(&first, true, None)).unwrap();
    let hash = HashValue::new([1; 32]);
    node.fake.set_answer(hash, Answer::Never);
    let address = node.relay.listen_address();
    let mut raw = RawPeer::connect(address, Tls::of(&first), GENESIS)
        .await
        .unwrap();
    for id in 0..=64 {
        let is_passed_on = false;
        raw.send(&Message::Find {
            id,
            hash,
            is_passed_on,
        })
        .await;
    }
    let found = Found::Unreachable;
    assert_eq!(raw.receive().await, Ok(Message::Found { id: 64, found }));
    wait_until(|| node.fake.questions() == 64).await;
}

#[tokio::test]
async fn a_pending_transaction_with_another_hash_breaks_the_protocol() {
    let [first, second] = keys();
    let node = start(&second, true, NEVER, Duration::ZERO);
    node.relay.admit(peer(&first, true, None)).unwrap();
    let address = node.relay.listen_address();
    let mut raw = RawPeer::connect(address, Tls::of(&first), GENESIS)
        .await
        .unwrap();
    node.wait_for_report(&first.public_key(), |report| report.is_connected)
        .await;
    let found = node.begin_find(HashValue::new([1; 32]));
    let Ok(Message::Find { id, .. }) = raw.receive().await else {
        panic!("another message");
    };
    // An answer without a question is ignored.
    let unasked = Found::Committed { version: 1 };
    raw.send(&Message::Found {
        id: id + 1,
        found: unasked,
    })
    .await;
    let other = Found::Pending(draft(1, 1).checked().encoded());
    raw.send(&Message::Found { id, found: other }).await;
    assert_eq!(raw.receive().await, Err(Closed));
    assert_eq!(answer(found).await, FoundElsewhere::Unreachable);
    assert_eq!(node.report(&first.public_key()).traffic.violations, 1);
}
