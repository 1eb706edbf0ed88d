//! What listeners refused and cut, to be shown to the operator.

use ledger_limits::Limit;
use serde::Serialize;
use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU64, Ordering::Relaxed},
};

/// The metrics of one listener, shared by its threads.
#[derive(Debug, Default)]
pub struct ListenerMetrics {
    /// Counts open connections.
    pub open: Limit,
    /// Connections that were closed at once, as their address had too many.
    pub refused_of_address: AtomicU64,
    /// TLS handshakes that failed or took too long.
    pub failed_handshakes: AtomicU64,
    /// Connections that were cut, as their client did not take what was sent to it.
    pub cut_unread: AtomicU64,
    /// Connections closed after
    /// [`ConnectionOptions::keep_alive`](super::ConnectionOptions::keep_alive) without a request,
    /// whether it would have been the first or a later one.
    pub closed_idle: AtomicU64,
    /// Connections closed because the head of a request did not arrive within
    /// [`ConnectionOptions::client_request_timeout`](super::ConnectionOptions::client_request_timeout)
    /// of its first byte.
    pub cut_slow_heads: AtomicU64,
    /// HTTP/2 streams that were reset, as their client did not take the answer.
    pub reset_unread_streams: AtomicU64,
    /// HTTP/2 connections that were cut for taking back too many requests, or for breaking the protocol.
    pub cut_misbehaving: AtomicU64,
}

/// The metrics of one listener at one moment.
#[derive(Clone, Debug, Serialize)]
pub struct ConnectionCounts {
    /// The listener's name.
    pub listener: &'static str,
    /// [`ListenerMetrics::open`].
    pub open: usize,
    /// [`ListenerMetrics::refused_of_address`].
    pub refused_of_address: u64,
    /// [`ListenerMetrics::failed_handshakes`].
    pub failed_handshakes: u64,
    /// [`ListenerMetrics::cut_unread`].
    pub cut_unread: u64,
    /// [`ListenerMetrics::closed_idle`].
    pub closed_idle: u64,
    /// [`ListenerMetrics::cut_slow_heads`].
    pub cut_slow_heads: u64,
    /// [`ListenerMetrics::reset_unread_streams`].
    pub reset_unread_streams: u64,
    /// [`ListenerMetrics::cut_misbehaving`].
    pub cut_misbehaving: u64,
}

impl ListenerMetrics {
    fn read(&self, listener: &'static str) -> ConnectionCounts {
        ConnectionCounts {
            listener,
            open: self.open.held(),
            refused_of_address: self.refused_of_address.load(Relaxed),
            failed_handshakes: self.failed_handshakes.load(Relaxed),
            cut_unread: self.cut_unread.load(Relaxed),
            closed_idle: self.closed_idle.load(Relaxed),
            cut_slow_heads: self.cut_slow_heads.load(Relaxed),
            reset_unread_streams: self.reset_unread_streams.load(Relaxed),
            cut_misbehaving: self.cut_misbehaving.load(Relaxed),
        }
    }
}

/// Counts one more.
pub fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Relaxed);
}

/// The metrics of all listeners that were opened. Clones are one.
#[derive(Clone, Debug, Default)]
pub struct OpenListeners(Arc<Mutex<Vec<Opened>>>);

/// A listener's name and its metrics.
type Opened = (&'static str, Arc<ListenerMetrics>);

impl OpenListeners {
    /// The metrics of one more.
    pub fn add(&self, name: &'static str) -> Arc<ListenerMetrics> {
        let metrics = Arc::new(ListenerMetrics::default());
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push((name, Arc::clone(&metrics)));
        metrics
    }

    /// What they are now, in the order in which the listeners were opened.
    pub fn snapshots(&self) -> Vec<ConnectionCounts> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter()
            .map(|(name, metrics)| metrics.read(name))
            .collect()
    }
}
