//! Strangers, and peers that break the protocol.

use crate::fake_node::FakeNode;
use crate::raw_peer::{Closed, Message, RawPeer, Tls};
use crate::support::{GENESIS, Node, TRANSACTION_BYTES_MAX, keys, peer, settings};
use bytes::Bytes;
use ledger_crypto::{Ed25519PrivateKey, HashValue};
use ledger_relay::{FRAME_BYTES, FRAME_TRANSACTIONS_MAX};
use ledger_test_support::draft::draft;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio_rustls::rustls::version::{TLS12, TLS13};

/// A validator that expects a peer, the key of the peer, and that of a stranger.
fn validator() -> (Node, Ed25519PrivateKey, Ed25519PrivateKey) {
    let [known, own, stranger] = keys();
    let node = Node::validator(&own);
    node.relay.admit(peer(&known, true, None)).unwrap();
    (node, known, stranger)
}

async fn is_refused(address: SocketAddr, tls: Tls, genesis_hash: HashValue) -> bool {
    RawPeer::connect(address, tls, genesis_hash).await.is_err()
}

#[tokio::test]
async fn strangers_are_refused() {
    let (node, known, stranger) = validator();
    let address = node.relay.listen_address();
    assert!(is_refused(address, Tls::of(&stranger), GENESIS).await);
    let without_key = Tls {
        key: None,
        ..Tls::of(&known)
    };
    assert!(is_refused(address, without_key, GENESIS).await);
    let with_certificates = Tls {
        key: None,
        asks_for_raw_key: false,
        ..Tls::of(&known)
    };
    assert!(is_refused(address, with_certificates, GENESIS).await);
    assert!(!is_refused(address, Tls::of(&known), GENESIS).await);
    node.relay.admit(peer(&stranger, false, None)).unwrap();
    assert!(!is_refused(address, Tls::of(&stranger), GENESIS).await);
}

#[tokio::test]
async fn a_peer_that_should_be_dialed_is_refused() {
    let [_, own, after] = keys();
    let node = Node::validator(&own);
    node.relay.admit(peer(&after, true, None)).unwrap();
    assert!(is_refused(node.relay.listen_address(), Tls::of(&after), GENESIS).await);
}

#[tokio::test]
async fn other_protocols_are_refused() {
    let (node, known, _) = validator();
    let address = node.relay.listen_address();
    for (version, alpn) in [
        (&TLS12, Some(&b"ledger-relay/1"[..])),
        (&TLS13, None),
        (&TLS13, Some(b"ledger-relay/2")),
    ] {
        let tls = Tls {
            version,
            alpn,
            ..Tls::of(&known)
        };
        assert!(is_refused(address, tls, GENESIS).await, "{alpn:?}");
    }
}

#[tokio::test]
async fn another_chain_is_refused() {
    let (node, known, _) = validator();
    let address = node.relay.listen_address();
    let mut raw = RawPeer::connect_tls(address, Tls::of(&known))
        .await
        .unwrap();
    let genesis_hash = HashValue::new([4; 32]);
    raw.send(&Message::Hello { genesis_hash }).await;
    let own = Message::Hello {
        genesis_hash: GENESIS,
    };
    assert_eq!(
        raw.receive().await,
        Ok(own),
        "both logs can name both chains"
    );
    assert_eq!(raw.receive().await, Err(Closed));
    assert_eq!(node.report(&known.public_key()).traffic.connections, 0);
}

#[tokio::test]
async fn the_node_dials_only_the_key_that_it_expects() {
    let [first, second, third] = keys();
    let dialed = Node::validator(&third);
    dialed.relay.admit(peer(&first, true, None)).unwrap();
    let dialer = Node::validator(&first);
    let address = Some(dialed.relay.listen_address());
    dialer.relay.admit(peer(&second, true, address)).unwrap();
    dialer.relay.admit(peer(&third, true, address)).unwrap();
    dialer
        .wait_for_report(&third.public_key(), |report| report.is_connected)
        .await;
    assert!(!dialer.report(&second.public_key()).is_connected);
}

