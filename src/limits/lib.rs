//! Limits on concurrent requests, on waiting work, on memory, and on the size of files.
//!
//! | module | limit | holders |
//! |---|---|---|
//! | `permit` | [`Limit`] | a number of [`Permit`]s |
//! | `fair_limit` | [`FairLimit`] | a number of [`FairPermit`]s; no client can hold all |
//! | `keyed` | [`KeyedLimit`] | a number of [`KeyedPermit`]s for each key, such as the address that [`network_of`] returns |
//! | `fair_queue` | [`FairQueue`] | cost of waiting jobs, in turns by [`ClientKey`] |
//! | `client` | [`ClientKeys`] | classes of client addresses |
//! | `cost` | [`CostModel`] | estimates of the duration of work, and what it took |
//! | `networks` | none: [`Networks`] of trusted proxies, or of denied clients | |
//! | `memory` | [`MemoryBudget`] | bytes, in [`MemoryLease`]s |
//! | `rejections` | none: [`REJECTIONS`] counts what the limits reject | |
//! | `file` | [`open_regular_file`], [`read_bounded`], [`read_bounded_text`] | the bytes of one file |
//!
//! `docs/operate/tune.md#limits` lists the limits of a request, and `docs/internals/http.md` those of
//! a connection.
//!
//! # Rules
//!
//! * No limit waits: a caller that gets no permit rejects its request. Only
//!   [`MemoryLease::reserve`] waits, in a bounded queue.
//! * Permits and leases are released when they are dropped, so a task that is canceled releases its
//!   permits.
//!
//! # Example
//!
//! ```
//! use ledger_limits::{ClientKey, Limit, MemoryBudget, Permit};
//!
//! let requests = Limit::new(2);
//! let first = Permit::try_acquire(&requests).expect("no permit is held");
//! let second = Permit::try_acquire(&requests);
//! assert!(second.is_some());
//! assert!(Permit::try_acquire(&requests).is_none(), "the limit is reached");
//! drop(first);
//! assert_eq!(requests.held(), 1);
//!
//! let bodies = MemoryBudget::new(1024 * 1024);
//! let body = bodies.lease(ClientKey::NODE);
//! assert!(body.try_grow(4096));
//! assert_eq!(bodies.held_bytes(), 4096);
//! drop(body);
//! assert_eq!(bodies.held_bytes(), 0);
//! ```

mod client;
mod cost;
mod fair_limit;
mod fair_queue;
mod file;
mod keyed;
mod memory;
mod networks;
mod permit;
mod rejections;

pub use client::{ClientKey, ClientKeys};
pub use cost::{CostModel, CostStatus, Demand, Estimate, Work, WorkKind};
pub use fair_limit::{FairLimit, FairPermit};
pub use fair_queue::{Cancel, Charge, FairQueue, QueueFull, ReachedLimit};
pub use file::{open_regular_file, read_bounded, read_bounded_text};
pub use keyed::{KeyedLimit, KeyedPermit, network_of};
pub use memory::{MemoryBudget, MemoryLease, SMALL_LEASE_BYTES_MAX};
pub use networks::{Networks, NoNetworks};
pub use permit::{Limit, Permit};
pub use rejections::{REJECTIONS, RejectionCount, Rejections};
