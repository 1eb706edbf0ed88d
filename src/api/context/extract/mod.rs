//! Arguments of handlers, read from the path, the query, and the body of a request.
//!
//! A handler has a [`RequestContext`](crate::context::RequestContext) and one argument for each
//! input. The route table compares the arguments with the operation, so the document lists exactly
//! the inputs that handlers read. Arguments are read in their order, and the first error is the
//! response.

mod argument;
mod body;
mod encoding;
pub(crate) mod format;
mod handler;
mod min_version;
mod page;
mod parts;
mod path;
mod query;
mod version;
mod wait;

pub(crate) use argument::{Combine, Extract, Parameter};
pub(crate) use body::{JsonBody, JsonOrBcs, JsonOrBcsBody, lease_values};
pub use encoding::UnencodedBody;
pub(crate) use handler::{Handler, HandlerFn, bind};
pub(crate) use page::PageLimit;
pub(crate) use parts::ROOT;
pub(crate) use path::Path;
pub(crate) use query::{QueryParameter, RequiredQueryParameter};
pub(crate) use version::AtVersion;
pub(crate) use wait::WaitTimeout;
