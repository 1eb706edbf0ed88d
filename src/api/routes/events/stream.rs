//! The streams that requests name: by creation number, or by the event handle in a resource.

use crate::{
    context::{
        QueryError,
        extract::{Combine, Parameter, Path},
    },
    error::ErrorKind,
    model::{DecimalText, json::EventHandleJson, read_resource},
    openapi::parameter::{address_text, struct_tag_text, u64_text},
};
use bytes::Bytes;
use ledger_framework::modules::{
    coin::{self, CoinStore},
    fungible_asset::FungibleAssetEvents,
    object,
};
use ledger_store::{Snapshot, StoreError};
use ledger_types::{AccountAddress, EventKey, Identifier, StructTag};
use ledger_vm::Chain;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Display;

/// Size of an event handle in BCS: two numbers and an address. A larger field is none, and its JSON
/// could take an HTTP worker milliseconds.
const HANDLE_BYTES: usize = 2 * size_of::<u64>() + AccountAddress::LENGTH;

/// Event handles of a coin store. The event handles of a primary store have the same names.
const COIN_STORE_HANDLES: [&str; 2] = ["deposit_events", "withdraw_events"];

/// The account of a stream.
pub(in crate::routes) enum StreamOwner {}

impl Parameter for StreamOwner {
    type Value = AccountAddress;
    const NAME: &'static str = "address";
    const DESCRIPTION: &'static str =
        "Account to which the events were emitted, with or without `0x`.";
    const SCHEMA: fn() -> Value = address_text;
    const EXAMPLE: fn() -> Value = || json!("0x1");
}

/// Creation number of a stream, unique among the streams of its account.
pub(in crate::routes) enum CreationNumber {}

impl Parameter for CreationNumber {
    type Value = DecimalText<u64>;
    const NAME: &'static str = "creation_number";
    const DESCRIPTION: &'static str = "Creation number of the event stream.";
    const SCHEMA: fn() -> Value = u64_text;
    const EXAMPLE: fn() -> Value = || json!("0");
}

/// Type of the resource that contains an event handle.
pub(in crate::routes) enum HandleType {}

impl Parameter for HandleType {
    type Value = StructTag;
    const NAME: &'static str = "event_handle";
    const DESCRIPTION: &'static str = "Type of the resource that contains the event handle.";
    const SCHEMA: fn() -> Value = struct_tag_text;
    const EXAMPLE: fn() -> Value = || json!("0x1::account::Account");
}

/// Field of a resource that is an event handle.
pub(in crate::routes) enum HandleField {}

impl Parameter for HandleField {
    type Value = String;
    const NAME: &'static str = "field_name";
    const DESCRIPTION: &'static str = "Field of the resource that is the event handle.";
    const SCHEMA: fn() -> Value = || json!({"type": "string", "minLength": 1});
    const EXAMPLE: fn() -> Value = || json!("coin_register_events");
}

/// A stream of events.
#[derive(Clone, Copy)]
pub(super) struct Stream {
    pub(super) key: EventKey,
    /// Number of emitted events, if the event handle was read.
    pub(super) emitted: Option<u64>,
}

/// The resource and the field that contain an event handle.
pub(in crate::routes) struct HandleLocation {
    address: AccountAddress,
    tag: StructTag,
    field: Identifier,
}

impl Combine for HandleLocation {
    type Parts = (Path<StreamOwner>, Path<HandleType>, Path<HandleField>);

    fn combine((Path(address), Path(tag), Path(field)): Self::Parts) -> Result<Self, ErrorKind> {
        let field = field.parse().map_err(|cause| {
            ErrorKind::Syntax(format!("failed to parse path `field_name`: {cause}"))
        })?;
        Ok(Self {
            address,
            tag,
            field,
        })
    }
}

impl HandleLocation {
    /// Returns the stream of the event handle at the newest version. Only fields of the resource
    /// itself are searched, not fields of its fields.
    ///
    /// A handle of a coin store, which the framework no longer creates, is the one of the account's
    /// primary store unless the coin store exists.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::ResourceNotFound`] if neither store exists or if the primary store has
    /// no event handles, [`ErrorKind::StructFieldNotFound`] if the resource does not have the field,
    /// and [`ErrorKind::InvalidInput`] if the field is not an event handle.
    pub(super) fn stream(self, chain: &Chain, snapshot: &Snapshot) -> Result<Stream, QueryError> {
        let version = snapshot.ledger_info().version;
        if let Some(bytes) = self.read(chain, snapshot, version)? {
            return self.stream_in(chain, bytes, version);
        }
        if let Some(location) = self.in_primary_store(chain)
            && let Some(bytes) = location.read(chain, snapshot, version)?
        {
            return location.stream_in(chain, bytes, version);
        }
        let Self { address, tag, .. } = self;
        let tag = Box::new(tag);
        Err(ErrorKind::ResourceNotFound {
            address,
            tag,
            version,
        }
        .into())
    }

    /// Returns the location of the same handle in the account's primary store of the coin's paired
    /// asset, or `None` if the location is not that of a handle in a coin store.
    fn in_primary_store(&self, chain: &Chain) -> Option<Self> {
        let [coin] = &*self.tag.type_args else {
            return None;
        };
        let registry = chain.registry();
        let is_handle = COIN_STORE_HANDLES.contains(&self.field.as_str());
        if !is_handle || self.tag != registry.tag_of::<CoinStore>(&self.tag.type_args) {
            return None;
        }
        let metadata = coin::paired_metadata_address(chain, coin);
        Some(Self {
            address: object::user_derived_address(self.address, metadata),
            tag: registry.tag_of::<FungibleAssetEvents>(&[]),
            field: self.field.clone(),
        })
    }

    /// Returns the resource in BCS, or `None` if there is none.
    fn read(
        &self,
        chain: &Chain,
        snapshot: &Snapshot,
        version: u64,
    ) -> Result<Option<Bytes>, StoreError> {
        read_resource(chain, snapshot, &self.address, &self.tag, version)
    }

    /// Returns the stream of the event handle in the resource `bytes`.
    fn stream_in(self, chain: &Chain, bytes: Bytes, version: u64) -> Result<Stream, QueryError> {
        let Self {
            address,
            tag,
            field,
        } = self;
        let resource = chain
            .registry()
            .json_view(&tag.clone().into(), bytes)
            .map_err(|cause| StoreError::Inconsistent(format!("{tag} at {address}: {cause}")))?;
        let Some(value) = resource.field(field.as_str()) else {
            let tag = Box::new(tag);
            return Err(ErrorKind::StructFieldNotFound {
                address,
                tag,
                field,
                version,
            }
            .into());
        };
        let no_handle = |cause: &dyn Display| {
            ErrorKind::InvalidInput(format!(
                "field({field}) type is not a EventHandle struct: {cause}"
            ))
        };
        let size_bytes = value.size_bytes();
        if size_bytes > HANDLE_BYTES {
            return Err(no_handle(&format_args!("it has {size_bytes} bytes")).into());
        }
        let value = serde_json::to_value(value).map_err(|cause| no_handle(&cause))?;
        let handle = EventHandleJson::deserialize(value).map_err(|cause| no_handle(&cause))?;
        Ok(Stream {
            key: handle.key(),
            emitted: Some(handle.counter()),
        })
    }
}
