//! Unions in which the string `type` names the variant.
//!
//! The implementation that serde derives buffers all members, because `type` may be at any position
//! (docs/use/interface.md#absent-members). The buffered values bypass [`Strict`], and errors in
//! them have no path. It also accepts a number, the index of the variant in its declaration. This
//! one reads the members after `type` directly and buffers only those before it.

use super::strict::Strict;
use serde::{
    Deserializer,
    de::{
        DeserializeSeed, Error as _, IntoDeserializer, MapAccess, Visitor, value::StrDeserializer,
    },
    forward_to_deserialize_any,
};
use serde_json::Value;
use std::{
    fmt::{self, Formatter},
    marker::PhantomData,
    vec,
};

/// Name of the member that selects the variant.
pub(super) const TAG: &str = "type";

/// A union whose variants have names.
pub(super) trait Tagged: Sized {
    /// Names of the variants.
    const NAMES: &'static [&'static str];

    /// Reads the variant `name` from the members of its object without `type`.
    ///
    /// # Errors
    ///
    /// Returns an error if no variant has the name, or if the members do not fit.
    fn read<'de, D: Deserializer<'de>>(name: &str, members: D) -> Result<Self, D::Error>;
}

/// Implements [`serde::Deserialize`] for a union: each name with the function that makes the
/// variant of its content.
macro_rules! deserialize_tagged {
    ($union:ident { $($name:literal => $variant:expr,)+ }) => {
        impl $crate::model::json::tagged::Tagged for $union {
            const NAMES: &'static [&'static str] = &[$($name),+];

            fn read<'de, D: serde::Deserializer<'de>>(
                name: &str,
                members: D,
            ) -> Result<Self, D::Error> {
                match name {
                    $($name => serde::Deserialize::deserialize(members).map($variant),)+
                    _ => Err(serde::de::Error::unknown_variant(name, Self::NAMES)),
                }
            }
        }

        impl<'de> serde::Deserialize<'de> for $union {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::model::json::tagged::deserialize(deserializer)
            }
        }
    };
}
pub(super) use deserialize_tagged;

/// Deserializes a union.
///
/// # Errors
///
/// Returns an error if the value is not an object with a string `type`, and the errors of
/// [`Tagged::read`].
pub(super) fn deserialize<'de, T: Tagged, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    deserializer.deserialize_map(UnionVisitor(PhantomData))
}

/// Visitor of the object of a union.
struct UnionVisitor<T>(PhantomData<T>);

impl<'de, T: Tagged> Visitor<'de> for UnionVisitor<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<T, A::Error> {
        let mut before = Vec::new();
        while let Some(key) = members.next_key::<String>()? {
            if key == TAG {
                let name: String = members.next_value()?;
                return T::read(&name, VariantMembers::new(before, members));
            }
            before.push((key, members.next_value()?));
        }
        Err(A::Error::missing_field(TAG))
    }
}

/// The members of a variant: those before `type`, then those after it.
struct VariantMembers<A> {
    before: vec::IntoIter<(String, Value)>,
    /// Value of the last key, if it is one of `before`.
    value: Option<Value>,
    after: A,
}

impl<A> VariantMembers<A> {
    fn new(before: Vec<(String, Value)>, after: A) -> Self {
        Self {
            before: before.into_iter(),
            value: None,
            after,
        }
    }
}

impl<'de, A: MapAccess<'de>> Deserializer<'de> for VariantMembers<A> {
    type Error = A::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, A::Error> {
        visitor.visit_map(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier
        ignored_any
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for VariantMembers<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        match self.before.next() {
            Some((key, value)) => {
                self.value = Some(value);
                seed.deserialize(key.into_deserializer()).map(Some)
            }
            None => self.after.next_key_seed(NotTag(seed)),
        }
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        match self.value.take() {
            Some(value) => seed.deserialize(Strict(value)).map_err(A::Error::custom),
            None => self.after.next_value_seed(seed),
        }
    }
}

/// Seed of a key that is not [`TAG`] again.
struct NotTag<K>(K);

impl<'de, K: DeserializeSeed<'de>> DeserializeSeed<'de> for NotTag<K> {
    type Value = K::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<K::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de, K: DeserializeSeed<'de>> Visitor<'de> for NotTag<K> {
    type Value = K::Value;

    fn expecting(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str("a string")
    }

    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<K::Value, E> {
        if key == TAG {
            return Err(E::duplicate_field(TAG));
        }
        self.0.deserialize(StrDeserializer::new(key))
    }
}
