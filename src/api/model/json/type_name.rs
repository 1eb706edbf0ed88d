//! Type names in JSON views. The framework's registry holds the formatted names of the types that
//! occur in nearly every transaction.

use super::ValueJson;
use bytes::Bytes;
use ledger_types::{StructTag, TypeTag};
use ledger_vm::{CachedType, Chain, JsonView};
use serde::{Serialize, Serializer};

/// A type that serializes as its name.
#[derive(Clone, Debug)]
pub(crate) enum TypeName<'a> {
    Cached(&'a CachedType),
    Struct(StructTag),
    Type(&'a TypeTag),
}

impl<'a> TypeName<'a> {
    /// Returns the name of a struct type.
    pub fn of_struct(chain: &'a Chain, tag: StructTag) -> Self {
        let cached = chain.registry().cached_type(&tag);
        cached.map_or(Self::Struct(tag), Self::Cached)
    }

    /// Returns the name of a borrowed type.
    pub fn of_type(chain: &'a Chain, tag: &'a TypeTag) -> Self {
        let cached = match tag {
            TypeTag::Struct(tag) => chain.registry().cached_type(tag),
            _ => None,
        };
        cached.map_or(Self::Type(tag), Self::Cached)
    }

    /// Creates the view of a value of this type.
    pub fn value(&self, chain: &'a Chain, bytes: Bytes) -> ValueJson<'a> {
        match self {
            Self::Cached(cached) => ValueJson::view_or_hex(
                JsonView::from_cached(cached, bytes.clone()),
                cached.text(),
                bytes,
            ),
            Self::Struct(tag) => ValueJson::new(chain, &tag.clone().into(), bytes),
            Self::Type(tag) => ValueJson::new(chain, tag, bytes),
        }
    }
}

impl Serialize for TypeName<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Cached(cached) => serializer.serialize_str(cached.text()),
            Self::Struct(tag) => serializer.collect_str(tag),
            Self::Type(tag) => serializer.collect_str(tag),
        }
    }
}
