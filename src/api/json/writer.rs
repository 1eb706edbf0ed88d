//! JSON as answers carry it, byte for byte what `serde_json` writes. Nearly all of an answer is text in which nothing is to
//! be escaped: here that is found out for a text as a whole, many bytes at once, where `serde_json` looks at one after
//! the other and copies piece by piece. All that is rare is left to `serde_json`.

use serde::{
    Serialize, Serializer,
    ser::{
        Error as _, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
        SerializeTupleStruct, SerializeTupleVariant,
    },
};
use serde_json::Error;
use std::fmt::{Display, Write};

/// Appends the JSON of `value`.
///
/// # Errors
/// When the value says so, or has a map whose keys are no text.
pub(crate) fn write_json(value: &impl Serialize, out: &mut Vec<u8>) -> Result<(), Error> {
    value.serialize(Json(out))
}

/// Whether JSON shows a text as it is, between quotation marks. Without an early end, so that the compiler looks at
/// many bytes at once.
fn is_plain(text: &str) -> bool {
    let is_escaped = |byte: u8| byte < b' ' || byte == b'"' || byte == b'\\';
    !text.bytes().fold(false, |found, byte| found | is_escaped(byte))
}

fn write_text(text: &str, out: &mut Vec<u8>) -> Result<(), Error> {
    if !is_plain(text) {
        return serde_json::to_writer(out, text);
    }
    out.reserve(text.len() + 2);
    out.push(b'"');
    out.extend_from_slice(text.as_bytes());
    out.push(b'"');
    Ok(())
}

/// Writes one value.
struct Json<'a>(&'a mut Vec<u8>);

impl<'a> Json<'a> {
    fn rare(self, value: &impl Serialize) -> Result<(), Error> {
        serde_json::to_writer(self.0, value)
    }

    fn raw(self, bytes: &[u8]) -> Result<(), Error> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn integer(self, value: impl itoa::Integer) -> Result<(), Error> {
        self.raw(itoa::Buffer::new().format(value).as_bytes())
    }

    fn begin(self, open: &[u8], close: &'static [u8]) -> Parts<'a> {
        self.0.extend_from_slice(open);
        Parts {
            out: self.0,
            is_first: true,
            close,
        }
    }

    /// `{"variant":` and what begins with `open`.
    fn begin_variant(self, variant: &str, open: &[u8], close: &'static [u8]) -> Result<Parts<'a>, Error> {
        self.0.push(b'{');
        write_text(variant, self.0)?;
        self.0.push(b':');
        Ok(self.begin(open, close))
    }
}

impl<'a> Serializer for Json<'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Parts<'a>;
    type SerializeTuple = Parts<'a>;
    type SerializeTupleStruct = Parts<'a>;
    type SerializeTupleVariant = Parts<'a>;
    type SerializeMap = Parts<'a>;
    type SerializeStruct = Parts<'a>;
    type SerializeStructVariant = Parts<'a>;

    fn serialize_bool(self, value: bool) -> Result<(), Error> {
        self.raw(if value { b"true" } else { b"false" })
    }

    fn serialize_i8(self, value: i8) -> Result<(), Error> {
        self.integer(value)
    }

    fn serialize_i16(self, value: i16) -> Result<(), Error> {
        self.integer(value)
    }

    fn serialize_i32(self, value: i32) -> Result<(), Error> {
        self.integer(value)
    }

    fn serialize_i64(self, value: i64) -> Result<(), Error> {
        self.integer(value)
    }

    fn serialize_i128(self, value: i128) -> Result<(), Error> {
        self.integer(value)
    }

    fn serialize_u8(self, value: u8) -> Result<(), Error> {
        self.integer(value)
    }

    fn serialize_u16(self, value: u16) -> Result<(), Error> {
        self.integer(value)
    }

    fn serialize_u32(self, value: u32) -> Result<(), Error> {
        self.integer(value)
    }

    fn serialize_u64(self, value: u64) -> Result<(), Error> {
        self.integer(value)
    }

    fn serialize_u128(self, value: u128) -> Result<(), Error> {
        self.integer(value)
    }

    fn serialize_f32(self, value: f32) -> Result<(), Error> {
        self.rare(&value)
    }

    fn serialize_f64(self, value: f64) -> Result<(), Error> {
        self.rare(&value)
    }

    fn serialize_char(self, value: char) -> Result<(), Error> {
        self.rare(&value)
    }

    fn serialize_str(self, value: &str) -> Result<(), Error> {
        write_text(value, self.0)
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Error> {
        self.rare(&value)
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        self.raw(b"null")
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), Error> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        let parts = self.begin_variant(variant, b"", b"}")?;
        value.serialize(Json(parts.out))?;
        parts.close()
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Parts<'a>, Error> {
        Ok(self.begin(b"[", b"]"))
    }

    fn serialize_tuple(self, _: usize) -> Result<Parts<'a>, Error> {
        Ok(self.begin(b"[", b"]"))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Parts<'a>, Error> {
        Ok(self.begin(b"[", b"]"))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Parts<'a>, Error> {
        self.begin_variant(variant, b"[", b"]}")
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Parts<'a>, Error> {
        Ok(self.begin(b"{", b"}"))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Parts<'a>, Error> {
        Ok(self.begin(b"{", b"}"))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Parts<'a>, Error> {
        self.begin_variant(variant, b"{", b"}}")
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), Error> {
        let begin = self.0.len();
        self.0.push(b'"');
        let mut text = Appended {
            out: &mut *self.0,
            is_plain: true,
        };
        write!(text, "{value}").map_err(Error::custom)?;
        if text.is_plain {
            self.0.push(b'"');
            return Ok(());
        }
        self.0.truncate(begin);
        self.rare(&value.to_string())
    }
}

