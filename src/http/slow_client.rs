//! A socket that fails where its peer does not take what is written to it.

use super::{ListenerMetrics, pace::SlowClientTimer};
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
