//! Values of declared types between BCS and JSON (rest-behaviour section 4, "Encoding rules").
//!
//! Both directions are total and bounded: a value nests at most [`VALUE_DEPTH_MAX`] deep, and every
//! element of a vector takes at least one byte of input, so that work follows the input's length.

use super::{FormError, Framework, call::shortened};
use crate::{AccountAddress, StructTag, TypeTag};
use ethnum::{I256, U256};
use serde_json::{Map, Number, Value};

/// The deepest nesting of a value. Declared types nest far less; this stops hostile type arguments.
const VALUE_DEPTH_MAX: usize = 32;

/// The longest vector, the same bound as BCS has.
const VECTOR_LENGTH_MAX: u64 = (1 << 31) - 1;

fn error(text: impl Into<String>) -> FormError {
    FormError(text.into())
}

impl Framework {
    /// The JSON form of a BCS value.
    ///
    /// # Errors
    /// When the type is not declared or the bytes are not exactly one value of it.
    pub fn value_to_json(&self, tag: &TypeTag, bytes: &[u8]) -> Result<Value, FormError> {
        let mut reader = Reader {
            framework: self,
            bytes,
        };
        let value = reader.value(tag, VALUE_DEPTH_MAX)?;
        if reader.bytes.is_empty() {
            Ok(value)
        } else {
            Err(error(format!(
                "{} bytes are left over after a {tag}",
                reader.bytes.len()
            )))
        }
    }

    /// The BCS form of a JSON value.
    ///
    /// # Errors
    /// When the type is not declared or the JSON is not a value of it.
    pub fn value_from_json(&self, tag: &TypeTag, value: &Value) -> Result<Vec<u8>, FormError> {
        let mut writer = Writer {
            framework: self,
            bytes: Vec::new(),
        };
        writer.value(tag, value, VALUE_DEPTH_MAX)?;
        Ok(writer.bytes)
    }

    /// The fields of a struct with its type arguments put in.
    fn fields(&self, tag: &StructTag) -> Result<Vec<(&'static str, TypeTag)>, FormError> {
        let declared = self
            .struct_declaration(tag)
            .ok_or_else(|| error(format!("type {tag} is not declared")))?;
        if declared.type_parameters.len() != tag.type_args.len() {
            return Err(error(format!(
                "type {tag} takes {} type arguments",
                declared.type_parameters.len()
            )));
        }
        let resolve = |(name, signature): &(&'static str, super::Signature)| {
            let resolved = signature.resolve(&tag.type_args, &self.vendor);
            resolved
                .map(|field| (*name, field))
                .ok_or_else(|| error(format!("type {tag} has an open field")))
        };
        declared.fields.iter().map(resolve).collect()
    }
}

/// Types with a JSON form of their own.
enum Special<'a> {
    Text,
    Optional(&'a TypeTag),
    Object,
}

fn special(tag: &StructTag) -> Option<Special<'_>> {
    match tag.type_args.as_slice() {
        [] if tag.is_framework("string", "String") => Some(Special::Text),
        [item] if tag.is_framework("option", "Option") => Some(Special::Optional(item)),
        [_] if tag.is_framework("object", "Object") => Some(Special::Object),
        _ => None,
    }
}

