//! `0x1::code`: the packages of bytecode at an address, in the resource that clients of the
//! reference node read. This chain has no bytecode, so the list is empty.

use ledger_types::AccountAddress;
use ledger_vm::{Context, ModuleDeclaration, MoveStruct, VmError, move_structs};

/// The module of values of any type, which packages extend themselves with.
mod copyable_any {
    use ledger_vm::move_structs;

    move_structs! {
        module "copyable_any";

        /// A value of any type.
        Any as "Any" has ["copy", "drop", "store"] {
            /// Name of the type.
            type_name: String,
            /// Value in BCS.
            data: Vec<u8>,
        }
    }
}

pub use copyable_any::Any;

move_structs! {
    module "code";

    /// The rule for upgrades of a package.
    UpgradePolicy as "UpgradePolicy" has ["copy", "drop", "store"] {
        /// Number of the rule.
        policy: u8,
    }

    /// A module of a package.
    ModuleMetadata as "ModuleMetadata" has ["drop", "store"] {
        /// Name of the module.
        name: String,
        /// Compressed source.
        source: Vec<u8>,
        /// Compressed map from bytecode to source.
        source_map: Vec<u8>,
        /// Further data.
        extension: Option<Any>,
    }

    /// A package that another one needs.
    PackageDep as "PackageDep" has ["copy", "drop", "store"] {
        /// Address of the package.
        account: AccountAddress,
        /// Name of the package.
        package_name: String,
    }

    /// A package.
    PackageMetadata as "PackageMetadata" has ["drop", "store"] {
        /// Name of the package.
        name: String,
        /// Rule for its upgrades.
        upgrade_policy: UpgradePolicy,
        /// Number of its upgrades.
        upgrade_number: u64,
        /// Hash of the sources.
        source_digest: String,
        /// Compressed manifest.
        manifest: Vec<u8>,
        /// Modules.
        modules: Vec<ModuleMetadata>,
        /// Packages that it needs.
        deps: Vec<PackageDep>,
        /// Further data.
        extension: Option<Any>,
    }

    /// The packages at an address.
    PackageRegistry as "PackageRegistry" has ["drop", "key", "store"] {
        /// Packages: always empty.
        packages: Vec<PackageMetadata>,
    }
}

/// Writes the packages of the framework: none.
///
/// # Errors
///
/// Returns [`VmError::State`] if the state cannot be read.
pub fn write_genesis(context: &mut Context<'_>) -> Result<(), VmError> {
    let registry = PackageRegistry {
        packages: Vec::new(),
    };
    context.write_resource(AccountAddress::ONE, &[], &registry)
}

pub(super) fn module() -> ModuleDeclaration {
    ModuleDeclaration {
        name: "code",
        structs: vec![
            ModuleMetadata::declaration(),
            PackageDep::declaration(),
            PackageMetadata::declaration(),
            PackageRegistry::declaration(),
            UpgradePolicy::declaration(),
        ],
        functions: vec![],
        errors: &[],
    }
}

pub(super) fn any_module() -> ModuleDeclaration {
    ModuleDeclaration {
        name: "copyable_any",
        structs: vec![Any::declaration()],
        functions: vec![],
        errors: &[],
    }
}
