//! Requests of HTTP/1.1 byte by byte.
//!
//! A connection does as little work per request as possible, so that a few tasks can offer many
//! times the load that a node accepts.

use super::submission_media_type;
use crate::bcs_bytes;
use ledger_crypto::HashValue;
use ledger_types::{SignedTransaction, Vendor};
use serde_json::Value;
use std::{collections::HashMap, io, str};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::{TcpStream, ToSocketAddrs},
};

/// A connection of HTTP/1.1.
#[derive(Debug)]
pub struct RawConnection<S = TcpStream> {
    stream: S,
    /// Bytes that were read and belong to no response yet.
    buffer: Vec<u8>,
}

/// A response with the length of its body in its head, or with a chunked body.
#[derive(Clone, Debug)]
pub struct RawResponse {
    /// The version in the status line.
    pub version: String,
    /// The status code.
    pub status: u16,
    /// The headers by their names in lower case.
    pub headers: HashMap<String, String>,
    /// The body.
    pub body: Vec<u8>,
}

impl RawResponse {
    /// Returns the first response in `bytes`, and the number of its bytes.
    ///
    /// Returns `None` if it is incomplete, or if its body has neither a length nor chunks.
    fn parse(bytes: &[u8]) -> Option<(Self, usize)> {
        let (mut response, begin) = Self::parse_head(bytes)?;
        let (body, end) = match response.headers.get("transfer-encoding") {
            Some(_) => {
                let (body, length) = decode_chunks(&bytes[begin..])?;
                (body, begin + length)
            }
            None => {
                let body_length: usize = response.headers.get("content-length")?.parse().ok()?;
                let end = begin + body_length;
                (bytes.get(begin..end)?.to_vec(), end)
            }
        };
        response.body = body;
        Some((response, end))
    }

    /// Returns the first response in `bytes` without its body, and the number of bytes of its head.
    fn parse_head(bytes: &[u8]) -> Option<(Self, usize)> {
        let head_length = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
        let mut lines = str::from_utf8(&bytes[..head_length]).ok()?.lines();
        let mut status_line = lines.next()?.split(' ');
        let version = status_line.next()?.to_owned();
        let status = status_line.next()?.parse().ok()?;
        let headers: HashMap<_, _> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        let response = Self {
            version,
            status,
            headers,
            body: Vec::new(),
        };
        Some((response, head_length + 4))
    }

    /// Returns the version and the status code, such as `HTTP/1.1 200`.
    pub fn status_line(&self) -> String {
        format!("{} {}", self.version, self.status)
    }

    /// Returns the body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Returns the body, which must be JSON and declared as JSON.
    ///
    /// # Panics
    ///
    /// Panics if it is not.
    pub fn json(&self) -> Value {
        let media_type = self.headers.get("content-type").map(String::as_str);
        assert_eq!(media_type, Some("application/json"), "{}", self.text());
        serde_json::from_slice(&self.body).expect("JSON")
    }

    /// Returns the lines of the body, which must be JSON values and declared as such.
    ///
    /// # Panics
    ///
    /// Panics if they are not.
    pub fn json_lines(&self) -> Vec<Value> {
        let media_type = self.headers.get("content-type").map(String::as_str);
        assert_eq!(media_type, Some("application/x-ndjson"), "{}", self.text());
        let lines = self.text();
        assert!(lines.ends_with('\n'), "{lines}");
        let lines = lines.lines().map(serde_json::from_str);
        lines.collect::<Result<_, _>>().expect("a line of JSON")
    }

    /// Returns the `error_code` of an error of the REST interface.
    ///
    /// # Panics
    ///
    /// Panics if the body is not that of such an error.
    pub fn error_code(&self) -> String {
        let body = self.json();
        let message = body["message"].as_str();
        assert!(message.is_some_and(|message| !message.is_empty()), "{body}");
        body["error_code"].as_str().expect("a code").to_owned()
    }
}

impl RawConnection {
    /// Connects to an address.
    ///
    /// # Panics
    ///
    /// Panics if the connection is not accepted.
    pub async fn connect(address: impl ToSocketAddrs) -> Self {
        Self::try_connect(address).await.expect("a listener")
    }

    /// Connects to an address. Returns `None` if the connection is not accepted.
    pub async fn try_connect(address: impl ToSocketAddrs) -> Option<Self> {
        let stream = TcpStream::connect(address).await.ok()?;
        stream.set_nodelay(true).ok()?;
        Some(Self::over(stream))
    }

    /// Resets the connection.
    ///
    /// # Panics
    ///
    /// Panics if the socket has no such option.
    pub fn reset(self) {
        self.stream.set_zero_linger().expect("an open socket");
    }

