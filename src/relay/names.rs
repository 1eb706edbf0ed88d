//! Addresses of host names. The system's resolver blocks, so it has a thread of its own, which
//! exists before the node is ready.

use crate::sizes;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::sync::mpsc;
use tokio::sync::oneshot;

/// Name of the thread.
const THREAD: &str = "relay-names";

struct Request {
    address: String,
    reply: oneshot::Sender<io::Result<Vec<SocketAddr>>>,
}

/// The queue of the thread, which ends when the queue is dropped.
#[derive(Debug)]
pub(crate) struct Names(mpsc::SyncSender<Request>);

impl Names {
    /// Starts the thread.
    ///
    /// # Errors
    ///
    /// Returns the system's error if the thread does not start.
    pub fn start() -> io::Result<Self> {
        let (sender, requests) = mpsc::sync_channel(sizes::NAMES_MAX);
        let thread = std::thread::Builder::new().name(THREAD.into());
        // Nobody joins the thread: a name can take the resolver half a minute.
        thread.spawn(move || resolve_all(&requests))?;
        Ok(Self(sender))
    }

    /// Returns up to [`sizes::ADDRESSES_MAX`] addresses of `host:port`.
    ///
    /// # Errors
    ///
    /// Returns the system's error if the name has no address, or [`io::ErrorKind::ResourceBusy`] if
    /// too many names wait.
    pub async fn resolve(&self, address: &str) -> io::Result<Vec<SocketAddr>> {
        if let Ok(address) = address.parse() {
            return Ok(vec![address]);
        }
        let (reply, resolved) = oneshot::channel();
        let request = Request {
            address: address.to_owned(),
            reply,
        };
        let busy = || io::Error::from(io::ErrorKind::ResourceBusy);
        self.0.try_send(request).map_err(|_| busy())?;
        resolved.await.unwrap_or_else(|_| Err(busy()))
    }
}

fn resolve_all(requests: &mpsc::Receiver<Request>) {
    for request in requests {
        if request.reply.is_closed() {
            continue;
        }
        let resolved = request.address.to_socket_addrs();
        let resolved = resolved.map(|found| found.take(sizes::ADDRESSES_MAX).collect());
        // An error means that the attempt to connect has ended.
        let _ = request.reply.send(resolved);
    }
}
