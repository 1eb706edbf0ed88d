//! Format of a response, JSON or BCS (docs/reference/reference-node.md#r24).

/// The media type of JSON bodies.
pub(crate) const JSON: &str = "application/json";
/// The media type of BCS answers.
pub(crate) const BCS: &str = "application/x-bcs";

/// Names of the content codings that a response may have, cheapest first.
pub(crate) const CONTENT_CODINGS: [&str; 3] = ["zstd", "br", "gzip"];

/// The form of an answer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Format {
    Json,
    Bcs,
}

/// The media type of a header value without its parameters, in whatever case it was sent.
pub(crate) fn essence(media_type: &str) -> &str {
    media_type.split(';').next().unwrap_or_default().trim()
}

impl Format {
    /// The media type of an answer in this form.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Json => JSON,
            Self::Bcs => BCS,
        }
    }
}
