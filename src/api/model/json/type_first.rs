//! A JSON value as a source of deserialization in which `type` is the first member of each object.
//!
//! Unions then read all other members directly, so errors in them have a path.

use super::tagged::TAG;
use serde::{
    Deserializer,
    de::{
        IntoDeserializer, Visitor,
        value::{MapDeserializer, SeqDeserializer},
    },
    forward_to_deserialize_any,
};
use serde_json::Value;

/// A deserializer of a value.
#[derive(Clone, Copy)]
pub(super) struct TypeFirst<'a>(pub &'a Value);

impl<'de> Deserializer<'de> for TypeFirst<'de> {
    type Error = serde_json::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        match self.0 {
            Value::Object(members) => {
                let tag = members.get_key_value(TAG).into_iter();
                let others = members.iter().filter(|(name, _)| *name != TAG);
                let members = tag.chain(others);
                let members = members.map(|(name, value)| (name.as_str(), Self(value)));
                MapDeserializer::new(members).deserialize_any(visitor)
            }
            Value::Array(items) => {
                SeqDeserializer::new(items.iter().map(Self)).deserialize_any(visitor)
            }
            scalar => scalar.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de> IntoDeserializer<'de, serde_json::Error> for TypeFirst<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}
