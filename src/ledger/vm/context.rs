//! The context of a running function: the state, the changes and events so far, the transaction,
//! and its gas.

use crate::{
    BlockState, Chain, Constraints, Environment, ErrorConstant, EventHandle, GasMeter, GasUsed,
    MiscellaneousStatus, MoveStruct, MoveType, TypeArgumentError, VmError, change_set::ChangeSet,
    decode_resource, event_handle::HANDLE_BYTES, struct_table::tag_bytes,
};
use bytes::Bytes;
use ledger_crypto::HashValue;
use ledger_types::{
    AccountAddress, ContractEvent, StateError, StateKey, StructTag, TypeTag, WriteSet,
};
use std::num::NonZeroU64;

/// Last byte of the hash input of a unique address (docs/reference/framework.md#f2).
const UNIQUE_ADDRESS_SCHEME: u8 = 0xfb;

/// Number of events of a transfer between stores with event streams.
const TRANSFER_EVENTS: usize = 5;

/// A running transaction.
pub struct Context<'a> {
    chain: &'a Chain,
    environment: Environment,
    framework_version: u64,
    meter: GasMeter,
    changes: ChangeSet<'a>,
    events: Vec<ContractEvent>,
    unique_address_count: u64,
    table_count: u32,
}

impl<'a> Context<'a> {
    /// Creates the context of a transaction that pays for its gas, which `meter` counts.
    pub fn new(
        chain: &'a Chain,
        state: &'a BlockState<'a>,
        environment: Environment,
        meter: GasMeter,
    ) -> Self {
        Self {
            chain,
            environment,
            framework_version: chain.parameters().framework_version(environment.height),
            meter,
            changes: ChangeSet::new(state),
            events: Vec::with_capacity(TRANSFER_EVENTS),
            unique_address_count: 0,
            table_count: 0,
        }
    }

    /// Creates a context for the ledger's own transactions and reads, which pay nothing.
    pub fn unmetered(
        chain: &'a Chain,
        state: &'a BlockState<'a>,
        environment: Environment,
    ) -> Self {
        Self::new(chain, state, environment, GasMeter::unlimited())
    }