struct Reader<'a> {
    framework: &'a Framework,
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], FormError> {
        let (head, rest) = self
            .bytes
            .split_at_checked(count)
            .ok_or_else(|| error("the value ends too early"))?;
        self.bytes = rest;
        Ok(head)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], FormError> {
        Ok(self.take(N)?.try_into().expect("N bytes were taken"))
    }

    fn bool(&mut self) -> Result<bool, FormError> {
        match self.take(1)? {
            [0] => Ok(false),
            [1] => Ok(true),
            _ => Err(error("a bool is 0 or 1")),
        }
    }

    fn length(&mut self) -> Result<usize, FormError> {
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

    fn value(&mut self, tag: &TypeTag, depth: usize) -> Result<Value, FormError> {
        let depth = depth
            .checked_sub(1)
            .ok_or_else(|| error("the value nests too deep"))?;
        Ok(match tag {
            TypeTag::Bool => self.bool()?.into(),
            TypeTag::U8 => self.take(1)?[0].into(),
            TypeTag::U16 => u16::from_le_bytes(self.array()?).into(),
            TypeTag::U32 => u32::from_le_bytes(self.array()?).into(),
            TypeTag::I8 => i8::from_le_bytes(self.array()?).into(),
            TypeTag::I16 => i16::from_le_bytes(self.array()?).into(),
            TypeTag::I32 => i32::from_le_bytes(self.array()?).into(),
            TypeTag::U64 => u64::from_le_bytes(self.array()?).to_string().into(),
            TypeTag::U128 => u128::from_le_bytes(self.array()?).to_string().into(),
            TypeTag::U256 => U256::from_le_bytes(self.array()?).to_string().into(),
            TypeTag::I64 => i64::from_le_bytes(self.array()?).to_string().into(),
            TypeTag::I128 => i128::from_le_bytes(self.array()?).to_string().into(),
            TypeTag::I256 => I256::from_le_bytes(self.array()?).to_string().into(),
            TypeTag::Address | TypeTag::Signer => AccountAddress::new(self.array()?).to_string().into(),
            TypeTag::Vector(item) if **item == TypeTag::U8 => {
                let length = self.length()?;
                format!("0x{}", hex::encode(self.take(length)?)).into()
            }
            TypeTag::Vector(item) => {
                let length = self.length()?;
                self.sequence(item, length, depth)?.into()
            }
            TypeTag::Struct(tag) => self.structure(tag, depth)?,
            TypeTag::Function(never) => match *never {},
        })
    }

    fn sequence(&mut self, item: &TypeTag, length: usize, depth: usize) -> Result<Vec<Value>, FormError> {
        // No declared type is empty in BCS, so a longer vector cannot be in these bytes.
        if length > self.bytes.len() {
            return Err(error("the vector is longer than its bytes"));
        }
        (0..length).map(|_| self.value(item, depth)).collect()
    }

    fn structure(&mut self, tag: &StructTag, depth: usize) -> Result<Value, FormError> {
        match special(tag) {
            Some(Special::Text) => {
                let length = self.length()?;
                let bytes = self.take(length)?;
                Ok(match std::str::from_utf8(bytes) {
                    Ok(text) => text.into(),
                    Err(_) => format!("Unparsable utf-8 0x{}", hex::encode(bytes)).into(),
                })
            }
            Some(Special::Optional(item)) => {
                let length = usize::from(self.bool()?);
                let items = self.sequence(item, length, depth)?;
                Ok(Map::from_iter([("vec".to_owned(), items.into())]).into())
            }
            Some(Special::Object) => {
                let address = AccountAddress::new(self.array()?).to_string();
                Ok(Map::from_iter([("inner".to_owned(), address.into())]).into())
            }
            None => {
                let fields = self.framework.fields(tag)?;
                let read = |(name, field): (&str, TypeTag)| Ok((name.to_owned(), self.value(&field, depth)?));
                Ok(Value::Object(
                    fields.into_iter().map(read).collect::<Result<_, FormError>>()?,
                ))
            }
        }
    }
}

struct Writer<'a> {
    framework: &'a Framework,
    bytes: Vec<u8>,
}

/// A decimal number of `T`, which JSON carries as a string. Rust would take a leading `+` too.
fn decimal<T: std::str::FromStr>(value: &Value) -> Result<T, FormError> {
    let digits = value
        .as_str()
        .ok_or_else(|| unexpected("a string with a number", value))?;
    let number = if digits.starts_with('+') {
        None
    } else {
        digits.parse().ok()
    };
    number.ok_or_else(|| error(format!("{} is no number of this type", shortened(digits))))
}

/// Something else stands where a value of a type was expected.
fn unexpected(expected: &str, value: &Value) -> FormError {
    error(format!(
        "expected {expected}, got {}",
        shortened(&value.to_string())
    ))
}

/// A small number, which JSON carries as a number.
fn number<T: TryFrom<i64>>(value: &Value) -> Result<T, FormError> {
    let number = value.as_number().and_then(Number::as_i64);
    let number = number.ok_or_else(|| unexpected("a number", value))?;
    T::try_from(number).map_err(|_| error(format!("{number} is out of range")))
}

fn text(value: &Value) -> Result<&str, FormError> {
    value.as_str().ok_or_else(|| unexpected("a string", value))
}

/// The value of the field `name` of an object that has no other field.
fn only_field<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    let object = value.as_object().filter(|object| object.len() == 1)?;
    object.get(name)
}

