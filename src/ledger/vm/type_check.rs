//! Checks of type arguments.
//!
//! A type argument may be a declared type of the framework or a marker: a struct tag at another
//! address. A marker has no module and thus no abilities. A coin type needs none.

use crate::{Constraints, ModuleRegistry};
use ledger_types::{AccountAddress, StructTag, TYPE_DEPTH_MAX, TypeTag};

/// Maximum length of the name of a type argument, in bytes. Parsing accepts type names of up to
/// 4096 bytes (`TypeTag::from_str`), and a struct around the argument needs some of them.
const NAME_BYTES_MAX: usize = 3072;

/// The reason for which a type cannot be a type argument of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TypeArgumentError {
    /// The number of type arguments is wrong.
    Count,
    /// The framework has no such module.
    UnknownModule,
    /// A type is not declared by its module or has a wrong number of type arguments. Or a type
    /// nests so deep or has so long a name that a type around it could not be parsed.
    Unknown,
    /// The type lacks an ability that the function requires.
    Constraint,
}

impl ModuleRegistry {
    /// Checks the type arguments of a call against the constraints of the function.
    ///
    /// Types of modules that `framework_version` does not have are unknown.
    ///
    /// # Errors
    ///
    /// Returns the error of the first type argument that does not fit, or
    /// [`TypeArgumentError::Count`].
    pub(crate) fn check_type_arguments(
        &self,
        type_args: &[TypeTag],
        parameters: &[Constraints],
        framework_version: u64,
    ) -> Result<(), TypeArgumentError> {
        if type_args.len() != parameters.len() {
            return Err(TypeArgumentError::Count);
        }
        for (tag, constraints) in type_args.iter().zip(parameters) {
            // Reserves one level for a struct that has the type as its argument, as calls in JSON
            // do.
            if tag.depth() >= TYPE_DEPTH_MAX || name_bytes_bound(tag) > NAME_BYTES_MAX {
                return Err(TypeArgumentError::Unknown);
            }
            self.check_declared(tag, framework_version)?;
            if !constraints
                .iter()
                .all(|ability| self.has_ability(tag, ability))
            {
                return Err(TypeArgumentError::Constraint);
            }
        }
        Ok(())
    }

    /// Checks that the framework types in `tag` are declared. The nesting of `tag` is bounded, so
    /// the recursion is too.
    fn check_declared(
        &self,
        tag: &TypeTag,
        framework_version: u64,
    ) -> Result<(), TypeArgumentError> {
        match tag {
            TypeTag::Vector(item) => self.check_declared(item, framework_version),
            TypeTag::Struct(tag) => self.check_struct(tag, framework_version),
            _ => Ok(()),
        }
    }

    fn check_struct(
        &self,
        tag: &StructTag,
        framework_version: u64,
    ) -> Result<(), TypeArgumentError> {
        if tag.address == AccountAddress::ONE && !is_built_in(tag) {
            if !self.has_module(&tag.module_id(), framework_version) {
                return Err(TypeArgumentError::UnknownModule);
            }
            let declared = self
                .struct_declaration(tag)
                .ok_or(TypeArgumentError::Unknown)?;
            if declared.type_parameters.len() != tag.type_args.len() {
                return Err(TypeArgumentError::Unknown);
            }
        }
        tag.type_args
            .iter()
            .try_for_each(|tag| self.check_declared(tag, framework_version))
    }

    /// Returns `true` if a type has an ability.
    fn has_ability(&self, tag: &TypeTag, ability: &str) -> bool {
        match tag {
            TypeTag::Struct(tag) if is_built_in(tag) => {
                ability != "key"
                    && tag
                        .type_args
                        .iter()
                        .all(|item| self.has_ability(item, ability))
            }
            TypeTag::Struct(tag) => self
                .struct_declaration(tag)
                .is_some_and(|declared| declared.abilities.contains(&ability)),
            TypeTag::Vector(item) => ability != "key" && self.has_ability(item, ability),
            TypeTag::Signer => ability == "drop",
            _ => ability != "key",
        }
    }
}

/// Returns an upper bound of the length of a type's name, in bytes.
fn name_bytes_bound(tag: &TypeTag) -> usize {
    // `vector<>` is the longest name of a type that is not a struct.
    const WORD_BYTES: usize = 8;
    // A full address, `::` twice, `<`, and `>`.
    const STRUCT_FIXED_BYTES: usize = 66 + 4 + 2;
    match tag {
        TypeTag::Vector(item) => WORD_BYTES + name_bytes_bound(item),
        TypeTag::Struct(tag) => {
            let own = STRUCT_FIXED_BYTES + tag.module.as_str().len() + tag.name.as_str().len();
            let separated = |argument: &TypeTag| name_bytes_bound(argument) + ", ".len();
            own + tag.type_args.iter().map(separated).sum::<usize>()
        }
        _ => WORD_BYTES,
    }
}

/// Returns `true` for framework types with a known form, which need no declaration.
fn is_built_in(tag: &StructTag) -> bool {
    tag.is_framework("string", "String") && tag.type_args.is_empty()
        || tag.is_framework("option", "Option") && tag.type_args.len() == 1
}
