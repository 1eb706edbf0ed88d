//! Tables of the database: names, keys, rows, and the digests in keys.

pub(crate) mod codec;
pub(crate) mod digest;
pub(crate) mod rows;
pub(crate) mod schema;
