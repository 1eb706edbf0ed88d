//! The node's log: text for people or JSON for programs, on standard error.

use crate::config::Settings;
use std::io::{self, IsTerminal as _};
use tracing_subscriber::{
    filter::{LevelFilter, Targets},
    fmt,
    layer::SubscriberExt as _,
    util::SubscriberInitExt as _,
};

/// The part of the HTTP server that logs an error for each request that is no HTTP, so that anyone who
/// can connect could fill the log.
const HTTP_PARSING: &str = "actix_http";

/// Begins to log as the settings say. Called once, before anything logs.
pub fn start(settings: &Settings) {
    let registry = tracing_subscriber::registry().with(filter(&settings.log.level));
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

/// What `level` lets through: of [`HTTP_PARSING`] nothing, unless it is named.
fn filter(level: &str) -> Targets {
    let asked: Targets = level
        .parse()
        .expect("configuration accepts only levels that parse");
    let is_named = asked.iter().any(|(target, _)| target.starts_with(HTTP_PARSING));
    if is_named {
        asked
    } else {
        asked.with_target(HTTP_PARSING, LevelFilter::OFF)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, ConfigOptions};
    use tracing::Level;

    /// The target of the lines about requests that are no HTTP.
    const DISPATCHER: &str = "actix_http::h1::dispatcher";

    #[test]
    fn clients_cannot_fill_the_log() {
        let config = Config::load(&ConfigOptions::default(), []).unwrap();
        for level in [
            &config.settings().log.level,
            "info",
            "trace",
            "debug,ledger_store=trace",
        ] {
            let filter = filter(level);
            assert!(!filter.would_enable(DISPATCHER, &Level::ERROR), "{level}");
            assert!(filter.would_enable("ledger_node", &Level::INFO), "{level}");
        }
    }

    #[test]
    fn who_names_the_http_server_sees_what_it_says() {
        for level in ["info,actix_http=error", "info,actix_http::h1::dispatcher=error"] {
            assert!(filter(level).would_enable(DISPATCHER, &Level::ERROR), "{level}");
        }
    }
}
