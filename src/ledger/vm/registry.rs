//! The native modules of a chain, by name.

use crate::{
    ErrorConstant, Function, MiscellaneousStatus, ModuleDeclaration, MoveStruct, StructDeclaration,
    struct_table::StructTable, with_vendor,
};
use ledger_types::{
    AccountAddress, EntryFunction, Identifier, ModuleId, StateKey, StructTag, TypeTag, Vendor,
};
use std::collections::BTreeMap;

/// The modules of a chain.
#[derive(Debug)]
pub struct ModuleRegistry {
    pub(crate) vendor: Vendor,
    pub(crate) native_coin: TypeTag,
    object_group: StructTag,
    pub(crate) group_path: bytes::Bytes,
    pub(crate) modules: BTreeMap<Identifier, RegisteredModule>,
    pub(crate) structs: StructTable,
}

/// A module and the first framework version that has it.
#[derive(Debug)]
pub struct RegisteredModule {
    /// First framework version that has the module.
    pub since_version: u64,
    /// Declaration of the module.
    pub declaration: ModuleDeclaration,
}

/// A value or a call that does not match the declarations of the framework. The message describes
/// the mismatch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SchemaError(pub String);

impl ModuleRegistry {
    /// Creates the registry of a chain with this vendor word.
    ///
    /// `native_coin` is the type of the chain's own coin. The layouts of structs without type
    /// parameters, and of structs with one type parameter for the chain's coin, are computed here.
    pub fn new(
        vendor: &Vendor,
        native_coin: TypeTag,
        modules: impl IntoIterator<Item = RegisteredModule>,
    ) -> Self {
        let modules = modules
            .into_iter()
            .map(|module| (with_vendor(module.declaration.name, vendor), module));
        let object_group = StructTag::framework("object", "ObjectGroup", vec![]);
        let mut registry = Self {
            vendor: vendor.clone(),
            native_coin,
            group_path: StateKey::resource_group_path(&object_group),
            object_group,
            modules: modules.collect(),
            structs: StructTable::default(),
        };
        registry.structs = StructTable::of(&registry);
        registry
    }

    /// Computes the tag and the state key path of `T` with these type arguments in advance.
    ///
    /// Without them, each transaction that accesses the struct builds both from text, which took a
    /// third of the time of a transfer.
    #[must_use]
    pub fn with_cached_struct<T: MoveStruct>(mut self, type_args: &[TypeTag]) -> Self {
        let tag = self.make_tag::<T>(type_args);
        self.structs.insert::<T>(tag);
        self
    }

    /// Returns the type of the chain's own coin.
    pub fn native_coin(&self) -> &TypeTag {
        &self.native_coin
    }

    /// Returns the names of the modules at `address` in a framework version, in ascending order.
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

    /// Returns the module with this id, in any framework version.
    fn registered(&self, id: &ModuleId) -> Option<&RegisteredModule> {
        if id.address == AccountAddress::ONE {
            self.modules.get(&id.name)
        } else {
            None
        }
    }

    pub(crate) fn module(&self, id: &ModuleId) -> Option<&ModuleDeclaration> {
        self.registered(id).map(|module| &module.declaration)
    }

    /// Returns `true` if the framework version has this module.
    pub fn has_module(&self, id: &ModuleId, framework_version: u64) -> bool {
        self.registered(id)
            .is_some_and(|module| module.since_version <= framework_version)
    }

    /// Returns the function that `call` names, of any kind, in a framework version.
    ///
    /// # Errors
    ///
    /// * [`MiscellaneousStatus::LinkerError`] if the version has no such module.
    /// * [`MiscellaneousStatus::FunctionResolutionFailure`] if the module has no such function.
    pub fn called_function(
        &self,
        call: &EntryFunction,
        framework_version: u64,
    ) -> Result<&Function, MiscellaneousStatus> {
        if !self.has_module(&call.module, framework_version) {
            return Err(MiscellaneousStatus::LinkerError);
        }
        self.function(&call.module, &call.function)
            .ok_or(MiscellaneousStatus::FunctionResolutionFailure)
    }

    /// Returns a function of a module, of any kind.
    pub fn function(&self, module: &ModuleId, name: &Identifier) -> Option<&Function> {
        self.module(module)?
            .functions
            .iter()
            .find(|function| *name == function.name)
    }

    /// Returns the name of the function with this index in the declaration of its module.
    pub fn function_name(&self, module: &ModuleId, index: u16) -> Option<&'static str> {
        self.module(module)?
            .functions
            .get(usize::from(index))
            .map(|function| function.name)
    }

    /// Returns the index of a function in the declaration of its module.
    pub fn function_index(&self, module: &ModuleId, name: &Identifier) -> Option<u16> {
        let functions = &self.module(module)?.functions;
        let index = functions
            .iter()
            .position(|function| *name == function.name)?;
        u16::try_from(index).ok()
    }

    /// Returns the abort codes that a module declares.
    pub fn module_errors(&self, id: &ModuleId) -> &'static [ErrorConstant] {
        self.module(id).map_or(&[], |module| module.errors)
    }

    /// Returns the names of the structs of a module, with the vendor word substituted.
    pub fn struct_names(&self, id: &ModuleId) -> Vec<Identifier> {
        self.module(id)
            .into_iter()
            .flat_map(|module| &module.structs)
            .map(|declared| with_vendor(declared.name, &self.vendor))
            .collect()
    }

    /// Returns the resource group of a declared struct, or `None` if the struct is not a group
    /// member.
    pub fn group_of(&self, tag: &StructTag) -> Option<StructTag> {
        self.struct_declaration(tag)
            .filter(|declared| declared.is_group_member)
            .map(|_| self.object_group.clone())
    }

    /// Returns the declaration of a struct. Its name may have the vendor word or the placeholder.
    pub(crate) fn struct_declaration(&self, tag: &StructTag) -> Option<&StructDeclaration> {
        let module = self.module(&tag.module_id())?;
        module.structs.iter().find(|declared| {
            tag.name == declared.name || tag.name == with_vendor(declared.name, &self.vendor)
        })
    }

    /// Builds the tag of `T`, without the cache.
    pub(crate) fn make_tag<T: MoveStruct>(&self, type_args: &[TypeTag]) -> StructTag {
        StructTag {
            address: AccountAddress::ONE,
            module: with_vendor(T::MODULE, &self.vendor),
            name: with_vendor(T::NAME, &self.vendor),
            type_args: type_args.to_vec(),
        }
    }

    /// Returns the id of a framework module, with the vendor word substituted in `name`.
    pub fn module_id(&self, name: &str) -> ModuleId {
        ModuleId {
            address: AccountAddress::ONE,
            name: with_vendor(name, &self.vendor),
        }
    }
}
