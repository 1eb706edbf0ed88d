//! `/flight`: writes the recording of the newest blocks.

use super::context::{Admin, BODY_BYTES_MAX, error_response};
use actix_web::{HttpResponse, http::StatusCode, web::Data};
use ledger_actors::{FlightError, FlightFile, NodeHandle};
use ledger_api::{ErrorCode, ErrorKind, UnencodedBody};
use serde::Serialize;
use std::{io, path::PathBuf, thread};
use tokio::sync::oneshot;

/// Name of the thread that writes the file.
const THREAD: &str = "flight-writer";

/// Reason that the file states.
const REASON: &str = "requested on the admin listener";

/// A recording that was written.
#[derive(Debug, Serialize)]
struct Written {
    /// The path of the file.
    file: PathBuf,
    /// Number of blocks in it.
    blocks: usize,
}

/// `POST /flight`: writes the times of the newest blocks into the data directory.
///
/// Responds with 400 to a body, with 409 if another recording is being written or the ledger is in
/// memory, and with 500 if the
/// file cannot be written or the system refuses a thread. The directory then holds no part of it.
pub async fn write(admin: Data<Admin>, body: UnencodedBody<BODY_BYTES_MAX>) -> HttpResponse {
    match body.0 {
        Ok(body) if body.is_empty() => {}
        Ok(_) => return ErrorKind::Syntax("this request has no body".to_owned()).response(),
        Err(problem) => return problem.response(),
    }
    let Some(directory) = admin.data_dir.clone() else {
        return error_response(
            StatusCode::CONFLICT,
            ErrorCode::InvalidInput,
            "the ledger is in memory (storage.in_memory), so there is no directory for a recording",
        );
    };
    match write_on_thread(&admin.node, directory).await {
        Ok(Ok(FlightFile { path, blocks })) => {
            tracing::info!(file = %path.display(), blocks, "flight file written");
            HttpResponse::Ok().json(Written { file: path, blocks })
        }
        Ok(Err(error @ FlightError::Busy)) => error_response(
            StatusCode::CONFLICT,
            ErrorCode::InvalidInput,
            error.to_string(),
        ),
        Ok(Err(error @ FlightError::Io { .. })) => failed(error.to_string()),
        Err(error) => failed(format!(
            "the thread that writes the recording cannot be started: {error}"
        )),
    }
}

/// Writes on a thread of its own, because the file system may hang.
///
/// # Errors
///
/// Returns the error of the operating system if it refuses the thread.
async fn write_on_thread(
    node: &NodeHandle,
    directory: PathBuf,
) -> io::Result<Result<FlightFile, FlightError>> {
    let recorder = node.flight_recorder();
    let (sender, written) = oneshot::channel();
    thread::Builder::new()
        .name(THREAD.to_owned())
        .spawn(move || {
            // An error means that the client has closed its connection.
            let _ = sender.send(recorder.write(&directory, REASON));
        })?;
    written.await.map_err(io::Error::other)
}

fn failed(message: String) -> HttpResponse {
    error_response(
        StatusCode::INTERNAL_SERVER_ERROR,
        ErrorCode::InternalError,
        message,
    )
}
