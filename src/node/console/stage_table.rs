//! The table of all stages, with the figures that the cards of the diagram leave out.

use super::figure::{Form, figure, to_f64};
use crate::observe::{Snapshot, Stage};
use maud::{Markup, html};

/// A column: heading, field of a stage, form, and value.
type Column = (&'static str, &'static str, Form, fn(&Stage) -> Option<f64>);

const COLUMNS: [Column; 9] = [
    ("Busy", "busy_permille", Form::Permille, |stage| {
        stage.busy_permille.map(to_f64)
    }),
    (
        "Waits for a core",
        "core_wait_permille",
        Form::Permille,
        |stage| stage.core_wait_permille.map(to_f64),
    ),
    ("In", "in_per_s", Form::PerSecond, |stage| stage.in_per_s),
    ("Out", "out_per_s", Form::PerSecond, |stage| stage.out_per_s),
    ("Waiting", "queue.waiting", Form::Count, |stage| {
        stage.queue.map(|queue| to_f64(queue.waiting))
    }),
    ("Oldest", "queue.oldest_ms", Form::Millis, |stage| {
        stage.queue?.oldest_ms.map(to_f64)
    }),
    (
        "In queue p50",
        "queue.waited_p50_us",
        Form::Micros,
        |stage| stage.queue?.waited_p50_us.map(to_f64),
    ),
    ("p99", "queue.waited_p99_us", Form::Micros, |stage| {
        stage.queue?.waited_p99_us.map(to_f64)
    }),
    ("Rejected", "rejected_per_s", Form::PerSecond, |stage| {
        stage.rejected_per_s
    }),
];

/// Returns the table.
pub fn stage_table(snapshot: &Snapshot) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Table of all stages" {
            table {
                thead {
                    tr {
                        th scope="col" { "Stage" }
                        th.number scope="col" { "Threads" }
                        @for (heading, ..) in COLUMNS {
                            th.number scope="col" { (heading) }
                        }
                    }
                }
                tbody {
                    @for stage in &snapshot.stages {
                        tr data-stage=(stage.name) {
                            th scope="row" { (stage.title) }
                            td.number { (stage.threads) }
                            @for (_, field, form, value) in COLUMNS {
                                td.number {
                                    (figure(&format!("stages.{}.{field}", stage.name), form, value(stage)))
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
