//! The tables of the database: names, keys and rows, and the digests that replace names in keys.

pub(crate) mod codec;
pub(crate) mod digest;
pub(crate) mod rows;
pub(crate) mod schema;
