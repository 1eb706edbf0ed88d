//! Metrics of the relay, which carries transactions between nodes. A chain of one node has none.

use super::family::{Families, Title};
use ledger_actors::NodeHandle;

/// Appends the metrics of the relay.
pub fn collect(node: &NodeHandle, families: &mut Families) {
    let Some(report) = node.relay_report() else {
        return;
    };
    families.gauge(PEERS).sample(&[], report.peers as f64);
    families
        .gauge(PEERS_CONFIGURED)
        .sample(&[], report.peers_configured as f64);
    let mut sent = families.counter(SENT);
    for (outcome, count) in [("sent", report.sent), ("unsent", report.unsent)] {
        sent.sample(&[("outcome", outcome)], count as f64);
    }
    let mut received = families.counter(RECEIVED);
    for (outcome, count) in [
        ("added", report.received.added),
        ("known", report.received.known),
        ("rejected", report.received.rejected),
        ("refused", report.received.refused),
    ] {
        received.sample(&[("outcome", outcome)], count as f64);
    }
    let mut lookups = families.counter(LOOKUPS);
    for (direction, count) in [("asked", report.answers), ("answered", report.questions)] {
        lookups.sample(&[("direction", direction)], count as f64);
    }
    families
        .counter(VIOLATIONS)
        .sample(&[], report.violations as f64);
}

const PEERS: Title = (
    "ledger_relay_peers",
    "Number of nodes with a connection for transactions.",
);

const PEERS_CONFIGURED: Title = (
    "ledger_relay_peers_configured",
    "Number of nodes that are to have one (peers.toml).",
);

const SENT: Title = (
    "ledger_relay_sent_transactions_total",
    "Transactions of clients for other nodes, once for each: sent, or unsent because the node was \
     not connected or its queue was full. They are offered again while they are pending.",
);

const RECEIVED: Title = (
    "ledger_relay_received_transactions_total",
    "Transactions of other nodes: added to the mempool, known already, rejected as invalid, or \
     refused because the mempool or a queue was full.",
);

const LOOKUPS: Title = (
    "ledger_relay_lookups_total",
    "Look-ups of a transaction that other nodes answered, and those of other nodes.",
);

const VIOLATIONS: Title = (
    "ledger_relay_violations_total",
    "Messages of other nodes that broke the protocol. Each closed a connection.",
);