impl Writer<'_> {
    fn put(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    fn length(&mut self, length: usize) {
        let mut rest = length;
        while rest >= 0x80 {
            self.bytes.push((rest & 0x7f) as u8 | 0x80);
            rest >>= 7;
        }
        self.bytes.push(rest as u8);
    }

    fn address(&mut self, value: &Value) -> Result<(), FormError> {
        let text = text(value)?;
        let address: AccountAddress = text
            .parse()
            .map_err(|e| error(format!("{}: {e}", shortened(text))))?;
        self.put(address.as_bytes());
        Ok(())
    }

    fn value(&mut self, tag: &TypeTag, value: &Value, depth: usize) -> Result<(), FormError> {
        let depth = depth
            .checked_sub(1)
            .ok_or_else(|| error("the value nests too deep"))?;
        match tag {
            TypeTag::Bool => {
                let flag = value.as_bool().ok_or_else(|| unexpected("a bool", value))?;
                self.put(&[u8::from(flag)]);
            }
            TypeTag::U8 => self.put(&number::<u8>(value)?.to_le_bytes()),
            TypeTag::U16 => self.put(&number::<u16>(value)?.to_le_bytes()),
            TypeTag::U32 => self.put(&number::<u32>(value)?.to_le_bytes()),
            TypeTag::I8 => self.put(&number::<i8>(value)?.to_le_bytes()),
            TypeTag::I16 => self.put(&number::<i16>(value)?.to_le_bytes()),
            TypeTag::I32 => self.put(&number::<i32>(value)?.to_le_bytes()),
            TypeTag::U64 => self.put(&decimal::<u64>(value)?.to_le_bytes()),
            TypeTag::U128 => self.put(&decimal::<u128>(value)?.to_le_bytes()),
            TypeTag::U256 => self.put(&decimal::<U256>(value)?.to_le_bytes()),
            TypeTag::I64 => self.put(&decimal::<i64>(value)?.to_le_bytes()),
            TypeTag::I128 => self.put(&decimal::<i128>(value)?.to_le_bytes()),
            TypeTag::I256 => self.put(&decimal::<I256>(value)?.to_le_bytes()),
            TypeTag::Address | TypeTag::Signer => self.address(value)?,
            TypeTag::Vector(item) if **item == TypeTag::U8 => {
                let digits = text(value)?;
                let digits = digits.strip_prefix("0x").unwrap_or(digits);
                let bytes = hex::decode(digits).map_err(|e| error(format!("not hex bytes: {e}")))?;
                self.length(bytes.len());
                self.put(&bytes);
            }
            TypeTag::Vector(item) => {
                let items = value.as_array().ok_or_else(|| unexpected("an array", value))?;
                self.length(items.len());
                items
                    .iter()
                    .try_for_each(|value| self.value(item, value, depth))?;
            }
            TypeTag::Struct(tag) => self.structure(tag, value, depth)?,
            TypeTag::Function(never) => match *never {},
        }
        Ok(())
    }

    fn structure(&mut self, tag: &StructTag, value: &Value, depth: usize) -> Result<(), FormError> {
        match special(tag) {
            Some(Special::Text) => {
                let text = text(value)?;
                self.length(text.len());
                self.put(text.as_bytes());
                Ok(())
            }
            Some(Special::Optional(item)) => self.optional(item, value, depth),
            Some(Special::Object) => self.address(only_field(value, "inner").unwrap_or(value)),
            None => {
                let object = value.as_object().ok_or_else(|| unexpected("an object", value))?;
                let fields = self.framework.fields(tag)?;
                if let Some(unknown) = object
                    .keys()
                    .find(|key| !fields.iter().any(|(name, _)| name == key))
                {
                    return Err(error(format!("{tag} has no field {}", shortened(unknown))));
                }
                for (name, field) in fields {
                    let value = object
                        .get(name)
                        .ok_or_else(|| error(format!("field {name:?} is missing")))?;
                    self.value(&field, value, depth)?;
                }
                Ok(())
            }
        }
    }

    /// `{"vec":[]}` or `{"vec":[x]}`, as printed; also `null` or the bare value.
    fn optional(&mut self, item: &TypeTag, value: &Value, depth: usize) -> Result<(), FormError> {
        let items = only_field(value, "vec").and_then(Value::as_array);
        let inner = match (items.map(Vec::as_slice), value) {
            (Some([]), _) | (None, Value::Null) => None,
            (Some([inner]), _) => Some(inner),
            (Some(_), _) => return Err(error("an option holds at most one value")),
            (None, bare) => Some(bare),
        };
        self.put(&[u8::from(inner.is_some())]);
        inner.map_or(Ok(()), |inner| self.value(item, inner, depth))
    }
}
