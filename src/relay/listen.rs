//! Connections that peers dial.

use crate::connection;
use crate::context::Shared;
use crate::ended::Ended;
use crate::peers::PeerState;
use crate::{sizes, tls};
use ledger_actors::relay::RelayNode;
use ledger_limits::{KeyedLimit, Limit, Permit, network_of};
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsStream;

/// Accepts connections until it is canceled.
pub(crate) async fn accept_all<N: RelayNode>(cx: Rc<Shared<N>>, listener: TcpListener) {
    let handshakes = Arc::new(Limit::new(sizes::HANDSHAKES_MAX));
    let of_address = Arc::new(KeyedLimit::new(sizes::HANDSHAKES_PER_ADDRESS_MAX));
    loop {
        let (tcp, address) = match listener.accept().await {
            Ok((tcp, address)) => (tcp, address.ip()),
            Err(error) => {
                if cx.stranger_log.permits() {
                    tracing::warn!(%error, "the relay cannot accept a connection");
                }
                sleep(sizes::ACCEPT_RETRY).await;
                continue;
            }
        };
        let permits = (
            of_address.try_acquire(network_of(address)),
            Permit::try_acquire(Arc::clone(&handshakes)),
        );
        let (Some(of_address), Some(handshake)) = permits else {
            log_stranger(&cx, address, &"too many connections have proved no key");
            continue;
        };
        let task = {
            let cx = Rc::clone(&cx);
            async move {
                let handshake = async {
                    let _permits = (of_address, handshake);
                    establish(&cx, tcp).await
                };
                let established = timeout(cx.times.handshake, handshake).await;
                match established.unwrap_or(Err(Ended::SlowHandshake)) {
                    Ok((state, stream)) => {
                        connection::run(&cx, &state, stream, address).await;
                    }
                    Err(ended) => log_stranger(&cx, address, &ended),
                }
            }
        };
        cx.spawn(task);
    }
}

async fn establish<N>(
    cx: &Shared<N>,
    tcp: TcpStream,
) -> Result<(Arc<PeerState>, TlsStream<TcpStream>), Ended> {
    tcp.set_nodelay(true)?;
    let mut stream = cx.tls.acceptor().accept(tcp).await?.into();
    // The verifier found the key in the table, from which no peer is removed.
    let state = tls::peer_key(&stream).and_then(|key| cx.peers.get(&key));
    let state = state.ok_or(Ended::Version)?;
    connection::greet(cx, &mut stream).await?;
    Ok((state, stream))
}

/// Logs that a connection was not established, at a limited rate for all of them.
fn log_stranger<N>(cx: &Shared<N>, address: IpAddr, reason: &dyn std::fmt::Display) {
    if cx.stranger_log.permits() {
        tracing::warn!(%address, %reason, "the relay refused a connection");
    } else {
        tracing::debug!(%address, %reason, "the relay refused a connection");
    }
}
