//! The framework: native modules at `0x1`, each declared once in Rust, from which come dispatch, the
//! ABI, and the JSON form of every value.
//!
//! A module is one file in `modules/` with one `module()` function; [`modules`] lists them, and
//! `README.md` shows how to add one.

mod abi;
pub(crate) mod abort;
mod balance;
mod call;
pub(crate) mod declare;
mod from_json;
mod function;
mod known;
mod layout;
pub mod modules;
mod to_json;
mod type_check;
pub(crate) mod type_signature;

pub use abort::{Category, ErrorConstant};
pub use balance::{AssetType, balance};
pub use declare::{Constraints, ModuleDeclaration, MoveStruct, MoveType, StructDeclaration};
pub use function::{Function, Inputs, Signer, Values};
pub use layout::CachedType;
pub use to_json::JsonView;
pub use type_check::TypeArgumentError;
pub use type_signature::TypeSignature;

use crate::{AccountAddress, Identifier, ModuleId, StateKey, StructTag, TypeTag, Vendor};
use std::collections::BTreeMap;
use type_signature::with_vendor;

/// The modules of a chain.
#[derive(Debug)]
pub struct ModuleRegistry {
    vendor: Vendor,
    native_coin: TypeTag,
    object_group: StructTag,
    group_path: bytes::Bytes,
    modules: BTreeMap<Identifier, RegisteredModule>,
    known: known::KnownStructs,
    known_types: layout::KnownTypes,
}

/// The newest version of the framework that this program has; what a new development chain starts
/// with. A module that is added later is listed with the next version, so that every chain switches it
/// on at a height of its own (`Parameters::framework_upgrades`).
pub const FRAMEWORK_VERSION: u64 = 3;

/// A module and the version of the framework that it came with.
#[derive(Debug)]
pub(crate) struct RegisteredModule {
    pub(crate) since_version: u64,
    pub(crate) declaration: ModuleDeclaration,
}

/// A value or a call that does not fit the framework's declarations; the text says where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SchemaError(pub String);

impl ModuleRegistry {
    /// The modules of a chain with this vendor word.
    pub fn new(vendor: &Vendor) -> Self {
        let modules = modules::all()
            .into_iter()
            .map(|module| (with_vendor(module.declaration.name, vendor), module));
        let object_group = StructTag::framework("object", "ObjectGroup", vec![]);
        let mut registry = Self {
            vendor: vendor.clone(),
            native_coin: modules::vendor_coin::native_coin(vendor),
            group_path: StateKey::resource_group_path(&object_group),
            object_group,
            modules: modules.collect(),
            known: known::KnownStructs::default(),
            known_types: layout::KnownTypes::default(),
        };
        registry.known = known::KnownStructs::of(&registry);
        registry.known_types = layout::KnownTypes::of(&registry);
        registry
    }

    /// The type of the chain's own coin.
    pub fn native_coin(&self) -> &TypeTag {
        &self.native_coin
    }

    /// The names of the modules at `address` in a version of the framework, ascending.
    pub fn module_names(
        &self,
        address: &AccountAddress,
        framework_version: u64,
    ) -> Vec<Identifier> {
        if *address != AccountAddress::ONE {
            return Vec::new();
        }
        let active =
            |(_, module): &(_, &RegisteredModule)| module.since_version <= framework_version;
        self.modules
            .iter()
            .filter(active)
            .map(|(name, _)| name.clone())
            .collect()
    }

    fn listed(&self, id: &ModuleId) -> Option<&RegisteredModule> {
        if id.address == AccountAddress::ONE {
            self.modules.get(&id.name)
        } else {
            None
        }
    }

    fn module(&self, id: &ModuleId) -> Option<&ModuleDeclaration> {
        self.listed(id).map(|module| &module.declaration)
    }

    /// Whether a version of the framework has this module.
    pub fn has_module(&self, id: &ModuleId, framework_version: u64) -> bool {
        self.listed(id)
            .is_some_and(|module| module.since_version <= framework_version)
    }

    /// The function of a module, whatever its kind.
    pub(crate) fn function(&self, module: &ModuleId, name: &Identifier) -> Option<&Function> {
        self.module(module)?
            .functions
            .iter()
            .find(|function| *name == function.name)
    }

    /// The name of the function at a place of its module's declaration.
    pub(crate) fn function_name(&self, module: &ModuleId, index: u16) -> Option<&'static str> {
        self.module(module)?
            .functions
            .get(usize::from(index))
            .map(|function| function.name)
    }

    /// The place of a function in its module's declaration.
    pub(crate) fn function_index(&self, module: &ModuleId, name: &Identifier) -> Option<u16> {
        let functions = &self.module(module)?.functions;
        let index = functions
            .iter()
            .position(|function| *name == function.name)?;
        u16::try_from(index).ok()
    }

    /// The abort codes that a module declares.
    pub fn module_errors(&self, id: &ModuleId) -> &'static [ErrorConstant] {
        self.module(id).map_or(&[], |module| module.errors)
    }

    /// The declared structs of a module with the vendor word put into their names.
    pub fn struct_names(&self, id: &ModuleId) -> Vec<Identifier> {
        self.module(id)
            .into_iter()
            .flat_map(|module| &module.structs)
            .map(|declared| with_vendor(declared.name, &self.vendor))
            .collect()
    }

    /// The resource group in which a declared struct lives, if it is a member of one.
    pub fn group_of(&self, tag: &StructTag) -> Option<StructTag> {
        self.struct_declaration(tag)
            .filter(|declared| declared.is_group_member)
            .map(|_| self.object_group.clone())
    }

    fn struct_declaration(&self, tag: &StructTag) -> Option<&StructDeclaration> {
        let module = self.module(&tag.module_id())?;
        module.structs.iter().find(|declared| {
            tag.name == declared.name || tag.name == with_vendor(declared.name, &self.vendor)
        })
    }

    fn make_tag<T: MoveStruct>(&self, type_args: &[TypeTag]) -> StructTag {
        StructTag {
            address: AccountAddress::ONE,
            module: with_vendor(T::MODULE, &self.vendor),
            name: with_vendor(T::NAME, &self.vendor),
            type_args: type_args.to_vec(),
        }
    }

    /// The id of a framework module, the vendor word put into its name.
    pub(crate) fn module_id(&self, name: &str) -> ModuleId {
        ModuleId {
            address: AccountAddress::ONE,
            name: with_vendor(name, &self.vendor),
        }
    }
}
