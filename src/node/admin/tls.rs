//! `/tls/reload`: reads the certificate of the API listener again.

use super::context::error_response;
use crate::access::warn_if_key_is_exposed;
use actix_web::{HttpResponse, http::StatusCode, web::Data};
use ledger_api::ErrorCode;
use ledger_http::{CertificateHolder, LoadedCertificate, TlsError};
use ledger_limits::{Limit, Permit};
use serde::Serialize;
use std::{io, sync::Arc, thread};
use tokio::sync::oneshot;

/// Name of the thread that reads the files.
const THREAD: &str = "tls-reload";

/// The certificate of the API listener, for the handler that reloads it.
#[derive(Clone, Debug)]
pub struct ApiCertificate {
    /// `None` if the listener has no TLS.
    holder: Option<CertificateHolder>,
    /// Limit of one on the reloads under way.
    reloads: Arc<Limit>,
}

impl ApiCertificate {
    /// Creates the state of the handler. `holder` is `None` if the API listener has no TLS.
    pub fn new(holder: Option<CertificateHolder>) -> Self {
        Self {
            holder,
            reloads: Arc::new(Limit::new(1)),
        }
    }
}

/// The certificate after a reload.
#[derive(Debug, Serialize)]
struct Reloaded<'a> {
    /// SHA-256 of the server's certificate, as `openssl x509 -fingerprint -sha256` prints it.
    fingerprint_sha256: &'a str,
    /// Whether it is another certificate than before.
    changed: bool,
}

/// `POST /tls/reload`: reads the files of the certificate and its private key again, for the
/// handshakes that begin from now on.
///
/// Responds with 400 if the files cannot be used, 409 if the API is served without TLS or another
/// reload is under way, and 500 if the system refuses a thread. The previous certificate stays in
/// use then.
pub async fn reload(certificate: Data<ApiCertificate>) -> HttpResponse {
    let Some(holder) = certificate.holder.clone() else {
        return conflict(
            "the API is served without TLS: api.tls_certificate and api.tls_private_key are not set",
        );
    };
    let Some(permit) = Permit::try_acquire(Arc::clone(&certificate.reloads)) else {
        return conflict("another reload is under way");
    };
    let previous = holder.current();
    match reload_on_thread(holder, permit).await {
        Ok(Ok(current)) => {
            warn_if_key_is_exposed(&current);
            let changed = current.fingerprint() != previous.fingerprint();
            tracing::info!(
                fingerprint_sha256 = current.fingerprint(),
                changed,
                "TLS certificate reloaded"
            );
            HttpResponse::Ok().json(Reloaded {
                fingerprint_sha256: current.fingerprint(),
                changed,
            })
        }
        Ok(Err(error)) => {
            tracing::warn!(%error, "TLS certificate not reloaded");
            error_response(
                StatusCode::BAD_REQUEST,
                ErrorCode::InvalidInput,
                format!("{error}; the previous certificate stays in use"),
            )
        }
        Err(error) => error_response(
            StatusCode::INTERNAL_SERVER_ERROR,
            ErrorCode::InternalError,
            format!("the thread that reads the certificate cannot be started: {error}"),
        ),
    }
}

/// Reloads the certificate on a thread of its own, because a file may be a pipe or on a file system
/// that hangs. The thread holds `permit` until it ends.
///
/// # Errors
///
/// Returns the error of the system if it refuses the thread.
async fn reload_on_thread(
    holder: CertificateHolder,
    permit: Permit<Arc<Limit>>,
) -> io::Result<Result<Arc<LoadedCertificate>, TlsError>> {
    let (sender, reloaded) = oneshot::channel();
    thread::Builder::new()
        .name(THREAD.to_owned())
        .spawn(move || {
            let reloaded = holder.reload();
            drop(permit);
            // An error means that the client has closed its connection.
            let _ = sender.send(reloaded);
        })?;
    reloaded.await.map_err(io::Error::other)
}

fn conflict(message: &str) -> HttpResponse {
    error_response(StatusCode::CONFLICT, ErrorCode::InvalidInput, message)
}
