//! The gas meter and the limits of one transaction. The meter counts internal gas units and charges
//! whole gas units.
//!
//! Transactions, reads, writes, and event bytes have the prices of the reference node
//! (docs/reference/framework.md#f15). Execution, events, and further signatures have prices of this
//! ledger. The bytes of a transaction have no IO price.

use crate::{
    MiscellaneousStatus, VmError,
    storage_deposit::{self, SlotChange, StorageDeposits},
};
use ledger_types::{Parameters, transaction::TransactionAuthenticator};
use std::{fmt, num::NonZeroU64, sync::Arc};

/// Number of internal gas units in a gas unit.
const INTERNAL_UNITS_PER_GAS_UNIT: u64 = 1_000_000;
/// Price of a transaction with one signature, in internal gas units.
const INTRINSIC: u64 = 27_600_000;
/// Price of each byte of a transaction above [`FREE_BYTES`], in internal gas units.
const INTRINSIC_PER_BYTE: u64 = 11_580;
/// Number of bytes of a transaction that [`INTRINSIC`] covers.
const FREE_BYTES: u64 = 600;
/// Price of reading a slot, in internal gas units.
const READ_SLOT: u64 = 3_023_850;
/// Price of each byte read, in internal gas units. Reads are rounded up to [`READ_STEP_BYTES`].
const READ_PER_BYTE: u64 = 1_510;
/// Step to which the size of a read is rounded up, in bytes.
const READ_STEP_BYTES: u64 = 4096;
/// Price of writing a slot, in internal gas units.
const WRITE_SLOT: u64 = 895_680;
/// Price of each byte written and of each byte of an event, in internal gas units.
const WRITE_PER_BYTE: u64 = 890;
/// Price of an event regardless of its data, in internal gas units. It pays for the event's row,
/// its entry in the index of its stream, and its hash. The reference node charges for the bytes
/// only.
const EVENT: u64 = 1_000_000;

/// Maximum size of the key and value of a written slot, and of the data of an event, in bytes.
///
/// The reference node has the same limits (docs/reference/reference-node.md#r32).
const ITEM_BYTES_MAX: usize = 1 << 20;
/// Maximum size of all writes of a transaction, and of all its events, in bytes.
const TOTAL_BYTES_MAX: usize = 10 << 20;
/// Maximum number of slots that a transaction may change.
const WRITES_MAX: usize = 8192;
/// Maximum number of events of a transaction.
///
/// The reference node limits events by their bytes and gas only. Small events would then fill
/// memory at little cost.
const EVENTS_MAX: usize = 8192;

/// Prices of execution, in internal gas units. They do not include the IO of slots.
///
/// The prices are fitted to measured times, so that gas follows cost. A transfer takes 0.24 us per
/// gas unit, and no function may take more than five times that. `benches/functions.rs` checks
/// this, also with the worst arguments (measured 2026-11-21).
pub mod cost {
    /// Price of one access to a value, also if the transaction accessed the value before. Each
    /// access builds the key and decodes or encodes the value.
    pub const ACCESS: u64 = 500_000;
    /// Price of each byte of the key and value of an access.
    pub const ACCESS_PER_BYTE: u64 = 3_000;
    /// Price of each byte of a call that is stored on the ledger and executed from there. It equals
    /// the price of the byte in a submitted transaction.
    pub const PAYLOAD_PER_BYTE: u64 = super::INTRINSIC_PER_BYTE;
    /// Price of a hash regardless of the length of its input.
    pub const HASH_BASE: u64 = 500_000;
    /// Price of each hashed byte.
    pub const HASH_PER_BYTE: u64 = 2_000;
    /// Price of checking one signature.
    pub const SIGNATURE_CHECK: u64 = 30_000_000;
    /// Price of one step along a chain of owners or through a list, without its reads.
    pub const STEP: u64 = 50_000;
}

