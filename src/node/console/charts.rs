//! The charts of the newest 15 minutes. The server renders each as a table of its series, which
//! the script extends by a drawing.

use super::figure::{Form, figure};
use crate::{
    observe::{History, SeriesHistory, Snapshot},
    tunable::Mark,
};
use maud::{Markup, html};

/// The groups of series, each a chart, with their headings.
const CHARTS: [(&str, &str); 14] = [
    ("throughput", "Throughput"),
    ("latency", "Submission to commit"),
    ("pool", "Pending transactions"),
    ("pool_age", "Pending by age"),
    ("pool_price", "Pending by gas price"),
    ("pool_time", "Time of the pool in blocks"),
    ("waits", "Waiting clients"),
    ("rejections", "Rejections"),
    ("blocks", "Blocks"),
    ("disk", "Disk writes"),
    ("disk_time", "Time of a sync"),
    ("memory", "Memory"),
    ("processor", "Processor"),
    ("height", "Height"),
];

/// Returns the charts. `whole` is the history in one point, and `changes` are marked in it.
pub fn charts(snapshot: &Snapshot, whole: &History, changes: &[Mark]) -> Markup {
    html! {
        @if !changes.is_empty() {
            details {
                summary { "Changed settings" }
                ul {
                    @for mark in changes {
                        li data-mark=(mark.unix_ms) {
                            time data-unix-ms=(mark.unix_ms) {} " "
                            (mark.key) " from " (mark.old) " to " (mark.new)
                        }
                    }
                }
            }
        }
        div.charts {
            @for (group, heading) in CHARTS {
                @let series = whole.series.iter().filter(|series| series.info.group == group);
                (chart(group, heading, &series.collect::<Vec<_>>(), snapshot))
            }
        }
    }
}

fn chart(group: &str, heading: &str, series: &[&SeriesHistory], snapshot: &Snapshot) -> Markup {
    html! {
        @if let Some(first) = series.first() {
            section.card.chart data-chart=(group) data-unit=(first.info.unit)
                aria-labelledby=(format!("chart-{group}")) {
                h3 id=(format!("chart-{group}")) { (heading) }
                table {
                    thead {
                        tr {
                            th scope="col" { "Series" }
                            th.number scope="col" { "Now" }
                            th.number scope="col" { "Maximum" }
                        }
                    }
                    tbody {
                        @for (index, series) in series.iter().enumerate() {
                            (row(index, series, snapshot))
                        }
                    }
                }
            }
        }
    }
}

fn row(index: usize, series: &SeriesHistory, snapshot: &Snapshot) -> Markup {
    let info = series.info;
    let form = Form::of_unit(info.unit);
    let mut values = snapshot.series.iter();
    let value = values.find(|value| value.name == info.name);
    let max = series.max.last().copied().flatten().map(f64::from);
    html! {
        tr data-series=(info.name) data-color=(index) {
            th scope="row" { span.key aria-hidden="true" {} (info.title) }
            td.number {
                (figure(&format!("series.{}.value", info.name), form, value.and_then(|value| value.value)))
            }
            td.number data-max { (form.text(max)) }
        }
    }
}
