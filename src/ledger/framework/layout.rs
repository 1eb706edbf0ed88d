//! How values of a type lie in BCS: its declaration with type arguments and the chain's names put in, down to numbers
//! and bytes. Made once for the types that nearly every transaction shows, because making one takes longer than
//! writing a value of it.

use super::{ModuleRegistry, SchemaError, TypeSignature};
use crate::{AccountAddress, StateKey, StructTag, TypeTag};
use bytes::Bytes;
use std::{borrow::Cow, collections::HashMap, sync::Arc};

/// The deepest nesting of a value. Declared types nest far less; this stops hostile type arguments.
pub(super) const VALUE_DEPTH_MAX: usize = 32;

/// The most parts of a layout. Declared types have some dozens; this stops type arguments that multiply them.
const LAYOUT_PARTS_MAX: usize = 10_000;

/// Where the bytes of a value end and what they mean.
#[derive(Clone, Debug)]
pub(super) enum Layout {
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
    /// A vector of bytes, which is shown as hex.
    Bytes,
    Vector(Box<Self>),
    /// `0x1::string::String`.
    Text,
    /// `0x1::option::Option`.
    Optional(Box<Self>),
    /// `0x1::object::Object`.
    Object,
    /// Any other struct: its fields in their order.
    Struct(Vec<(&'static str, Self)>),
}

/// Types with a JSON form of their own.
pub(super) enum Special<'a> {
    Text,
    Optional(&'a TypeTag),
    Object,
}

pub(super) fn special(tag: &StructTag) -> Option<Special<'_>> {
    match tag.type_args.as_slice() {
        [] if tag.is_framework("string", "String") => Some(Special::Text),
        [item] if tag.is_framework("option", "Option") => Some(Special::Optional(item)),
        [_] if tag.is_framework("object", "Object") => Some(Special::Object),
        _ => None,
    }
}

/// A struct type that nearly every transaction shows, with what is made of it once.
#[derive(Debug)]
pub struct CachedType {
    text: String,
    pub(super) layout: Layout,
}

impl CachedType {
    /// The type as it prints.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// The structs that need no type argument, or the chain's coin only.
#[derive(Debug, Default)]
pub(super) struct KnownTypes {
    by_tag: HashMap<StructTag, Arc<CachedType>>,
    /// By what follows the address in the key of such a resource.
    by_path: HashMap<Bytes, Arc<CachedType>>,
}

impl KnownTypes {
    /// Those of `framework`, whose modules are complete.
    pub(super) fn of(registry: &ModuleRegistry) -> Self {
        let tags = registry.modules.iter().flat_map(|(module, listed)| {
            listed.declaration.structs.iter().filter_map(|declared| {
                let type_args = match declared.type_parameters.len() {
                    0 => vec![],
                    1 => vec![registry.native_coin.clone()],
                    _ => return None,
                };
                let name = super::type_signature::with_vendor(declared.name, &registry.vendor);
                Some(StructTag::framework(
                    module.as_str(),
                    name.as_str(),
                    type_args,
                ))
            })
        });
        let mut known = Self::default();
        for tag in tags {
            let Ok(layout) = registry.make_layout(&tag.clone().into()) else {
                continue;
            };
            let text = tag.to_string();
            let made = Arc::new(CachedType { text, layout });
            known
                .by_path
                .insert(StateKey::resource_path(&tag), Arc::clone(&made));
            known.by_tag.insert(tag, made);
        }
        known
    }
}

impl ModuleRegistry {
    /// What is known of a struct type; `None` of those that are rarely shown.
    pub fn cached_type(&self, tag: &StructTag) -> Option<&CachedType> {
        self.known_types.by_tag.get(tag).map(Arc::as_ref)
    }

