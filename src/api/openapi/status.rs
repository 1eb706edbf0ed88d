//! HTTP status codes of the document.

/// HTTP status code of a declared response.
///
/// A number with names, so that the document does not depend on the types of the HTTP server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct StatusCode(u16);

impl StatusCode {
    pub const OK: Self = Self(200);
    pub const ACCEPTED: Self = Self(202);
    pub const PARTIAL_CONTENT: Self = Self(206);
    pub const BAD_REQUEST: Self = Self(400);
    pub const FORBIDDEN: Self = Self(403);
    pub const NOT_FOUND: Self = Self(404);
    pub const METHOD_NOT_ALLOWED: Self = Self(405);
    pub const REQUEST_TIMEOUT: Self = Self(408);
    pub const GONE: Self = Self(410);
    pub const LENGTH_REQUIRED: Self = Self(411);
    pub const PAYLOAD_TOO_LARGE: Self = Self(413);
    pub const URI_TOO_LONG: Self = Self(414);
    pub const UNSUPPORTED_MEDIA_TYPE: Self = Self(415);
    pub const INTERNAL_SERVER_ERROR: Self = Self(500);
    pub const SERVICE_UNAVAILABLE: Self = Self(503);
    pub const INSUFFICIENT_STORAGE: Self = Self(507);

    /// Returns the number of the status.
    pub const fn as_u16(self) -> u16 {
        self.0
    }
}
