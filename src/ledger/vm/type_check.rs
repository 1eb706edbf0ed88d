//! What may stand as a type argument: declared types of the framework, and markers, which are struct
//! tags at other addresses. No module stands behind a marker, so it has no abilities; a coin type needs
//! none.

use crate::{Constraints, ModuleRegistry};
use ledger_types::{AccountAddress, StructTag, TYPE_DEPTH_MAX, TypeTag};

/// The longest name of a type argument, in bytes. Names of types are read back up to 4096 bytes
/// (`TypeTag::from_str`), and the struct that the argument will stand in needs some of them.
const NAME_BYTES_MAX: usize = 3072;

/// Why a type cannot be a type argument of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TypeArgumentError {
    /// Too few or too many.
    Count,
    /// A type of the framework that is not declared, or with a wrong number of arguments of its own; or
    /// one so deep or with a name so long that a type around it could not be read from its name.
    Unknown,
    /// It lacks an ability that the function asks for.
    Constraint,
}

impl ModuleRegistry {
    /// Checks the type arguments of a call against the constraints of the function, in a version of the
    /// framework: types of modules that are not on yet are unknown.
    ///
    /// # Errors
    /// The first that does not fit.
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
            // One level is left for the struct that the argument will stand in, as in calls in JSON.
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

    /// Whether the types of the framework in `tag`, whose nesting is bounded, are declared.
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
            let declared = self
                .struct_declaration(tag)
                .filter(|_| self.has_module(&tag.module_id(), framework_version))
                .ok_or(TypeArgumentError::Unknown)?;
            if declared.type_parameters.len() != tag.type_args.len() {
                return Err(TypeArgumentError::Unknown);
            }
        }
        tag.type_args
            .iter()
            .try_for_each(|tag| self.check_declared(tag, framework_version))
    }

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

/// At least as many bytes as the name of a type has.
fn name_bytes_bound(tag: &TypeTag) -> usize {
    // `signer`, `address`, and `vector<>` are the longest words.
    const WORD_BYTES: usize = 8;
    // An address in full, `::` twice, `<` and `>`.
    const STRUCT_BYTES: usize = 66 + 4 + 2;
    match tag {
        TypeTag::Vector(item) => WORD_BYTES + name_bytes_bound(item),
        TypeTag::Struct(tag) => {
            let own = STRUCT_BYTES + tag.module.as_str().len() + tag.name.as_str().len();
            let separated = |argument: &TypeTag| name_bytes_bound(argument) + ", ".len();
            own + tag.type_args.iter().map(separated).sum::<usize>()
        }
        _ => WORD_BYTES,
    }
}

/// Types whose form is known without a declaration.
fn is_built_in(tag: &StructTag) -> bool {
    tag.is_framework("string", "String") && tag.type_args.is_empty()
        || tag.is_framework("option", "Option") && tag.type_args.len() == 1
}
