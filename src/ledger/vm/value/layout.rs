//! Layouts: the BCS structure of a type, down to numbers and bytes.
//!
//! A layout is a declaration after the substitution of type arguments and of the vendor word. The
//! layouts of types that nearly every transaction has are cached, because building a layout takes
//! longer than writing a value.

use crate::{ModuleRegistry, SchemaError, TypeSignature};
use ledger_types::{StructTag, TypeTag};
use std::borrow::Cow;

/// Maximum nesting depth of a value. Declared types nest far less; the limit stops hostile type
/// arguments.
pub(crate) const VALUE_DEPTH_MAX: usize = 32;

/// Maximum number of parts of a layout. Declared types have some dozens; the limit stops type
/// arguments that multiply them.
const LAYOUT_PARTS_MAX: usize = 10_000;

/// The BCS structure and the meaning of the values of a type.
#[derive(Clone, Debug)]
pub(crate) enum Layout {
    Bool,
    U8,
    U16,
    U32,
    U64,
    U128,
    U256,
    I8,
    I16,
    I32,
    I64,
    I128,
    I256,
    /// An address or a signer.
    Address,
    /// A vector of bytes, with hexadecimal digits as its JSON form.
    Bytes,
    Vector(Box<Self>),
    /// `0x1::string::String`.
    Text,
    /// `0x1::option::Option`.
    Optional(Box<Self>),
    /// `0x1::object::Object`.
    Object,
    /// Any other struct: its fields in declaration order.
    Struct(Vec<(&'static str, Self)>),
}

/// Struct types with a JSON form of their own.
pub(crate) enum SpecialForm<'a> {
    Text,
    Optional(&'a TypeTag),
    Object,
}

/// Returns the special form of a struct type, or `None` if its JSON form is an object with its
/// fields.
pub(crate) fn special_form(tag: &StructTag) -> Option<SpecialForm<'_>> {
    match tag.type_args.as_slice() {
        [] if tag.is_framework("string", "String") => Some(SpecialForm::Text),
        [item] if tag.is_framework("option", "Option") => Some(SpecialForm::Optional(item)),
        [_] if tag.is_framework("object", "Object") => Some(SpecialForm::Object),
        _ => None,
    }
}

/// A struct type with its printed name and its layout, computed in advance.
#[derive(Debug)]
pub struct CachedType {
    pub(crate) text: String,
    pub(crate) layout: Layout,
}

impl CachedType {
    /// Returns the printed name of the type.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl ModuleRegistry {
    /// Returns the layout of a type, from the cache if it is there.
    ///
    /// # Errors
    ///
    /// Returns [`SchemaError`] if a type in it is not declared or has a wrong number of type
    /// arguments, if it nests too deep, or if it has too many parts.
    pub(crate) fn layout(&self, tag: &TypeTag) -> Result<Cow<'_, Layout>, SchemaError> {
        let cached = match tag {
            TypeTag::Struct(tag) => self.cached_type(tag),
            _ => None,
        };
        match cached {
            Some(cached) => Ok(Cow::Borrowed(&cached.layout)),
            None => self.build_layout(tag).map(Cow::Owned),
        }
    }

    /// Builds the layout of a type.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::layout`].
    pub(crate) fn build_layout(&self, tag: &TypeTag) -> Result<Layout, SchemaError> {
        let mut builder = LayoutBuilder {
            registry: self,
            parts_left: LAYOUT_PARTS_MAX,
        };
        builder.value(tag, VALUE_DEPTH_MAX)
    }

    /// Returns the fields of a struct with its type arguments substituted.
    ///
    /// # Errors
    ///
    /// Returns [`SchemaError`] if the struct is not declared, or if the number of type arguments is
    /// wrong.
    pub(crate) fn fields(
        &self,
        tag: &StructTag,
    ) -> Result<Vec<(&'static str, TypeTag)>, SchemaError> {
        let error = |text: String| SchemaError(text);
        let declared = self
            .struct_declaration(tag)
            .ok_or_else(|| error(format!("type {tag} is not declared")))?;
        if declared.type_parameters.len() != tag.type_args.len() {
            return Err(error(format!(
                "type {tag} takes {} type arguments",
                declared.type_parameters.len()
            )));
        }
        let resolve = |(name, signature): &(&'static str, TypeSignature)| {
            let resolved = signature.resolve(&tag.type_args, &self.vendor);
            resolved
                .map(|field| (*name, field))
                .ok_or_else(|| error(format!("type {tag} has an open field")))
        };
        declared.fields.iter().map(resolve).collect()
    }
}

/// A builder of one layout, with the number of parts that it may still add.
struct LayoutBuilder<'a> {
    registry: &'a ModuleRegistry,
    parts_left: usize,
}

impl LayoutBuilder<'_> {
    fn value(&mut self, tag: &TypeTag, depth: usize) -> Result<Layout, SchemaError> {
        let too_deep = || SchemaError("the value nests too deep".to_owned());
        let depth = depth.checked_sub(1).ok_or_else(too_deep)?;
        let too_large = || SchemaError("the type has too many parts".to_owned());
        self.parts_left = self.parts_left.checked_sub(1).ok_or_else(too_large)?;
        Ok(match tag {
            TypeTag::Bool => Layout::Bool,
            TypeTag::U8 => Layout::U8,
            TypeTag::U16 => Layout::U16,
            TypeTag::U32 => Layout::U32,
            TypeTag::U64 => Layout::U64,
            TypeTag::U128 => Layout::U128,
            TypeTag::U256 => Layout::U256,
            TypeTag::I8 => Layout::I8,
            TypeTag::I16 => Layout::I16,
            TypeTag::I32 => Layout::I32,
            TypeTag::I64 => Layout::I64,
            TypeTag::I128 => Layout::I128,
            TypeTag::I256 => Layout::I256,
            TypeTag::Address | TypeTag::Signer => Layout::Address,
            TypeTag::Vector(item) if **item == TypeTag::U8 => Layout::Bytes,
            TypeTag::Vector(item) => Layout::Vector(Box::new(self.value(item, depth)?)),
            TypeTag::Struct(tag) => self.struct_layout(tag, depth)?,
            TypeTag::Function(never) => match *never {},
        })
    }

    fn struct_layout(&mut self, tag: &StructTag, depth: usize) -> Result<Layout, SchemaError> {
        Ok(match special_form(tag) {
            Some(SpecialForm::Text) => Layout::Text,
            Some(SpecialForm::Optional(item)) => {
                Layout::Optional(Box::new(self.value(item, depth)?))
            }
            Some(SpecialForm::Object) => Layout::Object,
            None => {
                let fields = self.registry.fields(tag)?;
                let field = |(name, tag)| Ok((name, self.value(&tag, depth)?));
                Layout::Struct(
                    fields
                        .into_iter()
                        .map(field)
                        .collect::<Result<_, SchemaError>>()?,
                )
            }
        })
    }
}
