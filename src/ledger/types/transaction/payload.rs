//! What a transaction does. Entry functions are executed, as the sender or as a multisig account; the
//! other variants decode and are refused by name ([`TransactionPayload::executable`]).

use crate::{AccountAddress, Discard, Identifier, ModuleId, TypeTag};
use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// A call of an entry function.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct EntryFunction {
    /// The module.
    pub module: ModuleId,
    /// The function in it.
    pub function: Identifier,
    /// Its type arguments.
    pub type_args: Vec<TypeTag>,
    /// Its arguments, each the BCS bytes of its value.
    pub args: Vec<Bytes>,
}

/// A program sent along with the transaction. Decoded, not executed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Script {
    /// Its bytecode.
    pub code: Bytes,
    /// Its type arguments.
    pub type_args: Vec<TypeTag>,
    /// Its arguments.
    pub args: Vec<ScriptArgument>,
}

/// An argument of a script. The order of the variants is the wire's.
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

/// A call made as a multisig account.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Multisig {
    /// The account that acts.
    pub multisig_address: AccountAddress,
    /// What it does; absent when the call is stored on the ledger.
    pub payload: Option<MultisigPayload>,
}

/// What a multisig account does.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum MultisigPayload {
    EntryFunction(EntryFunction),
    Script(Script),
}

/// The newer payload form, which carries a nonce or a multisig address beside the call.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum InnerPayload {
    /// The only version.
    V1 {
        /// What is called.
        executable: TransactionExecutable,
        /// Under which conditions.
        extra_config: ExtraConfig,
    },
}

/// What an [`InnerPayload`] calls.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum TransactionExecutable {
    Script(Script),
    EntryFunction(EntryFunction),
    Empty,
    Encrypted(Encrypted),
}

/// Under which conditions an [`InnerPayload`] is executed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ExtraConfig {
    /// The first version.
    V1 {
        /// Act as this multisig account.
        multisig_address: Option<AccountAddress>,
        /// Replaces the sequence number.
        replay_protection_nonce: Option<u64>,
    },
    /// Adds a request for higher limits, which this ledger does not grant.
    V2(HigherLimits),
}

macro_rules! refused_when_decoded {
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
pub(super) use refused_when_decoded;

refused_when_decoded!(
    /// Stands for encrypted payloads, whose bytes this ledger does not read.
    Encrypted,
    "an encrypted payload"
);
refused_when_decoded!(
    /// Stands for the request of higher limits.
    HigherLimits,
    "a request for higher transaction limits"
);

/// What a transaction does. The order of the variants is the wire's.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum TransactionPayload {
    Script(Script),
    /// Deprecated: publishing modules as a bundle.
    ModuleBundle(Vec<Bytes>),
    EntryFunction(EntryFunction),
    Multisig(Multisig),
    Payload(InnerPayload),
    EncryptedPayload(Encrypted),
}

impl TransactionPayload {
    /// The nonce of an orderless transaction.
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

    /// The multisig account that acts, if any.
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

    /// The entry function that is called, in either wire form, multisig or not.
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

    /// What is executed, when this payload is of a kind that the ledger executes.
    ///
    /// # Errors
    /// `FEATURE_UNDER_GATING` with the name of the kind that is not executed.
    pub fn executable(&self) -> Result<Executable<'_>, Discard> {
        let refused = |what: &'static str| Err(Discard::not_supported(what));
        let call = match self {
            Self::EntryFunction(call) => Some(call),
            Self::Multisig(multisig) => match &multisig.payload {
                Some(MultisigPayload::EntryFunction(call)) => Some(call),
                Some(MultisigPayload::Script(_)) => return refused("a script payload"),
                None => None,
            },
            Self::Payload(InnerPayload::V1 { executable, .. }) => match executable {
                TransactionExecutable::EntryFunction(call) => Some(call),
                TransactionExecutable::Script(_) => return refused("a script payload"),
                TransactionExecutable::Empty => None,
                TransactionExecutable::Encrypted(never) => match *never {},
            },
            Self::Script(_) => return refused("a script payload"),
            Self::ModuleBundle(_) => return refused("a module bundle payload"),
            Self::EncryptedPayload(never) => match *never {},
        };
        match (self.multisig_address(), call) {
            (Some(account), call) => Ok(Executable::Multisig { account, call }),
            (None, Some(call)) => Ok(Executable::EntryFunction(call)),
            (None, None) => refused("an empty payload"),
        }
    }
}

/// What the ledger executes of a payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Executable<'a> {
    /// A call as the sender.
    EntryFunction(&'a EntryFunction),
    /// The next transaction of a multisig account, one of whose owners is the sender.
    Multisig {
        /// The account that acts.
        account: AccountAddress,
        /// What is called; absent when the call is stored on the ledger.
        call: Option<&'a EntryFunction>,
    },
}
