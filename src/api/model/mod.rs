//! The forms of values on the wire, as JSON and as BCS. Names no type of the HTTP server.

pub(crate) mod bcs;
mod decimal;
pub(crate) mod format;
pub(crate) mod json;
mod media_types;
mod resources;
mod table_types;
pub(crate) mod wait_lines;

pub(crate) use decimal::DecimalText;
pub(crate) use media_types::MediaTypes;
pub(crate) use resources::{Resource, read_resource, resources_of};
pub(crate) use table_types::{ItemTypes, TableTypes, read_types};
