//! Declarations of modules and structs, as data made from Rust types.
//!
//! One declaration yields the ABI, the JSON form of values, and the dispatch of calls.

use crate::{Context, ErrorConstant, Function, TypeSignature, VmError};
use ledger_types::{AccountAddress, StateError, TypeTag};
use serde::{Serialize, de::DeserializeOwned};
use serde_bytes::ByteBuf;

/// A Rust type with the BCS form of a declared type.
pub trait MoveType: Serialize + DeserializeOwned + 'static {
    /// Returns the declared type.
    fn signature() -> TypeSignature;

    /// Checks the properties of an argument that its bytes do not show, for example that an object
    /// exists.
    ///
    /// # Errors
    ///
    /// Returns the abort that the reference node raises while it builds the argument, or the error
    /// of a read.
    fn check_argument(
        &self,
        _context: &mut Context<'_>,
        _type_args: &[TypeTag],
    ) -> Result<(), VmError> {
        Ok(())
    }
}

/// The abilities that a type argument must have.
pub type Constraints = &'static [&'static str];

/// A declared struct.
pub trait MoveStruct: MoveType {
    /// Name of the module; may contain a placeholder for the vendor word.
    const MODULE: &'static str;
    /// Name of the struct; may contain a placeholder for the vendor word.
    const NAME: &'static str;
    /// `true` if the struct is stored in the object resource group of its address, not in a slot of
    /// its own.
    const IS_GROUP_MEMBER: bool = false;
    /// Returns the declaration of the struct.
    fn declaration() -> StructDeclaration;
}

/// Decodes a stored resource.
///
/// # Errors
///
/// Returns [`StateError`] if `bytes` are not a value of `T`.
pub fn decode_resource<T: MoveStruct>(bytes: &[u8]) -> Result<T, StateError> {
    bcs::from_bytes(bytes).map_err(|error| {
        StateError(format!(
            "a stored {}::{} does not decode: {error}",
            T::MODULE,
            T::NAME
        ))
    })
}

/// A module of the framework, at address `0x1`.
#[derive(Debug)]
pub struct ModuleDeclaration {
    /// Name of the module; may contain a placeholder for the vendor word.
    pub name: &'static str,
    /// Structs of the module.
    pub structs: Vec<StructDeclaration>,
    /// Functions of the module, in the order of their indices.
    pub functions: Vec<Function>,
    /// Abort codes of the module.
    pub errors: &'static [ErrorConstant],
}

/// A struct as the ABI describes it.
#[derive(Debug)]
pub struct StructDeclaration {
    /// Name of the struct; may contain a placeholder for the vendor word.
    pub name: &'static str,
    /// Abilities of the struct, out of `copy`, `drop`, `store`, and `key`.
    pub abilities: &'static [&'static str],
    /// `true` if the struct is the type of a module event.
    pub is_event: bool,
    /// Type parameters of the struct.
    pub type_parameters: Vec<Constraints>,
    /// `true` if the struct is stored in the object resource group of its address.
    pub is_group_member: bool,
    /// Names and types of the fields, in BCS order.
    pub fields: Vec<(&'static str, TypeSignature)>,
}

impl StructDeclaration {
    /// Creates a struct without type parameters, for structs that `move_structs!` does not declare.
    pub fn new(
        name: &'static str,
        abilities: &'static [&'static str],
        fields: Vec<(&'static str, TypeSignature)>,
    ) -> Self {
        Self {
            name,
            abilities,
            is_event: false,
            type_parameters: Vec::new(),
            is_group_member: false,
            fields,
        }
    }

    /// Returns the same struct with these type parameters.
    pub fn with_type_parameters(mut self, constraints: &[Constraints]) -> Self {
        self.type_parameters = constraints.to_vec();
        self
    }
}

macro_rules! plain_types {
    ($($rust:ty => $tag:ident,)*) => {
        $(impl MoveType for $rust {
            fn signature() -> TypeSignature {
                TypeSignature::Plain(TypeTag::$tag)
            }
        })*
    };
}

plain_types! {
    bool => Bool,
    u8 => U8,
    u16 => U16,
    u32 => U32,
    u64 => U64,
    u128 => U128,
    AccountAddress => Address,
}

impl<T: MoveType> MoveType for Vec<T> {
    fn signature() -> TypeSignature {
        TypeSignature::Vector(Box::new(T::signature()))
    }

    fn check_argument(
        &self,
        context: &mut Context<'_>,
        type_args: &[TypeTag],
    ) -> Result<(), VmError> {
        self.iter()
            .try_for_each(|item| item.check_argument(context, type_args))
    }
}

/// A byte vector for large values. `Vec<u8>` has the same BCS form, but serde reads and writes it
/// byte by byte.
impl MoveType for ByteBuf {
    fn signature() -> TypeSignature {
        Vec::<u8>::signature()
    }
}

impl<T: MoveType> MoveType for Option<T> {
    fn signature() -> TypeSignature {
        TypeSignature::Struct {
            module: "option",
            name: "Option",
            args: vec![T::signature()],
        }
    }

    fn check_argument(
        &self,
        context: &mut Context<'_>,
        type_args: &[TypeTag],
    ) -> Result<(), VmError> {
        self.iter()
            .try_for_each(|item| item.check_argument(context, type_args))
    }
}

impl MoveType for String {
    fn signature() -> TypeSignature {
        TypeSignature::Struct {
            module: "string",
            name: "String",
            args: vec![],
        }
    }
}

/// Declares structs of a module: the Rust types with their BCS form, and their ABI.
///
/// * `phantom N` gives a struct N type parameters that no field holds. If the struct is a field of
///   another, its parameters are those of the other struct.
/// * `event true` makes it the type of a module event.
/// * `member true` makes it a member of the object resource group.
///
/// A struct without fields must spell out the hidden field `dummy_field: bool`.
#[macro_export]
macro_rules! move_structs {
    (module $module:literal; $(
        $(#[$doc:meta])*
        $name:ident as $printed:literal has [$($ability:literal),*] $(phantom $count:literal)? $(event $event:literal)? $(member $member:literal)? {
            $($(#[$field_doc:meta])* $field:ident: $type:ty,)*
        }
    )*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)*
        }

        impl $crate::MoveType for $name {
            fn signature() -> $crate::TypeSignature {
                let parameters: usize = 0 $(+ $count)?;
                $crate::TypeSignature::Struct {
                    module: $module,
                    name: $printed,
                    args: (0..parameters).map($crate::TypeSignature::Parameter).collect(),
                }
            }
        }

        impl $crate::MoveStruct for $name {
            const MODULE: &'static str = $module;
            const NAME: &'static str = $printed;
            const IS_GROUP_MEMBER: bool = false $(|| $member)?;

            fn declaration() -> $crate::StructDeclaration {
                $crate::StructDeclaration {
                    name: $printed,
                    abilities: &[$($ability),*],
                    is_event: false $(|| $event)?,
                    type_parameters: vec![&[]; 0 $(+ $count)?],
                    is_group_member: false $(|| $member)?,
                    fields: vec![$((
                        stringify!($field).trim_start_matches("r#"),
                        <$type as $crate::MoveType>::signature(),
                    ),)*],
                }
            }
        }
    )*};
}
