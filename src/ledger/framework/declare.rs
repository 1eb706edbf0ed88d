//! What a module declares: structs and functions, as data made from Rust types. One declaration
//! gives the ABI, the JSON form of values, and dispatch.

use super::{abort::ErrorConstant, function::Function, signature::Signature};
use crate::{AccountAddress, TypeTag};
use serde::{Serialize, de::DeserializeOwned};

/// A Rust type that is the BCS form of a declared type.
pub trait MoveType: Serialize + DeserializeOwned + 'static {
    /// The declared type.
    fn signature() -> Signature;
}

/// A declared struct.
pub trait MoveStruct: MoveType {
    /// The name of its module, the vendor word left open.
    const MODULE: &'static str;
    /// Its name, the vendor word left open.
    const NAME: &'static str;
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
    /// How many type parameters it has; all are phantom.
    pub type_parameters: usize,
    /// Its fields in BCS order.
    pub fields: Vec<(&'static str, Signature)>,
}

macro_rules! plain_types {
    ($($rust:ty => $tag:ident,)*) => {
        $(impl MoveType for $rust {
            fn signature() -> Signature {
                Signature::Plain(TypeTag::$tag)
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
    fn signature() -> Signature {
        Signature::Vector(Box::new(T::signature()))
    }
}

impl<T: MoveType> MoveType for Option<T> {
    fn signature() -> Signature {
        Signature::Struct {
            module: "option",
            name: "Option",
            args: vec![T::signature()],
        }
    }
}

impl MoveType for String {
    fn signature() -> Signature {
        Signature::Struct {
            module: "string",
            name: "String",
            args: vec![],
        }
    }
}

/// Declares structs of a module: the Rust types with their BCS form, and what the ABI says of them.
///
/// `phantom N` gives a struct N type parameters that no field holds; where such a struct is a field
/// of another, its parameters are the other's.
macro_rules! move_structs {
    (module $module:literal; $(
        $(#[$doc:meta])*
        $name:ident as $printed:literal has [$($ability:literal),*] $(phantom $count:literal)? $(event $event:literal)? {
            $($(#[$field_doc:meta])* $field:ident: $type:ty,)*
        }
    )*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)*
        }

        impl $crate::framework::declare::MoveType for $name {
            fn signature() -> $crate::framework::signature::Signature {
                let parameters: usize = 0 $(+ $count)?;
                $crate::framework::signature::Signature::Struct {
                    module: $module,
                    name: $printed,
                    args: (0..parameters).map($crate::framework::signature::Signature::Parameter).collect(),
                }
            }
        }

        impl $crate::framework::declare::MoveStruct for $name {
            const MODULE: &'static str = $module;
            const NAME: &'static str = $printed;

            fn declaration() -> $crate::framework::declare::StructDeclaration {
                $crate::framework::declare::StructDeclaration {
                    name: $printed,
                    abilities: &[$($ability),*],
                    is_event: false $(|| $event)?,
                    type_parameters: 0 $(+ $count)?,
                    fields: vec![$((
                        stringify!($field).trim_start_matches("r#"),
                        <$type as $crate::framework::declare::MoveType>::signature(),
                    ),)*],
                }
            }
        }
    )*};
}
pub(crate) use move_structs;
