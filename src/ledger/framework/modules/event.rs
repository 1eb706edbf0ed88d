//! `0x1::event` and `0x1::guid`: handles of event streams, whose events have numbers.

use crate::{
    AccountAddress, EventKey,
    framework::{
        declare::{ModuleDeclaration, MoveStruct, MoveType, StructDeclaration, move_structs},
        type_signature::TypeSignature,
    },
};
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;

move_structs! {
    module "guid";

    /// A unique id: the account and the number of its creation there.
    Id as "ID" has ["copy", "drop", "store"] {
        /// The number within the account.
        creation_num: u64,
        /// The account.
        addr: AccountAddress,
    }

    /// A unique id that cannot be copied.
    Guid as "GUID" has ["drop", "store"] {
        /// The id.
        id: Id,
    }
}

/// The handle of a stream of `E` events.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct EventHandle<E> {
    /// How many events the stream has, which is the number of the next one.
    pub counter: u64,
    /// Names the stream.
    pub guid: Guid,
    #[serde(skip)]
    event: PhantomData<fn() -> E>,
}

impl<E> EventHandle<E> {
    /// The handle of a new stream of `address`, the `creation_num`-th thing created there.
    pub fn new(address: AccountAddress, creation_num: u64) -> Self {
        Self {
            counter: 0,
            guid: Guid {
                id: Id {
                    creation_num,
                    addr: address,
                },
            },
            event: PhantomData,
        }
    }

    /// The name of the stream.
    pub fn key(&self) -> EventKey {
        EventKey {
            creation_number: self.guid.id.creation_num,
            account_address: self.guid.id.addr,
        }
    }
}

impl<E: MoveType> MoveType for EventHandle<E> {
    fn signature() -> TypeSignature {
        TypeSignature::Struct {
            module: "event",
            name: "EventHandle",
            args: vec![E::signature()],
        }
    }
}

pub(super) fn module() -> ModuleDeclaration {
    let handle = StructDeclaration {
        name: "EventHandle",
        abilities: &["store"],
        is_event: false,
        type_parameters: vec![&["drop", "store"]],
        is_group_member: false,
        fields: vec![("counter", u64::signature()), ("guid", Guid::signature())],
    };
    ModuleDeclaration {
        name: "event",
        structs: vec![handle],
        functions: vec![],
        errors: &[],
    }
}

pub(super) fn guid_module() -> ModuleDeclaration {
    ModuleDeclaration {
        name: "guid",
        structs: vec![Guid::declaration(), Id::declaration()],
        functions: vec![],
        errors: &[],
    }
}
