//! Format of a response, JSON or BCS (docs/reference/reference-node.md#r24).

/// The media type of JSON bodies.
pub(crate) const JSON: &str = "application/json";
/// The media type of BCS responses.
pub(crate) const BCS: &str = "application/x-bcs";

/// The media type of a response with a line of JSON for each value.
pub(crate) const NDJSON: &str = "application/x-ndjson";

/// Names of the content codings that a response may have, cheapest first.
pub(crate) const CONTENT_CODINGS: [&str; 3] = ["zstd", "br", "gzip"];

/// The format of a response.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Format {
    Json,
    Bcs,
}

/// Returns the media type of a header value without its parameters. The case is unchanged.
pub(crate) fn essence(media_type: &str) -> &str {
    media_type.split(';').next().unwrap_or_default().trim()
}

impl Format {
    /// Returns the media type of a response in this format.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Json => JSON,
            Self::Bcs => BCS,
        }
    }
}
