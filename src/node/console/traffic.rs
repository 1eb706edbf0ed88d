//! `/console/traffic`: the heaviest clients, what is denied, and the switches of the interface.
//!
//! The script requests the page again each second and replaces the part with the figures.

use super::{
    banners::{banners, since},
    figure::{Form, to_f64},
    layout::{Page, Section},
    settings::{TRIAL_SECS, first_sentence},
};
use crate::{
    access::Requester,
    admin::{Admin, KindStatus, TrafficRow, TrafficStatus, switch_positions, traffic},
    config::SETTINGS,
};
use actix_web::{
    HttpResponse,
    http::StatusCode,
    web::{Data, ReqData},
};
use ledger_actors::SubmissionFilter;
use maud::{Markup, html};
use serde_json::{Value, json};

/// Maximum number of rules that the page shows. `GET /filter` has all.
const RULES_MAX: usize = 100;

/// The kinds of the heaviest, in the order of the page.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Addresses,
    Senders,
    Functions,
}

impl Kind {
    /// Returns the kind's status.
    fn of(self, traffic: &TrafficStatus) -> &KindStatus {
        match self {
            Self::Addresses => &traffic.addresses,
            Self::Senders => &traffic.senders,
            Self::Functions => &traffic.functions,
        }
    }

    /// Returns the heading.
    fn heading(self) -> &'static str {
        match self {
            Self::Addresses => "Client addresses",
            Self::Senders => "Senders of transactions",
            Self::Functions => "Called functions",
        }
    }

    /// Returns the member of a denial.
    fn member(self) -> &'static str {
        match self {
            Self::Addresses => "address",
            Self::Senders => "sender",
            Self::Functions => "function",
        }
    }

    /// Returns what a denial of `name` rejects.
    fn consequence(self, name: &str) -> String {
        match self {
            Self::Addresses => format!("Every request from {name} below /v1 is 403."),
            Self::Senders => format!("Every submission of {name} is 403."),
            Self::Functions => format!(
                "Every submission that calls {name} is 403. Views and simulations continue."
            ),
        }
    }
}

/// `GET /console/traffic`: responds with the heaviest clients, the denials and the switches.
pub async fn show(admin: Data<Admin>, requester: ReqData<Requester>) -> HttpResponse {
    let status = traffic(&admin);
    let page = Page {
        title: "Traffic",
        section: Some(Section::Traffic),
        requester: Some(&requester),
        banners: banners(&admin),
        content: html! {
            h1 { "Traffic" }
            div #traffic {
                @for kind in [Kind::Addresses, Kind::Senders, Kind::Functions] {
                    (heaviest(kind, kind.of(&status)))
                }
                (rules(&admin.node.filter(), &status.denied_addresses))
            }
            (switches(&admin))
            (question())
        },
    };
    page.respond(StatusCode::OK)
}

/// Returns the table of the heaviest of one kind.
fn heaviest(kind: Kind, status: &KindStatus) -> Markup {
    let member = kind.member();
    html! {
        section.card aria-labelledby=(member) data-kind=(member) {
            h2 id=(member) { (kind.heading()) }
            p.muted {
                "All: " (Form::PerSecond.text(Some(status.total.requests_per_s))) ", "
                (Form::PerSecond.text(Some(status.total.rejected_per_s))) " rejected, "
                (work(status.total.work_ms_per_s)) " of work. Estimated over the last 10 s."
            }
            @if status.rows.is_empty() {
                p { "None in the last seconds." }
            } @else {
                div.scroll tabindex="0" role="region" aria-label=(format!("Table of {member}")) {
                    table {
                        thead {
                            tr {
                                th scope="col" { (kind.heading()) }
                                th.number scope="col" { "Share of work" }
                                th.number scope="col" { "Work" }
                                th.number scope="col" { "Requests" }
                                th.number scope="col" { "Rejected" }
                                th scope="col" { span.visually-hidden { "Action" } }
                            }
                        }
                        tbody {
                            @for row in &status.rows { (client(kind, row)) }
                        }
                    }
                }
            }
        }
    }
}

fn client(kind: Kind, row: &TrafficRow) -> Markup {
    let rates = &row.rates;
    html! {
        tr data-name=(row.name) {
            th scope="row" {
                code { (row.name) }
                @if row.is_denied { " " span.badge.bad { "denied" } }
            }
            td.number { (Form::Permille.text(Some(to_f64(row.share_permille)))) }
            td.number { (work(rates.work_ms_per_s)) }
            td.number { (Form::PerSecond.text(Some(rates.requests_per_s))) }
            td.number { (Form::PerSecond.text(Some(rates.rejected_per_s))) }
            td { (denial(kind, row)) }
        }
    }
}

/// Writes the time of work in a second.
fn work(ms_per_s: f64) -> String {
    format!("{}/s", Form::Millis.text(Some(ms_per_s)))
}

/// Returns the button that denies a client, or takes the denial back.
fn denial(kind: Kind, row: &TrafficRow) -> Markup {
    let (member, name) = (kind.member(), &row.name);
    let body = json!({ member: name });
    match row.is_denied {
        true => button("Allow", &allow(&format!("{member} {name}"), &body)),
        false => button(
            "Deny…",
            &Question {
                title: format!("Deny {member} {name}?"),
                text: kind.consequence(name),
                method: "POST",
                path: "/traffic/deny",
                body,
                needs_reason: false,
            },
        ),
    }
}

