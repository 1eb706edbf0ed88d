//! One HTTP/1.1 connection with one request at a time: prepared bytes in, an answer out, and nothing
//! between, so that the node under test gets the processor.

use super::answer::{ANSWER_BYTES_MAX, Answer, Head, NoAnswer};
use bytes::BytesMut;
use std::{io::ErrorKind, time::Duration};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

/// How long an answer may take, the time of a long poll included.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
/// What is received at once at least: most answers are one piece then.
const RECEIVE_BYTES: usize = 4 * 1024;

/// A connection that is made when it is needed.
#[derive(Debug)]
pub struct Connection {
    /// `HOST:PORT`.
    authority: String,
    stream: Option<TcpStream>,
    received: BytesMut,
}

impl Connection {
    /// A connection to `authority`, which is `HOST:PORT`; not made yet.
    pub fn new(authority: String) -> Self {
        Self {
            authority,
            stream: None,
            received: BytesMut::new(),
        }
    }

    /// Sends a request, given as the bytes that it is on the wire, and reads its answer.
    ///
    /// # Errors
    /// When no answer came.
    pub async fn ask(&mut self, request: &[u8]) -> Result<Answer, NoAnswer> {
        let answer = timeout(ANSWER_TIMEOUT, self.exchange(request)).await;
        let answer = answer.unwrap_or(Err(NoAnswer));
        if answer.is_err() {
            self.stream = None;
        }
        answer
    }

    async fn exchange(&mut self, request: &[u8]) -> Result<Answer, NoAnswer> {
        let mut stream = match self.stream.take() {
            Some(stream) if is_quiet(&stream) => stream,
            _ => {
                self.received.clear();
                connect(&self.authority).await?
            }
        };
        stream.write_all(request).await.map_err(|_| NoAnswer)?;
        let mut head = None;
        let mut closed = false;
        loop {
            if head.is_none() {
                head = Head::parse(&self.received)?;
            }
            if let Some(head) = &head
                && let Some(answer) = head.take(&mut self.received, closed)?
            {
                if !head.closes {
                    self.stream = Some(stream);
                }
                return Ok(answer);
            }
            if closed || self.received.len() > 2 * ANSWER_BYTES_MAX {
                return Err(NoAnswer);
            }
            self.received.reserve(RECEIVE_BYTES);
            let read = stream.read_buf(&mut self.received).await;
            closed = read.map_err(|_| NoAnswer)? == 0;
        }
    }
}

/// Whether nothing came since the last answer: a server may have closed an idle connection, which is no
/// error of its next request.
fn is_quiet(stream: &TcpStream) -> bool {
    let mut byte = [0];
    matches!(stream.try_read(&mut byte), Err(error) if error.kind() == ErrorKind::WouldBlock)
}

async fn connect(authority: &str) -> Result<TcpStream, NoAnswer> {
    let stream = TcpStream::connect(authority).await.map_err(|_| NoAnswer)?;
    // Without this a request waits for the acknowledgement of the one before.
    stream.set_nodelay(true).map_err(|_| NoAnswer)?;
    Ok(stream)
}
