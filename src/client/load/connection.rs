//! One HTTP/1.1 connection with one request at a time: prepared bytes in, an answer out, and nothing
//! between, so that the node under test gets the processor.

use super::response::{ANSWER_BYTES_MAX, Answer, Head, NoAnswer};
use bytes::BytesMut;
use rustix::io::Errno;
use std::{
    fmt,
    io::{self, ErrorKind},
    time::Duration,
};
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

/// A request without an answer.
#[derive(Debug)]
pub enum AskError {
    /// No answer came.
    NoAnswer,
    /// This machine could not make the connection: its descriptors, ports or memory ran out.
    Local(io::Error),
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoAnswer => f.write_str("no answer came"),
            Self::Local(error) => write!(f, "this machine could not make the connection: {error}"),
        }
    }
}

impl From<NoAnswer> for AskError {
    fn from(NoAnswer: NoAnswer) -> Self {
        Self::NoAnswer
    }
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
    ///
    /// Returns [`AskError`]. The next request makes the connection anew.
    pub async fn ask(&mut self, request: &[u8]) -> Result<Answer, AskError> {
        let answer = timeout(ANSWER_TIMEOUT, self.exchange(request)).await;
        let answer = answer.unwrap_or(Err(AskError::NoAnswer));
        if answer.is_err() {
            self.stream = None;
        }
        answer
    }

    async fn exchange(&mut self, request: &[u8]) -> Result<Answer, AskError> {
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
                return Err(AskError::NoAnswer);
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

async fn connect(authority: &str) -> Result<TcpStream, AskError> {
    let stream = TcpStream::connect(authority).await.map_err(|error| {
        if is_local(&error) {
            AskError::Local(error)
        } else {
            AskError::NoAnswer
        }
    })?;
    // Without this a request waits for the acknowledgement of the one before.
    stream.set_nodelay(true).map_err(|_| NoAnswer)?;
    Ok(stream)
}

/// Returns whether a connection failed for want of something on this machine.
fn is_local(error: &io::Error) -> bool {
    let wanting = [
        Errno::MFILE,
        Errno::NFILE,
        Errno::ADDRNOTAVAIL,
        Errno::NOBUFS,
        Errno::NOMEM,
    ];
    Errno::from_io_error(error).is_some_and(|errno| wanting.contains(&errno))
}
