//! `/tls/reload`: reads the certificate of the API listener again.

use super::context::error_response;
use crate::access::warn_if_key_is_exposed;
use actix_web::{HttpResponse, http::StatusCode, web::Data};
use ledger_api::ErrorCode;
use ledger_http::{CertificateHolder, LoadedCertificate, ServerTlsError};
use serde::Serialize;
use std::{io, sync::Arc, thread};
use tokio::sync::{Mutex, OwnedMutexGuard, oneshot};

/// Name of the thread that reads the files.
const THREAD: &str = "tls-reload";

/// A lock that each reload of the certificate holds, from its first read of a file to the
/// replacement. Clones share it.
///
/// Without the lock, the slower of two reloads could restore a certificate that the faster one has
/// replaced.
#[derive(Clone, Debug, Default)]
pub struct ReloadLock(Arc<Mutex<()>>);

/// Holds a [`ReloadLock`] until it is dropped.
pub type ReloadGuard = OwnedMutexGuard<()>;

impl ReloadLock {
    /// Waits for the lock.
    pub async fn acquire(&self) -> ReloadGuard {
        Arc::clone(&self.0).lock_owned().await
    }

    /// Acquires the lock, or returns `None` if a reload is under way.
    pub fn try_acquire(&self) -> Option<ReloadGuard> {
        Arc::clone(&self.0).try_lock_owned().ok()
    }
}

/// The certificate of the API listener, for the handler that reloads it.
#[derive(Clone, Debug)]
pub struct ApiCertificate {
    /// `None` if the listener has no TLS.
    pub holder: Option<CertificateHolder>,
    /// The lock that this handler shares with `SIGHUP`.
    pub lock: ReloadLock,
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
    let Some(guard) = certificate.lock.try_acquire() else {
        return conflict("another reload is under way");
    };
    let previous = holder.current();
    match reload_on_thread(holder, guard).await {
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

/// Reloads the certificate on a thread of its own, because a file system may hang. The thread holds
/// the lock until the certificate is replaced, also if the client closes its connection before.
///
/// # Errors
///
/// Returns the error of the operating system if it refuses the thread.
async fn reload_on_thread(
    holder: CertificateHolder,
    guard: ReloadGuard,
) -> io::Result<Result<Arc<LoadedCertificate>, ServerTlsError>> {
    let (sender, reloaded) = oneshot::channel();
    thread::Builder::new()
        .name(THREAD.to_owned())
        .spawn(move || {
            let reloaded = holder.reload();
            drop(guard);
            // An error means that the client has closed its connection.
            let _ = sender.send(reloaded);
        })?;
    reloaded.await.map_err(io::Error::other)
}

fn conflict(message: &str) -> HttpResponse {
    error_response(StatusCode::CONFLICT, ErrorCode::InvalidInput, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ledger_http::CertificateFiles;
    use ledger_test_support::http::TestCertificate;

    #[actix_web::test]
    async fn rejects_a_reload_while_another_one_is_under_way() {
        let files = TestCertificate::new();
        let loaded = CertificateFiles {
            certificate: files.certificate_file(),
            private_key: files.key_file(),
        };
        let certificate = ApiCertificate {
            holder: Some(CertificateHolder::new(loaded.load().unwrap())),
            lock: ReloadLock::default(),
        };
        let status = async || reload(Data::new(certificate.clone())).await.status();
        let guard = certificate.lock.acquire().await;
        assert_eq!(status().await, StatusCode::CONFLICT);
        drop(guard);
        for _ in 0..2 {
            assert_eq!(status().await, StatusCode::OK);
        }
    }
}
