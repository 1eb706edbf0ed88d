//! What a handler works with: the shared state, the request, and the response that it returns.

mod cache;
pub(crate) mod extract;
mod request;
mod response;
mod state;

pub(crate) use cache::CacheKey;
pub use cache::{ResponseCache, ResponseCacheStatus};
pub(crate) use extract::ROOT;
pub(crate) use request::{QueryError, RequestContext};
pub(crate) use response::{IntoResponse, LedgerResponse, SharedBody};
pub use state::ApiState;
