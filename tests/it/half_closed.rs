//! Clients that close their side of a connection after their last request.

use crate::{
    faucet::faucet_account,
    stop::{BCS, ParkedNode},
};
use ledger_test_support::{
    TestAccount, development_chain,
    http::{HTTP_11, RawConnection, TestCertificate, submission_bytes, wait_bytes},
    node::{TestNode, until_parked, within_patience},
};
use serde_json::json;
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt as _},
    net::TcpStream,
};
use tokio_rustls::{
    client::TlsStream,
    rustls::version::{TLS12, TLS13},
};

const JSON: &str = "application/json";

/// A setting with which no wait reaches its deadline during a test.
const LONG_WAITS: [&str; 1] = ["wait.timeout_max_ms=600000"];

/// A plain or encrypted connection.
trait Stream: AsyncRead + AsyncWrite + Unpin {}

impl<S: AsyncRead + AsyncWrite + Unpin> Stream for S {}

/// The signals with which a client of TLS closes its side.
#[derive(Clone, Copy, Debug)]
enum TlsEnd {
    CloseNotify,
    Fin,
    CloseNotifyAndFin,
}

const TLS_ENDS: [TlsEnd; 3] = [TlsEnd::CloseNotify, TlsEnd::Fin, TlsEnd::CloseNotifyAndFin];

impl TlsEnd {
    async fn close(self, stream: &mut TlsStream<TcpStream>) {
        match self {
            Self::CloseNotify => {
                stream.get_mut().1.send_close_notify();
                stream.flush().await.unwrap();
            }
            Self::Fin => stream.get_mut().0.shutdown().await.unwrap(),
            Self::CloseNotifyAndFin => stream.shutdown().await.unwrap(),
        }
    }
}

/// Sends requests over a new connection and closes the client's side.
async fn send_and_close(authority: &str, requests: &[u8]) -> RawConnection {
    let mut connection = RawConnection::connect(authority).await;
    connection.send(requests).await;
    connection.shutdown().await;
    connection
}

fn authority(url: &str) -> &str {
    url.split_once("://").unwrap().1
}

fn get_bytes(path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n").into_bytes()
}

/// The faucet accepts no request with another `Host`.
fn local_post_bytes(path: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    let head = format!("POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: {JSON}\r\n");
    format!("{head}content-length: {length}\r\n\r\n{body}").into_bytes()
}

/// Asserts that the next response has this status.
async fn assert_next(
    connection: &mut RawConnection<impl Stream>,
    status: u16,
    what: &str,
) -> String {
    let response = within_patience(what, connection.response()).await;
    let response = response.unwrap_or_else(|| panic!("no response to {what}"));
    assert_eq!(response.status, status, "{what}: {}", response.text());
    response.text()
}

