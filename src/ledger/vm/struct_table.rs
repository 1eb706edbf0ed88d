//! Well-known struct types of a chain, with names, layouts, and state key paths computed once.

use crate::{CachedType, ModuleRegistry, MoveStruct, with_vendor};
use bytes::Bytes;
use ledger_crypto::map::HashMap;
use ledger_types::{AccountAddress, StateKey, StructTag, TypeTag};
use std::{any::TypeId, borrow::Cow, sync::Arc};

/// The tag of a struct, its BCS form, and the part of its state keys that follows the address.
#[derive(Debug)]
struct TagAndPath {
    tag: Arc<StructTag>,
    tag_bytes: Vec<u8>,
    path: Bytes,
}

/// The well-known struct types of a chain.
#[derive(Debug, Default)]
pub(crate) struct StructTable {
    /// Structs that nearly every transaction accesses, by Rust type, with their most frequent type
    /// arguments.
    by_rust_type: HashMap<TypeId, TagAndPath>,
    /// Structs without type parameters, or with the chain's coin as the only type argument.
    by_tag: HashMap<StructTag, Arc<CachedType>>,
    /// The same structs, by the part of their state keys that follows the address.
    by_path: HashMap<Bytes, Arc<CachedType>>,
}

impl StructTable {
    /// Computes the layouts of the structs of `registry`, which must have all of its modules.
    pub(crate) fn of(registry: &ModuleRegistry) -> Self {
        let mut table = Self::default();
        for tag in tags(registry) {
            let Ok(layout) = registry.build_layout(&tag.clone().into()) else {
                continue;
            };
            let text = tag.to_string();
            let cached = Arc::new(CachedType { text, layout });
            table
                .by_path
                .insert(StateKey::resource_path(&tag), Arc::clone(&cached));
            table.by_tag.insert(tag, cached);
        }
        table
    }

    /// Adds the Rust type `T` with its tag.
    pub(crate) fn insert<T: MoveStruct>(&mut self, tag: StructTag) {
        let entry = TagAndPath {
            tag_bytes: tag_bytes(&tag),
            path: StateKey::resource_path(&tag),
            tag: tag.into(),
        };
        self.by_rust_type.insert(TypeId::of::<T>(), entry);
    }

    /// Returns the entry of `T` if it has these type arguments.
    fn find<T: MoveStruct>(&self, type_args: &[TypeTag]) -> Option<&TagAndPath> {
        self.find_by_id(TypeId::of::<T>(), type_args)
    }

    /// Returns the entry of a Rust type if it has these type arguments.
    ///
    /// All types share one copy of the code, because the code of a transfer does not fit into the
    /// instruction cache.
    #[inline(never)]
    fn find_by_id(&self, id: TypeId, type_args: &[TypeTag]) -> Option<&TagAndPath> {
        let entry = self.by_rust_type.get(&id)?;
        (entry.tag.type_args == type_args).then_some(entry)
    }
}

/// Returns the BCS form of a tag.
pub(crate) fn tag_bytes(tag: &StructTag) -> Vec<u8> {
    bcs::to_bytes(tag).expect("tags have a BCS form")
}

/// Returns the tags of the structs without type parameters, and of the structs with one type
/// parameter for the chain's coin.
fn tags(registry: &ModuleRegistry) -> impl Iterator<Item = StructTag> {
    registry.modules.iter().flat_map(|(module, registered)| {
        registered
            .declaration
            .structs
            .iter()
            .filter_map(|declared| {
                let type_args = match declared.type_parameters.len() {
                    0 => vec![],
                    1 => vec![registry.native_coin.clone()],
                    _ => return None,
                };
                let name = with_vendor(declared.name, &registry.vendor);
                Some(StructTag::framework(
                    module.as_str(),
                    name.as_str(),
                    type_args,
                ))
            })
    })
}

impl ModuleRegistry {
    /// Returns the cached name and layout of a struct type, or `None` if the type is not cached.
    pub fn cached_type(&self, tag: &StructTag) -> Option<&CachedType> {
        self.structs.by_tag.get(tag).map(Arc::as_ref)
    }

    /// Returns the address and the cached type of the resource that `key` names, or `None` if the
    /// type is not cached. The key is not decoded.
    pub fn cached_resource(&self, key: &StateKey) -> Option<(AccountAddress, &CachedType)> {
        let address = key.address()?;
        let path = key.as_bytes().get(1 + AccountAddress::LENGTH..)?;
        let entry = self.structs.by_path.get(path)?;
        Some((address, entry))
    }

    /// Returns the tag of a declared struct of this chain.
    pub fn tag_of<T: MoveStruct>(&self, type_args: &[TypeTag]) -> StructTag {
        match self.structs.find::<T>(type_args) {
            Some(entry) => StructTag::clone(&entry.tag),
            None => self.make_tag::<T>(type_args),
        }
    }

    /// Returns the type of a declared struct of this chain.
    pub(crate) fn type_tag_of<T: MoveStruct>(&self, type_args: &[TypeTag]) -> TypeTag {
        match self.structs.find::<T>(type_args) {
            Some(entry) => TypeTag::Struct(Arc::clone(&entry.tag)),
            None => self.make_tag::<T>(type_args).into(),
        }
    }

    /// Returns the BCS form of the tag of a declared struct of this chain, the name of a member of
    /// a resource group.
    pub fn tag_bytes_of<T: MoveStruct>(&self, type_args: &[TypeTag]) -> Cow<'_, [u8]> {
        match self.structs.find::<T>(type_args) {
            Some(entry) => Cow::Borrowed(&entry.tag_bytes),
            None => Cow::Owned(tag_bytes(&self.make_tag::<T>(type_args))),
        }
    }

    /// Returns `true` if `key` is the state key of the object resource group at some address.
    pub fn is_group_key(&self, key: &StateKey) -> bool {
        key.path() == Some(&self.group_path[..])
    }

    /// Returns the part of the object resource group's keys that follows the address.
    pub(crate) fn group_path(&self) -> &[u8] {
        &self.group_path
    }

    /// Returns the state key of the object resource group at `address`.
    pub fn group_key(&self, address: &AccountAddress) -> StateKey {
        StateKey::with_path(address, &self.group_path)
    }

    /// Returns the state key of the resource `T` at `address`.
    pub fn resource_key<T: MoveStruct>(
        &self,
        address: &AccountAddress,
        type_args: &[TypeTag],
    ) -> StateKey {
        match self.structs.find::<T>(type_args) {
            Some(entry) => StateKey::with_path(address, &entry.path),
            None => StateKey::resource(address, &self.make_tag::<T>(type_args)),
        }
    }

    /// Returns the length of the state keys of the resource `T`, in bytes.
    pub fn resource_key_length<T: MoveStruct>(&self, type_args: &[TypeTag]) -> usize {
        match self.structs.find::<T>(type_args) {
            Some(entry) => StateKey::length_with_path(&entry.path),
            None => {
                let key = self.resource_key::<T>(&AccountAddress::ZERO, type_args);
                key.as_bytes().len()
            }
        }
    }

    /// Returns `true` if `key` is the state key of the resource `T` at some address.
    pub fn is_resource_key<T: MoveStruct>(&self, key: &StateKey, type_args: &[TypeTag]) -> bool {
        match self.structs.find::<T>(type_args) {
            Some(entry) => key.path() == Some(&entry.path[..]),
            None => {
                key.path() == Some(&StateKey::resource_path(&self.make_tag::<T>(type_args))[..])
            }
        }
    }
}
