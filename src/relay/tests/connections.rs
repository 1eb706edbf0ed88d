//! Connections, and the transactions that travel over them.

use crate::fake_node::FakeNode;
use crate::raw_peer::{Message, RawPeer, Tls};
use crate::support::{GENESIS, NEVER, Node, connect, keys, peer, settings, wait_until};
use ledger_actors::relay::relay_queues;
use ledger_relay::{
    FRAME_TRANSACTIONS_MAX, PeerReport, Relay, RelayState, Settings, StartError, Times,
};
use ledger_test_support::draft::draft;
use ledger_types::CheckedTransaction;
use std::sync::Arc;
use std::time::Duration;

fn transactions(sender: u64, count: u64) -> Vec<Arc<CheckedTransaction>> {
    (0..count)
        .map(|number| draft(sender, number).checked())
        .collect()
}

#[tokio::test]
async fn transactions_reach_all_validators_and_no_full_node() {
    let [first, second, third] = keys();
    let validators = [Node::validator(&first), Node::validator(&third)];
    let full_node = Node::start(settings(&second, false), FakeNode::new());
    let nodes = [&validators[0], &validators[1], &full_node];
    connect(nodes, [2, 2, 2]).await;
    for (sender, node) in (1..).zip(nodes) {
        let sent = transactions(sender, 1_500);
        sent.iter().for_each(|transaction| node.send(transaction));
        let hashes: Vec<_> = sent.iter().map(|transaction| transaction.hash()).collect();
        for validator in &validators {
            if validator.key() != node.key() {
                wait_until(|| validator.fake.received().ends_with(&hashes)).await;
                let received = |report: &PeerReport| report.traffic.added == 1_500;
                validator.wait_for_report(&node.key(), received).await;
                node.wait_for_report(&validator.key(), |report| report.traffic.sent == 1_500)
                    .await;
            }
        }
    }
    assert!(full_node.fake.received().is_empty());
    for node in nodes {
        for report in node.relay.report() {
            assert_eq!(
                report.traffic.connections, 1,
                "each pair has one connection"
            );
            assert_eq!(report.traffic.unsent, 0);
        }
    }
    let clients = validators[0].fake.clients();
    assert!(
        clients
            .iter()
            .all(|client| *client == clients[0] && client.index() > 0)
    );
}

#[tokio::test]
async fn full_nodes_do_not_connect_to_each_other() {
    let [first, second, third] = keys();
    let validator = Node::validator(&first);
    let full_nodes = [second, third].map(|key| Node::start(settings(&key, false), FakeNode::new()));
    connect([&validator, &full_nodes[0], &full_nodes[1]], [2, 1, 1]).await;
    for full_node in full_nodes {
        let reports = full_node.relay.report();
        let peers: Vec<_> = reports.into_iter().map(|report| report.key).collect();
        assert_eq!(peers, [validator.key()]);
    }
}

#[tokio::test]
async fn reconnects_after_either_side_has_restarted() {
    let [first, second] = keys();
    let (mut dialer, mut dialed) = (Node::validator(&first), Node::validator(&second));
    connect([&dialer, &dialed], [1, 1]).await;
    // The side that runs on shows the old connection until it has found that it ended.
    let is_renewed = |report: &PeerReport| report.is_connected && report.traffic.connections == 2;
    dialed = dialed.restart();
    connect([&dialer, &dialed], [1, 1]).await;
    dialer.wait_for_report(&dialed.key(), is_renewed).await;
    dialer = dialer.restart();
    connect([&dialer, &dialed], [1, 1]).await;
    dialed.wait_for_report(&dialer.key(), is_renewed).await;
    let transaction = draft(1, 1).checked();
    dialed.send(&transaction);
    wait_until(|| dialer.fake.received() == [transaction.hash()]).await;
}

#[tokio::test]
async fn a_changed_address_replaces_the_connection() {
    let [first, second] = keys();
    let (dialer, old) = (Node::validator(&first), Node::validator(&second));
    connect([&dialer, &old], [1, 1]).await;
    let new = Node::validator(&second);
    connect([&dialer, &new], [1, 1]).await;
    old.wait_for_report(&dialer.key(), |report| !report.is_connected)
        .await;
    // The same settings change nothing.
    dialer.relay.admit(new.as_peer()).unwrap();
    assert_eq!(dialer.report(&new.key()).traffic.connections, 2);
}

#[tokio::test]
async fn a_peer_without_an_address_is_connected_when_it_has_one() {
    let [first, second] = keys();
    let dialed = Node::validator(&second);
    let dialer = Node::start(
        Settings {
            peers: vec![peer(&second, true, None)],
            ..settings(&first, true)
        },
        FakeNode::new(),
    );
    assert!(!dialer.report(&dialed.key()).is_connected);
    connect([&dialer, &dialed], [1, 1]).await;
}

#[tokio::test]
async fn resolves_host_names() {
    let [first, second] = keys();
    let dialed = Node::validator(&second);
    dialed.relay.admit(peer(&first, true, None)).unwrap();
    let mut by_name = dialed.as_peer();
    by_name.address = Some(format!(
        "localhost:{}",
        dialed.relay.listen_address().port()
    ));
    let dialer = Node::validator(&first);
    dialer.relay.admit(by_name).unwrap();
    dialer
        .wait_for_report(&dialed.key(), |report| report.is_connected)
        .await;
}

#[tokio::test]
async fn transactions_for_an_absent_validator_are_counted() {
    let [first, second] = keys();
    let node = Node::validator(&first);
    node.relay.admit(peer(&second, true, None)).unwrap();
    node.send(&draft(1, 1).checked());
    node.wait_for_report(&second.public_key(), |report| report.traffic.unsent == 1)
        .await;
}

