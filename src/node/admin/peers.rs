//! `/peers`: the peers of a node of several validators, and the admission of a full node.

use super::context::{Admin, BODY_BYTES_MAX, error_response, parse_body};
use crate::consensus::{AdmissionError, PeerEntry, PeerRegistry};
use actix_web::{HttpResponse, http::StatusCode, web::Data};
use ledger_api::{ErrorCode, ErrorKind, UnencodedBody};
use serde::{Deserialize, Serialize};
use std::{io, sync::Arc, thread};
use tokio::sync::oneshot;

/// Name of the thread that reads or writes the file of peers.
const THREAD: &str = "peers";

/// The peers of a node.
#[derive(Debug, Serialize, Deserialize)]
pub struct Peers {
    /// The entries of its file of peers.
    pub peers: Vec<PeerEntry>,
}

/// The result of an admission.
#[derive(Debug, Serialize, Deserialize)]
pub struct Admitted {
    /// Whether the file of peers did not have the entry yet.
    pub is_new: bool,
}

/// `GET /peers`: responds with the entries of the file of peers.
///
/// A node that orders its chain alone has none. Responds with 500 if the file cannot be read.
pub async fn list(admin: Data<Admin>) -> HttpResponse {
    if admin.peers.is_none() {
        return HttpResponse::Ok().json(Peers { peers: Vec::new() });
    }
    match on_thread(&admin, |peers| peers.entries()).await {
        Ok(peers) => HttpResponse::Ok().json(Peers { peers }),
        Err(response) => response,
    }
}

/// `POST /peers` with the entry of a full node, such as `{"identity": "12D3...", "address":
/// "192.0.2.5:7000", "relay": "192.0.2.5:7400"}`: adds it to the file of peers, and accepts its
/// connections.
///
/// Responds with 400 if the entry is malformed or names a validator, 409 if this node is no
/// validator or cannot have the peer, 500 if the file cannot be written, and 503 if the peer is in
/// the file and the engine does not accept it. The same entry again is no change.
pub async fn admit(admin: Data<Admin>, body: UnencodedBody<BODY_BYTES_MAX>) -> HttpResponse {
    let form = "the entry of a full node, such as {\"identity\": \"12D3...\", \"address\": \
                \"192.0.2.5:7000\", \"relay\": \"192.0.2.5:7400\"}";
    let entry: PeerEntry = match parse_body(body, form) {
        Ok(entry) => entry,
        Err(problem) => return problem.response(),
    };
    let identity = entry.identity.clone();
    match on_thread(&admin, move |peers| peers.admit(&entry)).await {
        Ok(is_new) => {
            tracing::info!(identity, is_new, "a full node is admitted");
            HttpResponse::Ok().json(Admitted { is_new })
        }
        Err(response) => response,
    }
}

/// Calls `run` on a thread of its own, because a file system may hang.
///
/// # Errors
///
/// Returns the response to an error.
async fn on_thread<T: Send + 'static>(
    admin: &Admin,
    run: impl FnOnce(&dyn PeerRegistry) -> Result<T, AdmissionError> + Send + 'static,
) -> Result<T, HttpResponse> {
    let conflict = |message: &str| {
        let message = message.to_owned();
        error_response(StatusCode::CONFLICT, ErrorCode::InvalidInput, message)
    };
    let Some(peers) = admin.peers.as_ref().map(Arc::clone) else {
        return Err(conflict(
            "this node orders its chain alone (sequencer.mode = \"solo\")",
        ));
    };
    let (sender, result) = oneshot::channel();
    let spawned = thread::Builder::new()
        .name(THREAD.to_owned())
        .spawn(move || {
            // An error means that the client has closed its connection.
            let _ = sender.send(run(&*peers));
        });
    let result = match spawned {
        Ok(_) => result.await.map_err(io::Error::other),
        Err(error) => Err(error),
    };
    let failed =
        |status, message: String| error_response(status, ErrorCode::InternalError, message);
    match result {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => {
            tracing::warn!(%error, "the request about the peers failed");
            Err(match error {
                AdmissionError::Invalid(message) => ErrorKind::InvalidInput(message).response(),
                AdmissionError::Conflict(message) => conflict(&message),
                AdmissionError::File(message) => failed(StatusCode::INTERNAL_SERVER_ERROR, message),
                AdmissionError::NotConnected(_) => {
                    failed(StatusCode::SERVICE_UNAVAILABLE, error.to_string())
                }
            })
        }
        Err(error) => Err(failed(
            StatusCode::INTERNAL_SERVER_ERROR,
            format!("the thread that reads the peers failed: {error}"),
        )),
    }
}
