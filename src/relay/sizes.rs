//! Limits that no operator changes, and their reasons.

use std::time::Duration;

/// Maximum number of peers: validators and full nodes of the largest chain.
pub const PEERS_MAX: usize = 2_048;

/// Length of a message above which no further transaction is added to it, in bytes. A message of
/// this length takes 4 ms at 1 Gbit/s, for which a look-up behind it waits.
pub const FRAME_BYTES: usize = 512 * 1024;

/// Bytes of a message with one transaction beside the transaction: its variant, the number of a
/// look-up, and lengths.
pub const FRAME_OVERHEAD_BYTES: usize = 64;

/// Maximum number of transactions in a message. Their decoding takes about a millisecond, for which
/// the thread does nothing else.
pub const FRAME_TRANSACTIONS_MAX: usize = 1_000;

/// Maximum number of messages with transactions that wait to be sent to a peer. At 32,000
/// transactions per second they are those of a second.
pub const OUTGOING_FRAMES_MAX: usize = 32;

/// Maximum number of messages with transactions of a peer that wait for the mempool.
pub const INCOMING_FRAMES_MAX: usize = 16;

/// Time for which transactions are collected after a message was sent. A lone transaction leaves
/// when it arrives. At a high rate, this saves most wake-ups of both nodes.
pub const COLLECT_TIME: Duration = Duration::from_millis(2);

/// Maximum number of look-ups of this node and of peers that wait for answers of other nodes.
pub const FINDS_MAX: usize = 1_024;

/// Maximum number of look-ups that a peer has open at this node, and this node at a peer.
pub const FINDS_PER_PEER_MAX: usize = 64;

/// Time for which a look-up with the answer that a transaction is pending waits for the others, one
/// of which may have it committed.
pub const PENDING_GRACE: Duration = Duration::from_millis(100);

/// Maximum number of connections that have not proved the key of a peer. Each takes about 40 KB.
pub const HANDSHAKES_MAX: usize = 64;

/// Maximum number of such connections of one address. All nodes of a development cluster have the
/// same address.
pub const HANDSHAKES_PER_ADDRESS_MAX: usize = 16;

/// Time after the first failed attempt to connect. It doubles with each.
pub const BACKOFF_MIN: Duration = Duration::from_millis(100);

/// Maximum time between two attempts to connect.
pub const BACKOFF_MAX: Duration = Duration::from_secs(2);

/// Time between two attempts to accept when the system has no free file descriptor.
pub const ACCEPT_RETRY: Duration = Duration::from_millis(100);

/// Time between two warnings about a peer, or about strangers.
pub const LOG_INTERVAL: Duration = Duration::from_secs(60);

/// Maximum number of names that wait for their addresses.
pub const NAMES_MAX: usize = 64;

/// Maximum number of addresses of a name that are tried.
pub const ADDRESSES_MAX: usize = 4;

/// Memory of a connection in the worst case, in bytes, if transactions have the default maximum of
/// 64 KiB: messages that wait to be sent, those that wait for the mempool, one that is read, one
/// that is decoded to ten times its length, and look-ups in both directions.
pub const CONNECTION_BYTES_MAX: usize = (OUTGOING_FRAMES_MAX + INCOMING_FRAMES_MAX + 1 + 10)
    * FRAME_BYTES
    + 2 * FINDS_PER_PEER_MAX * 64 * 1024;
