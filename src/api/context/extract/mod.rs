//! Reading of the parts of a request: path, query and body.

pub(crate) mod body;
pub(crate) mod format;
pub(crate) mod params;
