//! The gas meter: what reading, writing and emitting costs (framework-notes section 4, gas schedule).
//! Counted in internal units, charged in whole gas units.

use super::Failure;

/// Internal units of one gas unit.
const INTERNAL_PER_UNIT: u64 = 1_000_000;
/// For any transaction.
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

/// Rounds internal units up to gas units.
fn units(internal: u64) -> u64 {
    internal.div_ceil(INTERNAL_PER_UNIT)
}

/// The internal units of a transaction of this size before it does anything.
fn intrinsic(size_bytes: usize) -> u64 {
    let extra = (size_bytes as u64).saturating_sub(FREE_BYTES);
    INTRINSIC.saturating_add(extra.saturating_mul(INTRINSIC_PER_BYTE))
}

/// The least `max_gas_amount` with which a transaction of this size is taken at all.
pub(super) fn intrinsic_units(size_bytes: usize) -> u64 {
    units(intrinsic(size_bytes))
}

/// Counts what a transaction uses, up to its limit.
#[derive(Debug, Clone)]
pub(super) struct GasMeter {
    limit: u64,
    execution: u64,
    io: u64,
}

impl GasMeter {
    /// A meter for a transaction of `size_bytes` that allows itself `max_gas_amount` units.
    pub(super) fn new(max_gas_amount: u64, size_bytes: usize) -> Self {
        Self {
            limit: max_gas_amount.saturating_mul(INTERNAL_PER_UNIT),
            execution: intrinsic(size_bytes),
            io: 0,
        }
    }

    /// A meter for what nobody pays for.
    pub(super) fn unlimited() -> Self {
        Self {
            limit: u64::MAX,
            execution: 0,
            io: 0,
        }
    }

    fn charge_io(&mut self, internal: u64) -> Result<(), Failure> {
        self.io = self.io.saturating_add(internal);
        if self.execution.saturating_add(self.io) > self.limit {
            Err(Failure::OutOfGas)
        } else {
            Ok(())
        }
    }

    /// Charges for reading a slot with a value of `bytes`.
    pub(super) fn charge_read(&mut self, bytes: usize) -> Result<(), Failure> {
        let steps = (bytes as u64).div_ceil(READ_STEP_BYTES).max(1);
        self.charge_io(READ_SLOT.saturating_add((steps * READ_STEP_BYTES).saturating_mul(READ_PER_BYTE)))
    }

    /// Charges for writing a slot whose key and value have `bytes`.
    pub(super) fn charge_write(&mut self, bytes: usize) -> Result<(), Failure> {
        self.charge_io(WRITE_SLOT.saturating_add((bytes as u64).saturating_mul(WRITE_PER_BYTE)))
    }

    /// Charges for an event with `bytes` of data.
    pub(super) fn charge_event(&mut self, bytes: usize) -> Result<(), Failure> {
        self.charge_io((bytes as u64).saturating_mul(WRITE_PER_BYTE))
    }

    /// What was used, in whole units: at most the limit.
    pub(super) fn used(&self) -> GasUsed {
        let total = self.execution.saturating_add(self.io).min(self.limit);
        GasUsed {
            total: units(total),
            execution: units(self.execution.min(self.limit)),
            io: units(self.io.min(self.limit)),
        }
    }
}

/// Gas units of a transaction. Each figure is rounded up by itself, so parts may exceed the total.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GasUsed {
    /// All of it; what is charged.
    pub(super) total: u64,
    /// For execution.
    pub(super) execution: u64,
    /// For reading and writing.
    pub(super) io: u64,
}
