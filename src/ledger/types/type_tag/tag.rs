//! Type tags, struct tags, and identifiers.
//!
//! Their BCS form has the variant indices of the reference node. Their text form is
//! `0x1::coin::Coin<0x1::m::A, u8>`.

use crate::AccountAddress;
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use std::{
    borrow::{Borrow, Cow},
    fmt,
    str::FromStr,
    sync::Arc,
};

/// Maximum nesting depth of a type.
///
/// The API has this limit, and it bounds every recursion over a type.
pub const TYPE_DEPTH_MAX: usize = 8;

/// A name of a module, struct, function, or field.
///
/// It begins with an ASCII letter or `_`, followed by ASCII letters, digits, and `_`. A lone `_` is
/// not a name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Identifier(Arc<str>);

/// The error of parsing a text that is not an identifier.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an identifier: {0:?}")]
pub struct IdentifierError(String);

impl Identifier {
    /// Maximum length of a name in bytes.
    pub const LENGTH_MAX: usize = 255;

    /// Creates an identifier from its text.
    ///
    /// # Errors
    ///
    /// Returns [`IdentifierError`] if `text` is not an identifier or longer than
    /// [`Identifier::LENGTH_MAX`].
    pub fn new(text: &str) -> Result<Self, IdentifierError> {
        let error = || IdentifierError(text.chars().take(80).collect());
        let mut bytes = text.bytes();
        let first = bytes.next().ok_or_else(error)?;
        let is_first_valid = first.is_ascii_alphabetic() || first == b'_';
        let is_rest_valid = bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if !is_first_valid || !is_rest_valid || text.len() > Self::LENGTH_MAX || text == "_" {
            return Err(error());
        }
        Ok(Self(text.into()))
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Identifier {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl PartialEq<str> for Identifier {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Identifier {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl FromStr for Identifier {
    type Err = IdentifierError;

    fn from_str(text: &str) -> Result<Self, IdentifierError> {
        Self::new(text)
    }
}

impl<'de> Deserialize<'de> for Identifier {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // A newtype as in the reference node, so that BCS counts the same nesting depth.
        #[derive(Deserialize)]
        #[serde(rename = "Identifier")]
        struct Raw<'a>(#[serde(borrow)] Cow<'a, str>);
        Self::new(&Raw::deserialize(deserializer)?.0).map_err(D::Error::custom)
    }
}

impl fmt::Display for Identifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Identifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The id of a module.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct ModuleId {
    /// Address that published the module.
    pub address: AccountAddress,
    /// Name of the module.
    pub name: Identifier,
}

impl fmt::Display for ModuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::{}", self.address, self.name)
    }
}

/// Full name of a function.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FunctionId {
    /// Module of the function.
    pub module: ModuleId,
    /// Name of the function.
    pub function: Identifier,
}

impl fmt::Display for FunctionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::{}", self.module, self.function)
    }
}

/// The error of parsing a text that is not the full name of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected address::module::function")]
pub struct FunctionIdError;

impl FromStr for FunctionId {
    type Err = FunctionIdError;

    /// Parses address, module and name. The address may lack `0x`, as everywhere.
    fn from_str(text: &str) -> Result<Self, FunctionIdError> {
        let mut parts = text.splitn(3, "::");
        let mut next = || parts.next().ok_or(FunctionIdError);
        let (address, module, function) = (next()?, next()?, next()?);
        Ok(Self {
            module: ModuleId {
                address: address.parse().map_err(|_| FunctionIdError)?,
                name: module.parse().map_err(|_| FunctionIdError)?,
            },
            function: function.parse().map_err(|_| FunctionIdError)?,
        })
    }
}

/// A type. The wire format fixes the order of the variants.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the variants are the types of their names")]
pub enum TypeTag {
    Bool,
    U8,
    U64,
    U128,
    Address,
    Signer,
    Vector(Box<TypeTag>),
    Struct(Arc<StructTag>),
    U16,
    U32,
    U256,
    /// A function type, which the wire format has but the ledger rejects.
    Function(UnsupportedFunctionType),
    I8,
    I16,
    I32,
    I64,
    I128,
    I256,
}

/// The uninhabited content of [`TypeTag::Function`].
///
/// Deserialization fails with a message that names function types.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum UnsupportedFunctionType {}

impl Serialize for UnsupportedFunctionType {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        match *self {}
    }
}

impl<'de> Deserialize<'de> for UnsupportedFunctionType {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(D::Error::custom("function types are not supported"))
    }
}

/// A struct type with its type arguments.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct StructTag {
    /// Address that published the module.
    pub address: AccountAddress,
    /// Name of the module that declares the struct.
    pub module: Identifier,
    /// Name of the struct.
    pub name: Identifier,
    /// Type arguments.
    pub type_args: Vec<TypeTag>,
}

impl StructTag {
    /// Creates `0x1::module::name` with type arguments, from names in the source code.
    ///
    /// # Panics
    ///
    /// Panics if `module` or `name` is not an identifier.
    pub fn framework(module: &str, name: &str, type_args: Vec<TypeTag>) -> Self {
        let identifier = |text| Identifier::new(text).expect("a name of the framework");
        Self {
            address: AccountAddress::ONE,
            module: identifier(module),
            name: identifier(name),
            type_args,
        }
    }

    /// Returns the id of the module that declares the struct.
    pub fn module_id(&self) -> ModuleId {
        ModuleId {
            address: self.address,
            name: self.module.clone(),
        }
    }

    /// Returns whether the struct is `0x1::module::name`, with any type arguments.
    pub fn is_framework(&self, module: &str, name: &str) -> bool {
        self.address == AccountAddress::ONE && self.module == module && self.name == name
    }

    /// Returns the nesting depth, which is 1 for a struct without type arguments.
    pub fn depth(&self) -> usize {
        1 + self.type_args.iter().map(TypeTag::depth).max().unwrap_or(0)
    }
}

impl TypeTag {
    /// Returns the nesting depth, which is 1 for a type without arguments.
    pub fn depth(&self) -> usize {
        match self {
            Self::Vector(item) => 1 + item.depth(),
            Self::Struct(tag) => tag.depth(),
            _ => 1,
        }
    }
}

impl From<StructTag> for TypeTag {
    fn from(tag: StructTag) -> Self {
        Self::Struct(Arc::new(tag))
    }
}

impl fmt::Display for TypeTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Bool => "bool",
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::U128 => "u128",
            Self::U256 => "u256",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::I128 => "i128",
            Self::I256 => "i256",
            Self::Address => "address",
            Self::Signer => "signer",
            Self::Vector(item) => return write!(f, "vector<{item}>"),
            Self::Struct(tag) => return write!(f, "{tag}"),
            Self::Function(never) => match *never {},
        };
        f.write_str(name)
    }
}

impl fmt::Display for StructTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::{}::{}", self.address, self.module, self.name)?;
        for (i, arg) in self.type_args.iter().enumerate() {
            write!(f, "{}{arg}", if i == 0 { "<" } else { ", " })?;
        }
        if !self.type_args.is_empty() {
            f.write_str(">")?;
        }
        Ok(())
    }
}
