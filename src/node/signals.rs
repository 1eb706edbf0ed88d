//! Signals: those that stop a node or reload its configuration, and one that must not end the
//! process.

use std::{
    future::pending,
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc,
    },
    thread,
};
use tokio::{
    runtime::{Builder, Runtime},
    signal::unix::{Signal, SignalKind, signal},
    sync::oneshot,
};

/// Name of the thread that receives the signals which stop a node.
const THREAD: &str = "stop-signals";

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
    let runtime = signal_runtime()?;
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

/// The part of a node's life in which a signal ends the process at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interrupted {
    /// The ledger is not open yet, so there is nothing to save.
    Opening,
    /// A stop, which an earlier signal began.
    Stop,
}

/// The signals that stop a node: `SIGINT` and `SIGTERM`.
///
/// A thread of its own receives them. The thread `main` blocks during a stop, while it joins other
/// threads and syncs the file of the mempool, and a signal must end the process meanwhile.
#[derive(Debug)]
pub struct StopSignals {
    first: oneshot::Receiver<&'static str>,
    state: Arc<State>,
}

/// What the next signal does.
#[derive(Debug, Default)]
struct State {
    /// Whether there is a ledger to close, so that a signal begins a stop.
    is_open: AtomicBool,
    /// Whether a stop has begun, which the next signal ends.
    is_stopping: AtomicBool,
}

impl StopSignals {
    /// Installs the handlers and starts the thread. Until then either signal ends the process.
    ///
    /// The thread calls `end_process` with the name of a signal that arrives before
    /// [`Self::record_open`] or during a stop.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system if a handler cannot be installed, or if it refuses
    /// the thread.
    pub fn start(
        end_process: impl Fn(Interrupted, &'static str) + Send + 'static,
    ) -> io::Result<Self> {
        let (sender, first) = oneshot::channel();
        let (ready, installed) = mpsc::sync_channel(1);
        let state = Arc::<State>::default();
        let of_thread = Arc::clone(&state);
        // The thread makes its own runtime, because the caller's must not drop one after a failure.
        let named = thread::Builder::new().name(THREAD.to_owned());
        named.spawn(move || match Handlers::install() {
            Ok(handlers) => {
                // The caller waits for it.
                let _ = ready.send(Ok(()));
                handlers.receive(sender, &of_thread, end_process);
            }
            Err(error) => {
                let _ = ready.send(Err(error));
            }
        })?;
        installed.recv().map_err(io::Error::other)??;
        Ok(Self { first, state })
    }

    /// Waits for the first of the signals and returns its name.
    pub async fn first(&mut self) -> &'static str {
        match (&mut self.first).await {
            Ok(name) => name,
            Err(_) => pending().await,
        }
    }

    /// Records that the ledger is open, so that the first signal begins a stop.
    pub fn record_open(&self) {
        self.state.is_open.store(true, Relaxed);
    }

    /// Records that a stop has begun without a signal, so that the first one ends it.
    pub fn record_stop(&self) {
        self.state.is_stopping.store(true, Relaxed);
    }
}

/// The handlers of the signals that stop a node, with the runtime that receives them.
struct Handlers {
    runtime: Runtime,
    interrupt: Signal,
    terminate: Signal,
}

impl Handlers {
    /// Installs the handlers.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system if a handler cannot be installed.
    fn install() -> io::Result<Self> {
        let runtime = signal_runtime()?;
        let entered = runtime.enter();
        let interrupt = signal(SignalKind::interrupt())?;
        let terminate = signal(SignalKind::terminate())?;
        drop(entered);
        Ok(Self {
            runtime,
            interrupt,
            terminate,
        })
    }

    /// Sends the name of the first signal after the ledger is open, unless a stop has begun, and
    /// calls `end_process` with the name of each other signal.
    fn receive(
        mut self,
        sender: oneshot::Sender<&'static str>,
        state: &State,
        end_process: impl Fn(Interrupted, &'static str),
    ) {
        let mut sender = Some(sender);
        self.runtime.block_on(async {
            loop {
                let name = tokio::select! {
                    _ = self.interrupt.recv() => "SIGINT",
                    _ = self.terminate.recv() => "SIGTERM",
                };
                // Relaxed, because it orders no other memory.
                if !state.is_open.load(Relaxed) {
                    end_process(Interrupted::Opening, name);
                } else if state.is_stopping.swap(true, Relaxed) {
                    end_process(Interrupted::Stop, name);
                } else if let Some(first) = sender.take() {
                    // An error means that the start failed, so that the process ends.
                    let _ = first.send(name);
                }
            }
        });
    }
}

/// Returns the runtime of a thread that receives signals.
///
/// # Errors
///
/// Returns the error of the operating system, for example without a free descriptor.
fn signal_runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_io().build()
}
