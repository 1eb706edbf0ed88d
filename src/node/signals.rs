//! Signals: those that stop a node or reload its configuration, and one that must not end the
//! process.

use std::io;
use tokio::{
    runtime::Builder,
    signal::unix::{Signal, SignalKind, signal},
};

/// Makes writes beyond the limit on file sizes (`ulimit -f`) fail with `EFBIG` like other failed
/// writes.
///
/// Without a handler the system ends the process with `SIGXFSZ`. tokio keeps a handler until the
/// process ends, also after the [`Signal`] and the runtime are dropped. Call this before any file
/// is written.
///
/// # Errors
///
/// Returns the error of the operating system if the handler cannot be installed, for example
/// without a free descriptor.
pub fn survive_file_size_limit() -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_io().build()?;
    let _entered = runtime.enter();
    let file_size = SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw());
    signal(file_size).map(drop)
}

/// `SIGHUP`, which reloads the configuration of a running node.
#[derive(Debug)]
pub struct ReloadSignal(Signal);

impl ReloadSignal {
    /// Installs the handler. Until then the signal ends the process.
    ///
    /// Call this within a running [`actix_web::rt::System`].
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system if the handler cannot be installed.
    pub fn new() -> io::Result<Self> {
        signal(SignalKind::hangup()).map(Self)
    }

    /// Waits for the next signal. Signals that arrive between two calls count as one.
    pub async fn next(&mut self) {
        self.0.recv().await;
    }
}

/// The signals that stop a node: `SIGINT` and `SIGTERM`.
#[derive(Debug)]
pub struct StopSignals {
    interrupt: Signal,
    terminate: Signal,
}

impl StopSignals {
    /// Installs the handlers. Until then either signal ends the process.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system if a handler cannot be installed.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Waits for the next of the signals and returns its name.
    pub async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.terminate.recv() => "SIGTERM",
        }
    }
}