#[tokio::test]
async fn transactions_for_a_peer_that_does_not_read_are_dropped_and_counted() {
    let [first, second] = keys();
    let node = Node::validator(&second);
    node.relay.admit(peer(&first, true, None)).unwrap();
    let address = node.relay.listen_address();
    let _peer = RawPeer::connect(address, Tls::of(&first), GENESIS)
        .await
        .unwrap();
    let large = [7; 60_000];
    let mut number = 0;
    while node.report(&first.public_key()).traffic.unsent == 0 {
        // Further ones find the queue of the relay full while it encodes.
        for _ in 0..100 {
            number += 1;
            node.send(&draft(1, number).argument(&large).checked());
        }
        node.wait_for_report(&first.public_key(), |report| {
            // The system buffers some that count as sent. The others fill the queue.
            report.traffic.sent + report.traffic.unsent + 300 > number
        })
        .await;
    }
}

#[tokio::test]
async fn transactions_that_the_node_has_no_room_for_are_counted() {
    let [first, second] = keys();
    let sender = Node::validator(&first);
    let receiver = Node::start(settings(&second, true), FakeNode::stuck());
    connect([&sender, &receiver], [1, 1]).await;
    let refused = || receiver.report(&sender.key()).traffic.refused;
    let mut sent = 0;
    while refused() == 0 {
        // Each is a message of its own, because the next follows after it was sent.
        sent += 1;
        sender.send(&draft(1, sent).checked());
        sender
            .wait_for_report(&receiver.key(), |report| report.traffic.sent == sent)
            .await;
    }
    // One is at the node, and sixteen wait.
    assert!(sent > 17, "{sent}");
    assert!(receiver.report(&sender.key()).is_connected);
}

#[tokio::test]
async fn a_peer_that_is_silent_is_disconnected() {
    let [first, second] = keys();
    let mut settings = settings(&second, true);
    settings.times.silence = Duration::from_millis(50);
    let node = Node::start(settings, FakeNode::new());
    node.relay.admit(peer(&first, true, None)).unwrap();
    let address = node.relay.listen_address();
    let mut raw = RawPeer::connect(address, Tls::of(&first), GENESIS)
        .await
        .unwrap();
    assert!(raw.receive().await.is_err());
    node.wait_for_report(&first.public_key(), |report| !report.is_connected)
        .await;
}

#[tokio::test]
async fn pings_keep_an_idle_connection() {
    let [first, second] = keys();
    let start = |key| {
        let mut settings = settings(key, true);
        settings.times = Times {
            ping: Duration::from_millis(1),
            ..Times::default()
        };
        Node::start(settings, FakeNode::new())
    };
    let (one, other) = (start(&first), start(&second));
    connect([&one, &other], [1, 1]).await;
    for (node, peer) in [(&one, &other), (&other, &one)] {
        node.wait_for_report(&peer.key(), |report| report.traffic.frames_received > 10)
            .await;
        assert_eq!(node.report(&peer.key()).traffic.connections, 1);
    }
}

#[tokio::test]
async fn a_new_connection_replaces_the_old_one() {
    let [first, second] = keys();
    let mut settings = settings(&second, true);
    settings.times.silence = NEVER;
    let node = Node::start(settings, FakeNode::new());
    node.relay.admit(peer(&first, true, None)).unwrap();
    let address = node.relay.listen_address();
    let mut old = RawPeer::connect(address, Tls::of(&first), GENESIS)
        .await
        .unwrap();
    node.wait_for_report(&first.public_key(), |report| report.is_connected)
        .await;
    let mut new = RawPeer::connect(address, Tls::of(&first), GENESIS)
        .await
        .unwrap();
    assert!(old.receive().await.is_err());
    let transaction = draft(1, 1).checked();
    node.send(&transaction);
    let received = new.receive().await.unwrap();
    let sent = vec![transaction.encoded()];
    assert_eq!(received, Message::Transactions(sent));
    assert!(node.report(&first.public_key()).is_connected);
}

#[tokio::test]
async fn a_panic_of_the_thread_is_in_the_state() {
    let [first, second] = keys();
    let (sender, receiver) = (Node::validator(&first), Node::validator(&second));
    connect([&sender, &receiver], [1, 1]).await;
    assert_eq!(receiver.state(), RelayState::Running);
    receiver.fake.panic_at_next();
    sender.send(&draft(1, 1).checked());
    let mut state = receiver.relay.state();
    state
        .wait_for(|state| *state == RelayState::Panicked)
        .await
        .unwrap();
    receiver.relay.stop();
}

#[tokio::test]
async fn a_taken_port_is_an_error() {
    let [first, second] = keys();
    let node = Node::validator(&first);
    let settings = Settings {
        listen: node.relay.listen_address(),
        ..settings(&second, true)
    };
    let (_, queues) = relay_queues();
    let error = Relay::start(settings, FakeNode::new(), queues).unwrap_err();
    assert!(matches!(error, StartError::Listen { .. }), "{error}");
}

#[tokio::test]
async fn a_message_has_a_maximum_number_of_transactions() {
    let [first, second] = keys();
    let node = Node::validator(&second);
    node.relay.admit(peer(&first, true, None)).unwrap();
    let address = node.relay.listen_address();
    let mut raw = RawPeer::connect(address, Tls::of(&first), GENESIS)
        .await
        .unwrap();
    node.wait_for_report(&first.public_key(), |report| report.is_connected)
        .await;
    let sent = transactions(1, 5_000);
    sent.iter().for_each(|transaction| node.send(transaction));
    let mut received = 0;
    while received < sent.len() {
        let Message::Transactions(list) = raw.receive().await.unwrap() else {
            panic!("another message");
        };
        assert!(list.len() <= FRAME_TRANSACTIONS_MAX);
        received += list.len();
    }
}