/// Returns the prices and limits of a chain with these `parameters`, by name.
///
/// Names are those of the reference node. An entry that the reference node does not have is named
/// in the same style. Prices are in internal gas units; the gas unit price and storage fees are in
/// the coin's smallest unit. `0x1::gas_schedule` publishes the list.
pub fn gas_schedule(parameters: &Parameters) -> Vec<(&'static str, u64)> {
    vec![
        ("txn.gas_unit_scaling_factor", INTERNAL_UNITS_PER_GAS_UNIT),
        ("txn.min_price_per_gas_unit", parameters.gas_unit_price_min),
        ("txn.max_price_per_gas_unit", parameters.gas_unit_price_max),
        ("txn.maximum_number_of_gas_units", parameters.max_gas_amount),
        (
            "txn.max_transaction_size_in_bytes",
            parameters.transaction_bytes_max,
        ),
        ("txn.min_transaction_gas_units", INTRINSIC),
        ("txn.intrinsic_gas_per_byte", INTRINSIC_PER_BYTE),
        ("txn.large_transaction_cutoff", FREE_BYTES),
        ("txn.storage_io_per_state_slot_read", READ_SLOT),
        ("txn.storage_io_per_state_byte_read", READ_PER_BYTE),
        ("txn.storage_io_state_read_step_bytes", READ_STEP_BYTES),
        ("txn.storage_io_per_state_slot_write", WRITE_SLOT),
        ("txn.storage_io_per_state_byte_write", WRITE_PER_BYTE),
        ("txn.storage_io_per_event_write", EVENT),
        ("txn.storage_io_per_event_byte_write", WRITE_PER_BYTE),
        ("txn.storage_fee_per_state_slot", storage_deposit::PER_SLOT),
        ("txn.storage_fee_per_state_byte", storage_deposit::PER_BYTE),
        ("txn.max_bytes_per_write_op", ITEM_BYTES_MAX as u64),
        (
            "txn.max_bytes_all_write_ops_per_transaction",
            TOTAL_BYTES_MAX as u64,
        ),
        ("txn.max_write_ops_per_transaction", WRITES_MAX as u64),
        ("txn.max_bytes_per_event", ITEM_BYTES_MAX as u64),
        (
            "txn.max_bytes_all_events_per_transaction",
            TOTAL_BYTES_MAX as u64,
        ),
        ("txn.max_events_per_transaction", EVENTS_MAX as u64),
        ("move_stdlib.hash.sha3_256.base", cost::HASH_BASE),
        ("move_stdlib.hash.sha3_256.per_byte", cost::HASH_PER_BYTE),
        (
            "{vendor}_framework.ed25519.per_sig_strict_verify",
            cost::SIGNATURE_CHECK,
        ),
        (
            "{vendor}_framework.multisig.stored_payload_per_byte",
            cost::PAYLOAD_PER_BYTE,
        ),
        ("{vendor}_framework.native.per_step", cost::STEP),
        ("{vendor}_framework.state.per_access", cost::ACCESS),
        (
            "{vendor}_framework.state.per_byte_of_access",
            cost::ACCESS_PER_BYTE,
        ),
    ]
}

/// Converts internal gas units to gas units, rounded up.
fn to_gas_units(internal: u64) -> u64 {
    internal.div_ceil(INTERNAL_UNITS_PER_GAS_UNIT)
}

/// Returns the price of a transaction before it executes, in internal gas units.
///
/// The base price covers one signature. Each further one is charged as a signature that a function
/// checks, because it takes the same time. Otherwise a transaction with the maximum number of
/// signatures would take their time for free.
pub fn intrinsic_internal_gas(size_bytes: usize, signatures: u64) -> u64 {
    let extra = (size_bytes as u64).saturating_sub(FREE_BYTES);
    let more_signatures = signatures.saturating_sub(1);
    INTRINSIC
        .saturating_add(extra.saturating_mul(INTRINSIC_PER_BYTE))
        .saturating_add(more_signatures.saturating_mul(cost::SIGNATURE_CHECK))
}

/// Returns the smallest `max_gas_amount` that is accepted for a transaction of `size_bytes` bytes
/// with the signatures of `authenticator`, in gas units.
pub fn intrinsic_gas_units(size_bytes: usize, authenticator: &TransactionAuthenticator) -> u64 {
    to_gas_units(intrinsic_internal_gas(
        size_bytes,
        authenticator.billed_signatures(),
    ))
}

/// A condition that ends a call outside of blocks early, as if its gas were used up.
///
/// It may depend on the time of the machine, so blocks never have one: each node must execute them
/// with the same result.
#[derive(Clone)]
pub struct Interrupt(Arc<dyn Fn() -> bool + Send + Sync>);

impl Interrupt {
    /// Creates an interrupt that ends the call when `is_due` returns true. It is called with each
    /// charge of gas, a few times per microsecond.
    pub fn new(is_due: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(is_due))
    }
}

impl fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Interrupt")
    }
}

