//! The minimum speed at which a client reads.
//!
//! A [`SlowClientTimer`] is a budget of time. Waiting for the client spends it. Each byte that the
//! client reads restores as much as the byte may take at the minimum speed, and time without
//! waiting restores itself. The budget runs out for a client that reads nothing, and later for one
//! that occasionally reads a byte, so a few bytes do not renew the whole timeout.

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

/// Minimum speed of a client over a long time, in bytes per second: that of a bad modem.
const BYTES_PER_SEC_MIN: u32 = 2 * 1024;

/// The time for which the server still waits for a client.
#[derive(Debug)]
pub struct SlowClientTimer {
    max: Duration,
    remaining: Duration,
    /// Time of the last change of `remaining`.
    updated_at: Instant,
    is_waiting: bool,
}

impl SlowClientTimer {
    /// Creates the timer of a client that may read nothing for `max`. It does not wait yet.
    pub fn new(max: Duration, now: Instant) -> Self {
        Self {
            max,
            remaining: max,
            updated_at: now,
            is_waiting: false,
        }
    }

    /// Starts to wait for the client, or continues. Returns the remaining time.
    pub fn start_waiting(&mut self, now: Instant) -> Duration {
        self.update(now);
        self.is_waiting = true;
        self.remaining
    }

    /// Stops waiting for the client.
    pub fn stop_waiting(&mut self, now: Instant) {
        self.update(now);
        self.is_waiting = false;
    }

    /// Returns whether the server waits for the client.
    pub fn is_waiting(&self) -> bool {
        self.is_waiting
    }

    /// Restores the time of `bytes` that the client has read.
    pub fn record_read(&mut self, bytes: usize, now: Instant) {
        self.update(now);
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let restored = Duration::from_secs(1) * bytes / BYTES_PER_SEC_MIN;
        self.remaining = self.remaining.saturating_add(restored).min(self.max);
    }

    fn update(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.updated_at);
        self.updated_at = now;
        self.remaining = if self.is_waiting {
            self.remaining.saturating_sub(passed)
        } else {
            self.remaining.saturating_add(passed).min(self.max)
        };
    }
}

/// A TCP connection whose writes fail with [`ErrorKind::TimedOut`] if the client reads too slowly.
///
/// A write that does not block costs one branch more.
#[derive(Debug)]
pub struct SlowClientStream {
    tcp: TcpStream,
    send_timeout: Duration,
    /// Created by the first write that blocks.
    timeout: Option<Box<WriteTimeout>>,
    metrics: Arc<ListenerMetrics>,
}

/// The write timeout of a connection.
#[derive(Debug)]
struct WriteTimeout {
    timer: SlowClientTimer,
    /// Wakes the task when the timer runs out.
    sleep: Pin<Box<Sleep>>,
}

impl SlowClientStream {
    /// Wraps a connection whose client may read nothing for `send_timeout`.
    pub fn new(tcp: TcpStream, send_timeout: Duration, metrics: Arc<ListenerMetrics>) -> Self {
        Self {
            tcp,
            send_timeout,
            timeout: None,
            metrics,
        }
    }

    /// Waits until the client has sent bytes, without consuming them.
    ///
    /// Returns `false` if the client closed its side instead.
    ///
    /// # Errors
    ///
    /// Returns the error of the socket, after which the connection cannot be used.
    pub fn poll_has_bytes(&self, context: &mut Context<'_>) -> Poll<io::Result<bool>> {
        let mut byte = [0];
        let peeked = self.tcp.poll_peek(context, &mut ReadBuf::new(&mut byte));
        peeked.map_ok(|bytes| bytes > 0)
    }

    /// Returns the result of a write to the socket, or the timeout of a write that blocks.
    fn track_write(
        &mut self,
        written: Poll<io::Result<usize>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        match &written {
            Poll::Pending => ready!(self.poll_timeout(context))?,
            Poll::Ready(Ok(bytes)) => {
                if let Some(timeout) = &mut self.timeout
                    && timeout.timer.is_waiting()
                {
                    timeout.timer.record_read(*bytes, Instant::now());
                }
            }
            Poll::Ready(Err(_)) => {}
        }
        written
    }

    /// Waits for the client, and returns [`ErrorKind::TimedOut`] when its time has run out.
    fn poll_timeout(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let timeout = self.timeout.get_or_insert_with(|| {
            Box::new(WriteTimeout {
                timer: SlowClientTimer::new(self.send_timeout, Instant::now()),
                sleep: Box::pin(sleep(self.send_timeout)),
            })
        });
        let now = Instant::now();
        let remaining = timeout.timer.start_waiting(now);
        if !remaining.is_zero() {
            timeout.sleep.as_mut().reset((now + remaining).into());
            ready!(timeout.sleep.as_mut().poll(context));
        }
        self.metrics.counters.cut_unread.increment();
        // Without this, the kernel holds the unread bytes and retries for minutes. An error means
        // that the connection has ended already.
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
        this.track_write(written, context)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.tcp).poll_write_vectored(context, slices);
        this.track_write(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.tcp.is_write_vectored()
    }

    /// Stops waiting for the client: the layers above flush when they have nothing left to write.
    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if let Some(timeout) = &mut this.timeout
            && timeout.timer.is_waiting()
        {
            timeout.timer.stop_waiting(Instant::now());
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

    /// Returns whether the time of a client that reads `bytes_per_sec` runs out within `seconds`.
    fn times_out(bytes_per_sec: usize, seconds: u64) -> bool {
        let begin = Instant::now();
        let mut timer = SlowClientTimer::new(MAX, begin);
        timer.start_waiting(begin);
        (1..=seconds).any(|second| {
            let now = begin + Duration::from_secs(second);
            // The server wakes when the time has run out, so bytes read in this second are late.
            let is_over = timer.start_waiting(now).is_zero();
            timer.record_read(bytes_per_sec, now);
            is_over
        })
    }

    #[test]
    fn times_out_clients_below_the_minimum_speed() {
        assert!(times_out(0, 30));
        assert!(!times_out(0, 29));
        assert!(times_out(1, 31));
        assert!(times_out(1_500, 3_600));
        assert!(!times_out(2_048, 36_000));
    }

    #[test]
    fn restores_at_most_the_whole_time() {
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        let mut timer = SlowClientTimer::new(MAX, begin);
        timer.start_waiting(begin);
        timer.stop_waiting(at(20));
        assert_eq!(timer.start_waiting(at(25)), Duration::from_secs(15));
        timer.stop_waiting(at(26));
        assert_eq!(timer.start_waiting(at(1_000)), MAX);
        timer.record_read(usize::MAX, at(1_001));
        assert_eq!(timer.start_waiting(at(1_001)), MAX);
    }
}
