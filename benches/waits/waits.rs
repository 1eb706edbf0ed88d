//! Long polls, each on a connection of its own: parked, and read when all are answered at once.

use crate::submit;
use bytes::BytesMut;
use ledger_client::{
    http::{Connection, Endpoint, Response, ResponseHead},
    load::{ResourceUsage, TransactionStatus},
};
use serde::Serialize;
use std::{
    cell::Cell,
    error::Error,
    io::{self, ErrorKind},
    rc::Rc,
    time::{Duration, Instant},
};
use tokio::{
    io::AsyncWriteExt as _,
    net::TcpStream,
    task::JoinSet,
    time::{sleep, timeout},
};

/// How long all answers may take together.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long the runtime is given to see which sockets have something to read.
const SETTLE: Duration = Duration::from_millis(100);
/// What is received at once at least: an answer is one piece then.
const RECEIVE_BYTES: usize = 8 * 1024;

/// Requests that were sent and not answered.
#[derive(Debug)]
pub struct Waits(Vec<TcpStream>);

/// How the answers came. Times are from the moment when the missing transaction was sent.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    /// Who pays in all transfers.
    pub sender: String,
    /// The hash of the one that was sent last.
    pub hash: String,
    /// Answers that say that the transaction is committed and succeeded.
    committed: usize,
    /// Others, and requests without an answer.
    faulty: usize,
    first_ms: f64,
    last_ms: f64,
    /// Of a committed one's body.
    body_bytes: usize,
    /// How much of a core reading took between the first and the last.
    busy_share: f64,
}

/// When an answer had come, and this process's processor time then.
#[derive(Debug, Clone, Copy)]
struct Moment {
    at: Instant,
    used: Duration,
}

impl Moment {
    fn now() -> Self {
        Self {
            at: Instant::now(),
            used: ResourceUsage::now(None).own_cpu,
        }
    }
}

impl Waits {
    /// Sends each request on a connection of its own.
    ///
    /// # Errors
    /// When the node does not take one.
    pub async fn park(address: &str, requests: impl Iterator<Item = Vec<u8>>) -> io::Result<Self> {
        let mut streams = Vec::new();
        for request in requests {
            let mut stream = TcpStream::connect(address).await?;
            stream.write_all(&request).await?;
            streams.push(stream);
        }
        Ok(Self(streams))
    }

    /// Sends `submission`, for which all wait, and reads the answers.
    ///
    /// # Errors
    /// When the node does not take it, or an answer was there before.
    pub async fn release(
        self,
        address: &str,
        submission: Vec<u8>,
    ) -> Result<Report, Box<dyn Error>> {
        // Until the runtime has seen what came while nobody asked it.
        sleep(SETTLE).await;
        let early = self
            .0
            .iter()
            .filter(|stream| stream.try_read(&mut [0]).is_ok());
        if let early @ 1.. = early.count() {
            return Err(format!("{early} were answered although they should have waited").into());
        }
        let first = Rc::new(Cell::new(None));
        let mut readers = JoinSet::new();
        for stream in self.0 {
            let first = Rc::clone(&first);
            readers.spawn_local(async move {
                let answer = read(&stream).await;
                if first.get().is_none() {
                    first.set(Some(Moment::now()));
                }
                // Closed when all have come: closing is not what is measured.
                (answer, stream)
            });
        }
        let mut node = Connection::new(Endpoint::plain(address.to_owned()));
        let begin = Instant::now();
        let released =
            tokio::task::spawn_local(async move { submit(&mut node, &submission).await });
        let answers = timeout(PATIENCE, readers.join_all()).await?;
        let last = Moment::now();
        released.await??;
        let mut report = Report::default();
        for (answer, _stream) in answers {
            match answer {
                Ok(answer) if is_committed(&answer) => {
                    report.committed += 1;
                    report.body_bytes = answer.body.len();
                }
                _ => report.faulty += 1,
            }
        }
        let first = first.get().ok_or("there was no answer")?;
        report.first_ms = millis(first.at - begin);
        report.last_ms = millis(last.at - begin);
        let span = (last.at - first.at).as_secs_f64();
        report.busy_share = (last.used - first.used).as_secs_f64() / span.max(f64::MIN_POSITIVE);
        Ok(report)
    }
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

fn is_committed(answer: &Response) -> bool {
    let status = TransactionStatus::parse(&answer.body);
    answer.status.is_success()
        && matches!(
            status,
            Some(TransactionStatus::Committed { success: true, .. })
        )
}

/// Reads an answer. Memory for it is taken only when it comes.
async fn read(stream: &TcpStream) -> io::Result<Response> {
    let malformed = || io::Error::from(ErrorKind::InvalidData);
    let mut received = BytesMut::new();
    loop {
        stream.readable().await?;
        received.reserve(RECEIVE_BYTES);
        match stream.try_read_buf(&mut received) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => continue,
            Err(error) => return Err(error),
        }
        let Some(head) = ResponseHead::parse(&received).map_err(|_| malformed())? else {
            continue;
        };
        if let Some(answer) = head
            .take_response(&mut received, false)
            .map_err(|_| malformed())?
        {
            return Ok(answer);
        }
    }
}
