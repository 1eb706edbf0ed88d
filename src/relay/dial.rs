//! Connections that this node dials.

use crate::connection;
use crate::context::Shared;
use crate::ended::Ended;
use crate::peers::PeerState;
use crate::sizes;
use ledger_actors::relay::RelayNode;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsStream;
use tokio_rustls::rustls::pki_types::ServerName;

/// Keeps a connection with a peer for as long as this node is the one that dials.
pub(crate) async fn keep_connected<N: RelayNode>(cx: Rc<Shared<N>>, state: Arc<PeerState>) {
    let mut backoff = sizes::BACKOFF_MIN;
    loop {
        let peer = state.peer();
        let address = peer.address.clone().filter(|_| cx.role.dials(&peer));
        let Some(address) = address else {
            state.changed().await;
            continue;
        };
        let attempt = async {
            let started = Instant::now();
            match establish(&cx, &state, &address).await {
                Ok((stream, address)) => {
                    connection::run(&cx, &state, stream, address.ip()).await;
                }
                Err(ended) => connection::log(&state, &ended),
            }
            // A connection that ends soon is no reason to dial it sooner.
            if started.elapsed() > sizes::BACKOFF_MAX {
                backoff = sizes::BACKOFF_MIN;
            }
            sleep(jittered(backoff)).await;
            backoff = (2 * backoff).min(sizes::BACKOFF_MAX);
        };
        tokio::select! {
            () = attempt => {}
            () = state.changed() => backoff = sizes::BACKOFF_MIN,
        }
    }
}

/// Returns a time of half to all of `backoff`, so that nodes that restart do not dial in step.
fn jittered(backoff: Duration) -> Duration {
    backoff.mul_f64(0.5 + fastrand::f64() / 2.0)
}

async fn establish<N>(
    cx: &Shared<N>,
    state: &PeerState,
    address: &str,
) -> Result<(TlsStream<TcpStream>, SocketAddr), Ended> {
    let handshake = async {
        let tcp = connect(&cx.names.resolve(address).await?).await?;
        tcp.set_nodelay(true)?;
        let address = tcp.peer_addr()?;
        let connector = cx.tls.connector(state.key.clone())?;
        // Unused: keys are compared, not names.
        let name = ServerName::IpAddress(address.ip().into());
        let mut stream = connector.connect(name, tcp).await?.into();
        connection::greet(cx, &mut stream).await?;
        Ok((stream, address))
    };
    let established = timeout(cx.times.handshake, handshake).await;
    established.unwrap_or(Err(Ended::SlowHandshake))
}

/// Connects to the first of the addresses that accepts.
async fn connect(addresses: &[SocketAddr]) -> io::Result<TcpStream> {
    let mut error = io::Error::from(io::ErrorKind::NotFound);
    for address in addresses {
        match TcpStream::connect(address).await {
            Ok(stream) => return Ok(stream),
            Err(failed) => error = failed,
        }
    }
    Err(error)
}
