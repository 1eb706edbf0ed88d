//! Requests at a fixed rate, and the kinds of responses to them.

use super::attacker::{Attacker, Pace, Preparation, prepared};
use crate::log_reader;
use ledger_test_support::http::{RawConnection, RawResponse};
use serde_json::Value;
use std::{sync::Arc, time::Duration};
use tokio::{task::JoinSet, time::timeout};

/// Number of tasks that send one request at a time: enough to reach the rate while a response takes
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

/// The connections of requests.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Connections {
    /// One of each sender, for all of its requests.
    Persistent,
    /// A new one for each request. The end of the connection is part of the response.
    New,
}

/// Requests that an attack sends in turns.
pub struct Requests {
    pub per_second: f64,
    pub connections: Connections,
    pub requests: Vec<Vec<u8>>,
}

impl Requests {
    /// Sends the requests until the attack ends, and counts the responses.
    pub async fn send(self, attacker: Arc<Attacker>) {
        let pace = Pace::new(&attacker, self.per_second);
        let this = Arc::new(self);
        let mut senders = JoinSet::new();
        for _ in 0..SENDERS {
            let (this, pace, attacker) =
                (Arc::clone(&this), Arc::clone(&pace), Arc::clone(&attacker));
            senders.spawn(async move { this.send_paced(&attacker, &pace).await });
        }
        senders.join_all().await;
    }

    /// Sends requests, one at a time, until the attack ends.
    async fn send_paced(&self, attacker: &Attacker, pace: &Pace) {
        let mut persistent = None;
        while let Some(number) = pace.next().await {
            let request = &self.requests[usize::try_from(number).unwrap() % self.requests.len()];
            attacker.count_sent();
            let exchange = timeout(
                RESPONSE_TIME_MAX,
                self.exchange(attacker, request, &mut persistent),
            );
            match exchange.await.ok().flatten() {
                Some(response) => attacker.count(response),
                None => {
                    attacker.count("no response");
                    persistent = None;
                }
            }
        }
    }

    /// Sends a request and returns the kind of its response, or `None` if there is none.
    async fn exchange(
        &self,
        attacker: &Attacker,
        request: &[u8],
        persistent: &mut Option<RawConnection>,
    ) -> Option<String> {
        let mut connection = match persistent.take() {
            Some(connection) => connection,
            None => RawConnection::try_connect(attacker.target.authority()).await?,
        };
        let response = connection.exchange(request).await?;
        if self.connections == Connections::Persistent {
            *persistent = Some(connection);
            return Some(kind(&response));
        }
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
    let requests = Requests {
        per_second: HTTP_1_0_PER_SECOND,
        connections: Connections::New,
        requests: vec![get(""), get("connection: keep-alive\r\n")],
    };
    prepared(requests.send(attacker))
}

/// Requests that write lines into the log while its reader is paused.
pub fn logged(attacker: Arc<Attacker>) -> Preparation {
    let requests = Requests {
        per_second: LOGGED_PER_SECOND,
        connections: Connections::Persistent,
        requests: vec![log_reader::request().into_bytes()],
    };
    prepared(async move {
        let target = Arc::clone(&attacker.target);
        let lost_before = target.lost_lines().await;
        target.pause_log(true);
        requests.send(Arc::clone(&attacker)).await;
        attacker.count_many(
            "line of the log lost",
            target.lost_lines().await - lost_before,
        );
        target.pause_log(false);
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
    let requests = Requests {
        per_second: SMALL_PER_SECOND,
        connections: Connections::Persistent,
        requests: accepted.map(get).to_vec(),
    };
    prepared(requests.send(attacker))
}
