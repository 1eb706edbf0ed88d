//! The banners of every page: a change on trial, and parts of the interface that are disabled.

use crate::{
    admin::{Admin, switch_positions},
    config::{Value, shortened},
    tunable::{Mark, ReplacedStatus},
};
use maud::{Markup, html};

/// Returns the banners of the state of the node.
pub fn banners(admin: &Admin) -> Markup {
    let positions = switch_positions(admin.api.switches.settings());
    let off = positions.iter().filter(|(_, is_on)| !is_on);
    html! {
        @for (key, _) in off {
            div.banner.bad {
                code { (key) } " is off" (since(admin.settings.newest_change(key).as_ref())) "."
            }
        }
        (pending(admin))
    }
}

/// Returns the time, the author and the reason of the change of a setting.
pub fn since(change: Option<&Mark>) -> Markup {
    html! {
        @match change {
            Some(mark) => {
                " since " time data-unix-ms=(mark.unix_ms) { "the last change" }
                ", by " (mark.author) (reason(mark.reason.as_deref()))
            },
            None => " since the start, by the configuration",
        }
    }
}

fn reason(reason: Option<&str>) -> Markup {
    html! {
        @if let Some(reason) = reason { ": " q { (reason) } }
    }
}

/// Returns the banner of a change that waits for its confirmation.
fn pending(admin: &Admin) -> Markup {
    html! {
        @if let Some(pending) = admin.settings.pending() {
            div.banner.warn.actions {
                span {
                    "On trial: " (changes(&pending.settings)) ", by " (pending.author)
                    (reason(pending.reason.as_deref())) ". The old values return at "
                    time data-unix-ms=(pending.reverts_at_unix_ms) { "the end of the trial" } "."
                }
                button type="button" data-post="/settings/confirm" hidden { "Confirm" }
                button.quiet type="button" data-post="/settings/undo" hidden { "Take back" }
            }
        }
    }
}

/// Writes the values of a change.
pub fn changes(settings: &[ReplacedStatus]) -> Markup {
    // A list of rules may have megabytes.
    let text = |value: &Value| shortened(value.to_string());
    html! {
        @for (index, replaced) in settings.iter().enumerate() {
            @if index > 0 { ", " }
            code { (replaced.key) } " from " (text(&replaced.old)) " to " (text(&replaced.new))
        }
    }
}
