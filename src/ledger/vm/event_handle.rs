//! Handles of event streams with numbered events, and the ids that name the streams.

use crate::{MoveType, TypeSignature, move_structs};
use ledger_types::{AccountAddress, EventKey};
use serde::{Deserialize, Serialize};
use std::{array, marker::PhantomData};

/// Length of the BCS form of a handle, in bytes. The first eight bytes are the counter.
pub(crate) const HANDLE_BYTES: usize = 16 + AccountAddress::LENGTH;

move_structs! {
    module "guid";

    /// A unique id: an account and the number of a creation there.
    GuidId as "ID" has ["copy", "drop", "store"] {
        /// Number of the creation within the account.
        creation_num: u64,
        /// Account that the number belongs to.
        addr: AccountAddress,
    }

    /// A unique id that cannot be copied.
    Guid as "GUID" has ["drop", "store"] {
        /// Id of the creation.
        id: GuidId,
    }
}

/// The handle of a stream of `E` events.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct EventHandle<E> {
    /// Number of events in the stream, which is also the number of the next event.
    pub counter: u64,
    /// Id of the stream.
    pub guid: Guid,
    #[serde(skip)]
    event: PhantomData<fn() -> E>,
}

impl<E> EventHandle<E> {
    /// Creates the handle of a new stream of `address`. `creation_num` is the number of the
    /// creation within the account.
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

    /// Decodes the BCS form, without the cost of a general decoder.
    pub(crate) fn decode(bytes: &[u8; HANDLE_BYTES]) -> Self {
        let number = |begin: usize| u64::from_le_bytes(array::from_fn(|i| bytes[begin + i]));
        let address = AccountAddress::new(array::from_fn(|i| bytes[16 + i]));
        Self {
            counter: number(0),
            ..Self::new(address, number(8))
        }
    }

    /// Returns the key of the stream.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn decodes_the_bcs_form(counter: u64, creation_num: u64, address: [u8; 32]) {
            let handle = EventHandle::<GuidId> {
                counter,
                ..EventHandle::new(AccountAddress::new(address), creation_num)
            };
            let encoded = bcs::to_bytes(&handle).unwrap();
            let bytes = encoded[..].try_into().unwrap();
            prop_assert_eq!(EventHandle::decode(bytes), handle);
            prop_assert_eq!(&encoded[..8], &counter.to_le_bytes()[..]);
        }
    }
}
