//! A client that writes HTTP/1.1 by hand, so that a test decides on every byte; one connection per
//! request.

use super::contract::assert_declared;
use ledger_crypto::HashValue;
use ledger_types::SignedTransaction;
use ledger_vm::Chain;
use serde_json::Value;
use std::{collections::HashMap, net::SocketAddr};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// Sends requests to one address, and holds every answer against the document of the interface.
#[derive(Clone)]
pub struct Client {
    address: SocketAddr,
    vendor: String,
}

/// An answer; header names in lower case.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HashMap<String, String>,
    pub body: Vec<u8>,
}

impl Answer {
    /// Reads one answer, whose end its length tells: after an early refusal the server may leave
    /// the connection open for the rest of the body.
    pub async fn read(stream: &mut TcpStream) -> Self {
        let mut bytes = Vec::new();
        loop {
            if let Some(answer) = Self::parse(&bytes) {
                return answer;
            }
            let read = stream.read_buf(&mut bytes).await;
            assert!(
                matches!(read, Ok(1..)),
                "{read:?} after {:?}",
                String::from_utf8_lossy(&bytes)
            );
        }
    }

    /// The answer, once all of it is there.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let head_length = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
        let head = std::str::from_utf8(&bytes[..head_length]).unwrap();
        let mut lines = head.lines();
        let status = lines
            .next()
            .unwrap()
            .split(' ')
            .nth(1)
            .unwrap()
            .parse()
            .unwrap();
        let headers: HashMap<_, _> = lines
            .map(|line| line.split_once(':').unwrap())
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        let body_length: usize = headers["content-length"].parse().unwrap();
        let body = bytes[head_length + 4..].to_vec();
        (body.len() == body_length).then_some(Self {
            status,
            headers,
            body,
        })
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn json(&self) -> Value {
        assert_eq!(
            self.headers["content-type"],
            "application/json",
            "{}",
            self.text()
        );
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The `error_code` of an error answer, whose body must be the interface's.
    pub fn error_code(&self) -> String {
        let body = self.json();
        assert!(
            body["message"]
                .as_str()
                .is_some_and(|message| !message.is_empty()),
            "{body}"
        );
        body["error_code"].as_str().unwrap().to_owned()
    }
}

impl Client {
    pub fn new(address: SocketAddr, chain: &Chain) -> Self {
        Self {
            address,
            vendor: chain.vendor().lower().to_owned(),
        }
    }

    /// Opens a connection.
    pub async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Holds an answer against the document of the interface, where `request` begins as a request does.
    pub(super) fn assert_declared(&self, request: &[u8], answer: &Answer) {
        let line = request
            .split(|byte| *byte == b'\r')
            .next()
            .unwrap_or_default();
        let words: Vec<_> = line
            .split(|byte| *byte == b' ')
            .map(String::from_utf8_lossy)
            .collect();
        if let [method, target, _] = words.as_slice() {
            assert_declared(&self.vendor, method, target, answer);
        }
    }

    /// Sends the bytes as they are and reads one answer.
    pub async fn raw(&self, request: &[u8]) -> Answer {
        let mut stream = self.connect().await;
        // A server that answers early may close before all is written; the answer is there to read.
        let _ = stream.write_all(request).await;
        let answer = Answer::read(&mut stream).await;
        self.assert_declared(request, &answer);
        answer
    }

    /// A request with these header lines; a body gets its length, no body none.
    pub async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&[u8]>,
    ) -> Answer {
        let mut request =
            format!("{method} {path} HTTP/1.1\r\nhost: node\r\nconnection: close\r\n");
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        if let Some(body) = body {
            request += &format!("content-length: {}\r\n", body.len());
        }
        request += "\r\n";
        let mut request = request.into_bytes();
        request.extend_from_slice(body.unwrap_or_default());
        self.raw(&request).await
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], None).await
    }

    pub async fn get_bcs(&self, path: &str) -> Answer {
        self.send("GET", path, &[("accept", "application/x-bcs")], None)
            .await
    }

    /// Posts a JSON body; `accept` is the type of the answer that is asked for.
    pub async fn post_json(&self, path: &str, body: &Value, accept: &str) -> Answer {
        let body = serde_json::to_vec(body).unwrap();
        let headers = [("content-type", "application/json"), ("accept", accept)];
        self.send("POST", path, &headers, Some(&body)).await
    }

    /// The media type of a BCS submission.
    pub fn signed_transaction_type(&self) -> String {
        format!("application/x.{}.signed_transaction+bcs", self.vendor)
    }

    pub async fn submit_bcs(&self, signed: &SignedTransaction) -> Answer {
        let body = bcs::to_bytes(signed).unwrap();
        let media_type = self.signed_transaction_type();
        self.send(
            "POST",
            "/v1/transactions",
            &[("content-type", &media_type)],
            Some(&body),
        )
        .await
    }

    pub async fn submit_json(&self, body: &Value) -> Answer {
        let body = serde_json::to_vec(body).unwrap();
        let headers = [("content-type", "application/json; charset=utf-8")];
        self.send("POST", "/v1/transactions", &headers, Some(&body))
            .await
    }

    /// Asks until the transaction is committed; gives the committed form.
    pub async fn wait(&self, hash: &HashValue) -> Value {
        loop {
            let answer = self
                .get(&format!("/v1/transactions/wait_by_hash/{hash}"))
                .await;
            assert_eq!(answer.status, 200, "{}", answer.text());
            let transaction = answer.json();
            if transaction["type"] != "pending_transaction" {
                return transaction;
            }
        }
    }
}
