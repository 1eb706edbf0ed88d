//! The admin listener: status and control of a running node, and metrics for Prometheus.
//!
//! | route | content |
//! |---|---|
//! | `/actors`, `/actors/{name}` | mailboxes and their capacities |
//! | `/budgets`, `/budgets/{name}` | queues of work and their budgets |
//! | `/signatures` | queues of the signature check |
//! | `/filter` | rules of the submission filter |
//! | `/settings`, `/settings/*` | all settings, and changes of run-time settings |
//! | `/switches` | switches of the REST interface |
//! | `/checks`, `/livez`, `/readyz` | the checks of the node, and probes that name those that fail |
//! | `/traffic`, `/traffic/*` | the heaviest clients, senders and functions, and their denial |
//! | `/connections` | connections of each listener |
//! | `/consensus` | the consensus engine and the validators as this node observes them |
//! | `/peers` | the peers of a node of several validators, and the admission of a full node |
//! | `/storage` | readable versions, size of the ledger and its limit |
//! | `/flight` | writes the times of the newest blocks into the data directory |
//! | `/tls/reload` | reads the certificates of the listeners again |
//! | `/snapshot`, `/history` | actors, threads and queues now, and in the newest 15 minutes |
//! | `/events` | a snapshot each second, as server-sent events |
//! | `/metrics` | all counters, in the text format of Prometheus |

mod actors;
mod authorize;
mod budgets;
mod change;
mod checks;
mod connections;
mod consensus;
mod context;
mod filter;
mod flight;
mod forecast;
mod loads;
mod metrics;
mod observe;
mod peers;
mod phase;
mod routes;
mod served_body;
mod settings;
mod storage;
mod switches;
mod tls;
mod traffic;

pub use authorize::CSRF_FIELD;
pub use checks::{Check, checks};
#[cfg(feature = "bft")]
pub use consensus::{ConsensusStatus, Role};
pub use context::{Admin, BODY_BYTES_MAX, EventStreams};
pub use forecast::StorageForecast;
pub use loads::settings_report;
#[cfg(feature = "bft")]
pub use peers::{Admitted, Peers};
pub use phase::{Phase, PhaseCell};
pub use routes::configure;
pub use switches::switch_positions;
pub use tls::{Certificates, ReloadGuard, ReloadLock};
pub use traffic::{KindStatus, TrafficRow, TrafficStatus, traffic};
