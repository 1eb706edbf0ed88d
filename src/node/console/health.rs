//! `/console/health`: the checks of the node, and its build.

use super::layout::{Page, Section};
use crate::{
    access::Requester,
    admin::{Admin, Check, checks},
};
use actix_web::{
    HttpResponse,
    http::StatusCode,
    web::{Data, ReqData},
};
use maud::{Markup, html};

/// `GET /console/health`: responds with the checks.
pub async fn show(admin: Data<Admin>, requester: ReqData<Requester>) -> HttpResponse {
    let page = Page {
        title: "Health",
        section: Some(Section::Health),
        requester: Some(&requester),
        banners: html! {},
        content: html! {
            h1 { "Health" }
            (table(&checks(&admin)))
            p.muted {
                "Probes without a token: " code { "/livez" } " and " code { "/readyz" }
                ", with " code { "?verbose" } " each check by its name."
            }
        },
    };
    page.respond(StatusCode::OK)
}

/// Returns the table of the checks.
fn table(checks: &[Check]) -> Markup {
    html! {
        div.card {
            div.scroll tabindex="0" role="region" aria-label="Checks" {
                table {
                    thead {
                        tr {
                            th scope="col" { "Check" }
                            th scope="col" { "State" }
                            th scope="col" { "Condition" }
                        }
                    }
                    tbody {
                        @for check in checks {
                            tr {
                                th scope="row" { (check.name) }
                                td { (badge(check.ok)) }
                                td {
                                    (check.condition)
                                    @if let Some(problem) = &check.problem {
                                        p.error { (problem) }
                                        p { (check.remedy) }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the state of a check in one word.
fn badge(ok: bool) -> Markup {
    match ok {
        true => html! { span.badge.ok { "ok" } },
        false => html! { span.badge.bad { "failed" } },
    }
}
