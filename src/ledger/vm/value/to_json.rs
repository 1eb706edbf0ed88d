//! Serialization of BCS values of declared types, usually as JSON
//! (docs/reference/reference-node.md#r18).
//!
//! The conversion handles any input without a panic. A value nests at most `VALUE_DEPTH_MAX`
//! levels. Each element of a vector takes at least one byte of input, so the work is proportional
//! to the length of the input. A value is validated before it is serialized, so a value that does
//! not fit its type produces no partial output.

use super::{CachedType, Layout};
use crate::{ModuleRegistry, SchemaError};
use bytes::Bytes;
use ethnum::{I256, U256};
use ledger_crypto::hex_text;
use ledger_types::{AccountAddress, TypeTag};
use serde::{
    Serialize, Serializer,
    ser::{Error as _, SerializeMap as _, SerializeSeq as _},
};
use serde_json::Value;
use std::{borrow::Cow, cell::Cell, fmt::Display};

/// Maximum number of elements in a vector. BCS has the same limit.
const VECTOR_LENGTH_MAX: u64 = (1 << 31) - 1;

fn error(text: impl Into<String>) -> SchemaError {
    SchemaError(text.into())
}

/// A BCS value that was validated against its type. It serializes as the JSON form of the value.
#[derive(Clone, Debug)]
pub struct JsonView<'a> {
    layout: Cow<'a, Layout>,
    bytes: Bytes,
}

impl<'a> JsonView<'a> {
    /// Creates the view of a value with a cached type.
    ///
    /// # Errors
    ///
    /// Returns [`SchemaError`] if `bytes` are not exactly one value of the type.
    pub fn from_cached(cached: &'a CachedType, bytes: Bytes) -> Result<Self, SchemaError> {
        Self::new(Cow::Borrowed(&cached.layout), bytes, cached.text())
    }

    /// Creates the view of a value. `name` is the name of the type in error messages.
    fn new(layout: Cow<'a, Layout>, bytes: Bytes, name: impl Display) -> Result<Self, SchemaError> {
        let cursor = Cursor(Cell::new(&bytes));
        cursor.skip(&layout)?;
        let trailing = cursor.0.get().len();
        if trailing > 0 {
            return Err(error(format!(
                "{trailing} bytes are left over after a {name}"
            )));
        }
        Ok(Self { layout, bytes })
    }

    /// Returns the view of a field, or `None` if the value is no struct with this field.
    pub fn field(&self, name: &str) -> Option<JsonView<'_>> {
        let Layout::Struct(fields) = &*self.layout else {
            return None;
        };
        let cursor = Cursor(Cell::new(&self.bytes));
        let position = || self.bytes.len() - cursor.0.get().len();
        for (field, layout) in fields {
            let begin = position();
            // The value was validated, so no field ends too early.
            cursor.skip(layout).ok()?;
            if *field == name {
                return Some(JsonView {
                    layout: Cow::Borrowed(layout),
                    bytes: self.bytes.slice(begin..position()),
                });
            }
        }
        None
    }

    /// Returns the size of the value in BCS, in bytes.
    pub fn size_bytes(&self) -> usize {
        self.bytes.len()
    }
}

impl ModuleRegistry {
    /// Creates the view of a BCS value.
    ///
    /// # Errors
    ///
    /// Returns [`SchemaError`] if `tag` contains an undeclared type, if the type nests too deep or
    /// has too many parts, or if `bytes` are not exactly one value of it.
    pub fn json_view(&self, tag: &TypeTag, bytes: Bytes) -> Result<JsonView<'_>, SchemaError> {
        JsonView::new(self.layout(tag)?, bytes, tag)
    }

    /// Returns the JSON form of a BCS value.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::json_view`].
    pub fn value_to_json(&self, tag: &TypeTag, bytes: &[u8]) -> Result<Value, SchemaError> {
        let view = self.json_view(tag, Bytes::copy_from_slice(bytes))?;
        serde_json::to_value(view).map_err(|cause| error(cause.to_string()))
    }
}

impl Serialize for JsonView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let part = Part {
            layout: &self.layout,
            cursor: &Cursor(Cell::new(&self.bytes)),
        };
        part.serialize(serializer)
    }
}

/// The unread bytes of a value. The parts of the value share the cursor and are read in order.
struct Cursor<'b>(Cell<&'b [u8]>);

