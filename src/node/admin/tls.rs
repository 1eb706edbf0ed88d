//! `/tls/reload`: reads the certificates of the listeners again.

use super::context::error_response;
use crate::access::warn_if_key_is_exposed;
use actix_web::{HttpResponse, http::StatusCode, web::Data};
use ledger_api::ErrorCode;
use ledger_http::{CertificateHolder, ServerTlsError};
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

/// The certificates of the listeners, for the handler that reloads them.
#[derive(Clone, Debug)]
pub struct Certificates {
    /// That of the API listener. `None` if it has no TLS.
    pub api: Option<CertificateHolder>,
    /// That of the admin listener. `None` if it has no TLS.
    pub admin: Option<CertificateHolder>,
    /// The lock that this handler shares with `SIGHUP`.
    pub lock: ReloadLock,
}

/// A certificate after a reload.
#[derive(Debug, Serialize)]
struct Reloaded {
    /// SHA-256 of the server's certificate, as `openssl x509 -fingerprint -sha256` prints it.
    fingerprint_sha256: String,
    /// Whether it is another certificate than before.
    changed: bool,
}

/// The certificates after a reload. Those of the API listener are not in a member of their own,
/// because it was the only one with TLS.
#[derive(Debug, Serialize)]
struct AllReloaded {
    #[serde(flatten)]
    api: Option<Reloaded>,
    #[serde(skip_serializing_if = "Option::is_none")]
    admin: Option<Reloaded>,
}

/// `POST /tls/reload`: reads the files of the certificates and their private keys again, for the
/// handshakes that begin from now on.
///
/// Responds with 400 if the files of a listener cannot be used, 409 if no listener has TLS or
/// another reload is under way, and 500 if the system refuses a thread. The previous certificate
/// stays in use then.
pub async fn reload(certificates: Data<Certificates>) -> HttpResponse {
    let (api, admin) = (certificates.api.clone(), certificates.admin.clone());
    if api.is_none() && admin.is_none() {
        return conflict(
            "no listener has TLS: neither api.tls_certificate nor admin.tls_certificate is set",
        );
    }
    let Some(guard) = certificates.lock.try_acquire() else {
        return conflict("another reload is under way");
    };
    match reload_on_thread(api, admin, guard).await {
        Ok(Ok(reloaded)) => HttpResponse::Ok().json(reloaded),
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

/// Reloads the certificates on a thread of its own, because a file system may hang. The thread
/// holds the lock until they are replaced, also if the client closes its connection before.
///
/// # Errors
///
/// Returns the error of the operating system if it refuses the thread.
async fn reload_on_thread(
    api: Option<CertificateHolder>,
    admin: Option<CertificateHolder>,
    guard: ReloadGuard,
) -> io::Result<Result<AllReloaded, ServerTlsError>> {
    let (sender, reloaded) = oneshot::channel();
    thread::Builder::new()
        .name(THREAD.to_owned())
        .spawn(move || {
            let reloaded = reload_all(api.as_ref(), admin.as_ref());
            drop(guard);
            // An error means that the client has closed its connection.
            let _ = sender.send(reloaded);
        })?;
    reloaded.await.map_err(io::Error::other)
}

/// Reloads the certificates of the listeners that have one.
///
/// # Errors
///
/// Returns the first error. The certificate of the listener stays then, and that of a later one.
fn reload_all(
    api: Option<&CertificateHolder>,
    admin: Option<&CertificateHolder>,
) -> Result<AllReloaded, ServerTlsError> {
    let reload = |setting, holder: Option<&CertificateHolder>| {
        holder.map(|holder| reload_one(setting, holder)).transpose()
    };
    Ok(AllReloaded {
        api: reload("api.tls_private_key", api)?,
        admin: reload("admin.tls_private_key", admin)?,
    })
}

/// Reloads a certificate, whose private key this setting names.
///
/// # Errors
///
/// Returns the error of [`CertificateHolder::reload`].
fn reload_one(setting: &str, holder: &CertificateHolder) -> Result<Reloaded, ServerTlsError> {
    let previous = holder.current();
    let current = holder.reload()?;
    warn_if_key_is_exposed(setting, &current);
    let changed = current.fingerprint() != previous.fingerprint();
    tracing::info!(
        fingerprint_sha256 = current.fingerprint(),
        changed,
        "TLS certificate reloaded"
    );
    Ok(Reloaded {
        fingerprint_sha256: current.fingerprint().to_owned(),
        changed,
    })
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
        let certificates = Certificates {
            api: Some(CertificateHolder::new(loaded.load().unwrap())),
            admin: None,
            lock: ReloadLock::default(),
        };
        let status = async || reload(Data::new(certificates.clone())).await.status();
        let guard = certificates.lock.acquire().await;
        assert_eq!(status().await, StatusCode::CONFLICT);
        drop(guard);
        for _ in 0..2 {
            assert_eq!(status().await, StatusCode::OK);
        }
    }
}
