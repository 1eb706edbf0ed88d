//! The context of a handler: the shared state, the request, and the response that it returns.

pub(crate) mod body;
mod cache;
pub(crate) mod extract;
mod interrupt;
mod page_body;
mod query;
mod request;
mod response;
mod state;
mod stream;

pub(crate) use body::BodyWriter;
pub(crate) use cache::CacheKey;
pub use cache::{ResponseCache, ResponseCacheStatus};
pub(crate) use extract::ROOT;
pub use extract::UnencodedBody;
pub(crate) use page_body::{PageBody, PartOrder};
pub(crate) use query::{QueryError, block_of_version};
pub(crate) use request::RequestContext;
pub(crate) use response::{IntoResponse, LedgerResponse, SharedBody};
pub use state::ApiState;
pub(crate) use stream::StreamResponse;
