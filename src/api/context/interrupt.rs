//! The condition that ends a view or a simulation early.

use ledger_vm::Interrupt;
use std::{
    sync::{
        Weak,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    time::Instant,
};

/// Number of charges of gas for which the clock is read once.
///
/// A read takes 41 ns (two cores, TSC, 2026-11-28). The simulation of 1,500 transfers has 10,510
/// charges in 3.1 ms, so a read for each takes 430 us of it, and one for 16 takes 27 us. A call
/// ends up to 15 charges late, which is a few microseconds.
const CHARGES_PER_CLOCK_READ: u32 = 16;

/// Returns the interrupt of a call that ends at `end`, or when `client` is dropped.
pub(super) fn interrupt(client: Weak<()>, end: Instant) -> Interrupt {
    let is_late = throttled(move || Instant::now() >= end);
    Interrupt::new(move || client.strong_count() == 0 || is_late())
}

/// Returns a condition that checks `is_late` once for [`CHARGES_PER_CLOCK_READ`] calls, beginning
/// with the first one, and always true once `is_late` has returned true.
fn throttled(is_late: impl Fn() -> bool) -> impl Fn() -> bool {
    // One thread runs the call, so a load and a store suffice.
    let charges = AtomicU32::new(0);
    move || {
        let count = charges.load(Relaxed);
        if count == 0 && is_late() {
            return true;
        }
        charges.store((count + 1) % CHARGES_PER_CLOCK_READ, Relaxed);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{cell::Cell, rc::Rc};

    #[test]
    fn checks_the_time_once_for_several_charges_until_it_is_late() {
        let checks = Rc::new(Cell::new(0));
        let counted = Rc::clone(&checks);
        let is_late = throttled(move || {
            counted.set(counted.get() + 1);
            counted.get() > 2
        });
        let charges = CHARGES_PER_CLOCK_READ as usize;
        assert!((0..2 * charges).all(|_| !is_late()));
        assert_eq!(checks.get(), 2);
        assert!((0..2 * charges).all(|_| is_late()));
    }
}
