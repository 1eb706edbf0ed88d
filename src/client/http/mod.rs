//! HTTP requests of the node client and the faucet client.

use crate::ClientError;
use reqwest::Response;
use serde::Deserialize;
use std::time::Duration;

/// Time limit for establishing a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Time limit for a response, longer than any long poll that a node allows.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(60);

/// Maximum number of characters that an error quotes of a body in an unknown form.
const QUOTED_CHARS_MAX: usize = 300;

/// The readable fields of an error body.
#[derive(Deserialize)]
struct ErrorBody {
    message: String,
    error_code: String,
}

/// Creates an HTTP client that uses no proxy.
///
/// # Errors
/// Returns [`ClientError::NoResponse`] if the client cannot be initialized.
pub(crate) fn http_client() -> Result<reqwest::Client, ClientError> {
    reqwest::Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(RESPONSE_TIMEOUT)
        .no_proxy()
        .build()
        .map_err(|source| no_response("(client)", source))
}

/// Parses the URL of a service, and returns it without trailing slashes, so that callers can append
/// paths.
///
/// # Errors
/// Returns [`ClientError::InvalidUrl`] if `text` is not of the form `http://HOST:PORT`.
pub(crate) fn base_url(text: &str) -> Result<String, ClientError> {
    let invalid = |reason: String| ClientError::InvalidUrl {
        url: text.to_owned(),
        reason,
    };
    let url = reqwest::Url::parse(text).map_err(|error| invalid(error.to_string()))?;
    if url.scheme() == "https" {
        return Err(invalid(
            "this program's clients speak no TLS; let a node without api.tls_certificate, or what \
             ends TLS before them, answer at an http://HOST:PORT"
                .to_owned(),
        ));
    }
    if url.scheme() != "http" || url.host_str().is_none() {
        return Err(invalid("expected http://HOST:PORT".to_owned()));
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

/// Returns the response if its status is a success.
///
/// # Errors
/// Returns [`ClientError::Rejected`] with the message of the body if the status is an error.
pub(crate) async fn check_status(url: &str, response: Response) -> Result<Response, ClientError> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let body = response.text().await.unwrap_or_default();
    let message = match serde_json::from_str::<ErrorBody>(&body) {
        Ok(error) => format!("{} ({})", error.message, error.error_code),
        Err(_) => body.chars().take(QUOTED_CHARS_MAX).collect(),
    };
    Err(ClientError::Rejected {
        url: url.to_owned(),
        status: status.as_u16(),
        message,
    })
}

/// Returns the error for a request to `url` without a complete response.
pub(crate) fn no_response(url: &str, source: reqwest::Error) -> ClientError {
    ClientError::NoResponse {
        url: url.to_owned(),
        source,
    }
}
