//! `/console/settings`: all settings, and changes of those that apply while the node runs.
//!
//! Without the script the page is a table. The script shows the controls, which are hidden in the
//! document, and loads the page again after each change.

use super::{
    banners::{banners, changes},
    figure::{Form, figure, to_f64},
    layout::{Page, Section},
    overview::limit,
};
use crate::{
    access::Requester,
    admin::{Admin, settings_report},
    config::{Applies, Value},
    observe::{Snapshot, Stage},
    tunable::{MemoryStatus, SettingStatus, SettingsReport},
};
use actix_web::{
    HttpResponse,
    http::StatusCode,
    web::{Data, ReqData},
};
use maud::{Markup, html};

/// Seconds after which a change that is tried returns unless it is confirmed.
pub const TRIAL_SECS: u64 = 300;

/// `GET /console/settings`: responds with the settings.
pub async fn show(admin: Data<Admin>, requester: ReqData<Requester>) -> HttpResponse {
    let report = settings_report(&admin);
    let published = admin.observer.newest();
    let page = Page {
        title: "Settings",
        section: Some(Section::Settings),
        requester: Some(&requester),
        banners: banners(&admin),
        content: html! {
            h1 { "Settings" }
            (limit(&published.snapshot))
            (state(&report))
            (run_time(&report, &published.snapshot))
            (others(&report))
            dialog #keep aria-labelledby="keep-heading" {
                h2 #keep-heading { "Keep after a restart" }
                p { "The change of " code { "overrides.toml" } " in the data directory:" }
                pre #keep-diff {}
                div.actions {
                    button type="button" data-keep-write { "Keep" }
                    button.quiet type="button" data-keep-cancel { "Cancel" }
                }
            }
        },
    };
    page.respond(StatusCode::OK)
}

