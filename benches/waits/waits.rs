//! Long polls, each on a connection of its own, and the timing of their responses.

use bytes::{Bytes, BytesMut};
use ledger_client::{
    ClientError,
    load::{ResourceUsage, TransactionStatus},
};
use ledger_crypto::HashValue;
use serde::Serialize;
use std::{
    cell::Cell,
    error::Error,
    io::{self, ErrorKind},
    ops::Range,
    rc::Rc,
    time::{Duration, Instant},
};
use tokio::{
    io::AsyncWriteExt as _,
    net::TcpStream,
    task::JoinSet,
    time::{sleep, timeout},
};

/// Maximum time until the last response.
const RESPONSES_TIMEOUT: Duration = Duration::from_secs(60);
/// Time for the runtime to register which sockets are readable.
const SETTLE: Duration = Duration::from_millis(100);
/// Maximum number of fields of a response, more than a node sends.
const FIELDS_MAX: usize = 32;
/// Minimum free space of a receive buffer, in bytes, so that one read receives a whole response.
const RECEIVE_BYTES: usize = 8 * 1024;

/// The connections of requests without a response.
#[derive(Debug)]
pub struct Waits(Vec<TcpStream>);

/// The report of a run. Times begin when the missing transaction is sent.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    /// Hash of the transaction that was submitted last.
    hash: String,
    /// Number of responses with a committed and successful transaction.
    committed: usize,
    /// Number of other responses and of requests without a response.
    faulty: usize,
    first_ms: f64,
    last_ms: f64,
    /// Size of the body of a committed transaction.
    body_bytes: usize,
    /// Share of a core that reading took between the first and the last response.
    busy_share: f64,
}

/// The time of a response, and the processor time of this process at that time.
#[derive(Debug, Clone, Copy)]
struct ResponseTime {
    at: Instant,
    used: Duration,
}

impl ResponseTime {
    fn now() -> Self {
        Self {
            at: Instant::now(),
            used: ResourceUsage::now(None).own_cpu,
        }
    }
}

impl Waits {
    /// Starts a long poll for each transaction on a connection of its own.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system if the node does not accept a connection or a
    /// request.
    pub async fn park(authority: &str, hashes: &[HashValue]) -> io::Result<Self> {
        let mut streams = Vec::new();
        for hash in hashes {
            let request = format!(
                "GET /v1/transactions/wait_by_hash/{hash} HTTP/1.1\r\nhost: {authority}\r\n\
                 accept: application/x-bcs\r\n\r\n"
            );
            let mut stream = TcpStream::connect(authority).await?;
            stream.write_all(request.as_bytes()).await?;
            streams.push(stream);
        }
        Ok(Self(streams))
    }

    /// Runs `submission`, which submits the transaction that all long polls wait for, and reads the
    /// responses.
    ///
    /// # Errors
    ///
    /// Returns an error if a response arrived before, if the node rejects the submission, or if a
    /// response does not arrive in time.
    pub async fn release(
        self,
        submission: impl Future<Output = Result<HashValue, ClientError>>,
    ) -> Result<Report, Box<dyn Error>> {
        // Responses that have arrived early are then readable.
        sleep(SETTLE).await;
        let early = self
            .0
            .iter()
            .filter(|stream| stream.try_read(&mut [0]).is_ok());
        if let early @ 1.. = early.count() {
            return Err(format!("{early} responses arrived before the release").into());
        }
        let first = Rc::new(Cell::new(None));
        let mut readers = JoinSet::new();
        for stream in self.0 {
            let first = Rc::clone(&first);
            readers.spawn_local(async move {
                let answer = read(&stream).await;
                if first.get().is_none() {
                    first.set(Some(ResponseTime::now()));
                }
                // The connection stays open until all responses have arrived, because the time of
                // closing is not measured.
                (answer, stream)
            });
        }
        let responses = async {
            let answers = timeout(RESPONSES_TIMEOUT, readers.join_all()).await;
            (answers, ResponseTime::now())
        };
        let begin = Instant::now();
        let (hash, (answers, last)) = tokio::join!(submission, responses);
        let mut report = Report {
            hash: hash?.to_string(),
            ..Report::default()
        };
        for (answer, _stream) in answers? {
            match answer {
                Ok(body) if is_committed(&body) => {
                    report.committed += 1;
                    report.body_bytes = body.len();
                }
                _ => report.faulty += 1,
            }
        }
        let first = first.get().ok_or("there was no response")?;
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

fn is_committed(body: &[u8]) -> bool {
    let status = TransactionStatus::parse(body);
    matches!(
        status,
        Some(TransactionStatus::Committed { success: true, .. })
    )
}

/// Reads a response, and returns its body. The buffer is allocated when the response arrives, and
/// all responses are read by one task each, so that reading takes little of the machine.
async fn read(stream: &TcpStream) -> io::Result<Bytes> {
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
        if let Some(range) = body_range(&received)? {
            return Ok(received.freeze().slice(range));
        }
    }
}

/// Returns the position of the body of a response with status 200 and a length, or `None` while the
/// response is incomplete.
///
/// # Errors
///
/// Returns [`ErrorKind::InvalidData`] for any other response.
fn body_range(received: &[u8]) -> io::Result<Option<Range<usize>>> {
    let other = || io::Error::from(ErrorKind::InvalidData);
    let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
    let mut head = httparse::Response::new(&mut fields);
    let httparse::Status::Complete(start) = head.parse(received).map_err(|_| other())? else {
        return Ok(None);
    };
    let is_ok = head.code == Some(200);
    let mut lengths = head.headers.iter();
    let length = lengths.find(|field| field.name.eq_ignore_ascii_case("content-length"));
    let length = length.and_then(|field| std::str::from_utf8(field.value).ok()?.parse().ok());
    let end = length.and_then(|length| start.checked_add(length));
    match end {
        Some(end) if is_ok => Ok((received.len() >= end).then_some(start..end)),
        _ => Err(other()),
    }
}
