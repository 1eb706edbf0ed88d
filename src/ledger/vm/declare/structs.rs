//! What a module declares: structs and functions, as data made from Rust types. One declaration
//! gives the ABI, the JSON form of values, and dispatch.

use crate::{Context, ErrorConstant, Function, TypeSignature, VmError};
use ledger_types::{AccountAddress, TypeTag};
use serde::{Serialize, de::DeserializeOwned};
use serde_bytes::ByteBuf;

/// A Rust type that is the BCS form of a declared type.
pub trait MoveType: Serialize + DeserializeOwned + 'static {
    /// The declared type.
    fn signature() -> TypeSignature;

    /// Checks what bytes alone cannot show of an argument, such as that an object is there.
    ///
    /// # Errors
    /// The abort that the reference raises while it builds the argument.
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
    /// The name of its module, the vendor word left open.
    const MODULE: &'static str;
    /// Its name, the vendor word left open.
    const NAME: &'static str;
    /// Whether it lives in the object resource group of its address, not in a slot of its own.
    const IS_GROUP_MEMBER: bool = false;
    /// Its whole declaration.
    fn declaration() -> StructDeclaration;
}

/// A module of the framework, at address `0x1`.
#[derive(Debug)]
pub struct ModuleDeclaration {
    /// Its name, the vendor word left open.
    pub name: &'static str,
    /// Its structs.
    pub structs: Vec<StructDeclaration>,
    /// Its functions.
    pub functions: Vec<Function>,
    /// Its abort codes with their words.
    pub errors: &'static [ErrorConstant],
}

/// A struct as the ABI shows it.
#[derive(Debug)]
pub struct StructDeclaration {
    /// Its name, the vendor word left open.
    pub name: &'static str,
    /// Which of `copy`, `drop`, `store`, `key` it has.
    pub abilities: &'static [&'static str],
    /// Whether it is the type of a module event.
    pub is_event: bool,
    /// Its type parameters.
    pub type_parameters: Vec<Constraints>,
    /// Whether it lives in the object resource group of its address.
    pub is_group_member: bool,
    /// Its fields in BCS order.
    pub fields: Vec<(&'static str, TypeSignature)>,
}

impl StructDeclaration {
    /// A struct with these fields and no type parameters; meant for those that no macro declares.
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

    /// The same struct with these type parameters.
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

/// For bytes that may be many: `Vec<u8>` has the same BCS form, which serde reads and writes byte by
/// byte.
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

/// Declares structs of a module: the Rust types with their BCS form, and what the ABI says of them.
///
/// `phantom N` gives a struct N type parameters that no field holds; where such a struct is a field
/// of another, its parameters are the other's. `event true` makes it the type of a module event,
/// `member true` a member of the object resource group. A struct without fields has the hidden
/// `dummy_field: bool` written out.
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
