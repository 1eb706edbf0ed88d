//! A load generator: sends signed transfers to a node, and counts on the ledger what it commits.
//!
//! | module | content |
//! |---|---|
//! | `plan`, `run` | the parameters of a run, its schedule and counters |
//! | `account`, `funding`, `presign` | accounts, their funding, transfers signed in advance |
//! | `requests` | requests as bytes |
//! | `threads`, `worker`, `batch` | the threads of a run, the work of a connection |
//! | `commit_wait`, `many_wait` | waits for commits |
//! | `session`, `rejection`, `transaction_status` | a worker's connection, responses |
//! | `tally`, `latency`, `meter`, `process_usage` | latencies, errors, commits, processor time |

mod account;
mod batch;
mod commit_wait;
mod error;
mod funding;
mod latency;
mod many_wait;
mod meter;
mod plan;
mod presign;
mod process_usage;
mod rejection;
mod requests;
mod run;
mod session;
mod tally;
mod threads;
mod transaction_status;
mod worker;

pub use account::{SendingAccount, SignedTransfer};
pub use error::LoadError;
pub use funding::{Funds, fund_accounts};
pub use latency::{LatencyHistogram, LatencySummary};
pub use meter::{History, Meter, Sample};
pub use plan::{CommitWait, Plan, RenderJson, SubmissionFormat};
pub use presign::sign_in_advance;
pub use process_usage::{ProcessUsage, ResourceUsage};
pub use requests::Requests;
pub use run::Run;
pub use tally::Tally;
pub use threads::{LoadThreads, required_descriptors};
pub use transaction_status::TransactionStatus;
