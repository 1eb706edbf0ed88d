//! How fast a client must take what is sent to it.
//!
//! Who waits for a client has so much patience. Waiting uses it up; each byte that is taken gives some
//! back, as much as it may take at the slowest speed that is borne, and so does each moment without waiting.
//! A client that reads nothing is cut after the whole of it, and so is, later, one that reads a byte now and
//! then.
use crate::metrics::ListenerMetrics;
use std::{
    io::{self, ErrorKind, IoSlice},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::{Sleep, sleep},
};

/// The slowest speed at which a client may read for long, in bytes a second: that of a bad modem.
const BYTES_PER_SEC_MIN: u32 = 2 * 1024;

/// The patience with one client.
#[derive(Debug)]
pub struct SlowClientTimer {
    max: Duration,
    left: Duration,
    /// When it was last counted.
    counted: Instant,
    /// Whether the client is waited for since.
    is_waiting: bool,
}

impl SlowClientTimer {
    /// With a client that may keep us waiting for `max` at once.
    pub fn new(max: Duration, now: Instant) -> Self {
        Self {
            max,
            left: max,
            counted: now,
            is_waiting: false,
        }
    }

    /// From now on the client is waited for: how long at most.
    pub fn wait(&mut self, now: Instant) -> Duration {
        self.count(now);
        self.is_waiting = true;
        self.left
    }

    /// The client that was waited for has taken so many bytes.
    pub fn took(&mut self, bytes: usize, now: Instant) {
        self.count(now);
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let gained = Duration::from_secs(1) * bytes / BYTES_PER_SEC_MIN;
        self.left = self.left.saturating_add(gained).min(self.max);
    }

    /// From now on the client is not waited for.
    pub fn rest(&mut self, now: Instant) {
        self.count(now);
        self.is_waiting = false;
    }

    fn count(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.counted);
        self.counted = now;
        self.left = if self.is_waiting {
            self.left.saturating_sub(passed)
        } else {
            self.left.saturating_add(passed).min(self.max)
        };
    }
}

/// A TCP connection whose writes end with [`ErrorKind::TimedOut`] where the patience with its peer is over. As
/// long as the peer keeps up, it costs one branch for each write.
#[derive(Debug)]
pub struct SlowClientStream {
    tcp: TcpStream,
    send_timeout: Duration,
    /// There is one as soon as the peer was waited for.
    waiting: Option<Box<Waiting>>,
    metrics: Arc<ListenerMetrics>,
}

#[derive(Debug)]
struct Waiting {
    patience: SlowClientTimer,
    /// Whether something is waited for that could not be written.
    is_blocked: bool,
    timer: Pin<Box<Sleep>>,
}

impl SlowClientStream {
    /// Guards `tcp`, whose peer may take nothing for `send_timeout` at most.
    pub fn new(tcp: TcpStream, send_timeout: Duration, metrics: Arc<ListenerMetrics>) -> Self {
        Self {
            tcp,
            send_timeout,
            waiting: None,
            metrics,
        }
    }

    /// Waits until the client has sent bytes, without consuming them.
    ///
    /// Returns `false` if the client closed its side instead.
    ///
    /// # Errors
    ///
    /// Returns the error of the socket, after which the connection is of no use.
    pub fn poll_has_bytes(&self, context: &mut Context<'_>) -> Poll<io::Result<bool>> {
        let mut byte = [0];
        let peeked = self.tcp.poll_peek(context, &mut ReadBuf::new(&mut byte));
        peeked.map_ok(|bytes| bytes > 0)
    }

    /// Hands on what a write of the socket came to.
    fn written(
        &mut self,
        written: Poll<io::Result<usize>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        match &written {
            Poll::Pending => ready!(self.poll_patience(context))?,
            Poll::Ready(Ok(bytes)) => {
                if let Some(waiting) = &mut self.waiting
                    && waiting.is_blocked
                {
                    waiting.patience.took(*bytes, Instant::now());
                }
            }
            Poll::Ready(Err(_)) => {}
        }
        written
    }

    /// Pending while there is patience, then an error; wakes the task when it is over.
    fn poll_patience(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let waiting = self.waiting.get_or_insert_with(|| {
            Box::new(Waiting {
                patience: SlowClientTimer::new(self.send_timeout, Instant::now()),
                is_blocked: false,
                timer: Box::pin(sleep(self.send_timeout)),
            })
        });
        waiting.is_blocked = true;
        let now = Instant::now();
        let left = waiting.patience.wait(now);
        if !left.is_zero() {
            waiting.timer.as_mut().reset((now + left).into());
            ready!(waiting.timer.as_mut().poll(context));
        }
        self.metrics.counters.cut_unread.increment();
        // Else the kernel would keep what was not taken, and try for minutes to send it.
        let _ = self.tcp.set_zero_linger();
        Poll::Ready(Err(ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for SlowClientStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().tcp).poll_read(context, buffer)
    }
}

impl AsyncWrite for SlowClientStream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.tcp).poll_write(context, bytes);
        this.written(written, context)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.tcp).poll_write_vectored(context, slices);
        this.written(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.tcp.is_write_vectored()
    }

    /// Called by the layers above when they have written all that they had.
    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if let Some(waiting) = &mut this.waiting
            && waiting.is_blocked
        {
            waiting.is_blocked = false;
            waiting.patience.rest(Instant::now());
        }
        Pin::new(&mut this.tcp).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().tcp).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: Duration = Duration::from_secs(30);

    /// A client that takes so many bytes each second, until it is cut or `seconds` are over: whether it was cut.
    fn is_cut(bytes_per_sec: usize, seconds: u64) -> bool {
        let begin = Instant::now();
        let mut patience = SlowClientTimer::new(MAX, begin);
        patience.wait(begin);
        (1..=seconds).any(|second| {
            let now = begin + Duration::from_secs(second);
            // Who waits has a clock that wakes it when the patience is over: what comes later comes too late.
            let is_over = patience.wait(now).is_zero();
            patience.took(bytes_per_sec, now);
            is_over
        })
    }

    #[test]
    fn who_reads_too_slowly_is_cut_and_who_reads_fast_enough_is_not() {
        assert!(is_cut(0, 30));
        assert!(!is_cut(0, 29));
        assert!(is_cut(1, 31));
        assert!(is_cut(1_500, 3_600));
        assert!(!is_cut(2_048, 36_000));
    }

    #[test]
    fn patience_comes_back_while_nobody_waits_and_never_beyond_its_whole() {
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        let mut patience = SlowClientTimer::new(MAX, begin);
        patience.wait(begin);
        patience.rest(at(20));
        assert_eq!(patience.wait(at(25)), Duration::from_secs(15));
        patience.rest(at(26));
        assert_eq!(patience.wait(at(1_000)), MAX);
        patience.took(usize::MAX, at(1_001));
        assert_eq!(patience.wait(at(1_001)), MAX);
    }
}