/// Asserts that the node closes the connection without a further response.
async fn assert_closes(connection: &mut RawConnection<impl Stream>, what: &str) {
    let rest = within_patience(what, connection.read_to_close()).await;
    assert_eq!(rest.unwrap(), "", "{what}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_clients_of_every_listener_that_have_closed_their_side() {
    let node = TestNode::start(&[]);
    let [sender, funded, minted] = [1, 2, 3].map(TestAccount::from_seed);
    node.fund(&sender, 1_000_000_000).await;
    let transfer = sender.transfer(&development_chain(), 0, sender.address, 1);
    let view = json!({
        "function": "0x1::coin::name",
        "type_arguments": ["0x1::node_coin::NodeCoin"],
        "arguments": [],
    });
    let fund = json!({ "address": funded.address.to_string(), "amount": 5 });
    let mint = format!("/mint?address={}&amount=6", minted.address);
    let api = node.authority();
    let faucet = authority(node.faucet.as_ref().unwrap());
    let admin = authority(&node.admin);
    for (listener, request, status) in [
        (api, get_bytes("/v1"), 200),
        (api, get_bytes("/v1/transactions?limit=9"), 200),
        (api, get_bytes("/v1/none"), 404),
        (api, b"GET /v1 HTTP/1.0\r\n\r\n".to_vec(), 200),
        (api, local_post_bytes("/v1/view", &view.to_string()), 200),
        (api, submission_bytes(&transfer), 202),
        (faucet, local_post_bytes("/fund", &fund.to_string()), 200),
        (faucet, local_post_bytes(&mint, ""), 200),
        (admin, get_bytes("/connections"), 200),
        (admin, get_bytes("/metrics"), 200),
    ] {
        let what = String::from_utf8_lossy(&request).into_owned();
        let mut connection = send_and_close(listener, &request).await;
        assert_next(&mut connection, status, &what).await;
        assert_closes(&mut connection, &what).await;
    }
    let hash = transfer.hash(development_chain().vendor());
    assert_eq!(node.try_wait(&hash).await.unwrap()["success"], true);
    assert_eq!(node.balance(&funded.address).await, 5);
    assert_eq!(node.balance(&minted.address).await, 6);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_clients_of_tls_that_have_closed_their_side() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(&certificate, &[]);
    let requests = [get_bytes("/v1"), get_bytes("/v1/transactions?limit=9")].concat();
    for version in [&TLS12, &TLS13] {
        for end in TLS_ENDS {
            let what = format!("{version:?} {end:?}");
            let mut stream = certificate
                .connect_with(node.authority(), &[HTTP_11], &[version])
                .await;
            stream.write_all(&requests).await.unwrap();
            end.close(&mut stream).await;
            let mut connection = RawConnection::over(stream);
            assert_next(&mut connection, 200, &what).await;
            assert_next(&mut connection, 200, &what).await;
            assert_closes(&mut connection, &what).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_a_pipeline_in_order_and_closes_the_connection() {
    /// Requests that exceed what the node reads ahead.
    const FURTHER: usize = 300;
    let parked = ParkedNode::new(TestNode::start(&LONG_WAITS), None).await;
    let sender = TestAccount::from_seed(1);
    let transfer = sender.transfer(&development_chain(), 0, sender.address, 1);
    let further: Vec<_> = (0..FURTHER)
        .map(|index| match index % 2 {
            0 => (get_bytes("/v1"), 200),
            _ => (get_bytes("/v1/none"), 404),
        })
        .collect();
    let first = [
        (get_bytes("/v1/accounts/0x1"), 200),
        (wait_bytes(&parked.hash), 200),
        (get_bytes("/v1/none"), 404),
        (submission_bytes(&transfer), 202),
    ];
    for requests in [&first[..], &further] {
        let bytes: Vec<_> = requests
            .iter()
            .flat_map(|(bytes, _)| bytes.clone())
            .collect();
        let mut connection = send_and_close(parked.node.authority(), &bytes).await;
        for (bytes, status) in requests {
            assert_next(&mut connection, *status, &String::from_utf8_lossy(bytes)).await;
        }
        assert_closes(&mut connection, "a pipeline").await;
    }
}

/// The client closes its side with its request, or when the node has begun to wait.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ends_a_wait_as_at_its_deadline_when_its_client_closes_its_side() {
    let parked = ParkedNode::new(TestNode::start(&LONG_WAITS), None).await;
    for request in parked.requests() {
        for is_parked_before in [false, true] {
            for accept in [JSON, BCS] {
                let mut connection = RawConnection::connect(parked.node.authority()).await;
                connection.send(&request.bytes(accept)).await;
                if is_parked_before {
                    until_parked(&parked.node, 1).await;
                }
                connection.shutdown().await;
                let text = assert_next(&mut connection, request.status, &request.path).await;
                if accept == JSON {
                    request.assert_ended(&parked.hash, request.status, &text);
                }
                assert_closes(&mut connection, &request.path).await;
                until_parked(&parked.node, 0).await;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ends_a_wait_over_tls_when_its_client_closes_its_side() {
    let certificate = TestCertificate::new();
    let node = TestNode::start_tls(&certificate, &LONG_WAITS);
    let parked = ParkedNode::new(node, Some(&certificate)).await;
    for request in parked.requests() {
        for end in TLS_ENDS {
            let what = format!("{} {end:?}", request.path);
            let stream = certificate.connect(parked.node.authority(), &[HTTP_11]);
            let mut stream = stream.await;
            stream.write_all(&request.bytes(JSON)).await.unwrap();
            end.close(&mut stream).await;
            let mut connection = RawConnection::over(stream);
            let text = assert_next(&mut connection, request.status, &what).await;
            request.assert_ended(&parked.hash, request.status, &text);
            assert_closes(&mut connection, &what).await;
        }
    }
}

/// A whole request before the incomplete one is answered.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_incomplete_request_of_a_client_that_closes_its_side_has_no_effect() {
    let node = TestNode::start(&[]);
    let [sender, recipient] = [1, 2].map(TestAccount::from_seed);
    node.fund(&sender, 1_000_000_000).await;
    let payer = faucet_account().address;
    let payments = node.sequence_number(&payer).await;
    let transfer = sender.transfer(&development_chain(), 0, sender.address, 1);
    let submission = submission_bytes(&transfer);
    let to = recipient.address;
    let chunked = format!(
        "POST /fund HTTP/1.1\r\nhost: localhost\r\ncontent-type: {JSON}\r\n\
         transfer-encoding: chunked\r\n\r\n40\r\n{:64}\r\n",
        json!({ "address": "0x2", "amount": 5 })
    );
    let fund = json!({ "address": to.to_string(), "amount": 5 });
    let fund = local_post_bytes("/fund", &fund.to_string());
    let mint = format!("/mint?address={to}&amount=5");
    let mint = local_post_bytes(&mint, "ignored");
    let api = node.authority();
    let faucet = authority(node.faucet.as_ref().unwrap());
    // The rest of its body may still arrive while the others are handled.
    let mut open = RawConnection::connect(faucet).await;
    open.send(&mint[..mint.len() - 1]).await;
    for (listener, whole, incomplete) in [
        (api, get_bytes("/v1"), &submission[..20]),
        (api, get_bytes("/v1"), &submission[..submission.len() - 1]),
        (faucet, get_bytes("/"), chunked.as_bytes()),
        (faucet, get_bytes("/"), &fund[..fund.len() - 1]),
        (faucet, get_bytes("/"), &mint[..mint.len() - 1]),
    ] {
        let what = String::from_utf8_lossy(incomplete).into_owned();
        let requests = [&whole[..], incomplete].concat();
        let mut connection = send_and_close(listener, &requests).await;
        assert_next(&mut connection, 200, &what).await;
        let rest = within_patience(&what, connection.read_to_close()).await;
        let rest = rest.unwrap();
        assert!(
            rest.is_empty() || rest.starts_with("HTTP/1.1 400"),
            "{what}: {rest}"
        );
    }
    let hash = transfer.hash(development_chain().vendor());
    let found = node.get(&format!("/v1/transactions/by_hash/{hash}")).await;
    assert_eq!(found.status, 404, "{}", found.text);
    open.shutdown().await;
    // The faucet pays in the order of the requests.
    node.fund(&recipient, 7).await;
    assert_eq!(node.sequence_number(&payer).await, payments + 1);
    assert_eq!(node.balance(&recipient.address).await, 7);
}
