//! `0x1::optional_aggregator` and `0x1::aggregator`: the layout of a coin's supply.
//!
//! This ledger stores a supply as a plain integer. It counts the coins that programs hold in
//! resources; those in stores are in the supply of the paired asset.

use ledger_types::AccountAddress;
use ledger_vm::{Context, ModuleDeclaration, MoveStruct, VmError, abort_codes, move_structs};

abort_codes! {
    const ERRORS;
    pub EAGGREGATOR_OVERFLOW = OutOfRange 1 "the supply would exceed its limit";
    pub EAGGREGATOR_UNDERFLOW = OutOfRange 2 "more would be destroyed than the supply counts";
}

/// Name of the module in aborts.
const MODULE: &str = "optional_aggregator";

mod aggregator {
    use super::*;

    move_structs! {
        module "aggregator";

        /// A number in a table of its own. Unused on this ledger, but part of the layout.
        Aggregator as "Aggregator" has ["store"] {
            /// Handle of the table.
            handle: AccountAddress,
            /// Key of the number in the table.
            key: AccountAddress,
            /// Maximum value.
            limit: u128,
        }
    }
}
pub use aggregator::Aggregator;

move_structs! {
    module "optional_aggregator";

    /// A number with a limit.
    Integer as "Integer" has ["store"] {
        /// Current value.
        value: u128,
        /// Maximum value.
        limit: u128,
    }

    /// Either an aggregator or an integer.
    OptionalAggregator as "OptionalAggregator" has ["store"] {
        /// The aggregator. Always `None` on this ledger.
        aggregator: Option<Aggregator>,
        /// The integer.
        integer: Option<Integer>,
    }
}

impl OptionalAggregator {
    /// Creates an integer whose limit is the maximum of its type.
    pub fn unlimited(value: u128) -> Self {
        Self {
            aggregator: None,
            integer: Some(Integer {
                value,
                limit: u128::MAX,
            }),
        }
    }

    /// Returns the number, or `None` if it is in an aggregator, which does not occur on this
    /// ledger.
    pub fn value(&self) -> Option<u128> {
        self.integer.as_ref().map(|integer| integer.value)
    }

    /// Adds `amount` to the number.
    ///
    /// # Errors
    ///
    /// Aborts with `EAGGREGATOR_OVERFLOW` if the sum would exceed the limit. Returns
    /// [`VmError::MissingResource`] if the number is in an aggregator.
    pub fn add(&mut self, context: &Context<'_>, amount: u128) -> Result<(), VmError> {
        let integer = self.integer.as_mut().ok_or(VmError::MissingResource)?;
        match integer.value.checked_add(amount) {
            Some(value) if value <= integer.limit => {
                integer.value = value;
                Ok(())
            }
            _ => context.abort(MODULE, &EAGGREGATOR_OVERFLOW),
        }
    }

    /// Subtracts `amount` from the number.
    ///
    /// # Errors
    ///
    /// Aborts with `EAGGREGATOR_UNDERFLOW` if the result would be negative. No sequence of calls
    /// causes this, because the number includes every coin that a program holds. Returns
    /// [`VmError::MissingResource`] if the number is in an aggregator.
    pub fn sub(&mut self, context: &Context<'_>, amount: u128) -> Result<(), VmError> {
        let integer = self.integer.as_mut().ok_or(VmError::MissingResource)?;
        match integer.value.checked_sub(amount) {
            Some(value) => {
                integer.value = value;
                Ok(())
            }
            None => context.abort(MODULE, &EAGGREGATOR_UNDERFLOW),
        }
    }
}

pub(super) fn module() -> ModuleDeclaration {
    ModuleDeclaration {
        name: MODULE,
        structs: vec![Integer::declaration(), OptionalAggregator::declaration()],
        functions: vec![],
        errors: ERRORS,
    }
}

pub(super) fn aggregator_module() -> ModuleDeclaration {
    ModuleDeclaration {
        name: "aggregator",
        structs: vec![Aggregator::declaration()],
        functions: vec![],
        errors: &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ledger_types::{Parameters, StateKey, Vendor};
    use ledger_vm::{BlockState, Environment};

    #[test]
    fn rejects_results_above_the_limit_and_below_zero() {
        let chain = crate::new_chain(4, Vendor::default(), Parameters::default());
        let empty = |_: &StateKey| Ok(None);
        let state = BlockState::new(&empty);
        let context = Context::unmetered(&chain, &state, Environment::NONE);
        let mut number = OptionalAggregator::unlimited(u128::MAX - 5);
        number.add(&context, 5).unwrap();
        assert_eq!(number.value(), Some(u128::MAX));
        assert!(matches!(
            number.add(&context, 1),
            Err(VmError::Abort { .. })
        ));
        number.sub(&context, u128::MAX).unwrap();
        assert_eq!(number.value(), Some(0));
        assert!(matches!(
            number.sub(&context, 1),
            Err(VmError::Abort { .. })
        ));
        assert_eq!(number.value(), Some(0), "what fails changes nothing");
        if let Some(integer) = &mut number.integer {
            integer.limit = 9;
        }
        assert!(matches!(
            number.add(&context, 10),
            Err(VmError::Abort { .. })
        ));
        number.add(&context, 9).unwrap();
    }
}
