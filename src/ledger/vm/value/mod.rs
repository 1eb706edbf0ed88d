//! Values of declared types: their layout in BCS and their JSON form.

mod from_json;
mod layout;
mod to_json;

pub use layout::CachedType;
pub(crate) use layout::Layout;
pub use to_json::JsonView;
