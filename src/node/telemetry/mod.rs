//! The log of the node on standard error, as text or JSON.
//!
//! A thread of its own writes the log, so that no other thread waits for the reader of standard
//! error; see [`queue`].

#[cfg(feature = "bft")]
mod engine_lines;
pub mod queue;

use queue::{LogQueue, QUEUE_BYTES_MAX};
use rustix::{event, io::Errno, stdio::stderr};
use std::{
    backtrace::{Backtrace, BacktraceStatus},
    io::{self, IsTerminal as _, Write as _},
    panic::{self, PanicHookInfo},
    sync::{OnceLock, PoisonError, RwLock, RwLockReadGuard},
    thread,
    time::Duration,
};
use tracing::{Metadata, Subscriber, subscriber::Interest};
use tracing_subscriber::{
    filter::{LevelFilter, Targets},
    fmt,
    layer::{Context, Layer, SubscriberExt as _},
    util::SubscriberInitExt as _,
};

/// Maximum levels of targets that are not named.
///
/// The first two log a line for each violation of HTTP/1.1 or HTTP/2, so that any client could fill
/// the log; `/connections` of the admin listener counts such clients. The third one logs its threads
/// and signals, which the node logs itself.
const QUIET: [(&str, LevelFilter); 3] = [
    ("actix_http", LevelFilter::OFF),
    ("h2", LevelFilter::OFF),
    ("actix_server", LevelFilter::WARN),
];

/// Name of the thread that writes the log.
pub const THREAD: &str = "log-writer";

/// The target of the line that reports lost lines, which is logged at any level.
const LOSS_TARGET: &str = module_path!();

/// Maximum time for which the end of the process waits for the reader of standard error. Together
/// with the stop of the listeners it is below the 10 s after which supervisors commonly kill a
/// process.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);

/// The queue of the log, once its thread runs.
static LOG: OnceLock<&LogQueue> = OnceLock::new();

/// The levels of the log, once it is started.
static LEVELS: OnceLock<RwLock<Targets>> = OnceLock::new();

/// The settings `log.*`.
#[derive(Clone, Debug)]
pub struct LogSettings {
    /// Format of log lines: `text` or `json`.
    pub format: String,
    /// Minimum level, also by module.
    pub level: String,
}

impl Default for LogSettings {
    fn default() -> Self {
        Self {
            format: "text".to_owned(),
            level: "info".to_owned(),
        }
    }
}

/// The thread that writes the log cannot be started.
#[derive(Debug, thiserror::Error)]
#[error(
    "the thread that writes the log cannot be started (raise the limit on processes: `ulimit -u`, \
     `pids.max` of the cgroup): {0}"
)]
pub struct LogThreadError(#[from] io::Error);

/// Starts the log and the thread that writes it. Call it once, before anything logs.
///
/// From then on panics are reported through this thread too.
///
/// # Errors
///
/// Returns [`LogThreadError`] if the system refuses the thread.
pub fn start(settings: &LogSettings) -> Result<(), LogThreadError> {
    let log: &LogQueue = Box::leak(Box::new(LogQueue::new(QUEUE_BYTES_MAX)));
    thread::Builder::new()
        .name(THREAD.to_owned())
        .spawn(|| log.run_writer(write_stderr, report_lost_lines))?;
    // An error would mean a second call.
    let _ = LOG.set(log);
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| match log.is_writer() {
        true => before(info),
        false => report_panic(log, info),
    }));
    let levels = LEVELS.get_or_init(|| RwLock::new(filter(&settings.level)));
    let registry = tracing_subscriber::registry().with(ReplaceableTargets(levels));
    #[cfg(feature = "bft")]
    let registry = registry.with(engine_lines::EngineLines::default());
    match settings.format.as_str() {
        "json" => registry
            .with(fmt::layer().json().with_writer(move || LineWriter(log)))
            .init(),
        _ => registry
            .with(
                fmt::layer()
                    .with_ansi(io::stderr().is_terminal())
                    .with_writer(move || LineWriter(log)),
            )
            .init(),
    }
    Ok(())
}

/// Replaces `log.level`, which must be a value that the configuration accepts.
///
/// Has no effect before [`start`].
pub fn set_level(level: &str) {
    let Some(levels) = LEVELS.get() else {
        return;
    };
    *levels.write().unwrap_or_else(PoisonError::into_inner) = filter(level);
    tracing::callsite::rebuild_interest_cache();
    // Crates that log through `log` are filtered by its own maximum first. Both crates use the same
    // names of levels.
    if let Ok(level) = LevelFilter::current().to_string().parse() {
        log::set_max_level(level);
    }
}

/// A filter by target and level that can be replaced.
///
/// Its lock is taken for new callsites and after a change of the level, but for no event: tracing
/// caches the decision for each callsite.
struct ReplaceableTargets(&'static RwLock<Targets>);

impl ReplaceableTargets {
    fn targets(&self) -> RwLockReadGuard<'_, Targets> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: Subscriber> Layer<S> for ReplaceableTargets {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        Layer::<S>::register_callsite(&*self.targets(), metadata)
    }

    fn enabled(&self, metadata: &Metadata<'_>, context: Context<'_, S>) -> bool {
        Layer::<S>::enabled(&*self.targets(), metadata, context)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Layer::<S>::max_level_hint(&*self.targets())
    }
}

/// Waits until all lines of the log are written, for at most [`FLUSH_TIMEOUT`].
pub fn flush() {
    if let Some(log) = LOG.get() {
        // `false` means that standard error is not read, which must not delay the end of the
        // process.
        let _ = log.flush(FLUSH_TIMEOUT);
    }
}

