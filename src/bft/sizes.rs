//! Limits that no operator changes, and their reasons.

use std::time::Duration;

/// Maximum number of decided blocks in a response to a peer. A peer that has fallen behind requests
/// several responses at a time, so more blocks per response only lengthen the wait of others.
pub const SYNC_BATCH_BLOCKS: usize = 20;

/// Maximum number of requests of decided blocks that this node has open at its peers.
pub const SYNC_PARALLEL_REQUESTS: usize = 4;

/// Maximum number of requests of a peer within [`SYNC_WINDOW`]: ten times the rate at which a peer
/// that catches up sends them at 100 blocks per second.
pub const SYNC_REQUESTS_PER_WINDOW: u32 = 500;

/// Time over which requests of a peer are counted.
pub const SYNC_WINDOW: Duration = Duration::from_secs(10);

/// Maximum number of requests of peers that are answered at a time. A node reads blocks from one
/// disk, so more would only delay each other.
pub const SYNC_CONCURRENT_REQUESTS: usize = 8;

/// Maximum number of requests of peers that wait for an answer.
pub const SYNC_PENDING_REQUESTS: usize = 16;

/// Time after which a request at a peer is sent to another.
pub const SYNC_REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// Time between two messages that state this node's height to its peers. A node that missed a block
/// finds out by them, so it is about the time that an operator accepts for that.
pub const STATUS_INTERVAL: Duration = Duration::from_secs(2);

/// Time after its last statement for which a validator is in contact: five statements.
pub const CONTACT_AGE_MAX: Duration = Duration::from_secs(10);

/// Time after the start of the engine within which a stated height may be of before the start: the
/// network repeats messages of the last 5 s.
pub const STATUS_AGE_MAX: Duration = Duration::from_secs(10);

/// Maximum length of a request of decided blocks: two heights.
pub const SYNC_REQUEST_BYTES_MAX: usize = 1024;

/// Bytes of a response beside its blocks: certificates with the signatures of 100 validators.
pub const SYNC_OVERHEAD_BYTES: usize = SYNC_BATCH_BLOCKS * 12 * 1024;

/// Smallest limit of a response, so that chains of small blocks have several in each.
pub const SYNC_RESPONSE_BYTES_MIN: usize = 4 << 20;

/// Maximum number of connections from one IP address: several nodes may run on a machine.
pub const CONNECTIONS_PER_IP_MAX: usize = 64;

/// Maximum number of peers that are admitted between two starts: the engine sizes its limits of
/// connections at its start, and a stranger may open as many more.
pub const ADMITTED_PEERS_MAX: usize = 16;

/// Time between the end of a connection from an IP address and the next one, unless this node dials
/// a peer with the address. A longer time would delay the return of peers that dial this node.
pub const RECONNECT_INTERVAL: Duration = Duration::from_millis(100);

/// Maximum number of connections with a peer. The broadcast announces what a node receives on the
/// first connection of a pair only. If the side that dials has closed the last one and the other has
/// not, as after a partition of one direction, a second connection would lack the announcement, and
/// the side that dials would never send a vote. So it is closed until the older one is.
pub const CONNECTIONS_PER_PEER_MAX: usize = 1;

/// Maximum number of heights above its own for which the engine keeps messages. Peers that are
/// further ahead have decided blocks, which the node requests.
pub const QUEUED_HEIGHTS_MAX: usize = 10;

/// Maximum number of messages that the engine keeps for a later height: the votes of two rounds of
/// 100 validators, and their proposals.
pub const QUEUED_MESSAGES_PER_HEIGHT_MAX: usize = 500;

/// Time within which the node replies to a request that the engine waits for and that has a safe
/// answer.
pub const REPLY_TIMEOUT: Duration = Duration::from_secs(5);

/// Time within which the node states the first height. It has executed all decided blocks before.
pub const READY_TIMEOUT: Duration = Duration::from_secs(60);

/// Time within which a write of the node is durable. A disk that takes longer has failed.
pub const WRITE_TIMEOUT: Duration = Duration::from_secs(60);

/// Maximum number of replies for received blocks that the adapter waits for at a time. Above it,
/// a block is dropped as if it was lost on its way.
pub const BLOCKS_IN_CHECK_MAX: usize = 16;

/// Time within which the engine listens, and within which it stops.
pub const START_TIMEOUT: Duration = Duration::from_secs(15);

/// Time between two looks at the state of engine and network.
pub const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Time within which engine and network state what they do. Later they count as stalled.
pub const POLL_TIMEOUT: Duration = Duration::from_secs(5);
