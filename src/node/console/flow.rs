//! The flow diagram: the way of a transaction through the stages, and the stages beside it.
//!
//! The diagram is a list of cards that the style sheet arranges as a loop from the clients back to
//! them, and as a column on a narrow screen. So a screen reader reads the stages in their order.

use super::figure::{Form, bar, figure, to_f64};
use crate::observe::{Edge, Queue, Snapshot, Stage};
use maud::{Markup, html};

/// The stages on the way of a transaction, with the edge that leaves each: the side of the card on
/// which it is drawn, its sender and its receiver.
const PATH: [(&str, &str, [&str; 2]); 9] = [
    ("http", "right", ["http", "signature-check"]),
    // An HTTP worker sends a transaction whose signature is right.
    ("signature-check", "right", ["http", "mempool"]),
    ("mempool", "right", ["mempool", "pool"]),
    ("pool", "right", ["pool", "sequencer"]),
    ("sequencer", "down", ["sequencer", "executor"]),
    ("executor", "left", ["executor", "store-writer"]),
    ("store-writer", "left", ["store-writer", "committer"]),
    ("committer", "left", ["committer", "waits"]),
    ("waits", "left", ["waits", "clients"]),
];

/// Returns the diagram.
pub fn flow(snapshot: &Snapshot) -> Markup {
    let stage = |name| snapshot.stages.iter().find(|stage| stage.name == name);
    let limit = snapshot.limit.stage;
    html! {
        ol.flow {
            li.stage.at-clients {
                h3 { "Clients" }
                p.muted { "sign and send transactions, read, and wait" }
                (arrow(snapshot, "up", ["clients", "http"]))
            }
            @for (name, side, edge) in PATH {
                @if let Some(stage) = stage(name) {
                    (card(stage, limit, &html! { (arrow(snapshot, side, edge)) }))
                }
            }
        }
    }
}

/// Returns the cards of the stages beside the way of a transaction: readers, pruner, and the engine
/// and the peers of a chain of several validators.
pub fn beside(snapshot: &Snapshot) -> Markup {
    let is_beside = |stage: &&Stage| PATH.iter().all(|(name, ..)| *name != stage.name);
    let stages: Vec<_> = snapshot.stages.iter().filter(is_beside).collect();
    let has_card = |name| stages.iter().any(|stage| stage.name == name);
    html! {
        ul.beside {
            @for stage in &stages {
                (card(stage, snapshot.limit.stage, &html! {
                    @for edge in &snapshot.edges {
                        @if edge.to == stage.name {
                            p.source { "from " (edge.from) " " (rate(edge)) " " (edge.unit) }
                        } @else if edge.from == stage.name && !has_card(edge.to) {
                            p.source { "to " (edge.to) " " (rate(edge)) " " (edge.unit) }
                        }
                    }
                }))
            }
        }
    }
}

/// Returns the card of a stage, which is marked if it is the limiting one.
fn card(stage: &Stage, limit: Option<&str>, edges: &Markup) -> Markup {
    let path = format!("stages.{}", stage.name);
    let is_limit = limit == Some(stage.name);
    html! {
        li class=(format!("stage at-{}", stage.name)) data-stage=(stage.name)
            data-limit[is_limit] {
            h3 { (stage.title) }
            p.badge.bad hidden[!is_limit] { "Limit" }
            @if stage.threads > 0 {
                p.line {
                    span { "busy" }
                    (figure(&format!("{path}.busy_permille"), Form::Permille, stage.busy_permille.map(to_f64)))
                }
                (bar(&format!("{path}.busy_permille"), stage.busy_permille))
            }
            @if let Some(queue) = &stage.queue {
                (fill(&format!("{path}.queue"), queue))
            }
            p.line.rejected data-if=(format!("{path}.rejected_per_s"))
                hidden[stage.rejected_per_s.is_none_or(|per_s| per_s == 0.0)] {
                span { "rejected" }
                (figure(&format!("{path}.rejected_per_s"), Form::PerSecond, stage.rejected_per_s))
            }
            (edges)
        }
    }
}

/// Returns what waits in a queue, beside its capacity.
fn fill(path: &str, queue: &Queue) -> Markup {
    let permille = queue.capacity.map(|capacity| {
        let waiting = u128::from(queue.waiting.min(capacity));
        // At most 1,000.
        (waiting * 1_000 / u128::from(capacity.max(1))) as u64
    });
    html! {
        p.line {
            span { (queue.unit) }
            span {
                (figure(&format!("{path}.waiting"), Form::Count, Some(to_f64(queue.waiting))))
                @if let Some(capacity) = queue.capacity {
                    " of "
                    (figure(&format!("{path}.capacity"), Form::Count, Some(to_f64(capacity))))
                }
            }
        }
        @if queue.capacity.is_some() {
            (bar(&format!("{path}.fill_permille"), permille))
        }
    }
}

/// Returns the arrow to the next stage, with the rate of its messages.
fn arrow(snapshot: &Snapshot, side: &str, [from, to]: [&str; 2]) -> Markup {
    let mut edges = snapshot.edges.iter();
    let edge = edges.find(|edge| edge.from == from && edge.to == to);
    html! {
        @if let Some(edge) = edge {
            p class=(format!("edge {side}")) {
                span.visually-hidden { "sends to " (to) ": " }
                (rate(edge))
                " "
                span.unit { (edge.unit) }
            }
        }
    }
}

fn rate(edge: &Edge) -> Markup {
    let path = format!("edges.{}>{}.per_s", edge.from, edge.to);
    figure(&path, Form::PerSecond, edge.per_s)
}
