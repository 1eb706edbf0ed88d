//! The gas meter and the limits of one transaction. It counts internal units and charges whole gas
//! units.
//!
//! Transactions, reads, writes and event bytes have the prices of the reference node
//! (docs/reference/framework.md#f15). The prices of work, of an event and of further signatures are
//! our own, and the bytes of a transaction have no IO price.

use crate::{
    MiscellaneousStatus, VmError,
    storage_deposit::{self, SlotChange, StorageFee},
};
use ledger_types::{Parameters, transaction::TransactionAuthenticator};
use std::num::NonZeroU64;

/// Internal units of one gas unit.
const INTERNAL_PER_UNIT: u64 = 1_000_000;
/// For any transaction, with one signature.
const INTRINSIC: u64 = 27_600_000;
/// For each byte of the transaction above [`FREE_BYTES`].
const INTRINSIC_PER_BYTE: u64 = 11_580;
/// The bytes of a transaction that the intrinsic charge covers.
const FREE_BYTES: u64 = 600;
/// For reading a slot.
const READ_SLOT: u64 = 3_023_850;
/// For each byte read, in steps of [`READ_STEP_BYTES`].
const READ_PER_BYTE: u64 = 1_510;
/// Reads are charged as whole steps of this many bytes.
const READ_STEP_BYTES: u64 = 4096;
/// For writing a slot.
const WRITE_SLOT: u64 = 895_680;
/// For each byte written, and for each byte of an event.
const WRITE_PER_BYTE: u64 = 890;
/// For an event, whatever its data: its row, its place in the index of its stream and its hash. The
/// reference charges for the bytes alone.
const EVENT: u64 = 1_000_000;

/// Maximum size of the value of a slot or of an event, in bytes.
///
/// The reference node has the same limits, but counts the key of a slot too
/// (docs/reference/reference-node.md#r32).
const ITEM_BYTES_MAX: usize = 1 << 20;
/// The most bytes of all writes, and of all events, of a transaction.
const ALL_BYTES_MAX: usize = 10 << 20;
/// The most slots that a transaction may change.
const WRITES_MAX: usize = 8192;
/// The most events of a transaction. The reference bounds them by their bytes and gas alone; small
/// events would then fill memory at little cost.
const EVENTS_MAX: usize = 8192;

/// What work costs beside reading and writing slots, in internal gas units. Fitted to measured times,
/// so that gas follows cost: a transfer takes 0.24 us per gas unit, and nothing may take more than five
/// times that (`benches/functions.rs`, which also has the worst arguments; measured 2026-11-21).
pub mod cost {
    /// For looking at or changing a value, also one that the transaction looked at before: its key is
    /// made and it is decoded or encoded each time.
    pub const ACCESS: u64 = 500_000;
    /// For each byte of the key and the value of an access.
    pub const ACCESS_PER_BYTE: u64 = 3_000;
    /// For each byte of a call that is stored on the ledger and executed from there: as if it were sent.
    pub const PAYLOAD_PER_BYTE: u64 = super::INTRINSIC_PER_BYTE;
    /// For hashing, whatever the length.
    pub const HASH_BASE: u64 = 500_000;
    /// For each byte that is hashed.
    pub const HASH_PER_BYTE: u64 = 2_000;
    /// For checking one signature.
    pub const SIGNATURE_CHECK: u64 = 30_000_000;
    /// For one step along a chain of owners or through a list, beside what it reads.
    pub const STEP: u64 = 50_000;
}

