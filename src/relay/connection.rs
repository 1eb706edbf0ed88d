//! One connection with a peer: the first messages, then messages in both directions until one side
//! ends it.

use crate::codec::{self, CodecError, HELLO_BYTES_MAX, Message};
use crate::context::Shared;
use crate::ended::Ended;
use crate::exchange::{Incoming, Outgoing, Questions};
use crate::peers::{Connection, PeerState};
use crate::{sizes, tls};
use bytes::Bytes;
use ledger_actors::relay::RelayNode;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;
use tokio::io::{AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio_rustls::TlsStream;

/// Exchanges the first messages.
///
/// # Errors
///
/// Returns [`Ended::Version`] or [`Ended::Chain`] if the nodes do not fit, or the error of the
/// connection.
pub(crate) async fn greet<N>(
    cx: &Shared<N>,
    stream: &mut TlsStream<TcpStream>,
) -> Result<(), Ended> {
    if !tls::has_protocol(stream) {
        return Err(Ended::Version);
    }
    let own = cx.genesis_hash;
    let hello = codec::encode(&Message::Hello { genesis_hash: own });
    stream.write_all(&hello).await?;
    stream.flush().await?;
    match codec::read(stream, HELLO_BYTES_MAX).await? {
        Message::Hello { genesis_hash } if genesis_hash == own => Ok(()),
        Message::Hello { genesis_hash } => Err(Ended::Chain {
            own,
            theirs: genesis_hash,
        }),
        _ => Err(CodecError::Unexpected.into()),
    }
}

/// Exchanges messages until the connection ends, and returns the reason.
pub(crate) async fn run<N: RelayNode>(
    cx: &Rc<Shared<N>>,
    peer: &Arc<PeerState>,
    stream: TlsStream<TcpStream>,
    address: IpAddr,
) -> Ended {
    let client = cx.client_keys.key_of(address);
    let (reader, writer) = tokio::io::split(stream);
    let (frame_sender, frames) = mpsc::channel(sizes::OUTGOING_FRAMES_MAX);
    let (question_sender, questions) = mpsc::channel(sizes::FINDS_MAX);
    let (answer_sender, answers) = mpsc::channel(sizes::FINDS_PER_PEER_MAX);
    let (list_sender, mut lists) = mpsc::channel::<Vec<Bytes>>(sizes::INCOMING_FRAMES_MAX);
    let open = Questions::default();
    let outgoing = Outgoing {
        writer,
        frames,
        questions,
        answers,
        open: &open,
        peer,
        times: cx.times,
    };
    let incoming = Incoming {
        cx,
        peer,
        client,
        open: &open,
        lists: list_sender,
        answers: answer_sender,
    };
    let admission = async {
        while let Some(list) = lists.recv().await {
            let decoded = list.iter().map(|bytes| cx.limits.decode_transaction(bytes));
            let transactions = match decoded.collect() {
                Ok(transactions) => transactions,
                Err(error) => return Ended::Violation(error),
            };
            let admission = cx.node.admit(transactions, client).await;
            peer.traffic.admit(&admission);
        }
        Ended::Replaced
    };
    let mut registration = peer.connect(Connection {
        frames: frame_sender,
        questions: question_sender,
    });
    tracing::info!(peer = %peer.name(), %address, "the relay is connected");
    // One task, so all parts end with the first of them.
    let ended = tokio::select! {
        ended = outgoing.run() => ended,
        ended = incoming.run(BufReader::new(reader)) => ended,
        ended = admission => ended,
        () = registration.replaced() => Ended::Replaced,
    };
    if matches!(ended, Ended::Violation(_)) {
        peer.traffic.violations.increment();
    }
    log(peer, &ended);
    ended
}

/// Logs that a connection with a peer ended or was not established, at a limited rate.
pub(crate) fn log(peer: &PeerState, ended: &Ended) {
    let name = peer.name();
    match ended {
        Ended::Replaced => tracing::debug!(peer = %name, reason = %ended, "the relay disconnects"),
        _ if peer.log_limit.permits() => {
            tracing::warn!(peer = %name, reason = %ended, "the relay is not connected");
        }
        _ => tracing::debug!(peer = %name, reason = %ended, "the relay is not connected"),
    }
}
