//! Payloads of transactions.
//!
//! The ledger executes entry functions, as the sender or as a multisig account. The other variants
//! decode, and [`TransactionPayload::executable`] rejects them by name.

use crate::{AccountAddress, Discard, Identifier, ModuleId, TypeTag};
use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// A call of an entry function.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct EntryFunction {
    /// Module of the function.
    pub module: ModuleId,
    /// Name of the function.
    pub function: Identifier,
    /// Type arguments of the call.
    pub type_args: Vec<TypeTag>,
    /// Arguments of the call, each as the BCS form of its value.
    pub args: Vec<Bytes>,
}

impl EntryFunction {
    /// Name of the module at address 1 whose functions publish packages of bytecode.
    const PUBLISHING_MODULE: &str = "code";

    /// Checks that a call of a function of `module` publishes no package. A block executes such a
    /// call, which fails.
    ///
    /// # Errors
    ///
    /// Returns `FEATURE_UNDER_GATING` if it does.
    pub fn check_publishes_nothing(module: &ModuleId) -> Result<(), Discard> {
        if module.address == AccountAddress::ONE && module.name == Self::PUBLISHING_MODULE {
            return Err(Discard::bytecode("a package"));
        }
        Ok(())
    }
}

/// A program that the transaction carries. It is decoded but not executed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Script {
    /// Bytecode of the program.
    pub code: Bytes,
    /// Type arguments of the program.
    pub type_args: Vec<TypeTag>,
    /// Arguments of the program.
    pub args: Vec<ScriptArgument>,
}

/// An argument of a script. The order of the variants is part of the BCS format.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum ScriptArgument {
    U8(u8),
    U64(u64),
    U128(u128),
    Address(AccountAddress),
    U8Vector(Bytes),
    Bool(bool),
    U16(u16),
    U32(u32),
    U256([u8; 32]),
    Serialized(Bytes),
    I8(i8),
    I16(i16),
    I32(i32),
    I64(i64),
    I128(i128),
    I256([u8; 32]),
}

/// A call that acts as a multisig account.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Multisig {
    /// Address of the multisig account.
    pub multisig_address: AccountAddress,
    /// Call to execute; `None` if it is stored on the ledger.
    pub payload: Option<MultisigPayload>,
}

/// The call of a multisig account. The order of the variants is part of the BCS format.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum MultisigPayload {
    EntryFunction(EntryFunction),
    Script(Script),
}

/// The newer payload form, which carries a nonce or a multisig address in addition to the call.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum InnerPayload {
    /// The only version.
    V1 {
        /// Call to execute.
        executable: TransactionExecutable,
        /// Conditions of the execution.
        extra_config: ExtraConfig,
    },
}

/// The call of an [`InnerPayload`]. The order of the variants is part of the BCS format.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum TransactionExecutable {
    Script(Script),
    EntryFunction(EntryFunction),
    Empty,
    Encrypted(Encrypted),
}

/// Conditions under which an [`InnerPayload`] is executed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ExtraConfig {
    /// The first version.
    V1 {
        /// Multisig account that the call acts as.
        multisig_address: Option<AccountAddress>,
        /// Nonce that replaces the sequence number.
        replay_protection_nonce: Option<u64>,
    },
    /// The second version, with a request for higher limits, which this ledger does not grant.
    V2(HigherLimits),
}

/// Declares a type without values, for a variant that this ledger does not support.
///
/// Decoding fails with `$text` and "is not supported".
macro_rules! undecodable_type {
    ($(#[$doc:meta])* $name:ident, $text:literal) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Debug)]
        pub enum $name {}

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
                match *self {}
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
                Err(D::Error::custom(concat!($text, " is not supported")))
            }
        }
    };
}
pub(super) use undecodable_type;