/// The prices and limits that hold on a chain with these `parameters`, by the names that the
/// reference gives them; those that it has no name for are named alike. Prices are in internal units,
/// the storage fee in the coin's smallest unit. `0x1::gas_schedule` shows them.
pub fn gas_schedule(parameters: &Parameters) -> Vec<(&'static str, u64)> {
    vec![
        ("txn.gas_unit_scaling_factor", INTERNAL_PER_UNIT),
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
            ALL_BYTES_MAX as u64,
        ),
        ("txn.max_write_ops_per_transaction", WRITES_MAX as u64),
        ("txn.max_bytes_per_event", ITEM_BYTES_MAX as u64),
        (
            "txn.max_bytes_all_events_per_transaction",
            ALL_BYTES_MAX as u64,
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

/// Rounds internal units up to gas units.
fn units(internal: u64) -> u64 {
    internal.div_ceil(INTERNAL_PER_UNIT)
}

/// The internal units of a transaction of this size before it does anything. [`INTRINSIC`] pays for one
/// signature; each more costs as much to check as one that a program checks, and is charged the same:
/// else a transaction with as many as are allowed would take their time for nothing.
pub fn intrinsic(size_bytes: usize, signatures: u64) -> u64 {
    let extra = (size_bytes as u64).saturating_sub(FREE_BYTES);
    let more_signatures = signatures.saturating_sub(1);
    INTRINSIC
        .saturating_add(extra.saturating_mul(INTRINSIC_PER_BYTE))
        .saturating_add(more_signatures.saturating_mul(cost::SIGNATURE_CHECK))
}

/// The least `max_gas_amount` with which a transaction of this size and with as many signatures is taken
/// at all.
pub fn intrinsic_units(size_bytes: usize, authenticator: &TransactionAuthenticator) -> u64 {
    units(intrinsic(size_bytes, authenticator.billed_signatures()))
}

/// Counts what a transaction uses, up to its limit.
#[derive(Debug, Clone)]
pub struct GasMeter {
    limit: u64,
    execution: u64,
    io: u64,
    storage: u64,
    storage_fee: StorageFee,
    events: Counted,
    writes: Counted,
}

/// How many of something, and their bytes.
#[derive(Debug, Clone, Copy, Default)]
struct Counted {
    count: usize,
    bytes: usize,
}

impl Counted {
    /// Adds one of `bytes`; an error where a limit is passed.
    fn add(&mut self, bytes: usize, count_max: usize) -> Result<(), VmError> {
        self.count += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        if bytes > ITEM_BYTES_MAX || self.bytes > ALL_BYTES_MAX || self.count > count_max {
            Err(MiscellaneousStatus::StorageWriteLimitReached.into())
        } else {
            Ok(())
        }
    }
}

impl GasMeter {
    /// A meter for what allows itself `max_gas_amount` units and costs `intrinsic` internal ones before it
    /// does anything.
    pub fn new(max_gas_amount: u64, intrinsic: u64) -> Self {
        Self {
            limit: max_gas_amount.saturating_mul(INTERNAL_PER_UNIT),
            execution: intrinsic,
            ..Self::unlimited()
        }
    }

    /// A meter for what nobody pays for.
    pub fn unlimited() -> Self {
        Self {
            limit: u64::MAX,
            execution: 0,
            io: 0,
            storage: 0,
            storage_fee: StorageFee::default(),
            events: Counted::default(),
            writes: Counted::default(),
        }
    }

    fn check_limit(&self) -> Result<(), VmError> {
        if self.sum() > self.limit {
            Err(VmError::OutOfGas)
        } else {
            Ok(())
        }
    }

    fn sum(&self) -> u64 {
        self.execution
            .saturating_add(self.io)
            .saturating_add(self.storage)
    }

    fn charge_io(&mut self, internal: u64) -> Result<(), VmError> {
        self.io = self.io.saturating_add(internal);
        self.check_limit()
    }

    /// Charges for work, in internal units.
    pub(crate) fn charge_execution(&mut self, internal: u64) -> Result<(), VmError> {
        self.execution = self.execution.saturating_add(internal);
        self.check_limit()
    }

    /// Charges for looking at or changing a value whose key and value have `bytes`.
    pub(crate) fn charge_access(&mut self, bytes: usize) -> Result<(), VmError> {
        self.charge_execution(
            cost::ACCESS.saturating_add((bytes as u64).saturating_mul(cost::ACCESS_PER_BYTE)),
        )
    }

    /// Charges for reading a slot with a value of `bytes`.
    pub(crate) fn charge_read(&mut self, bytes: usize) -> Result<(), VmError> {
        let steps = (bytes as u64).div_ceil(READ_STEP_BYTES).max(1);
        self.charge_io(
            READ_SLOT.saturating_add((steps * READ_STEP_BYTES).saturating_mul(READ_PER_BYTE)),
        )
    }

    /// Charges an orderless transaction for the `bytes` of nonces beside its own, which are looked through
    /// and written again. The slot that they lie in is paid for like the account that a sequence number
    /// lies in: by the intrinsic charge.
    pub(crate) fn charge_nonces(&mut self, bytes: usize) -> Result<(), VmError> {
        let bytes = bytes as u64;
        self.charge_io(bytes.saturating_mul(READ_PER_BYTE + WRITE_PER_BYTE))?;
        self.charge_execution(bytes.saturating_mul(2 * cost::ACCESS_PER_BYTE))
    }

    /// Charges for the slots that the transaction changes: for writing them, and for the room they
    /// take, which has a price in coins, at `storage_gas_price` coins for a gas unit; `None`: it is free.
    pub(crate) fn charge_writes(
        &mut self,
        changes: impl Iterator<Item = SlotChange>,
        storage_gas_price: Option<NonZeroU64>,
    ) -> Result<(), VmError> {
        let mut storage_fee = StorageFee::default();
        for change in changes {
            let bytes = change.bytes_after.unwrap_or(0);
            self.writes.add(bytes, WRITES_MAX)?;
            self.charge_io(
                WRITE_SLOT.saturating_add((bytes as u64).saturating_mul(WRITE_PER_BYTE)),
            )?;
            storage_fee.add(change);
        }
        if let Some(price) = storage_gas_price {
            let storage_units = storage_fee.fee.div_ceil(price.get());
            self.storage = storage_units.saturating_mul(INTERNAL_PER_UNIT);
            self.check_limit()?;
            self.storage_fee = storage_fee;
        }
        Ok(())
    }

    /// Charges for an event with `bytes` of data.
    pub(crate) fn charge_event(&mut self, bytes: usize) -> Result<(), VmError> {
        self.events.add(bytes, EVENTS_MAX)?;
        self.charge_io(EVENT.saturating_add((bytes as u64).saturating_mul(WRITE_PER_BYTE)))
    }

    /// What was used, in whole units: at most the limit.
    pub(crate) fn used(&self) -> GasUsed {
        GasUsed {
            total: units(self.sum().min(self.limit)),
            execution: units(self.execution.min(self.limit)),
            io: units(self.io.min(self.limit)),
            storage_fee: self.storage_fee,
        }
    }
}

/// Gas units of a transaction. Each figure is rounded up by itself, so parts may exceed the total.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GasUsed {
    /// All of it, storage included; what is charged.
    pub total: u64,
    /// For execution.
    pub execution: u64,
    /// For reading and writing.
    pub io: u64,
    /// What is paid and given back for storage, in the coin's smallest unit.
    pub storage_fee: StorageFee,
}

impl GasUsed {
    /// The same without the charge for storage, at `gas_unit_price`.
    pub fn without_storage(self, gas_unit_price: u64) -> Self {
        let storage_units = self.storage_fee.fee.div_ceil(gas_unit_price.max(1));
        Self {
            total: self.total.saturating_sub(storage_units),
            storage_fee: StorageFee::default(),
            ..self
        }
    }

    /// The same with `storage_fee` beside it, at `gas_unit_price`, but no more than `max_gas_amount`.
    pub fn with_storage(
        self,
        storage_fee: StorageFee,
        gas_unit_price: u64,
        max_gas_amount: u64,
    ) -> Self {
        let storage_units = storage_fee.fee.div_ceil(gas_unit_price.max(1));
        Self {
            total: self.total.saturating_add(storage_units).min(max_gas_amount),
            storage_fee,
            ..self
        }
    }
}