/// Writes the last line of the process, which states its error, after the log.
///
/// Waits for the reader of standard error, for at most [`FLUSH_TIMEOUT`] if the log was started.
pub fn write_last(line: &str) {
    match LOG.get() {
        Some(log) => {
            log.push_last(format!("{line}\n").as_bytes());
            flush();
        }
        // `eprintln!` would panic if standard error cannot be written. The exit code still reports
        // the failure.
        None => drop(writeln!(io::stderr().lock(), "{line}")),
    }
}

/// Returns the number of bytes of the log that were written, and whether more wait.
pub fn progress() -> (u64, bool) {
    LOG.get().map_or((0, false), |log| log.progress())
}

/// Returns the number of lines of the log that were lost since the process was started.
pub fn lost_lines() -> u64 {
    LOG.get().map_or(0, |log| log.lost_lines())
}

/// A writer that appends each line of the log to the queue, in one call per line.
struct LineWriter(&'static LogQueue);

impl io::Write for LineWriter {
    /// Never fails, because tracing-subscriber would report an error on standard error and wait for
    /// its reader.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.push(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes bytes to standard error and returns their number. Waits while standard error accepts
/// none.
///
/// Unlike [`io::stderr`] this takes no lock. Other threads would wait for the lock while its holder
/// waits for the reader.
fn write_stderr(bytes: &[u8]) -> io::Result<usize> {
    loop {
        match rustix::io::write(stderr(), bytes) {
            // Another process has made the terminal or pipe, which it shares, non-blocking.
            Err(Errno::AGAIN) => {
                let mut ready = [event::PollFd::from_borrowed_fd(
                    stderr(),
                    event::PollFlags::OUT,
                )];
                event::poll(&mut ready, None)?;
            }
            written => return Ok(written?),
        }
    }
}

fn report_lost_lines(lines: u64) {
    tracing::warn!(
        target: LOSS_TARGET,
        lines,
        "log lines were dropped: standard error was not read in time"
    );
}

/// Reports a panic in the format of the standard library's hook. Unlike that hook, this waits only
/// for a bounded time for the reader of standard error, so that a panic ends the process even if
/// standard error is not read.
fn report_panic(log: &LogQueue, info: &PanicHookInfo<'_>) {
    let current = thread::current();
    let name = current.name().unwrap_or("<unnamed>");
    let mut text = format!("\nthread '{name}' {info}\n");
    let backtrace = Backtrace::capture();
    if backtrace.status() == BacktraceStatus::Captured {
        text += &format!("stack backtrace:\n{backtrace}\n");
    }
    log.push_last(text.as_bytes());
    // False means that standard error is not read.
    let _ = log.flush(FLUSH_TIMEOUT);
}

/// Returns the filter of a value of `log.level`: less of [`QUIET`] unless the level names them, less
/// of the consensus engine, and always with the report of lost lines.
fn filter(level: &str) -> Targets {
    let named: Targets = level
        .parse()
        .expect("configuration accepts only levels that parse");
    let is_named = |quiet: &str| named.iter().any(|(target, _)| is_within(target, quiet));
    let level = named.default_level().unwrap_or(LevelFilter::OFF);
    let unnamed = QUIET.into_iter().filter(|(quiet, _)| !is_named(quiet));
    let quiet: Vec<_> = unnamed
        .map(|(name, most)| (name, most.min(level)))
        .collect();
    #[cfg(feature = "bft")]
    let named = engine_lines::with_engine(named);
    named
        .with_targets(quiet)
        .with_target(LOSS_TARGET, LevelFilter::WARN)
}

/// Returns whether `target` is the crate `name` or a module of it.
fn is_within(target: &str, name: &str) -> bool {
    let rest = target.strip_prefix(name);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing::Level;

    /// Targets of the lines about malformed requests, and about streams that are reset rapidly.
    const OF_CLIENTS: [&str; 2] = ["actix_http::h1::dispatcher", "h2::proto::streams::recv"];

    #[test]
    fn omits_lines_that_clients_cause() {
        let default = LogSettings::default();
        for level in [
            &default.level,
            "info",
            "trace",
            "debug,ledger_store=trace",
            "trace,h2o=trace,actix_http_x=trace",
        ] {
            let filter = filter(level);
            for target in OF_CLIENTS {
                assert!(
                    !filter.would_enable(target, &Level::ERROR),
                    "{level}: {target}"
                );
            }
            assert!(filter.would_enable("ledger_node", &Level::INFO), "{level}");
        }
    }

    #[test]
    fn a_level_of_the_user_keeps_the_server_quiet() {
        let logs = |level: &str, of: Level| filter(level).would_enable("actix_server::worker", &of);
        for level in ["info", "debug", "debug,ledger_store=trace", "trace"] {
            assert!(logs(level, Level::WARN), "{level}");
            assert!(!logs(level, Level::INFO), "{level}");
        }
        assert!(!logs("error", Level::WARN));
        assert!(logs("warn,actix_server=debug", Level::DEBUG));
    }

    #[test]
    fn reports_lost_lines_at_any_level() {
        for level in ["off,http=debug", "error", "info"] {
            assert!(
                filter(level).would_enable(LOSS_TARGET, &Level::WARN),
                "{level}"
            );
        }
    }

    #[test]
    fn logs_the_http_server_if_its_target_is_named() {
        for (level, named, other) in [
            ("info,actix_http=error", 0, 1),
            ("info,actix_http::h1::dispatcher=error", 0, 1),
            ("info,h2=error", 1, 0),
            ("info,h2::proto=error", 1, 0),
        ] {
            let filter = filter(level);
            assert!(
                filter.would_enable(OF_CLIENTS[named], &Level::ERROR),
                "{level}"
            );
            assert!(
                !filter.would_enable(OF_CLIENTS[other], &Level::ERROR),
                "{level}"
            );
        }
    }
}