undecodable_type!(
    /// Placeholder for encrypted payloads, which this ledger does not decode.
    Encrypted,
    "an encrypted payload"
);
undecodable_type!(
    /// Placeholder for a request for higher limits.
    HigherLimits,
    "a request for higher transaction limits"
);

/// The action of a transaction. The order of the variants is part of the BCS format.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum TransactionPayload {
    Script(Script),
    /// A bundle of modules to publish; deprecated.
    ModuleBundle(Vec<Bytes>),
    EntryFunction(EntryFunction),
    Multisig(Multisig),
    Payload(InnerPayload),
    EncryptedPayload(Encrypted),
}

impl TransactionPayload {
    /// Returns the nonce of an orderless transaction, or `None` for any other.
    pub fn replay_protection_nonce(&self) -> Option<u64> {
        match self {
            Self::Payload(InnerPayload::V1 {
                extra_config:
                    ExtraConfig::V1 {
                        replay_protection_nonce,
                        ..
                    },
                ..
            }) => *replay_protection_nonce,
            _ => None,
        }
    }

    /// Returns the multisig account that the call acts as, if there is one.
    pub fn multisig_address(&self) -> Option<AccountAddress> {
        match self {
            Self::Multisig(multisig) => Some(multisig.multisig_address),
            Self::Payload(InnerPayload::V1 {
                extra_config:
                    ExtraConfig::V1 {
                        multisig_address, ..
                    },
                ..
            }) => *multisig_address,
            _ => None,
        }
    }

    /// Returns the called entry function, if there is one, in either payload form. The call may act
    /// as the sender or as a multisig account.
    pub fn entry_function(&self) -> Option<&EntryFunction> {
        match self {
            Self::EntryFunction(call)
            | Self::Multisig(Multisig {
                payload: Some(MultisigPayload::EntryFunction(call)),
                ..
            })
            | Self::Payload(InnerPayload::V1 {
                executable: TransactionExecutable::EntryFunction(call),
                ..
            }) => Some(call),
            _ => None,
        }
    }

    /// Returns the part of the payload that the ledger executes.
    ///
    /// # Errors
    ///
    /// Returns `FEATURE_UNDER_GATING` with the name of the kind if the ledger does not execute it:
    /// a script, a module bundle, or an empty payload without a multisig account.
    pub fn executable(&self) -> Result<Executable<'_>, Discard> {
        let reject = |kind: &'static str| Err(Discard::unsupported(kind));
        let bytecode = |kind: &'static str| Err(Discard::bytecode(kind));
        let call = match self {
            Self::EntryFunction(call) => Some(call),
            Self::Multisig(multisig) => match &multisig.payload {
                Some(MultisigPayload::EntryFunction(call)) => Some(call),
                Some(MultisigPayload::Script(_)) => return bytecode("a script payload"),
                None => None,
            },
            Self::Payload(InnerPayload::V1 { executable, .. }) => match executable {
                TransactionExecutable::EntryFunction(call) => Some(call),
                TransactionExecutable::Script(_) => return bytecode("a script payload"),
                TransactionExecutable::Empty => None,
                TransactionExecutable::Encrypted(never) => match *never {},
            },
            Self::Script(_) => return bytecode("a script payload"),
            Self::ModuleBundle(_) => return bytecode("a module bundle payload"),
            Self::EncryptedPayload(never) => match *never {},
        };
        match (self.multisig_address(), call) {
            (Some(account), call) => Ok(Executable::Multisig { account, call }),
            (None, Some(call)) => Ok(Executable::EntryFunction(call)),
            (None, None) => reject("an empty payload"),
        }
    }
}

/// The part of a payload that the ledger executes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Executable<'a> {
    /// A call as the sender.
    EntryFunction(&'a EntryFunction),
    /// The next transaction of a multisig account. The sender is one of its owners.
    Multisig {
        /// Address of the multisig account.
        account: AccountAddress,
        /// Call to execute; `None` if it is stored on the ledger.
        call: Option<&'a EntryFunction>,
    },
}
