//! The types that declarations name: like type tags, with type parameters, references and the vendor
//! word still open. They print as the ABI prints them and become type tags when arguments are given.

use ledger_types::{Identifier, StructTag, TypeTag, Vendor};
use std::fmt;

/// A type in a declaration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TypeSignature {
    /// A type without open parts.
    Plain(TypeTag),
    /// `&signer`: who calls; not among the arguments of a transaction.
    SignerReference,
    /// The type parameter of this number.
    Parameter(usize),
    /// A vector.
    Vector(Box<TypeSignature>),
    /// `0x1::module::name<...>`; `{vendor}` and `{Vendor}` in the names stand for the chain's word.
    Struct {
        /// The module's name.
        module: &'static str,
        /// The struct's name.
        name: &'static str,
        /// Its type arguments.
        args: Vec<TypeSignature>,
    },
}

/// Puts a chain's word where a declared name leaves it open.
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
    /// The type, with `type_args` for the type parameters; `None` when one is missing or the
    /// signature is a reference.
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

    /// The text of the ABI.
    pub(crate) fn display<'a>(&'a self, vendor: &'a Vendor) -> impl fmt::Display + 'a {
        Printed {
            signature: self,
            vendor,
        }
    }
}

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
