//! Deserialization of unions in which the string `type` names the variant.
//!
//! The implementation that serde derives for such a union also accepts a number, the index of the
//! variant in its declaration. The order of declaration is not part of the interface, so a request
//! with a number could change its meaning with a new version of the node.

use serde::{
    Deserializer,
    de::{DeserializeSeed, IntoDeserializer, MapAccess, Visitor},
    forward_to_deserialize_any,
};
use std::fmt;

/// Name of the member that selects the variant.
const TAG: &str = "type";

/// A deserializer of an object in which `type`, if present, is a string. Any other value is an
/// error.
pub(super) struct VariantByName<D>(pub D);

impl<'de, D: Deserializer<'de>> Deserializer<'de> for VariantByName<D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_map(ObjectVisitor(visitor))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier
        ignored_any
    }
}

/// Visitor that passes an object's members through [`StringTagAccess`].
struct ObjectVisitor<V>(V);

impl<'de, V: Visitor<'de>> Visitor<'de> for ObjectVisitor<V> {
    type Value = V::Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(formatter)
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<V::Value, A::Error> {
        let is_at_tag = false;
        self.0.visit_map(StringTagAccess { members, is_at_tag })
    }
}

/// Members of an object, of which the value of [`TAG`] must be a string.
struct StringTagAccess<A> {
    members: A,
    /// True if the next value belongs to [`TAG`].
    is_at_tag: bool,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for StringTagAccess<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        let Some(key) = self.members.next_key::<String>()? else {
            return Ok(None);
        };
        self.is_at_tag = key == TAG;
        seed.deserialize(key.into_deserializer()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        if self.is_at_tag {
            let name: String = self.members.next_value()?;
            seed.deserialize(name.into_deserializer())
        } else {
            self.members.next_value_seed(seed)
        }
    }
}
