//! The framework: native modules at `0x1`, each declared once in Rust, from which come dispatch, the
//! ABI, and the JSON form of every value.
//!
//! A module is one file in `modules/` with one `module()` function; [`modules`] lists them.

mod abi;
pub(crate) mod abort;
mod balance;
mod call;
pub(crate) mod declare;
mod function;
mod known;
pub mod modules;
pub(crate) mod signature;
mod value;

pub use abort::{Category, ErrorConstant};
pub use balance::{AssetType, balance};
pub use declare::{ModuleDeclaration, MoveStruct, MoveType, StructDeclaration};
pub use function::{Function, Inputs, Signer};
pub use signature::Signature;

use crate::{AccountAddress, Identifier, ModuleId, StructTag, TypeTag, Vendor};
use signature::with_vendor;
use std::collections::BTreeMap;

/// The modules of a chain.
#[derive(Debug)]
pub struct Framework {
    vendor: Vendor,
    native_coin: TypeTag,
    modules: BTreeMap<Identifier, ModuleDeclaration>,
    known: known::KnownStructs,
}

/// A value or a call that does not fit the framework's declarations; the text says where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FormError(pub String);

impl Framework {
    /// The modules of a chain with this vendor word.
    pub fn new(vendor: &Vendor) -> Self {
        let modules = modules::all()
            .into_iter()
            .map(|module| (with_vendor(module.name, vendor), module));
        let mut framework = Self {
            vendor: vendor.clone(),
            native_coin: modules::vendor_coin::native_coin(vendor),
            modules: modules.collect(),
            known: known::KnownStructs::default(),
        };
        framework.known = known::KnownStructs::of(&framework);
        framework
    }

    /// The type of the chain's own coin.
    pub fn native_coin(&self) -> &TypeTag {
        &self.native_coin
    }

    /// The names of the modules at `address`, ascending.
    pub fn module_names(&self, address: &AccountAddress) -> Vec<Identifier> {
        if *address == AccountAddress::ONE {
            self.modules.keys().cloned().collect()
        } else {
            Vec::new()
        }
    }

    fn module(&self, id: &ModuleId) -> Option<&ModuleDeclaration> {
        if id.address == AccountAddress::ONE {
            self.modules.get(&id.name)
        } else {
            None
        }
    }

    /// The entry function of a module.
    pub(crate) fn function(&self, module: &ModuleId, name: &Identifier) -> Option<&Function> {
        self.module(module)?
            .functions
            .iter()
            .find(|function| *name == function.name)
    }

    /// The name of the function at a place of its module's declaration.
    pub(crate) fn function_at(&self, module: &ModuleId, place: u16) -> Option<&'static str> {
        self.module(module)?
            .functions
            .get(usize::from(place))
            .map(|function| function.name)
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
