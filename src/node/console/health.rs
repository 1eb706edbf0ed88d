//! `/console/health`: the checks of the node, its build, and its configuration.

use super::{
    banners::banners,
    layout::{Page, Section},
};
use crate::{
    access::Requester,
    admin::{Admin, Check, checks, settings_report},
    telemetry,
    tunable::SettingStatus,
    version::VERSION,
};
use actix_web::{
    HttpResponse,
    http::StatusCode,
    web::{Data, ReqData},
};
use maud::{Markup, html};
use std::{env, path, process};

/// `GET /console/health`: responds with the checks, the build, and the settings that the operator
/// has set.
pub async fn show(admin: Data<Admin>, requester: ReqData<Requester>) -> HttpResponse {
    let page = Page {
        title: "Health",
        section: Some(Section::Health),
        requester: Some(&requester),
        banners: banners(&admin),
        content: html! {
            h1 { "Health" }
            (table(&checks(&admin)))
            p.muted {
                "Probes without a token: " code { "/livez" } " and " code { "/readyz" }
                ", with " code { "?verbose" } " each check by its name."
            }
            (build(&admin))
            (configuration(&settings_report(&admin).settings))
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

/// Returns the program, its machine and its ledger.
fn build(admin: &Admin) -> Markup {
    let chain = admin.node.chain();
    let data_dir = match &admin.data_dir {
        Some(directory) => {
            let absolute = path::absolute(directory).unwrap_or_else(|_| directory.clone());
            absolute.display().to_string()
        }
        None => "none: the ledger is in memory".to_owned(),
    };
    let uptime_ms = admin.observer.newest().snapshot.uptime_ms;
    let facts = [
        ("Version", VERSION.clone()),
        (
            "Machine",
            format!("{} {}", env::consts::OS, env::consts::ARCH),
        ),
        (
            "Consensus engine",
            if cfg!(feature = "bft") {
                "built in"
            } else {
                "not built in"
            }
            .to_owned(),
        ),
        ("Process", process::id().to_string()),
        ("Running for", duration(uptime_ms / 1_000)),
        ("Chain", format!("{} ({})", chain.id(), chain.vendor())),
        ("Data directory", data_dir),
        ("Lost log lines", lost_lines(telemetry::lost_lines())),
    ];
    html! {
        section.card aria-labelledby="build" {
            h2 #build { "Build" }
            table {
                tbody {
                    @for (name, value) in facts {
                        tr { th scope="row" { (name) } td { (value) } }
                    }
                }
            }
        }
    }
}

/// Writes how many lines of the log were lost, and what helps.
fn lost_lines(lines: u64) -> String {
    match lines {
        0 => "none".to_owned(),
        _ => format!("{lines}: read standard error faster, or set log.level to less"),
    }
}

/// Writes a time in days, hours and minutes.
fn duration(secs: u64) -> String {
    let minutes = secs / 60;
    let (days, hours, minutes) = (minutes / 60 / 24, minutes / 60 % 24, minutes % 60);
    match (days, hours) {
        (0, 0) => format!("{minutes} min"),
        (0, _) => format!("{hours} h {minutes} min"),
        _ => format!("{days} d {hours} h"),
    }
}

/// Returns the settings that files, environment or options set, each with its origin.
fn configuration(settings: &[SettingStatus]) -> Markup {
    let set: Vec<_> = settings.iter().filter(|setting| setting.is_set).collect();
    html! {
        section.card aria-labelledby="configuration" {
            h2 #configuration { "Configuration" }
            p {
                (set.len()) " of " (settings.len()) " settings are set; the others have their "
                "defaults. All are on the page " a href="/console/settings" { "Settings" } "."
            }
            @if !set.is_empty() {
                div.scroll tabindex="0" role="region" aria-label="Settings that are set" {
                    table {
                        thead {
                            tr {
                                th scope="col" { "Setting" }
                                th scope="col" { "Value" }
                                th scope="col" { "Default" }
                                th scope="col" { "From" }
                            }
                        }
                        tbody {
                            @for setting in set {
                                tr {
                                    th scope="row" { code { (setting.key) } }
                                    td { (setting.configured) " " (setting.unit) }
                                    td { (setting.default) }
                                    td { (setting.origin) }
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
