//! File descriptors: the limit of the process, and the number of connections that fit below it.
//!
//! Each connection takes a descriptor. Only the API has clients that open many connections, so its
//! connections are limited to what store, threads and the other listeners leave.

use super::{error::RunError, threads::worker_threads};
use crate::{config::Settings, open_files::raise_limit};

/// Descriptors of a tokio runtime: its epoll instance and a duplicate of it, its waker, and its end
/// of the pipe for signals.
const PER_RUNTIME: usize = 4;
/// Descriptors of a listener: its socket, and the epoll instance, its duplicate and the waker of
/// the thread that accepts connections.
const PER_LISTENER: usize = 4;
/// Connections that a worker thread may hold above its part of the limit: one because the limit is
/// divided and rounded up, and one because actix-server checks it after accepting.
const PER_WORKER: usize = 2;
/// Descriptors of the process: the standard streams, the pipe for signals, and the files of the
/// store. A file may be open twice while it is opened or repaired.
const OF_PROCESS: usize = 16;
/// Descriptors that are open for a short time: the saved mempool and its directory at a stop,
/// `/proc` for metrics, secrets and certificates that are read again.
const SHORT_LIVED: usize = 16;
/// Minimum number of connections of all listeners. With fewer, the node does not start.
const CONNECTIONS_MIN: usize = 32;
/// Maximum number of open connections of a listener beside the API's: enough for a few scripts, and
/// for one or two web pages of each of some hundred users.
const SIDE_CONNECTIONS_MAX: usize = 1_024;
/// Part of the connections, one in so many, that each listener beside the API keeps if not all of
/// them fit.
const SIDE_SHARE: usize = 8;

/// Maximum numbers of open connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Maximum number of connections of the API listener.
    pub api: usize,
    /// Maximum number of connections of each other listener.
    pub side: usize,
}

/// The number of descriptors that a node uses.
#[derive(Debug)]
struct Demand {
    /// Descriptors of everything but connections.
    fixed: usize,
    /// Number of listeners beside the API's; at least one.
    side_listeners: usize,
    /// `api.max_connections`.
    api_connections: usize,
}

impl Demand {
    fn of(settings: &Settings, side_listeners: usize) -> Self {
        let workers = worker_threads(settings.api_listener.workers).saturating_add(side_listeners);
        // The main thread, the actors' threads, and the workers.
        let runtimes = workers
            .saturating_add(settings.node.actors.threads)
            .saturating_add(1);
        let parts = [
            OF_PROCESS,
            SHORT_LIVED,
            runtimes.saturating_mul(PER_RUNTIME),
            side_listeners
                .saturating_add(1)
                .saturating_mul(PER_LISTENER),
            workers.saturating_mul(PER_WORKER),
        ];
        Self {
            fixed: parts.into_iter().fold(0, usize::saturating_add),
            side_listeners,
            api_connections: settings.api_listener.max_connections,
        }
    }

    /// Returns the number of descriptors that all configured connections need.
    fn total(&self) -> usize {
        let side = self.side_listeners.saturating_mul(SIDE_CONNECTIONS_MAX);
        self.fixed
            .saturating_add(side)
            .saturating_add(self.api_connections)
    }

    /// Returns the least number of descriptors that a start needs.
    fn minimum(&self) -> usize {
        self.fixed.saturating_add(CONNECTIONS_MIN)
    }

    /// Divides `available` descriptors, or returns `None` if they are fewer than [`Self::minimum`].
    fn fit(&self, available: usize) -> Option<ConnectionLimits> {
        let connections = available
            .checked_sub(self.fixed)
            .filter(|&connections| connections >= CONNECTIONS_MIN)?;
        let left_by_api =
            connections.saturating_sub(self.api_connections) / self.side_listeners.max(1);
        let side = (connections / SIDE_SHARE)
            .max(left_by_api)
            .min(SIDE_CONNECTIONS_MAX);
        let left_by_side = connections.saturating_sub(side.saturating_mul(self.side_listeners));
        Some(ConnectionLimits {
            api: self.api_connections.min(left_by_side),
            side,
        })
    }
}

/// Raises the soft limit on open files to what the node needs, as far as the hard limit allows.
///
/// `side_listeners` is the number of listeners beside the API. Returns how many connections fit.
/// Logs a warning if they are fewer than `api.max_connections`.
///
/// # Errors
///
/// Returns [`RunError::Fatal`] if the hard limit is too low for a node with few connections.
pub fn raise_descriptor_limit(
    settings: &Settings,
    side_listeners: usize,
) -> Result<ConnectionLimits, RunError> {
    let demand = Demand::of(settings, side_listeners);
    let wanted = u64::try_from(demand.total()).unwrap_or(u64::MAX);
    let available = raise_limit(wanted);
    let limits = usize::try_from(available)
        .ok()
        .map_or_else(|| demand.fit(usize::MAX), |available| demand.fit(available));
    let Some(limits) = limits else {
        return Err(RunError::Fatal(format!(
            "the limit on open files (RLIMIT_NOFILE) is {available}, and the node needs at least {}: raise the \
             hard limit, for example with `ulimit -Hn` or LimitNOFILE of systemd",
            demand.minimum()
        )));
    };
    if limits.api < settings.api_listener.max_connections {
        tracing::warn!(
            configured = settings.api_listener.max_connections,
            allowed = limits.api,
            open_files_max = available,
            open_files_needed = wanted,
            "api.max_connections is lowered to what the hard limit on open files (RLIMIT_NOFILE) allows"
        );
    }
    Ok(limits)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEMAND: Demand = Demand {
        fixed: 100,
        side_listeners: 2,
        api_connections: 10_000,
    };

    #[test]
    fn keeps_the_configured_limits_where_they_fit() {
        let configured = ConnectionLimits {
            api: 10_000,
            side: SIDE_CONNECTIONS_MAX,
        };
        assert_eq!(DEMAND.fit(DEMAND.total()), Some(configured));
        assert_eq!(DEMAND.fit(usize::MAX), Some(configured));
    }

    #[test]
    fn lowers_the_limit_of_the_api_first() {
        let limits = DEMAND.fit(DEMAND.total() - 1).unwrap();
        assert_eq!((limits.api, limits.side), (9_999, SIDE_CONNECTIONS_MAX));
        let limits = DEMAND.fit(1_024).unwrap();
        assert_eq!((limits.api, limits.side), (694, 115));
    }

    #[test]
    fn gives_the_other_listeners_what_the_api_leaves() {
        let demand = Demand {
            api_connections: 10,
            ..DEMAND
        };
        let limits = demand.fit(710).unwrap();
        assert_eq!((limits.api, limits.side), (10, 300));
    }

    #[test]
    fn never_gives_more_than_is_available() {
        for api_connections in [1, 10, 500, 1_000_000] {
            for side_listeners in 1..=3 {
                let demand = Demand {
                    fixed: 100,
                    side_listeners,
                    api_connections,
                };
                assert_eq!(demand.fit(demand.minimum() - 1), None);
                for available in demand.minimum()..=5_000 {
                    let limits = demand.fit(available).unwrap();
                    let sum = demand.fixed + limits.api + limits.side * side_listeners;
                    assert!(sum <= available, "{limits:?} of {available}");
                    assert!(
                        limits.api >= 1 && limits.side >= 4,
                        "{limits:?} of {available}"
                    );
                }
            }
        }
    }
}
