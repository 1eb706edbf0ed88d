//! One plain HTTP/1.1 connection, whose bytes a test holds in its hand: as little work for each request as
//! can be, so that a few tasks offer many times what a node takes.

use super::{Client, TestNode};
use ledger_crypto::HashValue;
use ledger_types::SignedTransaction;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

/// A connection.
#[derive(Debug)]
pub struct Raw {
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// As much of an answer as is looked at.
#[derive(Clone, Debug)]
pub struct RawAnswer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl RawAnswer {
    /// Whether it says when to come back.
    pub fn has_retry_after(&self) -> bool {
        self.head.to_ascii_lowercase().contains("\r\nretry-after: ")
    }
}

impl Raw {
    pub async fn connect(node: &Client) -> Self {
        Self::try_connect(node).await.unwrap()
    }

    /// `None` where the node does not take the connection.
    pub async fn try_connect(node: &Client) -> Option<Self> {
        let authority = node.api.strip_prefix("http://")?;
        let stream = TcpStream::connect(authority).await.ok()?;
        stream.set_nodelay(true).ok()?;
        Some(Self {
            stream,
            buffer: Vec::new(),
        })
    }

    /// Sends bytes; whether the node takes them shows in its answer.
    pub async fn send(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes).await;
    }

    /// The next answer; `None` where the connection ends before it.
    pub async fn answer(&mut self) -> Option<RawAnswer> {
        let end_of_head = loop {
            if let Some(place) = find(&self.buffer, b"\r\n\r\n") {
                break place + 4;
            }
            if self.stream.read_buf(&mut self.buffer).await.ok()? == 0 {
                return None;
            }
        };
        let head = String::from_utf8_lossy(&self.buffer[..end_of_head]).into_owned();
        let length: usize = head
            .lines()
            .find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length")
                    .then(|| value.trim())
            })?
            .parse()
            .ok()?;
        while self.buffer.len() < end_of_head + length {
            if self.stream.read_buf(&mut self.buffer).await.ok()? == 0 {
                return None;
            }
        }
        let body =
            String::from_utf8_lossy(&self.buffer[end_of_head..end_of_head + length]).into_owned();
        self.buffer.drain(..end_of_head + length);
        Some(RawAnswer {
            status: head.get(9..12)?.parse().ok()?,
            head,
            body,
        })
    }

    /// Whether anything of an answer is there already.
    pub fn is_answered(&mut self) -> bool {
        let read = self.stream.try_read_buf(&mut self.buffer);
        !self.buffer.is_empty() || matches!(read, Ok(0))
    }

    /// Sends a request and gives its answer.
    pub async fn exchange(&mut self, request: &[u8]) -> Option<RawAnswer> {
        self.send(request).await;
        self.answer().await
    }
}

impl TestNode {
    /// A request with a body, as it goes over the wire.
    pub fn post_bytes(path: &str, media_type: &str, body: &[u8]) -> Vec<u8> {
        let mut request = format!(
            "POST {path} HTTP/1.1\r\nhost: node\r\ncontent-type: {media_type}\r\ncontent-length: {}\r\n\r\n",
            body.len()
        )
        .into_bytes();
        request.extend_from_slice(body);
        request
    }

    /// A submission, as it goes over the wire.
    pub fn submission_bytes(transaction: &SignedTransaction) -> Vec<u8> {
        let body = bcs::to_bytes(transaction).unwrap();
        Self::post_bytes(
            "/v1/transactions",
            "application/x.node.signed_transaction+bcs",
            &body,
        )
    }

    /// A submission of several, as it goes over the wire.
    pub fn batch_bytes(transactions: &[SignedTransaction]) -> Vec<u8> {
        let body = bcs::to_bytes(transactions).unwrap();
        Self::post_bytes(
            "/v1/transactions/batch",
            "application/x.node.signed_transaction+bcs",
            &body,
        )
    }

    /// A long poll, as it goes over the wire.
    pub fn wait_bytes(hash: &HashValue) -> Vec<u8> {
        format!("GET /v1/transactions/wait_by_hash/{hash} HTTP/1.1\r\nhost: node\r\n\r\n")
            .into_bytes()
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}