/// A counter of the gas that a transaction uses, with a limit.
#[derive(Debug, Clone)]
pub struct GasMeter {
    limit: u64,
    execution: u64,
    io: u64,
    storage: u64,
    storage_deposits: StorageDeposits,
    events: ItemTotals,
    writes: ItemTotals,
    interrupt: Option<Interrupt>,
}

/// A number of items and their total size.
#[derive(Debug, Clone, Copy, Default)]
struct ItemTotals {
    count: usize,
    bytes: usize,
}

impl ItemTotals {
    /// Adds an item of `bytes` bytes.
    ///
    /// # Errors
    ///
    /// Returns `STORAGE_WRITE_LIMIT_REACHED` if the item, the total size, or the number of items is
    /// above its limit.
    fn add(&mut self, bytes: usize, count_max: usize) -> Result<(), VmError> {
        self.count += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        if bytes > ITEM_BYTES_MAX || self.bytes > TOTAL_BYTES_MAX || self.count > count_max {
            Err(MiscellaneousStatus::StorageWriteLimitReached.into())
        } else {
            Ok(())
        }
    }
}

impl GasMeter {
    /// Creates a meter with a limit of `max_gas_amount` gas units and an initial charge of
    /// `intrinsic` internal gas units.
    pub fn new(max_gas_amount: u64, intrinsic: u64) -> Self {
        Self {
            limit: max_gas_amount.saturating_mul(INTERNAL_UNITS_PER_GAS_UNIT),
            execution: intrinsic,
            ..Self::unlimited()
        }
    }

    /// Creates a meter without a limit, for execution without a payer.
    pub fn unlimited() -> Self {
        Self {
            limit: u64::MAX,
            execution: 0,
            io: 0,
            storage: 0,
            storage_deposits: StorageDeposits::default(),
            events: ItemTotals::default(),
            writes: ItemTotals::default(),
            interrupt: None,
        }
    }

    /// Returns the meter with a condition under which every further charge fails. `None` means that
    /// only the limit counts.
    pub fn with_interrupt(self, interrupt: Option<Interrupt>) -> Self {
        Self { interrupt, ..self }
    }

    /// Returns [`VmError::OutOfGas`] if the sum of all charges is above the limit, or if the call
    /// is interrupted.
    fn check_limit(&self) -> Result<(), VmError> {
        let is_interrupted = || {
            self.interrupt
                .as_ref()
                .is_some_and(|Interrupt(is_due)| is_due())
        };
        if self.total_internal() > self.limit || is_interrupted() {
            Err(VmError::OutOfGas)
        } else {
            Ok(())
        }
    }

    fn total_internal(&self) -> u64 {
        self.execution
            .saturating_add(self.io)
            .saturating_add(self.storage)
    }

    fn charge_io(&mut self, internal: u64) -> Result<(), VmError> {
        self.io = self.io.saturating_add(internal);
        self.check_limit()
    }

    /// Charges for execution, in internal gas units.
    ///
    /// # Errors
    ///
    /// Returns [`VmError::OutOfGas`] if the gas limit is exceeded.
    pub(crate) fn charge_execution(&mut self, internal: u64) -> Result<(), VmError> {
        self.execution = self.execution.saturating_add(internal);
        self.check_limit()
    }

    /// Charges for one access to a value. `bytes` is the size of its key and value.
    ///
    /// # Errors
    ///
    /// Returns [`VmError::OutOfGas`] if the gas limit is exceeded.
    pub(crate) fn charge_access(&mut self, bytes: usize) -> Result<(), VmError> {
        self.charge_execution(
            cost::ACCESS.saturating_add((bytes as u64).saturating_mul(cost::ACCESS_PER_BYTE)),
        )
    }

    /// Charges for reading a slot with a value of `bytes` bytes.
    ///
    /// # Errors
    ///
    /// Returns [`VmError::OutOfGas`] if the gas limit is exceeded.
    pub(crate) fn charge_read(&mut self, bytes: usize) -> Result<(), VmError> {
        let steps = (bytes as u64).div_ceil(READ_STEP_BYTES).max(1);
        self.charge_io(
            READ_SLOT.saturating_add((steps * READ_STEP_BYTES).saturating_mul(READ_PER_BYTE)),
        )
    }

