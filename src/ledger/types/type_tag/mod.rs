//! Type tags, struct tags and identifiers in their BCS form (`TypeTag` indices as the reference's)
//! and their printed form `0x1::coin::Coin<0x1::m::A, u8>`.

mod parse;

pub use parse::TypeParseError;

use crate::AccountAddress;
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use std::{
    borrow::{Borrow, Cow},
    fmt,
    str::FromStr,
    sync::Arc,
};

/// The deepest nesting of type arguments that is accepted: the interface's limit, and what keeps
/// every recursion over a type bounded.
pub const TYPE_DEPTH_MAX: usize = 8;

/// A name of a module, struct, function or field: a letter or `_`, then letters, digits and `_`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Identifier(Arc<str>);

/// Text that is no identifier.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an identifier: {0:?}")]
pub struct IdentifierError(String);

impl Identifier {
    /// The longest name, in bytes.
    pub const LENGTH_MAX: usize = 255;

    /// Checks and takes a name.
    ///
    /// # Errors
    /// When `text` is no identifier or longer than [`Identifier::LENGTH_MAX`].
    pub fn new(text: &str) -> Result<Self, IdentifierError> {
        let error = || IdentifierError(text.chars().take(80).collect());
        let mut bytes = text.bytes();
        let first = bytes.next().ok_or_else(error)?;
        let first_ok = first.is_ascii_alphabetic() || first == b'_';
        let rest_ok = bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if !first_ok || !rest_ok || text.len() > Self::LENGTH_MAX || text == "_" {
            return Err(error());
        }
        Ok(Self(text.into()))
    }

    /// The name.
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
        // A newtype, as in the reference, so that nesting limits count the same.
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

/// A module: the address that published it and its name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct ModuleId {
    /// Where the module lives.
    pub address: AccountAddress,
    /// Its name.
    pub name: Identifier,
}

impl fmt::Display for ModuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::{}", self.address, self.name)
    }
}

/// A type. The order of the variants is the wire's.
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
    Struct(Box<StructTag>),
    U16,
    U32,
    U256,
    /// Function types exist on the wire; this ledger has no values of them.
    Function(NotAType),
    I8,
    I16,
    I32,
    I64,
    I128,
    I256,
}

/// Stands for function types, which are refused by name when decoded.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum NotAType {}

impl Serialize for NotAType {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        match *self {}
    }
}

impl<'de> Deserialize<'de> for NotAType {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(D::Error::custom("function types are not supported"))
    }
}

/// A struct type with its type arguments.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct StructTag {
    /// Where its module lives.
    pub address: AccountAddress,
    /// The module that declares it.
    pub module: Identifier,
    /// Its name.
    pub name: Identifier,
    /// Its type arguments.
    pub type_args: Vec<TypeTag>,
}

impl StructTag {
    /// `0x1::module::name` with the given type arguments.
    ///
    /// # Panics
    /// When `module` or `name` is no identifier; meant for names written in this source.
    pub fn framework(module: &str, name: &str, type_args: Vec<TypeTag>) -> Self {
        let identifier = |text| Identifier::new(text).expect("a name of the framework");
        Self {
            address: AccountAddress::ONE,
            module: identifier(module),
            name: identifier(name),
            type_args,
        }
    }

    /// The module that declares the struct.
    pub fn module_id(&self) -> ModuleId {
        ModuleId {
            address: self.address,
            name: self.module.clone(),
        }
    }

    /// Whether this is `0x1::module::name`, whatever its type arguments.
    pub fn is_framework(&self, module: &str, name: &str) -> bool {
        self.address == AccountAddress::ONE && self.module == module && self.name == name
    }

    /// How deep type arguments nest; 1 for a struct without any.
    pub fn depth(&self) -> usize {
        1 + self.type_args.iter().map(TypeTag::depth).max().unwrap_or(0)
    }
}

impl TypeTag {
    /// How deep the type nests; 1 for a type without arguments.
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
        Self::Struct(Box::new(tag))
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
