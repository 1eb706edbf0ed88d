//! The running relay, and its thread.

use crate::context::{Parts, Shared};
use crate::names::Names;
use crate::peers::{Peers, TooManyPeers};
use crate::report::PeerReport;
use crate::settings::{Peer, Role, Settings};
use crate::status::{PanicGuard, RelayState, Stopper};
use crate::tls::Tls;
use crate::{dial, finds, listen, outgoing};
use ledger_actors::relay::{RelayNode, RelayQueues};
use std::collections::BTreeSet;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::rc::Rc;
use std::sync::Arc;
use std::thread::JoinHandle;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio::task::LocalSet;

/// Name of the thread.
const THREAD: &str = "relay";

/// The error of starting a relay. Nothing runs afterwards.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The node cannot listen, for example because another process does.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The reason.
        source: io::Error,
    },
    /// There are too many peers.
    #[error(transparent)]
    Peers(#[from] TooManyPeers),
    /// TLS does not accept the network key.
    #[error("TLS does not accept the network key: {0}")]
    Tls(#[from] tokio_rustls::rustls::Error),
    /// A thread or its runtime did not start.
    #[error("the relay's thread does not start: {0}")]
    Thread(io::Error),
}

/// The source of a relay's reports.
#[derive(Clone, Debug)]
pub struct RelayObserver {
    peers: Arc<Peers>,
    role: Role,
}

impl RelayObserver {
    /// Returns the report of each peer that the node is to be connected with, in the order of their
    /// keys.
    pub fn report(&self) -> Vec<PeerReport> {
        let peers = self.peers.all().into_iter();
        let connects = peers.filter(|state| state.read(|peer| self.role.connects(peer)));
        connects.map(|state| state.report()).collect()
    }
}

/// A running relay. Dropping it stops it.
#[derive(Debug)]
pub struct Relay {
    observer: RelayObserver,
    stopper: Stopper,
    listen_address: SocketAddr,
    thread: Option<JoinHandle<()>>,
}

impl Relay {
    /// Starts the relay on a thread of its own, and returns when it listens.
    ///
    /// # Errors
    ///
    /// Returns the [`StartError`] of the part that does not start. Nothing runs then.
    pub fn start(
        settings: Settings,
        node: impl RelayNode + Send,
        queues: RelayQueues,
    ) -> Result<Self, StartError> {
        let role = Role {
            key: settings.key.public_key(),
            is_validator: settings.is_validator,
        };
        let peers = Arc::new(Peers::new(settings.peers.clone())?);
        let observer = RelayObserver {
            peers: Arc::clone(&peers),
            role: role.clone(),
        };
        let parts = Parts {
            tls: Tls::new(&settings.key, Arc::clone(&peers), role.clone())?,
            peers,
            names: Names::start().map_err(StartError::Thread)?,
            stopper: Stopper::new(),
        };
        let address = settings.listen;
        let listen_error = |source| StartError::Listen { address, source };
        let listener = bind(address).map_err(listen_error)?;
        let listen_address = listener.local_addr().map_err(listen_error)?;
        let stopper = parts.stopper.clone();
        let (started_sender, started) = std::sync::mpsc::sync_channel(1);
        let run = {
            let stopper = stopper.clone();
            move || {
                let _guard = PanicGuard(stopper.clone());
                // An error means that the caller panicked.
                let runtime = match Builder::new_current_thread().enable_all().build() {
                    Ok(runtime) => started_sender.send(Ok(())).map(|()| runtime),
                    Err(error) => return drop(started_sender.send(Err(error))),
                };
                let Ok(runtime) = runtime else { return };
                let cx = Shared::new(settings, role, node, parts);
                run_thread(&runtime, &cx, listener, queues);
            }
        };
        let thread = std::thread::Builder::new().name(THREAD.into()).spawn(run);
        let relay = Self {
            observer,
            stopper,
            listen_address,
            thread: Some(thread.map_err(StartError::Thread)?),
        };
        match started.recv() {
            Ok(Ok(())) => Ok(relay),
            Ok(Err(error)) => Err(StartError::Thread(error)),
            Err(_) => Err(StartError::Thread(io::Error::other("it panicked"))),
        }
    }

    /// Returns the address that the relay listens on.
    pub fn listen_address(&self) -> SocketAddr {
        self.listen_address
    }

    /// Returns the state, as it changes.
    pub fn state(&self) -> watch::Receiver<RelayState> {
        self.stopper.subscribe()
    }

    /// Adds a peer, or replaces the settings of the peer with its key. If they differ, its
    /// connection is closed.
    ///
    /// # Errors
    ///
    /// Returns [`TooManyPeers`] if there is no room for the peer. Nothing has changed then.
    pub fn admit(&self, peer: Peer) -> Result<(), TooManyPeers> {
        self.observer.peers.admit(peer)
    }

    /// Returns the report of each peer, as [`RelayObserver::report`] does.
    pub fn report(&self) -> Vec<PeerReport> {
        self.observer.report()
    }

    /// Returns the source of the relay's reports, which does not keep the relay running.
    pub fn observer(&self) -> RelayObserver {
        self.observer.clone()
    }

    /// Closes all connections, and waits until the thread has ended.
    pub fn stop(mut self) {
        self.join_thread();
    }

    fn join_thread(&mut self) {
        self.stopper.stop(RelayState::Stopped);
        if let Some(thread) = self.thread.take() {
            // A panic of the thread is in the state.
            let _ = thread.join();
        }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.join_thread();
    }
}

fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

fn run_thread<N: RelayNode>(
    runtime: &Runtime,
    cx: &Rc<Shared<N>>,
    listener: TcpListener,
    queues: RelayQueues,
) {
    // Dropping the set ends all tasks.
    LocalSet::new().block_on(runtime, async {
        match tokio::net::TcpListener::from_std(listener) {
            Ok(listener) => cx.spawn(listen::accept_all(Rc::clone(cx), listener)),
            Err(error) => {
                tracing::error!(%error, "the relay does not listen");
                return;
            }
        }
        cx.spawn(outgoing::send_all(Rc::clone(cx), queues.outgoing));
        cx.spawn(finds::serve(Rc::clone(cx), queues.finds));
        tokio::select! {
            () = cx.stopper.stopped() => {}
            () = dial_all(cx) => {}
        }
    });
}

/// Runs a task for each peer, that of an added one included.
async fn dial_all<N: RelayNode>(cx: &Rc<Shared<N>>) {
    let mut dialed = BTreeSet::new();
    loop {
        for state in cx.peers.all() {
            if dialed.insert(state.key.clone()) {
                cx.spawn(dial::keep_connected(Rc::clone(cx), state));
            }
        }
        cx.peers.added().await;
    }
}
