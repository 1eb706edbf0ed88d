//! `/`: what limits the node, the flow of transactions through its stages, and the newest 15
//! minutes.

use super::{
    banners::banners,
    charts::charts,
    figure::{Form, figure, to_f64},
    flow::{beside, flow},
    layout::{Page, Section},
    stage_table::stage_table,
};
use crate::{
    access::Requester,
    admin::Admin,
    observe::{LimitKind, Snapshot},
};
use actix_web::{
    HttpResponse,
    http::StatusCode,
    web::{Data, ReqData},
};
use maud::{Markup, html};

/// `GET /`: responds with the overview.
pub async fn show(admin: Data<Admin>, requester: ReqData<Requester>) -> HttpResponse {
    let published = admin.observer.newest();
    let snapshot = &published.snapshot;
    let whole = admin.observer.history(0, 1);
    let page = Page {
        title: "Overview",
        section: Some(Section::Overview),
        requester: Some(&requester),
        banners: banners(&admin),
        content: html! {
            h1.visually-hidden { "Overview" }
            (limit(snapshot))
            section aria-labelledby="flow" {
                h2 #flow { "Flow of a transaction" }
                (flow(snapshot))
                h3.beside-heading { "Beside it" }
                (beside(snapshot))
            }
            section aria-labelledby="charts" {
                h2 #charts { "The newest 15 minutes" }
                (charts(snapshot, &whole, &admin.settings.changes()))
            }
            section.card aria-labelledby="stages" {
                h2 #stages { "All stages" }
                (stage_table(snapshot))
            }
        },
    };
    page.respond(StatusCode::OK)
}

/// Returns the sentence that names the limiting stage, and the use of the processor.
pub fn limit(snapshot: &Snapshot) -> Markup {
    let (limit, processor) = (&snapshot.limit, &snapshot.processor);
    html! {
        section.card.limit aria-labelledby="limit" data-limited[limit.kind != LimitKind::Clients] {
            h2 #limit { "What limits the node" }
            p.sentence #sentence { (limit.sentence) }
            p #remedy hidden[limit.remedy.is_empty()] { (remedy(&limit.remedy)) }
            p.visually-hidden #announcement role="status" {}
            p.muted {
                "Processor: "
                (figure("processor.busy_permille", Form::Permille, processor.busy_permille.map(to_f64)))
                " of " (processor.cores) " cores; threads wait for a core: "
                (figure("processor.core_wait_permille", Form::Permille, processor.core_wait_permille.map(to_f64)))
                ". Committed: "
                (series(snapshot, "committed", Form::PerSecond))
                ". Submission to commit, 99th percentile: "
                (series(snapshot, "latency_p99", Form::Micros))
                ". Height "
                (figure("height", Form::Count, Some(to_f64(snapshot.height))))
                ", version "
                (figure("version", Form::Count, Some(to_f64(snapshot.version))))
                "."
            }
        }
    }
}

/// Returns what helps, with a link to each setting: their keys are between backticks.
fn remedy(text: &str) -> Markup {
    html! {
        "What helps: "
        @for (index, part) in text.split('`').enumerate() {
            @if index % 2 == 1 {
                a href=(format!("/console/settings#{part}")) { code { (part) } }
            } @else {
                (part)
            }
        }
    }
}

fn series(snapshot: &Snapshot, name: &str, form: Form) -> Markup {
    let value = snapshot.series.iter().find(|value| value.name == name);
    let value = value.and_then(|value| value.value);
    figure(&format!("series.{name}.value"), form, value)
}
