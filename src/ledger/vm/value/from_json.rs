//! Conversion of JSON into BCS values of declared types (docs/reference/reference-node.md#r18).
//! `to_json.rs` has the reverse.
//!
//! The conversion handles any input without a panic. A value nests at most [`VALUE_DEPTH_MAX`]
//! levels, and the work is proportional to the length of the input.

use super::layout::{SpecialForm, VALUE_DEPTH_MAX, special_form};
use crate::{ModuleRegistry, SchemaError, call::truncated};
use ethnum::{I256, U256};
use ledger_types::{AccountAddress, StructTag, TypeTag};
use serde_json::{Number, Value};

fn error(text: impl Into<String>) -> SchemaError {
    SchemaError(text.into())
}

impl ModuleRegistry {
    /// Returns the BCS form of a JSON value.
    ///
    /// # Errors
    ///
    /// Returns [`SchemaError`] if `tag` contains an undeclared type, if the type nests too deep or
    /// has too many parts, or if the JSON is not a value of it.
    pub fn value_from_json(&self, tag: &TypeTag, value: &Value) -> Result<Vec<u8>, SchemaError> {
        // The writer does not visit the element types of empty vectors and options, so check them
        // here.
        self.layout(tag)?;
        let mut writer = BcsWriter {
            registry: self,
            bytes: Vec::new(),
        };
        writer.write_value(tag, value, VALUE_DEPTH_MAX)?;
        Ok(writer.bytes)
    }
}

/// A BCS encoder of one JSON value.
struct BcsWriter<'a> {
    registry: &'a ModuleRegistry,
    bytes: Vec<u8>,
}

/// Parses a decimal number of type `T` from a JSON string. A leading `+` is rejected, although Rust
/// accepts it.
fn decimal<T: std::str::FromStr>(value: &Value) -> Result<T, SchemaError> {
    let digits = value
        .as_str()
        .ok_or_else(|| unexpected("a string with a number", value))?;
    let number = if digits.starts_with('+') {
        None
    } else {
        digits.parse().ok()
    };
    number.ok_or_else(|| {
        error(format!(
            "{} is not a number of this type",
            truncated(digits)
        ))
    })
}

/// Returns the error for a JSON value of another type than expected.
fn unexpected(expected: &str, value: &Value) -> SchemaError {
    error(format!(
        "expected {expected}, got {}",
        truncated(&value.to_string())
    ))
}

/// Converts a JSON number to a type of at most 32 bits.
fn number<T: TryFrom<i64>>(value: &Value) -> Result<T, SchemaError> {
    let number = value.as_number().and_then(Number::as_i64);
    let number = number.ok_or_else(|| unexpected("a number", value))?;
    T::try_from(number).map_err(|_| error(format!("{number} is out of range")))
}

fn text(value: &Value) -> Result<&str, SchemaError> {
    value.as_str().ok_or_else(|| unexpected("a string", value))
}

/// Returns the value of the field `name` if the object has no other field.
fn only_field<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    let object = value.as_object().filter(|object| object.len() == 1)?;
    object.get(name)
}

impl BcsWriter<'_> {
    fn put(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Appends a length as ULEB128.
    fn write_length(&mut self, length: usize) {
        let mut rest = length;
        while rest >= 0x80 {
            self.bytes.push((rest & 0x7f) as u8 | 0x80);
            rest >>= 7;
        }
        self.bytes.push(rest as u8);
    }

    fn write_address(&mut self, value: &Value) -> Result<(), SchemaError> {
        let text = text(value)?;
        let address: AccountAddress = text
            .parse()
            .map_err(|e| error(format!("{}: {e}", truncated(text))))?;
        self.put(address.as_bytes());
        Ok(())
    }

    fn write_value(
        &mut self,
        tag: &TypeTag,
        value: &Value,
        depth: usize,
    ) -> Result<(), SchemaError> {
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
            TypeTag::Address | TypeTag::Signer => self.write_address(value)?,
            TypeTag::Vector(item) if **item == TypeTag::U8 => {
                let digits = text(value)?;
                let digits = digits.strip_prefix("0x").unwrap_or(digits);
                let bytes =
                    hex::decode(digits).map_err(|e| error(format!("not hex bytes: {e}")))?;
                self.write_length(bytes.len());
                self.put(&bytes);
            }
            TypeTag::Vector(item) => {
                let items = value
                    .as_array()
                    .ok_or_else(|| unexpected("an array", value))?;
                self.write_length(items.len());
                items
                    .iter()
                    .try_for_each(|value| self.write_value(item, value, depth))?;
            }
            TypeTag::Struct(tag) => self.write_struct(tag, value, depth)?,
            TypeTag::Function(never) => match *never {},
        }
        Ok(())
    }

    fn write_struct(
        &mut self,
        tag: &StructTag,
        value: &Value,
        depth: usize,
    ) -> Result<(), SchemaError> {
        match special_form(tag) {
            Some(SpecialForm::Text) => {
                let text = text(value)?;
                self.write_length(text.len());
                self.put(text.as_bytes());
                Ok(())
            }
            Some(SpecialForm::Optional(item)) => self.write_option(item, value, depth),
            Some(SpecialForm::Object) => {
                self.write_address(only_field(value, "inner").unwrap_or(value))
            }
            None => {
                let object = value
                    .as_object()
                    .ok_or_else(|| unexpected("an object", value))?;
                let fields = self.registry.fields(tag)?;
                if let Some(unknown) = object
                    .keys()
                    .find(|key| !fields.iter().any(|(name, _)| name == key))
                {
                    return Err(error(format!("{tag} has no field {}", truncated(unknown))));
                }
                for (name, field) in fields {
                    let value = object
                        .get(name)
                        .ok_or_else(|| error(format!("field {name:?} is missing")))?;
                    self.write_value(&field, value, depth)?;
                }
                Ok(())
            }
        }
    }

    /// Appends an option. It accepts `{"vec":[]}` and `{"vec":[x]}`, which is the printed form, and
    /// also `null` and the bare value.
    fn write_option(
        &mut self,
        item: &TypeTag,
        value: &Value,
        depth: usize,
    ) -> Result<(), SchemaError> {
        let items = only_field(value, "vec").and_then(Value::as_array);
        let inner = match (items.map(Vec::as_slice), value) {
            (Some([]), _) | (None, Value::Null) => None,
            (Some([inner]), _) => Some(inner),
            (Some(_), _) => return Err(error("an option holds at most one value")),
            (None, bare) => Some(bare),
        };
        self.put(&[u8::from(inner.is_some())]);
        inner.map_or(Ok(()), |inner| self.write_value(item, inner, depth))
    }
}
