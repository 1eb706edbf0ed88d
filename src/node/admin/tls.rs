//! `/tls/reload`: reads the certificate of the API listener again.

use crate::access::warn_if_key_is_exposed;
use actix_web::{HttpResponse, http::StatusCode, web::Data};
use ledger_api::{ErrorBody, ErrorCode};
use ledger_http::CertificateHolder;
use serde::Serialize;

/// The certificate of the API listener, or `None` if it has no TLS.
#[derive(Clone, Debug)]
pub struct ApiCertificate(pub Option<CertificateHolder>);

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
/// Responds with 400 if the files cannot be used, and with 409 if the API is served without TLS. The
/// previous certificate stays in use after a 400.
pub async fn reload(certificate: Data<ApiCertificate>) -> HttpResponse {
    let Some(certificate) = &certificate.0 else {
        return rejection(
            StatusCode::CONFLICT,
            "the API is served without TLS: api.tls_certificate and api.tls_private_key are not set"
                .to_owned(),
        );
    };
    let previous = certificate.current();
    match certificate.reload() {
        Ok(current) => {
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
        Err(error) => {
            tracing::warn!(%error, "TLS certificate not reloaded");
            rejection(
                StatusCode::BAD_REQUEST,
                format!("{error}; the previous certificate stays in use"),
            )
        }
    }
}

fn rejection(status: StatusCode, message: String) -> HttpResponse {
    HttpResponse::build(status).json(ErrorBody {
        message,
        error_code: ErrorCode::InvalidInput,
        vm_error_code: None,
    })
}
