//! The messages between stages. The list of edges is fixed; the counters of the stages and of the
//! kinds of messages give the numbers.

use super::{
    reading::Reading,
    snapshot::{Edge, Stage},
    stages::Interval,
};

/// Kinds of messages of an actor, by their labels.
#[derive(Clone, Copy)]
struct Messages {
    actor: &'static str,
    labels: &'static [&'static str],
}

/// The source of the number of an edge.
#[derive(Clone, Copy)]
enum Count {
    /// Messages that an actor has handled.
    Handled(Messages),
    /// Jobs or transactions that arrived at a stage, and its queue.
    ArrivedAt(&'static str),
    /// Jobs or transactions that a stage has done.
    DoneBy(&'static str),
    /// Waits of clients that ended.
    WaitsEnded,
}

const fn handled(actor: &'static str, labels: &'static [&'static str]) -> Count {
    Count::Handled(Messages { actor, labels })
}

/// An edge: sender, receiver, unit, and source of its number.
type Row = (&'static str, &'static str, &'static str, Count);

/// The edges of every node.
const EDGES: [Row; 19] = [
    ("clients", "http", "requests", Count::ArrivedAt("http")),
    (
        "http",
        "signature-check",
        "transactions",
        Count::ArrivedAt("signature-check"),
    ),
    (
        "http",
        "mempool",
        "requests",
        handled(
            "mempool",
            &[
                "submit",
                "check_capacity",
                "get_pending",
                "are_pending",
                "get_gas_price",
            ],
        ),
    ),
    ("mempool", "pool", "transactions", Count::ArrivedAt("pool")),
    (
        "pool",
        "sequencer",
        "batches",
        handled("sequencer", &["batch"]),
    ),
    (
        "sequencer",
        "executor",
        "blocks",
        Count::ArrivedAt("executor"),
    ),
    (
        "executor",
        "store-writer",
        "blocks",
        Count::ArrivedAt("store-writer"),
    ),
    (
        "store-writer",
        "committer",
        "groups",
        handled("committer", &["blocks_durable"]),
    ),
    (
        "committer",
        "mempool",
        "blocks",
        handled("mempool", &["block_committed"]),
    ),
    (
        "http",
        "waits",
        "waits",
        handled("committer", &["subscribe", "subscribe_version"]),
    ),
    ("committer", "waits", "waits", Count::WaitsEnded),
    ("waits", "clients", "responses", Count::WaitsEnded),
    ("http", "storage", "reads", handled("storage", &["read"])),
    (
        "storage",
        "point-reader",
        "reads",
        Count::DoneBy("point-reader"),
    ),
    (
        "storage",
        "store-reader",
        "reads",
        Count::DoneBy("store-reader"),
    ),
    ("http", "renderer", "jobs", Count::DoneBy("renderer")),
    (
        "store-reader",
        "store-applier",
        "requests",
        Count::DoneBy("store-applier"),
    ),
    (
        "committer",
        "pruner",
        "blocks",
        handled("pruner", &["block_committed"]),
    ),
    (
        "pruner",
        "store-writer",
        "steps",
        handled("pruner", &["prune_done"]),
    ),
];

/// The edges that a chain of several validators adds.
const ENGINE_EDGES: [Row; 4] = [
    (
        "sequencer",
        "consensus-log",
        "jobs",
        Count::DoneBy("consensus-log"),
    ),
    (
        "consensus",
        "sequencer",
        "requests",
        handled("sequencer", &["engine_request"]),
    ),
    ("peers", "relay", "transactions", Count::ArrivedAt("relay")),
    ("relay", "peers", "transactions", Count::DoneBy("relay")),
];

/// Returns the edges with their numbers.
pub(super) fn edges(interval: &Interval<'_>, stages: &[Stage]) -> Vec<Edge> {
    let with_engine = interval.now.engine.is_some();
    let engine = ENGINE_EDGES.iter().filter(|_| with_engine);
    let rows = EDGES.iter().chain(engine);
    rows.map(|&(from, to, unit, count)| Edge {
        from,
        to,
        unit,
        per_s: per_s(interval, stages, count),
        waiting: match count {
            Count::ArrivedAt(name) | Count::DoneBy(name) => {
                let queue = stage(stages, name).and_then(|stage| stage.queue);
                queue.map(|queue| queue.waiting)
            }
            Count::Handled(_) | Count::WaitsEnded => None,
        },
    })
    .collect()
}

fn stage<'s>(stages: &'s [Stage], name: &str) -> Option<&'s Stage> {
    stages.iter().find(|stage| stage.name == name)
}

fn per_s(interval: &Interval<'_>, stages: &[Stage], count: Count) -> Option<f64> {
    match count {
        Count::Handled(messages) => {
            Some(interval.per_s(|reading| handled_messages(reading, messages)))
        }
        Count::ArrivedAt(name) => stage(stages, name)?.in_per_s,
        Count::DoneBy(name) => stage(stages, name)?.out_per_s,
        Count::WaitsEnded => stage(stages, "waits")?.out_per_s,
    }
}

fn handled_messages(reading: &Reading, messages: Messages) -> u64 {
    let mailbox = reading
        .mailboxes
        .iter()
        .find(|mailbox| mailbox.actor == messages.actor);
    let count = |label| mailbox.and_then(|mailbox| mailbox.handled_by_kind.get(label));
    messages.labels.iter().copied().filter_map(count).sum()
}
