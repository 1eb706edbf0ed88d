//! Chunked bodies with a small first chunk and large later ones.

use super::{
    attacker::{Attacker, Preparation, prepared},
    requests::{RESPONSE_TIME_MAX, kind},
};
use ledger_test_support::http::RawConnection;
use std::{sync::Arc, time::Duration};
use tokio::time::timeout;

/// Number of senders, each of which sends one body at a time.
const SENDERS: usize = 32;
/// Time between a body and its end, so that all senders hold bodies concurrently.
const HELD: Duration = Duration::from_secs(1);
/// Bodies per second: one per second of each sender.
const PER_SECOND: f64 = 32.0;
/// Sizes of the chunks, in bytes.
const CHUNKS: [usize; 3] = [1, 512 * 1024, 512 * 1024];
/// The last chunk, which ends a body.
const END: &[u8] = b"0\r\n\r\n";

/// Returns a request whose body lacks its end.
fn request_without_end() -> Vec<u8> {
    let mut request = b"POST /v1/view HTTP/1.1\r\nhost: node\r\ncontent-type: application/json\r\n\
        transfer-encoding: chunked\r\n\r\n"
        .to_vec();
    for chunk_bytes in CHUNKS {
        request.extend(format!("{chunk_bytes:x}\r\n").into_bytes());
        request.resize(request.len() + chunk_bytes, b' ');
        request.extend_from_slice(b"\r\n");
    }
    request
}

/// Sends a body and returns the kind of the response. The end of the body is sent only if there is
/// no response before.
async fn send_body(authority: &str, request: &[u8]) -> Option<String> {
    let mut connection = RawConnection::try_connect(authority).await?;
    connection.send(request).await;
    if let Ok(early) = timeout(HELD, connection.response()).await {
        return Some(kind(&early?));
    }
    connection.send(END).await;
    let response = timeout(RESPONSE_TIME_MAX, connection.response()).await;
    Some(kind(&response.ok()??))
}

/// Bodies that are held until the memory for bodies is exhausted.
pub fn chunked(attacker: Arc<Attacker>) -> Preparation {
    prepared(async move {
        let request = request_without_end();
        let send = async |_| send_body(attacker.target.authority(), &request).await;
        attacker.flood(SENDERS, PER_SECOND, send).await;
    })
}