/// Text that is appended piece by piece.
struct Appended<'a> {
    out: &'a mut Vec<u8>,
    is_plain: bool,
}

impl Write for Appended<'_> {
    fn write_str(&mut self, piece: &str) -> std::fmt::Result {
        self.is_plain &= is_plain(piece);
        self.out.extend_from_slice(piece.as_bytes());
        Ok(())
    }
}

/// The parts of a list or an object.
struct Parts<'a> {
    out: &'a mut Vec<u8>,
    is_first: bool,
    /// What ends it.
    close: &'static [u8],
}

impl Parts<'_> {
    fn separate(&mut self) {
        if !self.is_first {
            self.out.push(b',');
        }
        self.is_first = false;
    }

    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.separate();
        value.serialize(Json(self.out))
    }

    fn member<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<(), Error> {
        self.separate();
        write_text(key, self.out)?;
        self.out.push(b':');
        value.serialize(Json(self.out))
    }

    fn close(self) -> Result<(), Error> {
        self.out.extend_from_slice(self.close);
        Ok(())
    }
}

impl SerializeMap for Parts<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.separate();
        let begin = self.out.len();
        key.serialize(Json(self.out))?;
        match self.out.get(begin) {
            Some(b'"') => Ok(()),
            _ => Err(Error::custom("a key of a map is no text")),
        }
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.out.push(b':');
        value.serialize(Json(self.out))
    }

    fn end(self) -> Result<(), Error> {
        self.close()
    }
}

/// What has parts without names.
macro_rules! list {
    ($kind:ident, $part:ident) => {
        impl $kind for Parts<'_> {
            type Ok = ();
            type Error = Error;

            fn $part<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
                self.item(value)
            }

            fn end(self) -> Result<(), Error> {
                self.close()
            }
        }
    };
}

list!(SerializeSeq, serialize_element);
list!(SerializeTuple, serialize_element);
list!(SerializeTupleStruct, serialize_field);
list!(SerializeTupleVariant, serialize_field);

/// What has parts with names.
macro_rules! object {
    ($kind:ident) => {
        impl $kind for Parts<'_> {
            type Ok = ();
            type Error = Error;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> Result<(), Error> {
                self.member(key, value)
            }

            fn end(self) -> Result<(), Error> {
                self.close()
            }
        }
    };
}

object!(SerializeStruct);
object!(SerializeStructVariant);

#[cfg(test)]
mod tests;