#[tokio::test]
async fn messages_that_break_the_protocol_close_the_connection() {
    let (node, known, _) = validator();
    let address = node.relay.listen_address();
    let framed = |message: &Message| {
        let bytes = bcs::to_bytes(message).unwrap();
        let length = u32::try_from(bytes.len()).unwrap();
        [&length.to_le_bytes()[..], &bytes].concat()
    };
    let too_long = u32::try_from(FRAME_BYTES + 1).unwrap();
    let empty = vec![Bytes::new(); FRAME_TRANSACTIONS_MAX + 1];
    let valid = draft(1, 1).checked().encoded();
    let with_rest = Bytes::from([&valid[..], &[0]].concat());
    let large = draft(1, 2).argument(&[0; TRANSACTION_BYTES_MAX]);
    let large = large.checked().encoded();
    let second_hello = Message::Hello {
        genesis_hash: GENESIS,
    };
    let cases = [
        (
            "a length above the maximum",
            too_long.to_le_bytes().to_vec(),
        ),
        ("the largest length", vec![0xff; 4]),
        ("no message", vec![0; 4]),
        ("an unknown variant", vec![1, 0, 0, 0, 5]),
        ("bytes after a message", vec![2, 0, 0, 0, 4, 0]),
        (
            "too many transactions",
            framed(&Message::Transactions(empty)),
        ),
        (
            "a malformed transaction",
            framed(&Message::Transactions(vec![valid, with_rest])),
        ),
        (
            "a large transaction",
            framed(&Message::Transactions(vec![large])),
        ),
        ("a second first message", framed(&second_hello)),
    ];
    for (violations, (name, bytes)) in (1..).zip(cases) {
        let mut raw = RawPeer::connect(address, Tls::of(&known), GENESIS)
            .await
            .unwrap();
        raw.send_bytes(&bytes).await;
        assert_eq!(raw.receive().await, Err(Closed), "{name}");
        node.wait_for_report(&known.public_key(), |report| {
            report.traffic.violations == violations && !report.is_connected
        })
        .await;
    }
    assert!(node.fake.received().is_empty());
}

#[tokio::test]
async fn a_first_message_of_another_kind_is_refused() {
    let (node, known, _) = validator();
    let address = node.relay.listen_address();
    for bytes in [vec![0xff; 4], vec![1, 0, 0, 0, 4], vec![34, 0, 0, 0]] {
        let mut raw = RawPeer::connect_tls(address, Tls::of(&known))
            .await
            .unwrap();
        raw.send_bytes(&bytes).await;
        assert!(matches!(raw.receive().await, Ok(Message::Hello { .. })));
        assert_eq!(raw.receive().await, Err(Closed));
    }
    assert_eq!(node.report(&known.public_key()).traffic.connections, 0);
}

#[tokio::test]
async fn a_slow_handshake_is_canceled() {
    let [known, own] = keys();
    let mut settings = settings(&own, true);
    settings.times.handshake = Duration::from_millis(50);
    let node = Node::start(settings, FakeNode::new());
    node.relay.admit(peer(&known, true, None)).unwrap();
    let address = node.relay.listen_address();
    let mut tcp = TcpStream::connect(address).await.unwrap();
    // Returns when the node closes the connection.
    assert_eq!(tcp.read(&mut [0]).await.unwrap_or_default(), 0);
    // The time may also end during the handshake, or before the node's first message.
    if let Ok(mut without_hello) = RawPeer::connect_tls(address, Tls::of(&known)).await {
        while let Ok(message) = without_hello.receive().await {
            assert!(matches!(message, Message::Hello { .. }), "{message:?}");
        }
    }
    assert_eq!(node.report(&known.public_key()).traffic.connections, 0);
}

#[tokio::test]
async fn connections_without_a_key_are_limited_for_an_address() {
    let (node, known, _) = validator();
    let address = node.relay.listen_address();
    let mut waiting = Vec::new();
    for _ in 0..16 {
        waiting.push(TcpStream::connect(address).await.unwrap());
    }
    assert!(is_refused(address, Tls::of(&known), GENESIS).await);
    drop(waiting);
    while is_refused(address, Tls::of(&known), GENESIS).await {}
}
