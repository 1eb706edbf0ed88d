//! Requests whose head is rejected before the app gets them.

use actix_web::http::StatusCode;

/// Maximum length of a target that actix-web represents, in bytes.
pub(crate) const TARGET_BYTES_MAX: usize = 65_534;

/// The reason for which a request is rejected before the app gets it.
#[derive(Debug, thiserror::Error)]
pub enum HeadError {
    /// The head breaks the grammar of HTTP, for the reason in the text.
    #[error("{0}")]
    Malformed(String),
    /// The target is longer than actix-web can represent.
    #[error("the path and query of a request have at most {limit_bytes} bytes")]
    TargetTooLong {
        /// The limit, in bytes.
        limit_bytes: usize,
    },
    /// The head is too long or has too many headers.
    #[error("the head of the request is too large: {limit}")]
    TooLarge {
        /// The limit, in words.
        limit: &'static str,
    },
    /// The head did not arrive in time.
    #[error("the head of the request did not arrive in time")]
    Late,
}

impl HeadError {
    /// Returns the status of the response.
    pub fn status(&self) -> StatusCode {
        match self {
            Self::Malformed(_) => StatusCode::BAD_REQUEST,
            Self::TargetTooLong { .. } => StatusCode::URI_TOO_LONG,
            Self::TooLarge { .. } => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            Self::Late => StatusCode::REQUEST_TIMEOUT,
        }
    }
}
