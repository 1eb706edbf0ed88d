//! What a handler works with: the shared state, the request, and the response that it returns.

mod cache;
pub(crate) mod extract;
mod request;
mod response;
mod state;

pub use cache::ResponseCacheStatus;
pub(crate) use cache::{CacheKey, ResponseCache};
pub(crate) use request::{PageSize, ROOT, RequestContext, readable_version};
pub(crate) use response::{IntoResponse, LedgerResponse, SharedBody};
pub use state::ApiState;