    /// Returns the chain.
    pub fn chain(&self) -> &'a Chain {
        self.chain
    }

    /// Returns the type of the chain's own coin.
    pub fn native_coin(&self) -> &'a TypeTag {
        self.chain.registry().native_coin()
    }

    /// Returns the address of the store that holds the chain's coin of `owner`, or `None` if it was
    /// not derived in advance.
    pub fn native_store(&self, owner: &AccountAddress) -> Option<AccountAddress> {
        self.changes.state().native_store(owner)
    }

    /// Returns the framework version that is active at this block.
    pub fn framework_version(&self) -> u64 {
        self.framework_version
    }

    /// Returns the height of the block.
    pub fn height(&self) -> u64 {
        self.environment.height
    }

    /// Returns the time of the block, in microseconds since the Unix epoch.
    pub fn timestamp_usecs(&self) -> u64 {
        self.environment.timestamp_usecs
    }

    /// Returns the time of the block, in whole seconds since the Unix epoch.
    pub fn timestamp_secs(&self) -> u64 {
        self.environment.timestamp_secs()
    }

    /// Aborts the function with `error` of `module`. The name of the module may contain a
    /// placeholder for the vendor word.
    ///
    /// # Errors
    ///
    /// Always returns [`VmError::Abort`].
    pub fn abort<T>(&self, module: &'static str, error: &ErrorConstant) -> Result<T, VmError> {
        Err(VmError::Abort {
            module,
            error: *error,
        })
    }

    /// Charges for execution beyond the accesses to the state, in internal gas units
    /// ([`crate::cost`]).
    ///
    /// # Errors
    ///
    /// Returns [`VmError::OutOfGas`] if the gas limit is exceeded.
    pub fn charge(&mut self, internal_gas: u64) -> Result<(), VmError> {
        self.meter.charge_execution(internal_gas)
    }

    /// Charges an orderless transaction for the nonces stored beside its own, which have `bytes`
    /// bytes in sum.
    ///
    /// # Errors
    ///
    /// Returns [`VmError::OutOfGas`] if the gas limit is exceeded.
    pub fn charge_nonces(&mut self, bytes: usize) -> Result<(), VmError> {
        self.meter.charge_nonces(bytes)
    }

    /// Charges for the slots changed so far: for the writes and for the storage deposits.
    ///
    /// Each call charges for all changed slots, so a transaction calls it once, after its last
    /// write. `storage_gas_price` is the price of a gas unit in the coin's smallest unit, or `None`
    /// if storage is free.
    ///
    /// # Errors
    ///
    /// Returns [`VmError::OutOfGas`] if the gas limit is exceeded, and
    /// `STORAGE_WRITE_LIMIT_REACHED` if the writes exceed a limit.
    pub fn charge_writes(&mut self, storage_gas_price: Option<NonZeroU64>) -> Result<(), VmError> {
        self.meter
            .charge_writes(self.changes.changed_slots(), storage_gas_price)
    }

    /// Returns the gas used so far.
    pub fn gas_used(&self) -> GasUsed {
        self.meter.used()
    }

    /// Replaces the meter by one without a limit, for the parts of a transaction that its intrinsic
    /// charge covers.
    pub fn stop_metering(&mut self) {
        self.meter = GasMeter::unlimited();
    }

    /// Returns an address that differs from those of all other transactions and calls. It is
    /// derived from the transaction hash and a counter.
    pub fn new_unique_address(&mut self) -> AccountAddress {
        self.unique_address_count += 1;
        self.derive_address(
            &self.unique_address_count.to_le_bytes(),
            &[UNIQUE_ADDRESS_SCHEME],
        )
    }

    /// Returns the handle of a new table, derived from the transaction hash and a counter.
    pub fn new_table_handle(&mut self) -> AccountAddress {
        let handle = self.derive_address(&self.table_count.to_le_bytes(), &[]);
        self.table_count += 1;
        handle
    }

    /// Returns the SHA3-256 of the transaction hash, `number`, and `scheme` as an address.
    fn derive_address(&self, number: &[u8], scheme: &[u8]) -> AccountAddress {
        let transaction = self.environment.transaction_hash;
        AccountAddress::new(
            *HashValue::sha3_of(&[transaction.as_bytes(), number, scheme]).as_bytes(),
        )
    }

    /// Checks the type arguments of a call against the type parameters of its function.
    ///
    /// # Errors
    ///
    /// * `NUMBER_OF_TYPE_ARGUMENTS_MISMATCH` if their number is wrong.
    /// * `LINKER_ERROR` if the module of a type does not exist.
    /// * `TYPE_RESOLUTION_FAILURE` if a type is not declared, nests too deep, or has too long a
    ///   name.
    /// * `CONSTRAINT_NOT_SATISFIED` if a type lacks a required ability.
    pub(crate) fn check_type_arguments(
        &self,
        type_args: &[TypeTag],
        parameters: &[Constraints],
    ) -> Result<(), VmError> {
        let registry = self.chain.registry();
        let checked = registry.check_type_arguments(type_args, parameters, self.framework_version);
        checked.map_err(|error| {
            VmError::Miscellaneous(match error {
                TypeArgumentError::Count => MiscellaneousStatus::NumberOfTypeArgumentsMismatch,
                TypeArgumentError::UnknownModule => MiscellaneousStatus::LinkerError,
                TypeArgumentError::Unknown => MiscellaneousStatus::TypeResolutionFailure,
                TypeArgumentError::Constraint => MiscellaneousStatus::ConstraintNotSatisfied,
            })
        })
    }

    fn resource_key<T: MoveStruct>(
        &self,
        address: &AccountAddress,
        type_args: &[TypeTag],
    ) -> StateKey {
        self.chain.registry().resource_key::<T>(address, type_args)
    }

    /// Reads the resource `T` at `address`, from its resource group or from a slot of its own.
    ///
    /// # Errors
    ///
    /// Returns [`VmError::State`] if the state cannot be read or the resource does not decode, and
    /// [`VmError::OutOfGas`] if the gas limit is exceeded.
    pub fn read_resource<T: MoveStruct>(
        &mut self,
        address: AccountAddress,
        type_args: &[TypeTag],
    ) -> Result<Option<T>, VmError> {
        let bytes = self.resource_bytes::<T>(address, type_args)?;
        Ok(bytes.map(decode_resource).transpose()?)
    }

    /// Returns the resource `T` at `address` in BCS, from its resource group or from a slot of its
    /// own.
    fn resource_bytes<T: MoveStruct>(
        &mut self,
        address: AccountAddress,
        type_args: &[TypeTag],
    ) -> Result<Option<&[u8]>, VmError> {
        if T::IS_GROUP_MEMBER {
            let registry = self.chain.registry();
            let tag = registry.tag_bytes_of::<T>(type_args);
            self.changes
                .member(&mut self.meter, address, registry.group_path(), &tag)
        } else {
            let key = self.resource_key::<T>(&address, type_args);
            let value = self.changes.get(&mut self.meter, key)?;
            Ok(value.map(|value| &value[..]))
        }
    }

    /// Reads a resource that the function requires.
    ///
    /// # Errors
    ///
    /// Returns [`VmError::MissingResource`] if the resource does not exist, or the error of
    /// [`Self::read_resource`].
    pub fn require_resource<T: MoveStruct>(
        &mut self,
        address: AccountAddress,
        type_args: &[TypeTag],
    ) -> Result<T, VmError> {
        self.read_resource(address, type_args)?
            .ok_or(VmError::MissingResource)
    }

    /// Returns `true` if `address` has the resource `T`. The price is that of a read.
    ///
    /// # Errors
    ///
    /// Returns [`VmError::State`] if the state cannot be read, and [`VmError::OutOfGas`] if the gas
    /// limit is exceeded.
    pub fn has_resource<T: MoveStruct>(
        &mut self,
        address: AccountAddress,
        type_args: &[TypeTag],
    ) -> Result<bool, VmError> {
        Ok(self.resource_bytes::<T>(address, type_args)?.is_some())
    }

    /// Returns `true` if `address` has a resource of the type `tag`. This is for types known only
    /// as type arguments.
    ///
    /// # Errors
    ///
    /// Returns [`VmError::State`] if the state cannot be read, and [`VmError::OutOfGas`] if the gas
    /// limit is exceeded.
    pub fn resource_exists(
        &mut self,
        address: AccountAddress,
        tag: &StructTag,
    ) -> Result<bool, VmError> {
        let registry = self.chain.registry();
        if registry.group_of(tag).is_some() {
            let (path, tag) = (registry.group_path(), tag_bytes(tag));
            let member = self.changes.member(&mut self.meter, address, path, &tag)?;
            Ok(member.is_some())
        } else {
            let key = StateKey::resource(&address, tag);
            Ok(self.changes.get(&mut self.meter, key)?.is_some())
        }
    }

    /// Writes the resource `T` at `address`.
    ///
    /// # Errors
    ///
    /// Returns [`VmError::State`] if the state cannot be read, because the price depends on the
    /// previous value of the slot. Returns [`VmError::OutOfGas`] if the gas limit is exceeded.
    pub fn write_resource<T: MoveStruct>(
        &mut self,
        address: AccountAddress,
        type_args: &[TypeTag],
        value: &T,
    ) -> Result<(), VmError> {
        self.put_resource::<T>(address, type_args, Some(encode(value)))
    }

    /// Removes the resource `T` from `address`, if it exists.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::write_resource`].
    pub fn remove_resource<T: MoveStruct>(
        &mut self,
        address: AccountAddress,
        type_args: &[TypeTag],
    ) -> Result<(), VmError> {
        self.put_resource::<T>(address, type_args, None)
    }

    fn put_resource<T: MoveStruct>(
        &mut self,
        address: AccountAddress,
        type_args: &[TypeTag],
        value: Option<Bytes>,
    ) -> Result<(), VmError> {
        if T::IS_GROUP_MEMBER {
            let registry = self.chain.registry();
            let tag = registry.tag_bytes_of::<T>(type_args);
            let path = registry.group_path();
            self.changes
                .put_member(&mut self.meter, address, path, &tag, value)
        } else {
            let key = self.resource_key::<T>(&address, type_args);
            self.changes.put(&mut self.meter, key, value)
        }
    }

    /// Reads the item of a table. `key` is the BCS form of the item's key.
    ///
    /// # Errors
    ///
    /// Returns [`VmError::State`] if the state cannot be read, and [`VmError::OutOfGas`] if the gas
    /// limit is exceeded.
    pub fn read_item(
        &mut self,
        handle: &AccountAddress,
        key: &[u8],
    ) -> Result<Option<Bytes>, VmError> {
        let key = StateKey::table_item(handle, key);
        Ok(self.changes.get(&mut self.meter, key)?.cloned())
    }

    /// Writes the item of a table, or removes it if `value` is `None`. `key` is the BCS form of the
    /// item's key.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::write_resource`].
    pub fn write_item(
        &mut self,
        handle: &AccountAddress,
        key: &[u8],
        value: Option<Bytes>,
    ) -> Result<(), VmError> {
        let key = StateKey::table_item(handle, key);
        self.changes.put(&mut self.meter, key, value)
    }

    /// Emits an event into the stream of `handle` and increments the counter of the stream.
    ///
    /// # Errors
    ///
    /// Returns [`VmError::OutOfGas`] if the gas limit is exceeded, `STORAGE_WRITE_LIMIT_REACHED` if
    /// the events exceed a limit, and [`VmError::Arithmetic`] if the counter overflows.
    pub fn emit_to<E: MoveStruct>(
        &mut self,
        handle: &mut EventHandle<E>,
        event: &E,
    ) -> Result<(), VmError> {
        let type_tag = self.chain.registry().type_tag_of::<E>(&[]);
        self.emit_data_to(handle, type_tag, encode(event))
    }

    /// Emits an event with this type and data in BCS like [`Self::emit_to`].
    fn emit_data_to<E>(
        &mut self,
        handle: &mut EventHandle<E>,
        type_tag: TypeTag,
        data: Bytes,
    ) -> Result<(), VmError> {
        self.meter.charge_event(data.len())?;
        self.events.push(ContractEvent::V1 {
            key: handle.key(),
            sequence_number: handle.counter,
            type_tag,
            data,
        });
        handle.counter = handle.counter.checked_add(1).ok_or(VmError::Arithmetic)?;
        Ok(())
    }

    /// Emits an event into a stream of the stored resource `R`, which consists of handles, and
    /// increments the counter of the stream there. `index` is the number of the handle. Does
    /// nothing if `address` has no such resource.
    ///
    /// Decodes only this handle: a transfer emits into one stream of each of two stores.
    ///
    /// # Errors
    ///
    /// Returns [`VmError::State`] if the state cannot be read or the resource has no such handle,
    /// and the errors of [`Self::emit_to`].
    pub fn emit_to_stored<R: MoveStruct, E: MoveStruct>(
        &mut self,
        address: AccountAddress,
        index: usize,
        event: &E,
    ) -> Result<(), VmError> {
        let type_tag = self.chain.registry().type_tag_of::<E>(&[]);
        self.emit_data_to_stored::<R>(address, index, type_tag, encode(event))
    }

    /// Emits an event with this type and data in BCS like [`Self::emit_to_stored`].
    fn emit_data_to_stored<R: MoveStruct>(
        &mut self,
        address: AccountAddress,
        index: usize,
        type_tag: TypeTag,
        data: Bytes,
    ) -> Result<(), VmError> {
        let Some(stored) = self.resource_bytes::<R>(address, &[])? else {
            return Ok(());
        };
        let mut resource = stored.to_vec();
        let (handles, _) = resource.as_chunks_mut::<HANDLE_BYTES>();
        let encoded = handles.get_mut(index).ok_or_else(|| {
            StateError(format!(
                "a stored {}::{} has no event stream {index}",
                R::MODULE,
                R::NAME
            ))
        })?;
        let mut handle = EventHandle::<()>::decode(encoded);
        self.emit_data_to(&mut handle, type_tag, data)?;
        encoded[..8].copy_from_slice(&handle.counter.to_le_bytes());
        self.put_resource::<R>(address, &[], Some(resource.into()))
    }

    /// Emits a module event.
    ///
    /// # Errors
    ///
    /// Returns [`VmError::OutOfGas`] if the gas limit is exceeded, and
    /// `STORAGE_WRITE_LIMIT_REACHED` if the events exceed a limit.
    pub fn emit<E: MoveStruct>(&mut self, event: &E) -> Result<(), VmError> {
        let data = encode(event);
        self.meter.charge_event(data.len())?;
        let type_tag = self.chain.registry().type_tag_of::<E>(&[]);
        self.events.push(ContractEvent::V2 { type_tag, data });
        Ok(())
    }

    /// Ends the transaction and returns its writes and events.
    pub fn finish(self) -> (WriteSet, Vec<ContractEvent>) {
        (self.changes.into_write_set(), self.events)
    }

    /// Discards all changes and events since `savepoint` was taken.
    ///
    /// The gas used stays charged, and the counters of unique addresses and table handles are not
    /// reset.
    pub fn roll_back(&mut self, savepoint: Savepoint<'a>) {
        self.changes = savepoint.changes;
        self.events.truncate(savepoint.event_count);
    }

    /// Records the changes and events so far, so that a failed part of the transaction can be
    /// undone.
    pub fn savepoint(&self) -> Savepoint<'a> {
        Savepoint {
            changes: self.changes.clone(),
            event_count: self.events.len(),
        }
    }
}

/// A point of a transaction that it can be rolled back to.
pub struct Savepoint<'a> {
    changes: ChangeSet<'a>,
    event_count: usize,
}

/// Returns the BCS form of a value, without spare capacity.
fn encode<T: MoveType>(value: &T) -> Bytes {
    /// Capacity of the buffer on the stack, in bytes, which fits most resources and events.
    const TYPICAL_BYTES: usize = 256;
    let mut buffer = [0; TYPICAL_BYTES];
    let mut rest = &mut buffer[..];
    // Writing fails if the value is longer than the buffer.
    let is_complete = bcs::serialize_into(&mut rest, value).is_ok();
    let length = TYPICAL_BYTES - rest.len();
    if is_complete {
        Bytes::copy_from_slice(&buffer[..length])
    } else {
        let bytes = bcs::to_bytes(value).expect("declared types have a BCS form");
        bytes.into_boxed_slice().into()
    }
}