    /// Whose resource a key names, and its type, where that is a known one: told without decoding the key.
    pub fn cached_resource(&self, key: &StateKey) -> Option<(AccountAddress, &CachedType)> {
        let address = key.address()?;
        let path = key.as_bytes().get(1 + AccountAddress::LENGTH..)?;
        let known = self.known_types.by_path.get(path)?;
        Some((address, known))
    }

    /// The layout of a type.
    ///
    /// # Errors
    /// When a type in it is not declared, or it nests too deep.
    pub(super) fn layout(&self, tag: &TypeTag) -> Result<Cow<'_, Layout>, SchemaError> {
        let known = match tag {
            TypeTag::Struct(tag) => self.cached_type(tag),
            _ => None,
        };
        match known {
            Some(known) => Ok(Cow::Borrowed(&known.layout)),
            None => self.make_layout(tag).map(Cow::Owned),
        }
    }

    fn make_layout(&self, tag: &TypeTag) -> Result<Layout, SchemaError> {
        let mut maker = LayoutBuilder {
            registry: self,
            parts_left: LAYOUT_PARTS_MAX,
        };
        maker.value(tag, VALUE_DEPTH_MAX)
    }

    /// The fields of a struct with its type arguments put in.
    pub(super) fn fields(
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

/// Makes one layout.
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
            TypeTag::Struct(tag) => self.structure(tag, depth)?,
            TypeTag::Function(never) => match *never {},
        })
    }

    fn structure(&mut self, tag: &StructTag, depth: usize) -> Result<Layout, SchemaError> {
        Ok(match special(tag) {
            Some(Special::Text) => Layout::Text,
            Some(Special::Optional(item)) => Layout::Optional(Box::new(self.value(item, depth)?)),
            Some(Special::Object) => Layout::Object,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Vendor;

    /// An element of a map whose key and value are such elements, so many levels deep.
    fn nested(levels: usize) -> TypeTag {
        (0..levels).fold(TypeTag::U8, |inner, _| {
            StructTag::framework("simple_map", "Element", vec![inner.clone(), inner]).into()
        })
    }

    #[test]
    fn types_that_multiply_are_refused_before_they_take_memory() {
        let registry = ModuleRegistry::new(&Vendor::default());
        assert!(registry.layout(&nested(crate::TYPE_DEPTH_MAX)).is_ok());
        let cause = registry.layout(&nested(14)).unwrap_err().to_string();
        assert_eq!(cause, "the type has too many parts");
    }

    #[test]
    fn the_types_of_a_transfer_are_known() {
        let registry = ModuleRegistry::new(&Vendor::default());
        let coin = registry.native_coin().clone();
        for tag in [
            StructTag::framework("coin", "CoinStore", vec![coin]),
            StructTag::framework("account", "Account", vec![]),
            StructTag::framework("transaction_fee", "FeeStatement", vec![]),
        ] {
            let layout = registry.layout(&tag.clone().into());
            assert!(matches!(layout, Ok(Cow::Borrowed(_))), "{tag}");
            assert_eq!(registry.cached_type(&tag).unwrap().text(), tag.to_string());
        }
    }

    #[test]
    fn a_key_names_the_known_resource_that_its_parts_name() {
        let registry = ModuleRegistry::new(&Vendor::default());
        let owner = AccountAddress::from_low_u64(0x77);
        let account = StructTag::framework("account", "Account", vec![]);
        let (address, known) = registry
            .cached_resource(&StateKey::resource(&owner, &account))
            .unwrap();
        assert_eq!((address, known.text()), (owner, "0x1::account::Account"));
        let unknown = [
            StateKey::resource(&owner, &StructTag::framework("account", "Nothing", vec![])),
            registry.group_key(&owner),
            StateKey::table_item(&owner, &StateKey::resource_path(&account)),
            StateKey::from_encoded(Bytes::from_static(&[0; 33])),
            StateKey::from_encoded(Bytes::new()),
        ];
        for key in unknown {
            assert!(registry.cached_resource(&key).is_none(), "{key:?}");
        }
    }
}
