//! Storage deposits: one per slot, which grows with the slot and is refunded when the slot is
//! deleted (docs/reference/framework.md#f14).
//!
//! Unlike on the reference node, the deposit is a function of the size of the slot, so it is not
//! stored. A slot that shrinks gets no refund, so a deletion never refunds more than was paid. A
//! slot that shrinks and grows again pays for the growth again. A deletion refunds the deposit of
//! the last size.

/// Deposit for a slot of any size, in the coin's smallest unit.
pub(crate) const PER_SLOT: u64 = 400_000;
/// Deposit for each byte of the key and value of a slot, in the coin's smallest unit.
pub(crate) const PER_BYTE: u64 = 400;

/// A change of the size of a slot, key and value in sum. `None` means that the slot does not exist.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlotChange {
    /// Size before the transaction, in bytes.
    pub bytes_before: Option<usize>,
    /// Size after the transaction, in bytes.
    pub bytes_after: Option<usize>,
}

/// The deposits and refunds of a transaction for storage, in the coin's smallest unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StorageDeposits {
    /// Deposits for new and grown slots.
    pub paid: u64,
    /// Refunds for deleted slots.
    pub refund: u64,
}

/// Returns the deposit of a slot with `bytes` bytes.
fn deposit(bytes: usize) -> u64 {
    PER_SLOT + PER_BYTE * bytes as u64
}

impl StorageDeposits {
    /// Adds the change of one slot. The limits of a transaction bound the sizes, so the sums cannot
    /// overflow.
    pub fn add(&mut self, change: SlotChange) {
        match (change.bytes_before, change.bytes_after) {
            (None, Some(after)) => self.paid += deposit(after),
            (Some(before), Some(after)) => {
                self.paid += PER_BYTE * after.saturating_sub(before) as u64;
            }
            (Some(before), None) => self.refund += deposit(before),
            (None, None) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn refunds_at_most_the_deposits_paid(sizes in proptest::collection::vec(0..2_000_000usize, 1..20)) {
            let mut total = StorageDeposits::default();
            let mut before = None;
            for size in sizes {
                total.add(SlotChange { bytes_before: before, bytes_after: Some(size) });
                before = Some(size);
            }
            total.add(SlotChange { bytes_before: before, bytes_after: None });
            prop_assert!(total.refund <= total.paid, "{total:?}");
        }
    }
}
