//! `/`: the state of the node at a glance.

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

/// `GET /`: responds with the overview.
pub async fn show(admin: Data<Admin>, requester: ReqData<Requester>) -> HttpResponse {
    let page = Page {
        title: "Overview",
        section: Some(Section::Overview),
        requester: Some(&requester),
        banners: html! {},
        content: html! {
            h1 { "Overview" }
            (health(&checks(&admin)))
            (actors(&admin))
        },
    };
    page.respond(StatusCode::OK)
}

/// Returns the table of the checks.
fn health(checks: &[Check]) -> Markup {
    html! {
        section.card aria-labelledby="health" {
            h2 #health { "Health" }
            div.scroll tabindex="0" role="region" aria-labelledby="health" {
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

/// Returns the table of the actors.
fn actors(admin: &Admin) -> Markup {
    html! {
        section.card aria-labelledby="actors" {
            h2 #actors { "Actors" }
            div.scroll tabindex="0" role="region" aria-labelledby="actors" {
                table {
                    thead {
                        tr {
                            th scope="col" { "Actor" }
                            th scope="col" { "Thread" }
                            th.number scope="col" { "Waiting" }
                            th.number scope="col" { "Capacity" }
                            th.number scope="col" { "Handled" }
                            th.number scope="col" { "Rejected" }
                            th.number scope="col" { "Busy" }
                        }
                    }
                    tbody {
                        @for mailbox in admin.node.mailboxes() {
                            tr {
                                th scope="row" { (mailbox.actor) }
                                td { (mailbox.thread) }
                                td.number { (mailbox.depth) }
                                td.number { (mailbox.capacity) }
                                td.number { (mailbox.handled) }
                                td.number { (mailbox.refused) }
                                td.number { (percent(mailbox.busy_permille)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Formats thousandths as a percentage.
fn percent(permille: u64) -> String {
    format!("{}.{} %", permille / 10, permille % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_thousandths_as_a_percentage() {
        assert_eq!(percent(0), "0.0 %");
        assert_eq!(percent(987), "98.7 %");
        assert_eq!(percent(1_000), "100.0 %");
    }
}
