//! Parsing of JSON bodies under a bound on memory, for all listeners.

use super::{
    parse_memory::{MEMORY_BYTES_MAX, memory_bytes},
    strict::Strict,
    type_first::TypeFirst,
};
use crate::error::ErrorKind;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Deserializer, Value, error::Category};

/// Parses a JSON body of the REST interface.
///
/// # Errors
///
/// Returns the errors of [`parse_body`].
pub(crate) fn parse_json<T: DeserializeOwned>(body: &[u8]) -> Result<T, ErrorKind> {
    parse_body(body, "parse request payload error")
}

/// Parses a JSON body.
///
/// Only an object is accepted as an object, at every depth.
///
/// # Errors
///
/// Returns [`ErrorKind::BodyTooManyValues`] (413) if parsing could take more than
/// `MEMORY_BYTES_MAX`, and [`ErrorKind::Syntax`] (400) if the body is not JSON or not a `T`. The
/// message is `problem`, the path of the wrong member, and the cause.
pub fn parse_body<T: DeserializeOwned>(body: &[u8], problem: &str) -> Result<T, ErrorKind> {
    if memory_bytes(body) > MEMORY_BYTES_MAX {
        return Err(ErrorKind::BodyTooManyValues {
            limit_bytes: MEMORY_BYTES_MAX,
        });
    }
    let mut deserializer = Deserializer::from_slice(body);
    let parsed = T::deserialize(Strict(&mut deserializer));
    let parsed = parsed.and_then(|value| deserializer.end().map(|()| value));
    parsed
        .map_err(|error| ErrorKind::Syntax(format!("{problem}: {}", with_path::<T>(body, &error))))
}

/// Returns the text of an error with the path of the wrong member.
///
/// The body is parsed again, because tracking the path takes an allocation for each member.
fn with_path<T: DeserializeOwned>(body: &[u8], error: &serde_json::Error) -> String {
    let located = match error.classify() {
        Category::Data => serde_json::from_slice(body).ok(),
        // The text is not JSON. Its error has the line and the column.
        Category::Io | Category::Syntax | Category::Eof => None,
    };
    let located = located.and_then(|value: Value| from_value::<T>(&value).err());
    // A value has each member once, so an error about a repeated member is found only in the text.
    located.unwrap_or_else(|| error.to_string())
}

/// Converts a JSON value.
///
/// # Errors
///
/// Returns the path of the wrong member and the cause.
pub(super) fn from_value<'a, T: Deserialize<'a>>(value: &'a Value) -> Result<T, String> {
    serde_path_to_error::deserialize(Strict(TypeFirst(value))).map_err(|error| {
        let (path, cause) = (error.path(), error.inner());
        if path.iter().len() == 0 {
            cause.to_string()
        } else {
            format!("{path}: {cause}")
        }
    })
}
