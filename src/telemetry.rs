//! The node's log: text for people or JSON for programs, on standard error.

use crate::config::Settings;
use std::io::{self, IsTerminal as _};
use tracing_subscriber::{filter::Targets, fmt, layer::SubscriberExt as _, util::SubscriberInitExt as _};

/// Begins to log as the settings say. Called once, before anything logs.
pub fn start(settings: &Settings) {
    let filter: Targets = settings
        .log
        .level
        .parse()
        .expect("configuration accepts only levels that parse");
    let registry = tracing_subscriber::registry().with(filter);
    match settings.log.format.as_str() {
        "json" => registry.with(fmt::layer().json().with_writer(io::stderr)).init(),
        _ => registry
            .with(
                fmt::layer()
                    .with_ansi(io::stderr().is_terminal())
                    .with_writer(io::stderr),
            )
            .init(),
    }
}
