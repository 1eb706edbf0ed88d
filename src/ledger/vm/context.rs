//! What a function of the framework sees while it runs: the state under it, the changes and events
//! it made so far, its transaction, and its gas.

use crate::{
    BlockState, Chain, Constraints, Environment, ErrorConstant, EventHandle, GasMeter, GasUsed,
    MiscellaneousStatus, MoveStruct, MoveType, TypeArgumentError, VmError,
    change_set::{ChangeSet, decode_resource},
};
use bytes::Bytes;
use ledger_crypto::HashValue;
use ledger_types::{AccountAddress, ContractEvent, StateKey, StructTag, TypeTag, WriteSet};
use std::num::NonZeroU64;

/// The last byte of the hash input of a unique address (docs/reference/framework.md#f2).
const UNIQUE_ADDRESS_SCHEME: u8 = 0xfb;

/// A running transaction.
pub struct Context<'a> {
    chain: &'a Chain,
    environment: Environment,
    framework_version: u64,
    meter: GasMeter,
    changes: ChangeSet<'a>,
    events: Vec<ContractEvent>,
    unique_addresses: u64,
    tables: u32,
}

impl<'a> Context<'a> {
    /// Creates the context of a transaction that pays for what it uses, counted by `meter`.
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
            events: Vec::new(),
            unique_addresses: 0,
            tables: 0,
        }
    }

    /// A context for the ledger's own transactions, which pay nothing.
    pub fn unmetered(
        chain: &'a Chain,
        state: &'a BlockState<'a>,
        environment: Environment,
    ) -> Self {
        Self::new(chain, state, environment, GasMeter::unlimited())
    }

    /// The chain.
    pub fn chain(&self) -> &'a Chain {
        self.chain
    }

    /// The type of the chain's own coin.
    pub fn native_coin(&self) -> &'a TypeTag {
        self.chain.registry().native_coin()
    }

    /// The version of the framework that is on at this block.
    pub fn framework_version(&self) -> u64 {
        self.framework_version
    }

    /// The height of the block.
    pub fn height(&self) -> u64 {
        self.environment.height
    }

    /// The block's time, in microseconds since 1970.
    pub fn timestamp_usecs(&self) -> u64 {
        self.environment.timestamp_usecs
    }

    /// The block's time, in whole seconds since 1970.
    pub fn timestamp_secs(&self) -> u64 {
        self.environment.timestamp_secs()
    }

    /// Ends the function with an abort of `module`, the vendor word left open in its name.
    ///
    /// # Errors
    /// Always.
    pub fn abort<T>(&self, module: &'static str, error: &ErrorConstant) -> Result<T, VmError> {
        Err(VmError::Abort {
            module,
            error: *error,
        })
    }

    /// Charges for work that no access to the state pays for, in internal gas units
    /// ([`crate::cost`]).
    ///
    /// # Errors
    /// When gas runs out.
    pub fn charge(&mut self, internal_gas: u64) -> Result<(), VmError> {
        self.meter.charge_execution(internal_gas)
    }

    /// Charges an orderless transaction for `bytes` of other nonces ([`GasMeter::charge_nonces`]).
    ///
    /// # Errors
    /// [`VmError::OutOfGas`].
    pub fn charge_nonces(&mut self, bytes: usize) -> Result<(), VmError> {
        self.meter.charge_nonces(bytes)
    }

    /// Charges for the slots that changed so far ([`GasMeter::charge_writes`]).
    ///
    /// # Errors
    /// [`VmError::OutOfGas`], and `STORAGE_WRITE_LIMIT_REACHED` if the writes pass a limit.
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

    /// An address that no other transaction and no other call of this function gives.
    pub fn new_unique_address(&mut self) -> AccountAddress {
        self.unique_addresses += 1;
        self.hashed(
            &self.unique_addresses.to_le_bytes(),
            &[UNIQUE_ADDRESS_SCHEME],
        )
    }

    /// The handle of a new table.
    pub fn new_table_handle(&mut self) -> AccountAddress {
        let handle = self.hashed(&self.tables.to_le_bytes(), &[]);
        self.tables += 1;
        handle
    }

    fn hashed(&self, number: &[u8], scheme: &[u8]) -> AccountAddress {
        let transaction = self.environment.transaction_hash;
        AccountAddress::new(
            *HashValue::sha3_of(&[transaction.as_bytes(), number, scheme]).as_bytes(),
        )
    }

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
                TypeArgumentError::Unknown => MiscellaneousStatus::TypeResolutionFailure,
                TypeArgumentError::Constraint => MiscellaneousStatus::ConstraintNotSatisfied,
            })
        })
    }

    fn key_of<T: MoveStruct>(&self, address: &AccountAddress, type_args: &[TypeTag]) -> StateKey {
        self.chain.registry().resource_key::<T>(address, type_args)
    }

    fn group_key(&self, address: &AccountAddress) -> StateKey {
        self.chain.registry().group_key(address)
    }

    /// Reads the resource `T` at `address`, in its group or in a slot of its own.
    ///
    /// # Errors
    /// When the state cannot be read or gas runs out.
    pub fn read_resource<T: MoveStruct>(
        &mut self,
        address: AccountAddress,
        type_args: &[TypeTag],
    ) -> Result<Option<T>, VmError> {
        let bytes = if T::IS_GROUP_MEMBER {
            let tag = self.chain.registry().tag_of::<T>(type_args);
            let key = self.group_key(&address);
            self.changes.member(&mut self.meter, address, &key, &tag)?
        } else {
            let key = self.key_of::<T>(&address, type_args);
            self.changes.get(&mut self.meter, &key)?
        };
        Ok(bytes.map(|bytes| decode_resource(&bytes)).transpose()?)
    }

    /// Reads a resource without which the function cannot go on.
    ///
    /// # Errors
    /// [`VmError::MissingResource`] where there is none, and those of [`Context::read_resource`].
    pub fn require_resource<T: MoveStruct>(
        &mut self,
        address: AccountAddress,
        type_args: &[TypeTag],
    ) -> Result<T, VmError> {
        self.read_resource(address, type_args)?
            .ok_or(VmError::MissingResource)
    }

    /// Whether a resource of the type `tag` is at `address`; for types that only a type argument names.
    ///
    /// # Errors
    /// When the state cannot be read or gas runs out.
    pub fn resource_exists(
        &mut self,
        address: AccountAddress,
        tag: &StructTag,
    ) -> Result<bool, VmError> {
        let bytes = if self.chain.registry().group_of(tag).is_some() {
            let key = self.group_key(&address);
            self.changes.member(&mut self.meter, address, &key, tag)?
        } else {
            let key = StateKey::resource(&address, tag);
            self.changes.get(&mut self.meter, &key)?
        };
        Ok(bytes.is_some())
    }

    /// Writes the resource `T` at `address`.
    ///
    /// # Errors
    /// When the state cannot be read or gas runs out: what a slot held before decides its price.
    pub fn write_resource<T: MoveStruct>(
        &mut self,
        address: AccountAddress,
        type_args: &[TypeTag],
        value: &T,
    ) -> Result<(), VmError> {
        self.put_resource::<T>(address, type_args, Some(encode(value)))
    }

    /// Removes the resource `T` from `address`, if it is there.
    ///
    /// # Errors
    /// As [`Context::write_resource`].
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
            let tag = self.chain.registry().tag_of::<T>(type_args);
            let key = self.group_key(&address);
            self.changes
                .put_member(&mut self.meter, address, &key, tag, value)
        } else {
            let key = self.key_of::<T>(&address, type_args);
            self.changes.put(&mut self.meter, &key, value)
        }
    }

    /// Reads the item of a table under a key in its BCS form.
    ///
    /// # Errors
    /// When the state cannot be read or gas runs out.
    pub fn read_item(
        &mut self,
        handle: &AccountAddress,
        key: &[u8],
    ) -> Result<Option<Bytes>, VmError> {
        let key = StateKey::table_item(handle, key);
        self.changes.get(&mut self.meter, &key)
    }

    /// Writes the item of a table under a key in its BCS form; `None` removes it.
    ///
    /// # Errors
    /// As [`Context::write_resource`].
    pub fn put_item(
        &mut self,
        handle: &AccountAddress,
        key: &[u8],
        value: Option<Bytes>,
    ) -> Result<(), VmError> {
        let key = StateKey::table_item(handle, key);
        self.changes.put(&mut self.meter, &key, value)
    }

    /// Emits an event into the stream of `handle`, whose counter goes up by one.
    ///
    /// # Errors
    /// When gas runs out or the event is too large.
    pub fn emit_to<E: MoveStruct>(
        &mut self,
        handle: &mut EventHandle<E>,
        event: &E,
    ) -> Result<(), VmError> {
        let data = self.event_data(event)?;
        self.events.push(ContractEvent::V1 {
            key: handle.key(),
            sequence_number: handle.counter,
            type_tag: self.chain.registry().tag_of::<E>(&[]).into(),
            data,
        });
        handle.counter = handle.counter.checked_add(1).ok_or(VmError::Arithmetic)?;
        Ok(())
    }

    /// Emits a module event.
    ///
    /// # Errors
    /// When gas runs out or the event is too large.
    pub fn emit<E: MoveStruct>(&mut self, event: &E) -> Result<(), VmError> {
        let data = self.event_data(event)?;
        let type_tag = self.chain.registry().tag_of::<E>(&[]).into();
        self.events.push(ContractEvent::V2 { type_tag, data });
        Ok(())
    }

    fn event_data<E: MoveType>(&mut self, event: &E) -> Result<Bytes, VmError> {
        let data = encode(event);
        self.meter.charge_event(data.len())?;
        Ok(data)
    }

    /// Ends the transaction.
    pub fn finish(self) -> (WriteSet, Vec<ContractEvent>) {
        (self.changes.into_write_set(), self.events)
    }

    /// Drops all changes and events after `mark`ed point; see [`Context::mark`].
    pub fn roll_back(&mut self, mark: Mark<'a>) {
        self.changes = mark.changes;
        self.events.truncate(mark.events);
    }

    /// Notes where the transaction stands, so that a part of it that fails can be undone.
    pub fn mark(&self) -> Mark<'a> {
        Mark {
            changes: self.changes.clone(),
            events: self.events.len(),
        }
    }
}

/// A point of a transaction to which it can be rolled back.
pub struct Mark<'a> {
    changes: ChangeSet<'a>,
    events: usize,
}

fn encode<T: MoveType>(value: &T) -> Bytes {
    /// Room for what most accounts hold, taken at once; what is kept has no more than it needs.
    const USUAL_BYTES: usize = 256;
    let mut bytes = Vec::with_capacity(USUAL_BYTES);
    bcs::serialize_into(&mut bytes, value).expect("declared types have a BCS form");
    Bytes::copy_from_slice(&bytes)
}
