//! Errors of the interface: the table of their kinds, and the responses made from them.

mod body;
mod fallback;
mod headers;
mod kind;
mod node;
mod response;
mod switch;

pub use body::{ErrorBody, ErrorCode};
pub(crate) use fallback::no_route;
pub use fallback::{extraction_error, unknown_route, wrong_method};
pub(crate) use headers::LedgerHeaders;
pub use kind::{ErrorKind, SDK_NEEDS_PRESET, TransactionName};
pub use response::UNWRITABLE_RETRY_AFTER_SECS;
pub(crate) use response::{ApiError, IDENTITY};
pub use switch::Switch;