    /// Charges an orderless transaction for the nonces stored beside its own, which have `bytes`
    /// bytes in sum and are searched and rewritten.
    ///
    /// The intrinsic charge pays for their slot, as it does for the account that holds a sequence
    /// number.
    ///
    /// # Errors
    ///
    /// Returns [`VmError::OutOfGas`] if the gas limit is exceeded.
    pub(crate) fn charge_nonces(&mut self, bytes: usize) -> Result<(), VmError> {
        let bytes = bytes as u64;
        self.charge_io(bytes.saturating_mul(READ_PER_BYTE + WRITE_PER_BYTE))?;
        self.charge_execution(bytes.saturating_mul(2 * cost::ACCESS_PER_BYTE))
    }

    /// Charges for the slots that a transaction changes: for the writes and for the storage
    /// deposits.
    ///
    /// Deposits have a price in coins. `storage_gas_price`, the price of a gas unit in the coin's
    /// smallest unit, converts them to gas. With `None`, storage is free.
    ///
    /// # Errors
    ///
    /// Returns [`VmError::OutOfGas`] if the limit is exceeded, and `STORAGE_WRITE_LIMIT_REACHED` if
    /// a slot, all slots, or their number are above a limit.
    pub(crate) fn charge_writes(
        &mut self,
        changes: impl Iterator<Item = SlotChange>,
        storage_gas_price: Option<NonZeroU64>,
    ) -> Result<(), VmError> {
        let mut storage_deposits = StorageDeposits::default();
        for change in changes {
            let bytes = change.bytes_after.unwrap_or(0);
            self.writes.add(bytes, WRITES_MAX)?;
            self.charge_io(
                WRITE_SLOT.saturating_add((bytes as u64).saturating_mul(WRITE_PER_BYTE)),
            )?;
            storage_deposits.add(change);
        }
        if let Some(price) = storage_gas_price {
            let storage_units = storage_deposits.paid.div_ceil(price.get());
            self.storage = storage_units.saturating_mul(INTERNAL_UNITS_PER_GAS_UNIT);
            self.check_limit()?;
            self.storage_deposits = storage_deposits;
        }
        Ok(())
    }

    /// Charges for an event with `bytes` bytes of data.
    ///
    /// # Errors
    ///
    /// Returns [`VmError::OutOfGas`] if the limit is exceeded, and `STORAGE_WRITE_LIMIT_REACHED` if
    /// the event, all events, or their number are above a limit.
    pub(crate) fn charge_event(&mut self, bytes: usize) -> Result<(), VmError> {
        self.events.add(bytes, EVENTS_MAX)?;
        self.charge_io(EVENT.saturating_add((bytes as u64).saturating_mul(WRITE_PER_BYTE)))
    }

    /// Returns the gas used, in gas units and at most the limit.
    pub(crate) fn used(&self) -> GasUsed {
        GasUsed {
            total: to_gas_units(self.total_internal().min(self.limit)),
            execution: to_gas_units(self.execution.min(self.limit)),
            io: to_gas_units(self.io.min(self.limit)),
            storage_deposits: self.storage_deposits,
        }
    }
}

/// The gas used by a transaction, in gas units.
///
/// Each figure is rounded up on its own, so the parts may exceed the total.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GasUsed {
    /// Gas charged, storage included.
    pub total: u64,
    /// Gas for execution.
    pub execution: u64,
    /// Gas for IO.
    pub io: u64,
    /// Deposits and refunds for storage, in the coin's smallest unit.
    pub storage_deposits: StorageDeposits,
}

impl GasUsed {
    /// Returns the same usage without storage. `gas_unit_price` converts the storage fee to gas
    /// units.
    pub fn without_storage(self, gas_unit_price: u64) -> Self {
        let storage_units = self.storage_deposits.paid.div_ceil(gas_unit_price.max(1));
        Self {
            total: self.total.saturating_sub(storage_units),
            storage_deposits: StorageDeposits::default(),
            ..self
        }
    }

    /// Returns the same usage with `storage_deposits` for storage.
    ///
    /// `gas_unit_price` converts the fee to gas units. The total is at most `max_gas_amount`.
    pub fn with_storage(
        self,
        storage_deposits: StorageDeposits,
        gas_unit_price: u64,
        max_gas_amount: u64,
    ) -> Self {
        let storage_units = storage_deposits.paid.div_ceil(gas_unit_price.max(1));
        Self {
            total: self.total.saturating_add(storage_units).min(max_gas_amount),
            storage_deposits,
            ..self
        }
    }
}