impl<'b> Cursor<'b> {
    fn take(&self, count: usize) -> Result<&'b [u8], SchemaError> {
        let (head, rest) = self
            .0
            .get()
            .split_at_checked(count)
            .ok_or_else(|| error("the value ends too early"))?;
        self.0.set(rest);
        Ok(head)
    }

    fn array<const N: usize>(&self) -> Result<[u8; N], SchemaError> {
        Ok(self.take(N)?.try_into().expect("N bytes were taken"))
    }

    fn address(&self) -> Result<AccountAddress, SchemaError> {
        Ok(AccountAddress::new(self.array()?))
    }

    fn bool(&self) -> Result<bool, SchemaError> {
        match self.take(1)? {
            [0] => Ok(false),
            [1] => Ok(true),
            _ => Err(error("a bool is 0 or 1")),
        }
    }

    /// Reads a ULEB128 length of at most [`VECTOR_LENGTH_MAX`].
    fn length(&self) -> Result<usize, SchemaError> {
        let mut value = 0u64;
        for shift in (0..35).step_by(7) {
            let byte = self.take(1)?[0];
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                let canonical = shift == 0 || byte != 0;
                if !canonical || value > VECTOR_LENGTH_MAX {
                    break;
                }
                return Ok(value as usize);
            }
        }
        Err(error("not a length"))
    }

    /// Reads the length of a vector with elements other than bytes.
    fn item_count(&self) -> Result<usize, SchemaError> {
        let count = self.length()?;
        // Every declared type has at least one byte in BCS, so a longer vector cannot fit into
        // these bytes.
        if count > self.0.get().len() {
            return Err(error("the vector is longer than its bytes"));
        }
        Ok(count)
    }

    fn bytes(&self) -> Result<&'b [u8], SchemaError> {
        self.take(self.length()?)
    }

    /// Skips a value and validates it.
    fn skip(&self, layout: &Layout) -> Result<(), SchemaError> {
        let fixed = match layout {
            Layout::U8 | Layout::I8 => 1,
            Layout::U16 | Layout::I16 => 2,
            Layout::U32 | Layout::I32 => 4,
            Layout::U64 | Layout::I64 => 8,
            Layout::U128 | Layout::I128 => 16,
            Layout::U256 | Layout::I256 => 32,
            Layout::Address | Layout::Object => AccountAddress::LENGTH,
            Layout::Bool => return self.bool().map(drop),
            Layout::Bytes | Layout::Text => return self.bytes().map(drop),
            Layout::Vector(item) => {
                return (0..self.item_count()?).try_for_each(|_| self.skip(item));
            }
            Layout::Optional(item) => {
                return if self.bool()? {
                    self.skip(item)
                } else {
                    Ok(())
                };
            }
            Layout::Struct(fields) => {
                return fields.iter().try_for_each(|(_, field)| self.skip(field));
            }
        };
        self.take(fixed).map(drop)
    }
}

/// A part of a value. The bytes before it have been read.
struct Part<'a, 'b> {
    layout: &'a Layout,
    cursor: &'a Cursor<'b>,
}

impl<'a, 'b> Part<'a, 'b> {
    fn with_layout<'l>(&self, layout: &'l Layout) -> Part<'l, 'b>
    where
        'a: 'l,
    {
        Part {
            layout,
            cursor: self.cursor,
        }
    }

    fn sequence<S: Serializer>(
        &self,
        item: &Layout,
        count: usize,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut items = serializer.serialize_seq(Some(count))?;
        for _ in 0..count {
            items.serialize_element(&self.with_layout(item))?;
        }
        items.end()
    }
}

/// A vector of elements. The input has no length before them.
struct Items<'p, 'a, 'b>(&'p Part<'a, 'b>, &'p Layout, usize);

impl Serialize for Items<'_, '_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.sequence(self.1, self.2, serializer)
    }
}

impl Serialize for Part<'_, '_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let Self { layout, cursor } = *self;
        /// Reads the next number.
        macro_rules! next {
            ($number:ty) => {
                <$number>::from_le_bytes(cursor.array().map_err(S::Error::custom)?)
            };
        }
        match layout {
            Layout::Bool => s.serialize_bool(cursor.bool().map_err(S::Error::custom)?),
            Layout::U8 => s.serialize_u8(next!(u8)),
            Layout::U16 => s.serialize_u16(next!(u16)),
            Layout::U32 => s.serialize_u32(next!(u32)),
            Layout::I8 => s.serialize_i8(next!(i8)),
            Layout::I16 => s.serialize_i16(next!(i16)),
            Layout::I32 => s.serialize_i32(next!(i32)),
            Layout::U64 => s.serialize_str(itoa::Buffer::new().format(next!(u64))),
            Layout::U128 => s.collect_str(&next!(u128)),
            Layout::U256 => s.collect_str(&next!(U256)),
            Layout::I64 => s.collect_str(&next!(i64)),
            Layout::I128 => s.collect_str(&next!(i128)),
            Layout::I256 => s.collect_str(&next!(I256)),
            Layout::Address => {
                let address = cursor.address().map_err(S::Error::custom)?;
                s.serialize_str(address.text().as_str())
            }
            Layout::Bytes => s.serialize_str(&hex_text(cursor.bytes().map_err(S::Error::custom)?)),
            Layout::Vector(item) => {
                let count = cursor.item_count().map_err(S::Error::custom)?;
                self.sequence(item, count, s)
            }
            Layout::Text => {
                let bytes = cursor.bytes().map_err(S::Error::custom)?;
                match std::str::from_utf8(bytes) {
                    Ok(text) => s.serialize_str(text),
                    Err(_) => s.collect_str(&format_args!("Unparsable utf-8 {}", hex_text(bytes))),
                }
            }
            Layout::Optional(item) => {
                let count = usize::from(cursor.bool().map_err(S::Error::custom)?);
                let mut object = s.serialize_map(Some(1))?;
                object.serialize_entry("vec", &Items(self, item, count))?;
                object.end()
            }
            Layout::Object => {
                let mut object = s.serialize_map(Some(1))?;
                object.serialize_entry("inner", &self.with_layout(&Layout::Address))?;
                object.end()
            }
            Layout::Struct(fields) => {
                let mut object = s.serialize_map(Some(fields.len()))?;
                for (name, field) in fields {
                    object.serialize_entry(name, &self.with_layout(field))?;
                }
                object.end()
            }
        }
    }
}