/// Returns the question before a denial is taken back.
fn allow(what: &str, body: &Value) -> Question {
    Question {
        title: format!("Allow {what} again?"),
        text: "Further requests are accepted.".to_owned(),
        method: "POST",
        path: "/traffic/allow",
        body: body.clone(),
        needs_reason: false,
    }
}

/// A change that the operator confirms in a dialog.
struct Question {
    title: String,
    /// The consequence.
    text: String,
    method: &'static str,
    path: &'static str,
    body: Value,
    needs_reason: bool,
}

/// Returns a button that asks the question. The style sheet shows it if there is a script.
fn button(label: &str, question: &Question) -> Markup {
    let data = json!({
        "title": question.title,
        "text": question.text,
        "method": question.method,
        "path": question.path,
        "body": question.body,
        "needsReason": question.needs_reason,
    });
    html! {
        button.quiet type="button" data-ask=(data) aria-haspopup="dialog" {
            (label) span.visually-hidden { " " (question.title) }
        }
    }
}

/// Returns the rules of the filter with their hits, and the denied addresses.
fn rules(filter: &SubmissionFilter, denied_addresses: &[String]) -> Markup {
    let rules = filter.rules();
    let shown = rules.iter().zip(filter.hits()).take(RULES_MAX);
    html! {
        section.card aria-labelledby="rules" {
            h2 #rules { "Denied addresses and rules of the submission filter" }
            @if denied_addresses.is_empty() && rules.is_empty() {
                p { "None." }
            } @else {
                p.muted {
                    "The first rule that matches a submission decides. Hits count since the rule "
                    "is in force."
                }
                div.scroll tabindex="0" role="region" aria-label="Table of rules" {
                    table {
                        thead {
                            tr {
                                th scope="col" { "Rule" }
                                th.number scope="col" { "Hits" }
                                th scope="col" { span.visually-hidden { "Action" } }
                            }
                        }
                        tbody {
                            @for network in denied_addresses {
                                @let text = format!("deny address {network}");
                                (rule(&text, None, json!({ "address": network })))
                            }
                            @for (of_filter, hits) in shown {
                                @let text = of_filter.to_string();
                                (rule(&text, Some(hits), json!({ "rule": text })))
                            }
                        }
                    }
                }
                @if rules.len() > RULES_MAX {
                    p.muted {
                        "And " (rules.len() - RULES_MAX) " more: "
                        code { "GET /filter" } " has all."
                    }
                }
            }
        }
    }
}

/// Returns the row of a rule. `body` is that of the request that removes it.
fn rule(text: &str, hits: Option<u64>, body: Value) -> Markup {
    let remove = Question {
        title: format!("Remove {text}?"),
        text: "The following rules decide instead.".to_owned(),
        method: "POST",
        path: "/traffic/allow",
        body,
        needs_reason: false,
    };
    html! {
        tr data-rule=(text) {
            th scope="row" { code { (text) } }
            td.number { (Form::Count.text(hits.map(to_f64))) }
            td { (button("Remove", &remove)) }
        }
    }
}

/// Returns the switches of the interface.
fn switches(admin: &Admin) -> Markup {
    html! {
        section.card aria-labelledby="switches" {
            h2 #switches { "Switches of the interface" }
            div.scroll tabindex="0" role="region" aria-label="Table of switches" {
                table {
                    thead {
                        tr {
                            th scope="col" { "Switch" }
                            th scope="col" { "State" }
                            th scope="col" { "Effect" }
                            th scope="col" { span.visually-hidden { "Action" } }
                        }
                    }
                    tbody {
                        @for (key, is_on) in switch_positions(admin.api.switches.settings()) {
                            tr data-switch=(key) {
                                th scope="row" { code { (key) } }
                                td {
                                    @if is_on {
                                        span.badge.ok { "on" }
                                    } @else {
                                        span.badge.bad { "off" }
                                        (since(admin.settings.newest_change(key).as_ref()))
                                    }
                                }
                                td { (effect(key)) }
                                td { (switch(key, is_on)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn effect(key: &str) -> &'static str {
    let setting = SETTINGS.iter().find(|setting| setting.key == key);
    setting.map_or("", |setting| first_sentence(setting.reason))
}

fn switch(key: &str, is_on: bool) -> Markup {
    let position = if is_on { "off" } else { "on" };
    let label = if is_on { "Turn off…" } else { "Turn on…" };
    button(
        label,
        &Question {
            title: format!("Turn {key} {position}?"),
            text: effect(key).to_owned(),
            method: "PATCH",
            path: "/settings",
            body: json!({ "set": { key: !is_on } }),
            needs_reason: is_on,
        },
    )
}

/// Returns the dialog that the script fills with a question.
fn question() -> Markup {
    html! {
        dialog #ask aria-labelledby="ask-title" {
            h2 #ask-title {}
            p #ask-text {}
            form #ask-form {
                label for="ask-reason" { "Reason, for the log and the banner" }
                input #ask-reason name="reason" maxlength="200" autocomplete="off";
                div.actions {
                    button type="submit" data-revert-after-secs=(TRIAL_SECS) { "For 5 minutes" }
                    button type="submit" { "Until undone" }
                    button.quiet type="button" data-ask-cancel { "Cancel" }
                }
            }
        }
    }
}
