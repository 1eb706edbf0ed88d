//! Parsing of JSON bodies under a bound on memory.

use super::parse_memory::{MEMORY_BYTES_MAX, memory_bytes};
use crate::error::ErrorKind;
use serde::de::DeserializeOwned;

/// Parses a JSON body.
///
/// # Errors
///
/// Returns [`ErrorKind::BodyTooManyValues`] (413) if parsing could take more than
/// [`MEMORY_BYTES_MAX`], and [`ErrorKind::Syntax`] (400) if the body is not JSON or not a `T`.
pub(crate) fn parse_json<T: DeserializeOwned>(body: &[u8]) -> Result<T, ErrorKind> {
    if memory_bytes(body) > MEMORY_BYTES_MAX {
        return Err(ErrorKind::BodyTooManyValues {
            limit_bytes: MEMORY_BYTES_MAX,
        });
    }
    serde_json::from_slice(body)
        .map_err(|cause| ErrorKind::Syntax(format!("parse request payload error: {cause}")))
}
