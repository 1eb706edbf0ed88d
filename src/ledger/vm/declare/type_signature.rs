//! Types in declarations: type tags that may also contain type parameters, references, and
//! placeholders for the vendor word.
//!
//! A signature prints as in the ABI, and resolves to a type tag for given type arguments.

use ledger_types::{Identifier, StructTag, TypeTag, Vendor};
use std::fmt;

/// A type in a declaration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TypeSignature {
    /// A type without type parameters and placeholders.
    Plain(TypeTag),
    /// `&signer`: an account that signed the call. It is not among the arguments of a transaction.
    SignerReference,
    /// Type parameter with this index.
    Parameter(usize),
    /// A vector.
    Vector(Box<TypeSignature>),
    /// `0x1::module::name<...>`. The placeholders `{vendor}` and `{Vendor}` in the names are
    /// replaced by the vendor word of the chain.
    Struct {
        /// Name of the module.
        module: &'static str,
        /// Name of the struct.
        name: &'static str,
        /// Type arguments of the struct.
        args: Vec<TypeSignature>,
    },
}

/// Substitutes the vendor word for the placeholders in a declared name.
pub fn with_vendor(name: &str, vendor: &Vendor) -> Identifier {
    let identifier = |name: &str| Identifier::new(name).expect("declared names are identifiers");
    if name.contains('{') {
        identifier(
            &name
                .replace("{vendor}", vendor.lower())
                .replace("{Vendor}", vendor.camel()),
        )
    } else {
        identifier(name)
    }
}

impl TypeSignature {
    /// Returns the type with `type_args` for its type parameters, or `None` if a type argument is
    /// missing or the signature contains a reference.
    pub fn resolve(&self, type_args: &[TypeTag], vendor: &Vendor) -> Option<TypeTag> {
        Some(match self {
            Self::Plain(tag) => tag.clone(),
            Self::SignerReference => return None,
            Self::Parameter(number) => type_args.get(*number)?.clone(),
            Self::Vector(item) => TypeTag::Vector(Box::new(item.resolve(type_args, vendor)?)),
            Self::Struct { module, name, args } => StructTag {
                address: ledger_types::AccountAddress::ONE,
                module: with_vendor(module, vendor),
                name: with_vendor(name, vendor),
                type_args: args
                    .iter()
                    .map(|arg| arg.resolve(type_args, vendor))
                    .collect::<Option<_>>()?,
            }
            .into(),
        })
    }

    /// Returns the signature in the text form of the ABI.
    pub(crate) fn display<'a>(&'a self, vendor: &'a Vendor) -> impl fmt::Display + 'a {
        Printed {
            signature: self,
            vendor,
        }
    }
}

/// A signature that prints with the vendor word of a chain.
struct Printed<'a> {
    signature: &'a TypeSignature,
    vendor: &'a Vendor,
}

impl fmt::Display for Printed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let vendor = self.vendor;
        match self.signature {
            TypeSignature::Plain(tag) => write!(f, "{tag}"),
            TypeSignature::SignerReference => f.write_str("&signer"),
            TypeSignature::Parameter(number) => write!(f, "T{number}"),
            TypeSignature::Vector(item) => write!(f, "vector<{}>", item.display(vendor)),
            TypeSignature::Struct { module, name, args } => {
                write!(
                    f,
                    "0x1::{}::{}",
                    with_vendor(module, vendor),
                    with_vendor(name, vendor)
                )?;
                for (i, arg) in args.iter().enumerate() {
                    write!(
                        f,
                        "{}{}",
                        if i == 0 { "<" } else { ", " },
                        arg.display(vendor)
                    )?;
                }
                if args.is_empty() {
                    Ok(())
                } else {
                    f.write_str(">")
                }
            }
        }
    }
}
