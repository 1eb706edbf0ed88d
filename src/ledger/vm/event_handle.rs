//! Handles of event streams, whose events are numbered, and the ids that name them.

use crate::{MoveType, TypeSignature, move_structs};
use ledger_types::{AccountAddress, EventKey};
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;

move_structs! {
    module "guid";

    /// A unique id: the account and the number of its creation there.
    GuidId as "ID" has ["copy", "drop", "store"] {
        /// The number within the account.
        creation_num: u64,
        /// The account.
        addr: AccountAddress,
    }

    /// A unique id that cannot be copied.
    Guid as "GUID" has ["drop", "store"] {
        /// The id.
        id: GuidId,
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
                id: GuidId {
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