    /// Returns whether a part of a response has arrived, or the connection has ended.
    pub fn is_answered(&mut self) -> bool {
        let read = self.stream.try_read_buf(&mut self.buffer);
        !self.buffer.is_empty() || matches!(read, Ok(0))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> RawConnection<S> {
    /// Creates a connection over a stream.
    pub fn over(stream: S) -> Self {
        Self {
            stream,
            buffer: Vec::new(),
        }
    }

    /// Sends bytes.
    pub async fn send(&mut self, bytes: &[u8]) {
        // A server that rejects a request early may close the connection before it has read the
        // whole request. Its response can still be read.
        let _ = self.stream.write_all(bytes).await;
    }

    /// Reads until the bytes that belong to no response yet contain `text`. Returns them, and
    /// leaves them for the next response.
    ///
    /// # Panics
    ///
    /// Panics if the connection ends before.
    pub async fn received_until(&mut self, text: &str) -> String {
        loop {
            let received = String::from_utf8_lossy(&self.buffer);
            if received.contains(text) {
                return received.into_owned();
            }
            let read = self.stream.read_buf(&mut self.buffer).await;
            assert!(matches!(read, Ok(1..)), "{read:?}");
        }
    }

    /// Reads the next response. Returns `None` if the connection ends before it, or if the body of
    /// a response has neither a length nor chunks.
    pub async fn response(&mut self) -> Option<RawResponse> {
        self.read(RawResponse::parse).await
    }

    /// Reads the response to a HEAD request. Returns `None` if the connection ends before it.
    pub async fn response_head(&mut self) -> Option<RawResponse> {
        self.read(RawResponse::parse_head).await
    }

    /// Reads until `parse` finds a response.
    async fn read(
        &mut self,
        parse: fn(&[u8]) -> Option<(RawResponse, usize)>,
    ) -> Option<RawResponse> {
        loop {
            if let Some((response, length)) = parse(&self.buffer) {
                self.buffer.drain(..length);
                return Some(response);
            }
            if self.stream.read_buf(&mut self.buffer).await.ok()? == 0 {
                return None;
            }
        }
    }

    /// Reads `length` bytes.
    ///
    /// # Panics
    ///
    /// Panics if the connection ends before them.
    pub async fn bytes(&mut self, length: usize) -> Vec<u8> {
        while self.buffer.len() < length {
            let read = self.stream.read_buf(&mut self.buffer).await;
            assert!(matches!(read, Ok(1..)), "{read:?}");
        }
        self.buffer.drain(..length).collect()
    }

    /// Sends a request and reads its response. Returns `None` as [`Self::response`] does.
    pub async fn exchange(&mut self, request: &[u8]) -> Option<RawResponse> {
        self.send(request).await;
        self.response().await
    }

    /// Reads until the connection ends, and returns all bytes that belong to no response yet.
    pub async fn rest(&mut self) -> String {
        // A connection that is reset ends too.
        let _ = self.stream.read_to_end(&mut self.buffer).await;
        String::from_utf8_lossy(&std::mem::take(&mut self.buffer)).into_owned()
    }

    /// Reads until the server closes the connection, and returns all bytes that belong to no
    /// response yet.
    ///
    /// # Errors
    ///
    /// Returns the error of the socket, such as a reset, which [`Self::rest`] accepts as an end.
    pub async fn read_to_close(&mut self) -> io::Result<String> {
        self.stream.read_to_end(&mut self.buffer).await?;
        Ok(String::from_utf8_lossy(&std::mem::take(&mut self.buffer)).into_owned())
    }

    /// Closes the writing half of the connection.
    ///
    /// # Panics
    ///
    /// Panics if the connection has ended.
    pub async fn shutdown(&mut self) {
        self.stream.shutdown().await.expect("an open connection");
    }
}

/// Decodes the chunked body at the start of `bytes`. Returns it with its encoded length, or `None`
/// if it is incomplete.
fn decode_chunks(bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    const LINE_END: &[u8] = b"\r\n";
    let mut body = Vec::new();
    let mut at = 0;
    loop {
        let rest = bytes.get(at..)?;
        let line = rest.windows(2).position(|window| window == LINE_END)?;
        let length = str::from_utf8(&rest[..line]).ok()?;
        let length = usize::from_str_radix(length, 16).ok()?;
        let begin = at + line + LINE_END.len();
        body.extend_from_slice(bytes.get(begin..begin + length)?);
        at = begin + length + LINE_END.len();
        bytes.get(..at)?;
        if length == 0 {
            return Some((body, at));
        }
    }
}

/// Returns a POST request.
pub fn post_bytes(path: &str, media_type: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: node\r\ncontent-type: {media_type}\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// Returns a request that submits the transaction to a chain with the default vendor word.
pub fn submission_bytes(transaction: &SignedTransaction) -> Vec<u8> {
    let media_type = submission_media_type(&Vendor::default());
    post_bytes("/v1/transactions", &media_type, &bcs_bytes(transaction))
}

/// Returns a request that submits the transactions to a chain with the default vendor word.
pub fn batch_bytes(transactions: &[SignedTransaction]) -> Vec<u8> {
    let media_type = submission_media_type(&Vendor::default());
    let body = bcs_bytes(&transactions);
    post_bytes("/v1/transactions/batch", &media_type, &body)
}

/// Returns a long poll for the transaction.
pub fn wait_bytes(hash: &HashValue) -> Vec<u8> {
    let path = format!("/v1/transactions/wait_by_hash/{hash}");
    format!("GET {path} HTTP/1.1\r\nhost: node\r\n\r\n").into_bytes()
}
