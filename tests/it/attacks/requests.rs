//! Requests at a fixed rate, and the kinds of responses to them.

use super::attacker::{Attacker, Preparation, prepared};
use crate::log_reader;
use futures::future::FutureExt as _;
use ledger_test_support::http::{RawConnection, RawResponse};
use serde_json::Value;
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::time::timeout;

/// Number of senders of one request at a time: enough to reach the rate while a response takes
/// 30 ms.
const SENDERS: usize = 16;
/// Maximum time for a response. A later one counts as none.
pub const RESPONSE_TIME_MAX: Duration = Duration::from_secs(10);
/// HTTP/1.0 requests per second: the health checks of a hundred load balancers. Each opens a
/// connection, which costs the attacker as much as the node.
const HTTP_1_0_PER_SECOND: f64 = 200.0;
/// Requests per second that write lines into the log. With the lines of the bench they fill the
/// pipe and the queue behind it in some seconds.
const LOGGED_PER_SECOND: f64 = 1_000.0;
/// Requests per second whose responses are small: a tenth of what the bench sends.
pub const SMALL_PER_SECOND: f64 = 1_000.0;

/// Sends requests in turns over persistent connections until the attack ends.
pub async fn send_in_turns(attacker: Arc<Attacker>, per_second: f64, requests: Vec<Vec<u8>>) {
    let idle = Mutex::new(Vec::new());
    let exchange = async |number| {
        let taken = idle.lock().unwrap().pop();
        let mut connection = match taken {
            Some(connection) => connection,
            None => RawConnection::try_connect(attacker.target.authority()).await?,
        };
        let response = connection.exchange(in_turn(&requests, number)).await?;
        idle.lock().unwrap().push(connection);
        Some(kind(&response))
    };
    let exchange_in_time = async |number| {
        let exchange = timeout(RESPONSE_TIME_MAX, exchange(number)).await;
        exchange.ok().flatten()
    };
    attacker.flood(SENDERS, per_second, exchange_in_time).await;
}

/// Returns the preparation of an attack that sends these requests in turns.
pub fn prepared_requests(
    attacker: Arc<Attacker>,
    per_second: f64,
    requests: impl Future<Output = Vec<Vec<u8>>> + 'static,
) -> Preparation {
    let send = move |requests| send_in_turns(attacker, per_second, requests).boxed_local();
    requests.map(send).boxed_local()
}

/// Returns the request with this number.
fn in_turn(requests: &[Vec<u8>], number: u64) -> &[u8] {
    &requests[usize::try_from(number).unwrap() % requests.len()]
}

/// Returns the status of a response, and its error code if it has one.
pub fn kind(response: &RawResponse) -> String {
    let status = response.status;
    if status == 200 {
        return status.to_string();
    }
    let json: Value = serde_json::from_slice(&response.body).unwrap_or_default();
    if let Some(failures) = json["transaction_failures"].as_array() {
        let code = failures
            .first()
            .and_then(|failure| failure["error"]["error_code"].as_str());
        return format!(
            "{status}, {} of {}",
            failures.len(),
            code.unwrap_or_default()
        );
    }
    match json["error_code"].as_str() {
        Some(code) => format!("{status} {code}"),
        None => status.to_string(),
    }
}

/// HTTP/1.0 requests of clients that close the connection and of clients that keep it.
pub fn http_1_0(attacker: Arc<Attacker>) -> Preparation {
    let get = |line| format!("GET /v1 HTTP/1.0\r\nhost: node\r\n{line}\r\n").into_bytes();
    let requests = [get(""), get("connection: keep-alive\r\n")];
    prepared(async move {
        let authority = attacker.target.authority();
        let exchange_in_time = async |number| {
            let exchange = exchange_once(authority, in_turn(&requests, number));
            timeout(RESPONSE_TIME_MAX, exchange).await.ok().flatten()
        };
        attacker
            .flood(SENDERS, HTTP_1_0_PER_SECOND, exchange_in_time)
            .await;
    })
}

/// Sends a request over a connection of its own. Returns the kind of the response with its version
/// and what the node does with the connection afterwards.
async fn exchange_once(authority: &str, request: &[u8]) -> Option<String> {
    let mut connection = RawConnection::try_connect(authority).await?;
    let response = connection.exchange(request).await?;
    let is_kept = response.headers.get("connection").map(String::as_str) == Some("keep-alive");
    let end = if is_kept {
        connection.exchange(request).await.map(|_| "kept")?
    } else {
        connection
            .response()
            .await
            .map_or("closed", |_| "answered twice")
    };
    Some(format!("{} {}, {end}", response.version, kind(&response)))
}

/// Requests that write lines into the log while its reader is paused.
pub fn logged(attacker: Arc<Attacker>) -> Preparation {
    prepared(async move {
        let target = Arc::clone(&attacker.target);
        let lost_before = target.lost_lines().await;
        let paused = target.pause_log().await;
        let requests = vec![log_reader::request().into_bytes()];
        send_in_turns(Arc::clone(&attacker), LOGGED_PER_SECOND, requests).await;
        attacker.count_many(
            "line of the log lost",
            target.lost_lines().await - lost_before,
        );
        drop(paused);
    })
}

/// GETs that accept each format, several, and an unknown one, whose response is JSON.
pub fn varied_accept(attacker: Arc<Attacker>) -> Preparation {
    let accepted = [
        "application/json",
        "application/x-bcs",
        "*/*;q=0.1",
        "application/x-bcs;q=0.5, application/json",
        "text/html",
    ];
    let get = |accepted| {
        format!("GET /v1/accounts/0x1 HTTP/1.1\r\nhost: node\r\naccept: {accepted}\r\n\r\n")
            .into_bytes()
    };
    let requests = accepted.map(get).to_vec();
    prepared(send_in_turns(attacker, SMALL_PER_SECOND, requests))
}