/// Returns the memory limits and the newest changes.
fn state(report: &SettingsReport) -> Markup {
    html! {
        section.card aria-labelledby="state" {
            h2 #state { "Memory and changes" }
            (memory(&report.memory))
            @if let Some(undo) = &report.undo {
                div.actions {
                    span { "Newest change: " (changes(&undo.settings)) ", by " (undo.author) "." }
                    button.quiet type="button" data-post="/settings/undo" hidden { "Undo" }
                }
            }
            @if !report.changes.is_empty() {
                details {
                    summary { "All changes since the start" }
                    ul {
                        @for mark in &report.changes {
                            li {
                                time data-unix-ms=(mark.unix_ms) {}
                                " " code { (mark.key) } " from " (mark.old) " to " (mark.new)
                                " (" (format!("{:?}", mark.cause).to_lowercase()) ", " (mark.author) ")"
                                @if let Some(reason) = &mark.reason { ": " q { (reason) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn memory(memory: &MemoryStatus) -> Markup {
    let bytes = |bytes: u64| Form::Bytes.text(Some(to_f64(bytes)));
    html! {
        p {
            "The limits allow " (bytes(memory.limit_bytes)) " of memory in all"
            @if let Some(machine_bytes) = memory.machine_bytes {
                ", and the machine has " (bytes(machine_bytes))
            }
            ". Usual loads take far less."
        }
    }
}

/// Returns the settings that change while the node runs.
fn run_time(report: &SettingsReport, snapshot: &Snapshot) -> Markup {
    let settings = report.settings.iter();
    let mut settings: Vec<_> = settings
        .filter(|setting| setting.applies == Applies::Now)
        .collect();
    // Recommended changes first, each part in the order of the configuration.
    settings.sort_by_key(|setting| setting.recommended.is_none());
    html! {
        section.card aria-labelledby="now" {
            h2 #now { "Applied at once" }
            @for setting in settings {
                (row(setting, snapshot))
            }
        }
    }
}

/// Returns the table of the other settings.
fn others(report: &SettingsReport) -> Markup {
    let settings = report.settings.iter();
    html! {
        section.card aria-labelledby="others" {
            h2 #others { "Applied by SIGHUP or at the next start" }
            p.muted {
                "Change them where they are set, or in a configuration file; "
                code { "ledger-node config" } " checks them. Then restart the node, or send SIGHUP "
                "where the last column says so."
            }
            div.scroll tabindex="0" role="region" aria-label="Table of the other settings" {
                table {
                    thead {
                        tr {
                            th scope="col" { "Setting" }
                            th scope="col" { "Value" }
                            th scope="col" { "Default" }
                            th scope="col" { "From" }
                            th scope="col" { "Applied" }
                        }
                    }
                    tbody {
                        @for setting in settings.filter(|setting| setting.applies != Applies::Now) {
                            tr id=(setting.key) {
                                th scope="row" title=(first_sentence(setting.effect)) {
                                    code { (setting.key) }
                                    p.how { (how(setting)) }
                                }
                                td { (setting.value) " " (setting.unit) }
                                td { (setting.default) }
                                td { (setting.origin) }
                                td { (if setting.applies == Applies::Reload { "SIGHUP" } else { "next start" }) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns how a setting is changed that needs SIGHUP or a restart. The style sheet shows it in the
/// row to which a link leads, far below the heading of the table.
fn how(setting: &SettingStatus) -> Markup {
    html! {
        (first_sentence(setting.effect))
        @if setting.is_set {
            " Set by " (setting.origin) ": change it there, and "
        } @else {
            " Set it in a configuration file, and "
        }
        (if setting.applies == Applies::Reload { "send SIGHUP." } else { "restart the node." })
    }
}

/// Returns the first sentence of a text.
pub fn first_sentence(text: &str) -> &str {
    match text.find(". ") {
        Some(end) => &text[..=end],
        None => text,
    }
}

/// Returns a setting with its value, its origin and its controls.
fn row(setting: &SettingStatus, snapshot: &Snapshot) -> Markup {
    let default = &setting.default;
    html! {
        div.setting id=(setting.key) data-setting=(setting.key) data-kind=(setting.kind) {
            div.about {
                h3 {
                    code { (setting.key) }
                    @if setting.is_changed { " " span.badge.warn { "changed" } }
                    @if setting.kept.is_some() { " " span.badge.ok { "kept" } }
                }
                p.effect { (first_sentence(setting.effect)) }
                p.hint {
                    "Default " (default)
                    @if !setting.unit.is_empty() { " " (setting.unit) }
                    "; " (setting.allowed) ". From " (setting.origin) "."
                }
                (queue(setting.key, snapshot))
                @if let Some(recommended) = &setting.recommended {
                    p {
                        span.badge.ok { "Recommended: " (recommended.value) } " "
                        (recommended.reason) ". "
                        button.quiet type="button" data-fill=(recommended.value) hidden { "Fill in" }
                    }
                }
            }
            div.value {
                p { strong { (setting.value) } " " (setting.unit) }
                @if setting.applies == Applies::Now {
                    (controls(setting))
                }
            }
        }
    }
}

/// Returns what waits in the queue whose capacity the setting is, if it is one.
fn queue(key: &str, snapshot: &Snapshot) -> Markup {
    let is_capacity = |stage: &&Stage| stage.queue.is_some_and(|queue| queue.setting == Some(key));
    html! {
        @if let Some(stage) = snapshot.stages.iter().find(is_capacity)
            && let Some(queue) = stage.queue {
            p.hint {
                "Now " (figure(&format!("stages.{}.queue.waiting", stage.name), Form::Count, Some(to_f64(queue.waiting))))
                " wait, and "
                (figure(&format!("stages.{}.rejected_per_s", stage.name), Form::PerSecond, stage.rejected_per_s))
                " are rejected."
            }
        }
    }
}

/// Returns the form of a run-time setting.
fn controls(setting: &SettingStatus) -> Markup {
    html! {
        form data-change hidden {
            label.visually-hidden for=(format!("value-{}", setting.key)) {
                "New value of " (setting.key)
            }
            (field(setting))
            div.actions {
                button type="submit" { "Change" }
                button.quiet type="submit" data-revert-after-secs=(TRIAL_SECS) { "Try for 5 minutes" }
                @match &setting.keep_refused_by {
                    Some(origin) => span.hint { "Not to be kept: " (origin) " sets it." },
                    None => (keep(setting)),
                }
            }
        }
    }
}

/// Returns the button that keeps a changed value, or that forgets a kept one.
fn keep(setting: &SettingStatus) -> Markup {
    html! {
        @if setting.kept.as_ref() != Some(&setting.value) && setting.value != setting.configured {
            button.quiet type="button" data-keep="keys" { "Keep" }
        }
        @if setting.kept.is_some() {
            button.quiet type="button" data-keep="forget" { "Forget" }
        }
    }
}

/// Returns the field of a value.
fn field(setting: &SettingStatus) -> Markup {
    let id = format!("value-{}", setting.key);
    let text = match &setting.value {
        Value::Text(text) => text.clone(),
        value => value.to_string(),
    };
    html! {
        @match setting.kind {
            "integer" => input id=(id) name="value" type="number" required value=(text)
                min=[setting.minimum] max=[setting.maximum];,
            "boolean" => (choice(&id, &["true", "false"], &text)),
            "choice" => (choice(&id, setting.words, &text)),
            _ => input id=(id) name="value" type="text" value=(text) autocomplete="off";,
        }
    }
}

fn choice(id: &str, words: &[&str], value: &str) -> Markup {
    html! {
        select id=(id) name="value" {
            @for word in words {
                option value=(word) selected[*word == value] { (word) }
            }
        }
    }
}
