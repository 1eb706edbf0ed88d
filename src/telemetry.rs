//! The node's log: text for people or JSON for programs, on standard error.

use crate::config::Settings;
use std::io::{self, IsTerminal as _};
use tracing_subscriber::{
    filter::{LevelFilter, Targets},
    fmt,
    layer::SubscriberExt as _,
    util::SubscriberInitExt as _,
};

/// What has a line of its own for each client that breaks the rules of HTTP/1.1 or HTTP/2, so that anyone
/// who can connect could fill the log. What such clients cost is counted, and shown on the operator's
/// `/connections`.
const QUIET: [&str; 2] = ["actix_http", "h2"];

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

/// What `level` lets through: of [`QUIET`] nothing, unless it is named.
fn filter(level: &str) -> Targets {
    let asked: Targets = level
        .parse()
        .expect("configuration accepts only levels that parse");
    let is_named = |quiet: &str| asked.iter().any(|(target, _)| is_within(target, quiet));
    let silenced: Vec<_> = QUIET.into_iter().filter(|quiet| !is_named(quiet)).collect();
    asked.with_targets(silenced.into_iter().map(|quiet| (quiet, LevelFilter::OFF)))
}

/// Whether `target` is the crate `name` or a module of it.
fn is_within(target: &str, name: &str) -> bool {
    let rest = target.strip_prefix(name);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, ConfigOptions};
    use tracing::Level;

    /// The targets of the lines about requests that are no HTTP, and about streams that are reset fast.
    const OF_CLIENTS: [&str; 2] = ["actix_http::h1::dispatcher", "h2::proto::streams::recv"];

    #[test]
    fn clients_cannot_fill_the_log() {
        let config = Config::load(&ConfigOptions::default(), []).unwrap();
        for level in [
            &config.settings().log.level,
            "info",
            "trace",
            "debug,ledger_store=trace",
            "trace,h2o=trace,actix_http_x=trace",
        ] {
            let filter = filter(level);
            for target in OF_CLIENTS {
                assert!(!filter.would_enable(target, &Level::ERROR), "{level}: {target}");
            }
            assert!(filter.would_enable("ledger_node", &Level::INFO), "{level}");
        }
    }

    #[test]
    fn who_names_the_http_server_sees_what_it_says() {
        for (level, named, other) in [
            ("info,actix_http=error", 0, 1),
            ("info,actix_http::h1::dispatcher=error", 0, 1),
            ("info,h2=error", 1, 0),
            ("info,h2::proto=error", 1, 0),
        ] {
            let filter = filter(level);
            assert!(filter.would_enable(OF_CLIENTS[named], &Level::ERROR), "{level}");
            assert!(!filter.would_enable(OF_CLIENTS[other], &Level::ERROR), "{level}");
        }
    }
}
