//! The relay: transactions and look-ups travel between the nodes of a chain, behind the node's
//! interface [`ledger_actors::relay`].
//!
//! Each pair of nodes has one TCP connection with TLS 1.3, in which both prove their network keys.
//! A full node dials the validators, of two validators the one with the smaller key dials, and full
//! nodes have no connection with each other.
//!
//! | module | content |
//! |---|---|
//! | `settings` | [`Settings`], [`Peer`], the rule which of two nodes dials |
//! | `sizes` | limits, and their reasons |
//! | `codec` | messages and their bytes |
//! | `status`, `report` | [`RelayState`]; [`PeerReport`] |
//! | `names` | the thread that resolves host names |
//! | `peers` | the table of peers with the connection of each |
//! | `tls` | keys instead of certificates |
//! | `context`, `ended` | the state that all tasks share; the reasons that a connection ends |
//! | `finds` | look-ups of this node and of peers |
//! | `exchange`, `connection` | the two directions of a connection; its start and its end |
//! | `dial`, `listen` | connections that this node dials, and those that peers dial |
//! | `outgoing` | transactions of this node's clients, to all validators |
//! | `relay` | [`Relay`]: start and stop |
//!
//! # Rules
//!
//! * Nothing waits for a peer. A message that finds no room is dropped and counted: the mempool
//!   offers a transaction again, and a look-up has a time limit.
//! * A message of a peer takes memory in proportion to its length, which is checked first. One that
//!   breaks the protocol closes the connection.
//! * A connection takes at most [`CONNECTION_BYTES_MAX`] with the default size of transactions, and
//!   usually less than 100 KB: messages that wait to be sent are shared between connections.
//!
//! # Cost
//!
//! Processor time of both ends of one connection, in microseconds per transaction of 278 bytes,
//! measured by `benches/exchange.rs` on 2026-11-30. At a low rate it is that of waking up.
//!
//! | per second | send | receive | transactions per message |
//! |---|---|---|---|
//! | 100 | 132 | 95 | 1 |
//! | 1,000 | 31 | 14 | 4 |
//! | 10,000 | 5.5 | 3.4 | 32 |
//! | 100,000 | 1.4 | 1.2 | 344 |

// A message of a peer must not end the process. Only a broken invariant panics.
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::panic, clippy::unreachable)
)]

mod codec;
mod connection;
mod context;
mod dial;
mod ended;
mod exchange;
mod finds;
mod listen;
mod names;
mod outgoing;
mod peers;
mod relay;
mod report;
mod settings;
mod sizes;
mod status;
mod tls;

pub use peers::TooManyPeers;
pub use relay::{Relay, RelayObserver, StartError};
pub use report::{PeerReport, TrafficReport};
pub use settings::{Peer, Settings, Times};
pub use sizes::{CONNECTION_BYTES_MAX, FRAME_BYTES, FRAME_TRANSACTIONS_MAX, OUTGOING_FRAMES_MAX};
pub use status::RelayState;
