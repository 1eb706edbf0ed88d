//! What a function of the framework sees while it runs: the state under it, the changes and events
//! it made so far, and its gas.

use super::{Failure, gas::GasMeter};
use crate::{
    AccountAddress, Chain, ContractEvent, StateError, StateKey, StateView, TypeTag, WriteOp, WriteSet,
    framework::{ErrorConstant, MoveStruct, MoveType, modules::event::EventHandle},
};
use bytes::Bytes;
use std::collections::{BTreeMap, HashMap};

/// The state within a block: the version the block starts from, and what its transactions changed.
pub(crate) struct BlockState<'a> {
    base: &'a dyn StateView,
    changed: HashMap<StateKey, Option<Bytes>>,
}

impl<'a> BlockState<'a> {
    /// The state at the start of a block.
    pub(crate) fn new(base: &'a dyn StateView) -> Self {
        Self {
            base,
            changed: HashMap::new(),
        }
    }

    /// Takes over what a transaction changed.
    pub(crate) fn apply(&mut self, writes: &WriteSet) {
        for (key, op) in writes.iter() {
            self.changed.insert(key.clone(), op.value().cloned());
        }
    }
}

impl StateView for BlockState<'_> {
    fn get(&self, key: &StateKey) -> Result<Option<Bytes>, StateError> {
        match self.changed.get(key) {
            Some(value) => Ok(value.clone()),
            None => self.base.get(key),
        }
    }
}

/// Decodes a stored resource.
pub(super) fn decode_resource<T: MoveStruct>(bytes: &Bytes) -> Result<T, StateError> {
    bcs::from_bytes(bytes).map_err(|error| {
        StateError(format!(
            "a stored {}::{} does not decode: {error}",
            T::MODULE,
            T::NAME
        ))
    })
}

/// A running transaction.
pub struct Context<'a> {
    chain: &'a Chain,
    state: &'a BlockState<'a>,
    pub(super) meter: GasMeter,
    changes: BTreeMap<StateKey, WriteOp>,
    events: Vec<ContractEvent>,
}

impl<'a> Context<'a> {
    pub(super) fn new(chain: &'a Chain, state: &'a BlockState<'a>, meter: GasMeter) -> Self {
        Self {
            chain,
            state,
            meter,
            changes: BTreeMap::new(),
            events: Vec::new(),
        }
    }

    /// A context for the ledger's own transactions, which pay nothing.
    pub(crate) fn unmetered(chain: &'a Chain, state: &'a BlockState<'a>) -> Self {
        Self::new(chain, state, GasMeter::unlimited())
    }

    /// The type of the chain's own coin.
    pub fn native_coin(&self) -> &'a TypeTag {
        self.chain.framework().native_coin()
    }

    /// Ends the function with an abort of `module`, the vendor word left open in its name.
    ///
    /// # Errors
    /// Always.
    pub fn abort<T>(&self, module: &'static str, error: &ErrorConstant) -> Result<T, Failure> {
        Err(Failure::Abort {
            module,
            error: *error,
        })
    }

    /// Reads the resource `T` at `address`.
    ///
    /// # Errors
    /// When the state cannot be read or gas runs out.
    pub fn read_resource<T: MoveStruct>(
        &mut self,
        address: AccountAddress,
        type_args: &[TypeTag],
    ) -> Result<Option<T>, Failure> {
        let key = self.chain.framework().resource_key::<T>(&address, type_args);
        let value = match self.changes.get(&key) {
            Some(op) => op.value().cloned(),
            None => {
                let value = self.state.get(&key)?;
                self.meter.charge_read(value.as_ref().map_or(0, Bytes::len))?;
                value
            }
        };
        Ok(value.map(|bytes| decode_resource(&bytes)).transpose()?)
    }

    /// Writes the resource `T` at `address`.
    ///
    /// # Errors
    /// None yet: writes are charged when the function has ended. Callers use `?`, so that a limit may
    /// come here.
    pub fn write_resource<T: MoveStruct>(
        &mut self,
        address: AccountAddress,
        type_args: &[TypeTag],
        value: &T,
    ) -> Result<(), Failure> {
        let key = self.chain.framework().resource_key::<T>(&address, type_args);
        let bytes = bcs::to_bytes(value).expect("declared types have a BCS form");
        self.changes.insert(key, WriteOp::Put(bytes.into()));
        Ok(())
    }

    /// Emits an event into the stream of `handle`, whose counter goes up by one.
    ///
    /// # Errors
    /// When gas runs out.
    pub fn emit_to<E: MoveStruct>(&mut self, handle: &mut EventHandle<E>, event: &E) -> Result<(), Failure> {
        let data = self.event_data(event)?;
        self.events.push(ContractEvent::V1 {
            key: handle.key(),
            sequence_number: handle.counter,
            type_tag: self.chain.framework().tag_of::<E>(&[]).into(),
            data,
        });
        handle.counter += 1;
        Ok(())
    }

    /// Emits a module event.
    ///
    /// # Errors
    /// When gas runs out.
    pub fn emit<E: MoveStruct>(&mut self, event: &E) -> Result<(), Failure> {
        let data = self.event_data(event)?;
        let type_tag = self.chain.framework().tag_of::<E>(&[]).into();
        self.events.push(ContractEvent::V2 { type_tag, data });
        Ok(())
    }

    fn event_data<E: MoveType>(&mut self, event: &E) -> Result<Bytes, Failure> {
        let data = bcs::to_bytes(event).expect("declared types have a BCS form");
        self.meter.charge_event(data.len())?;
        Ok(data.into())
    }

    /// Charges for all changes made so far.
    pub(super) fn charge_writes(&mut self) -> Result<(), Failure> {
        for (key, op) in &self.changes {
            self.meter
                .charge_write(key.as_bytes().len() + op.value().map_or(0, Bytes::len))?;
        }
        Ok(())
    }

    /// Ends the transaction.
    pub(crate) fn finish(self) -> (WriteSet, Vec<ContractEvent>) {
        (
            WriteSet::from_ascending(self.changes.into_iter().collect()),
            self.events,
        )
    }
}
