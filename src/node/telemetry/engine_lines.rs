//! Log lines of the consensus engine and its network: under one target, and bounded.
//!
//! The engine logs several lines for each height, and a line for most messages of a peer that it
//! cannot use. So its lines have a level of their own, and at most [`LINES_MAX`] are logged in
//! [`WINDOW`].

use ledger_bft::LOG_TARGETS;
use std::{
    fmt::{self, Write as _},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};
use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{
    filter::{LevelFilter, Targets},
    layer::{Context, Layer},
};

/// Target of the lines.
pub const TARGET: &str = "consensus";

/// Level of the lines unless the setting names [`TARGET`], or is lower for all targets.
const LEVEL: LevelFilter = LevelFilter::WARN;

/// Maximum number of lines in [`WINDOW`]. Peers can cause lines, and a line is some 300 bytes.
const LINES_MAX: u32 = 100;

/// Time over which lines are counted.
const WINDOW: Duration = Duration::from_secs(10);

/// Maximum length of the text of a line, in bytes. A peer may have chosen a part of it.
const TEXT_BYTES_MAX: usize = 2_048;

/// Adds the levels of the engine's crates to the levels of the setting, which names them together
/// as [`TARGET`].
pub fn with_engine(named: Targets) -> Targets {
    let level_of = |target: &str| {
        let mut named = named.iter();
        named.find_map(|(name, level)| (name == target).then_some(level))
    };
    let default = named.default_level().unwrap_or(LevelFilter::OFF);
    let level = level_of(TARGET).unwrap_or(default.min(LEVEL));
    let unnamed = LOG_TARGETS
        .into_iter()
        .filter(|target| level_of(target).is_none());
    let levels: Vec<_> = unnamed.map(|target| (target, level)).collect();
    named.with_targets(levels)
}

/// A layer that replaces each event of the engine by one of [`TARGET`].
#[derive(Debug, Default)]
pub struct EngineLines(Mutex<Lines>);

impl<S: Subscriber> Layer<S> for EngineLines {
    /// Logs an event of the engine as a line of [`TARGET`], and suppresses the event itself.
    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        let metadata = event.metadata();
        let module = metadata.target();
        if !LOG_TARGETS.iter().any(|target| module.starts_with(target)) {
            return true;
        }
        // Valid even if the holder panicked: each change is complete.
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let admitted = lines.admit(Instant::now());
        drop(lines);
        if let Some(dropped) = admitted {
            let mut text = Text::default();
            event.record(&mut text);
            log(*metadata.level(), module, dropped, &text.0);
        }
        false
    }
}

/// Logs a line. `dropped` is the number of lines that were dropped before it.
fn log(level: Level, module: &str, dropped: Option<u64>, text: &str) {
    macro_rules! line {
        ($level:ident) => {
            tracing::event!(target: TARGET, Level::$level, module, dropped, "{text}")
        };
    }
    match level {
        Level::ERROR => line!(ERROR),
        Level::WARN => line!(WARN),
        Level::INFO => line!(INFO),
        Level::DEBUG => line!(DEBUG),
        Level::TRACE => line!(TRACE),
    }
}

/// The lines of a [`WINDOW`].
#[derive(Debug, Default)]
struct Lines {
    /// `None` before the first line.
    begun: Option<Instant>,
    logged: u32,
    dropped: u64,
}

impl Lines {
    /// Returns `None` if a line at this time is dropped. Otherwise returns the number of lines that
    /// were dropped in the window before, if there are any.
    fn admit(&mut self, now: Instant) -> Option<Option<u64>> {
        let is_over = |begun: Instant| now.saturating_duration_since(begun) >= WINDOW;
        let mut dropped = None;
        if self.begun.is_none_or(is_over) {
            dropped = (self.dropped > 0).then_some(self.dropped);
            *self = Self {
                begun: Some(now),
                ..Self::default()
            };
        }
        if self.logged == LINES_MAX {
            self.dropped += 1;
            return None;
        }
        self.logged += 1;
        Some(dropped)
    }
}

/// The message and the fields of an event, as one line of at most [`TEXT_BYTES_MAX`].
#[derive(Default)]
struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // An error means that the text has its maximum length.
        let _ = match field.name() {
            "message" => write!(self, "{value:?}"),
            name => write!(self, " {name}={value:?}"),
        };
    }
}

impl fmt::Write for Text {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        let room = TEXT_BYTES_MAX - self.0.len();
        let end = part.floor_char_boundary(room);
        // A text of several lines could look like lines of the node.
        let characters = part[..end].chars();
        self.0
            .extend(characters.map(|one| if one.is_control() { ' ' } else { one }));
        match end == part.len() {
            true => Ok(()),
            false => Err(fmt::Error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Targets of lines of the engine and of its network.
    const OF_ENGINE: [&str; 2] = ["arc_malachitebft_engine::consensus", "libp2p_swarm"];

    fn is_logged(level: &str, target: &str, of: Level) -> bool {
        with_engine(level.parse().unwrap()).would_enable(target, &of)
    }

    #[test]
    fn the_engine_logs_warnings_and_errors_unless_it_is_named() {
        for target in OF_ENGINE {
            for level in ["info", "debug", "trace,http=debug", "warn"] {
                assert!(is_logged(level, target, Level::WARN), "{level}: {target}");
                assert!(!is_logged(level, target, Level::INFO), "{level}: {target}");
            }
            assert!(!is_logged("error", target, Level::WARN), "{target}");
            assert!(!is_logged("off,http=debug", target, Level::ERROR));
            assert!(is_logged("error,consensus=debug", target, Level::DEBUG));
            assert!(!is_logged("info,consensus=off", target, Level::ERROR));
        }
        let named = "info,arc_malachitebft_engine=debug";
        assert!(is_logged(named, OF_ENGINE[0], Level::DEBUG));
        assert!(!is_logged(named, OF_ENGINE[1], Level::INFO));
        assert!(is_logged("info", "ledger_bft::status", Level::INFO));
    }

    #[test]
    fn lines_beyond_the_maximum_are_counted_by_the_next_one() {
        let mut lines = Lines::default();
        let begin = Instant::now();
        for _ in 0..LINES_MAX {
            assert_eq!(lines.admit(begin), Some(None));
        }
        for _ in 0..3 {
            assert_eq!(lines.admit(begin + WINDOW / 2), None);
        }
        assert_eq!(lines.admit(begin + WINDOW), Some(Some(3)));
        assert_eq!(lines.admit(begin + WINDOW), Some(None));
    }

    #[test]
    fn a_text_is_one_line_of_a_maximum_length() {
        let mut text = Text::default();
        write!(text, "an error:\n\t- of a peer\x1b[0m").unwrap();
        assert_eq!(text.0, "an error:  - of a peer [0m");
        let mut text = Text::default();
        assert!(write!(text, "{}", "é".repeat(TEXT_BYTES_MAX)).is_err());
        assert_eq!(text.0.len(), TEXT_BYTES_MAX);
        assert!(text.write_str("more").is_err());
    }
}
