//! Metrics of listeners and their connections.

use ledger_limits::Limit;
use ledger_metrics::{Computed, Counter, Metric, counters};
use serde::Serialize;
use std::sync::{Arc, Mutex, PoisonError};

/// Metrics of one listener, shared by its threads.
#[derive(Debug, Default)]
pub struct ListenerMetrics {
    /// Counts open connections.
    pub open: Limit,
    /// Counts rejected and closed connections.
    pub counters: ConnectionCounters,
}

counters! {
    /// Counters of the connections of one listener.
    pub struct ConnectionCounters;

    /// Snapshot of the connections of one listener. Counts are since the start of the node.
    #[derive(Clone, Debug, Serialize)]
    pub struct ConnectionStatus {
        /// Name of the listener.
        pub listener: Computed<&'static str>,
        /// Connections that are open now.
        pub open: Computed<usize>,
        /// Connections that were closed on accept because their address had too many.
        pub refused_of_address: Counter,
        /// TLS handshakes that failed or timed out.
        pub failed_handshakes: Counter,
        /// Connections that were closed because the client did not read its responses.
        pub cut_unread: Counter,
        /// Connections that were closed after the `keep_alive` of their options without a request,
        /// whether it would have been the first or a later one.
        pub closed_idle: Counter,
        /// Connections that were closed because the head of a request did not arrive within the
        /// `client_request_timeout` of their options after its first byte.
        pub cut_slow_heads: Counter,
        /// HTTP/2 streams that were reset because the client did not read the response.
        pub reset_unread_streams: Counter,
        /// HTTP/2 connections that were closed because the client reset too many requests or broke
        /// the protocol.
        pub cut_misbehaving: Counter,
    }
}

/// The metrics of all listeners that were opened. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct ListenerRegistry(Arc<Mutex<Vec<RegisteredListener>>>);

/// A listener with its metrics.
#[derive(Debug)]
struct RegisteredListener {
    name: &'static str,
    metrics: Arc<ListenerMetrics>,
}

impl ListenerRegistry {
    /// Adds a listener and returns its metrics.
    pub fn add(&self, name: &'static str) -> Arc<ListenerMetrics> {
        let metrics = Arc::new(ListenerMetrics::default());
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(RegisteredListener {
            name,
            metrics: Arc::clone(&metrics),
        });
        metrics
    }

    /// Returns the current values of each listener, in the order in which they were opened.
    pub fn status(&self) -> Vec<ConnectionStatus> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter()
            .map(|listener| ConnectionStatus {
                listener: listener.name,
                open: listener.metrics.open.held(),
                ..listener.metrics.counters.snapshot()
            })
            .collect()
    }
}
