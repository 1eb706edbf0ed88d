//! `0x1::optional_aggregator` and `0x1::aggregator`: how a coin's supply is laid out. This ledger
//! keeps supplies as plain integers and changes the chain coin's once a block.

use ledger_types::AccountAddress;
use ledger_vm::{Context, ModuleDeclaration, MoveStruct, VmError, abort_codes, move_structs};

abort_codes! {
    const ERRORS;
    pub EAGGREGATOR_OVERFLOW = OutOfRange 1 "the supply would exceed its limit";
    pub EAGGREGATOR_UNDERFLOW = OutOfRange 2 "more would be destroyed than the supply counts";
}

/// The module's own name, for aborts.
const MODULE: &str = "optional_aggregator";

mod aggregator {
    use super::*;

    move_structs! {
        module "aggregator";

        /// A number kept in a table of its own; unused here, part of the layout.
        Aggregator as "Aggregator" has ["store"] {
            /// The table.
            handle: AccountAddress,
            /// The key in it.
            key: AccountAddress,
            /// The largest value.
            limit: u128,
        }
    }
}
pub use aggregator::Aggregator;

move_structs! {
    module "optional_aggregator";

    /// A number with a limit.
    Integer as "Integer" has ["store"] {
        /// The number.
        value: u128,
        /// The largest value.
        limit: u128,
    }

    /// Either an aggregator or an integer.
    OptionalAggregator as "OptionalAggregator" has ["store"] {
        /// Never set on this ledger.
        aggregator: Option<Aggregator>,
        /// The number.
        integer: Option<Integer>,
    }
}

impl OptionalAggregator {
    /// A number without a limit of its own.
    pub fn unlimited(value: u128) -> Self {
        Self {
            aggregator: None,
            integer: Some(Integer {
                value,
                limit: u128::MAX,
            }),
        }
    }

    /// The number; none where it lies in a table, which it never does on this ledger.
    pub fn value(&self) -> Option<u128> {
        self.integer.as_ref().map(|integer| integer.value)
    }

    /// Adds to the number.
    ///
    /// # Errors
    /// `EAGGREGATOR_OVERFLOW` above the limit.
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

    /// Takes from the number.
    ///
    /// # Errors
    /// `EAGGREGATOR_UNDERFLOW` below zero, which no sequence of calls brings about: what is destroyed
    /// was held, and what is held was counted.
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
    fn sums_end_at_the_limit_and_at_zero() {
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
