//! Cases of the entry functions of the framework: the success and each failure of a function, with
//! status, events, and gas. Each module has a file that lists its cases. This file runs all of
//! them, and `coverage` checks that none is missing.
//!
//! `gas.json` has the expected gas. This command rewrites it:
//! `UPDATE_GOLDEN=1 cargo test -p ledger-execution --test all functions::`

pub(crate) mod account;
pub(crate) mod bounds;
pub(crate) mod coin;
pub(crate) mod coin_pairing;
pub(crate) mod coin_stores;
pub(crate) mod coverage;
pub(crate) mod escrow;
pub(crate) mod exchange;
pub(crate) mod fungible_asset;
pub(crate) mod managed_coin;
pub(crate) mod managed_fungible_asset;
pub(crate) mod managed_object;
pub(crate) mod multisig_account;
pub(crate) mod object;
pub(crate) mod primary_fungible_store;
pub(crate) mod registry;
pub(crate) mod resource_account;
pub(crate) mod vendor_account;
pub(crate) mod world;

use ledger_types::ExecutedTransaction;
use std::{collections::BTreeMap, path::Path};
pub(crate) use world::{Newest, World, args, event_types};

/// Expected end of a case.
#[derive(Clone, Copy)]
pub(crate) enum Expected {
    /// Success, with events of these types before the fee statement.
    Success(&'static [&'static str]),
    /// Abort; `vm_status` is this text after `Move abort in `.
    Abort(&'static str),
    /// Any other failure, with this `vm_status`.
    Status(&'static str),
}

/// A call of a function under given conditions.
pub(crate) struct Case {
    function: &'static str,
    label: &'static str,
    expected: Expected,
    run: fn(&mut World) -> ExecutedTransaction,
}

impl Case {
    /// Creates a case of `function`.
    ///
    /// `run` prepares the world, makes the call, and returns its transaction.
    pub fn new(
        function: &'static str,
        label: &'static str,
        expected: Expected,
        run: fn(&mut World) -> ExecutedTransaction,
    ) -> Self {
        Self {
            function,
            label,
            expected,
            run,
        }
    }

    /// Prepares `world`, makes the call, and returns its transaction.
    pub fn run(&self, world: &mut World) -> ExecutedTransaction {
        (self.run)(world)
    }

    /// Returns the name of the called function.
    #[allow(dead_code, reason = "the functions bench calls it")]
    pub fn function(&self) -> &'static str {
        self.function
    }

    /// Returns whether the call is expected to succeed.
    pub fn succeeds(&self) -> bool {
        matches!(self.expected, Expected::Success(_))
    }

    fn name(&self) -> String {
        format!("{}: {}", self.function, self.label)
    }

    /// Runs the case and returns the gas used.
    ///
    /// # Errors
    ///
    /// Returns a description of the difference if the function, the status, or the events are not
    /// the expected ones.
    fn check(&self) -> Result<u64, String> {
        let mut world = World::new();
        let executed = self.run(&mut world);
        let status = world.chain().vm_status(&executed.info.v0().status);
        let events = event_types(&executed);
        let expected_status = match self.expected {
            Expected::Success(_) => "Executed successfully".to_owned(),
            Expected::Abort(text) => format!("Move abort in {text}"),
            Expected::Status(text) => text.to_owned(),
        };
        let expected_events = match self.expected {
            Expected::Success(events) => events,
            _ => &[],
        };
        let called = executed.transaction.as_user().and_then(|user| {
            let call = user.raw.entry_function()?;
            Some(format!("{}::{}", call.module, call.function))
        });
        if called.as_deref() != Some(self.function) {
            Err(format!(
                "{}: the tested transaction calls {called:?}",
                self.name()
            ))
        } else if status != expected_status {
            Err(format!(
                "{}: status\n  {status}\nexpected\n  {expected_status}",
                self.name()
            ))
        } else if events != expected_events {
            Err(format!(
                "{}: events {events:?}, expected {expected_events:?}",
                self.name()
            ))
        } else {
            Ok(executed.info.v0().gas_used)
        }
    }
}

/// Returns all cases, module by module.
pub(crate) fn cases() -> Vec<Case> {
    let modules: Vec<Vec<Case>> = vec![
        account::cases(),
        coin::cases(),
        coin_stores::cases(),
        escrow::cases(),
        exchange::cases(),
        fungible_asset::cases(),
        managed_fungible_asset::cases(),
        managed_object::cases(),
        managed_coin::cases(),
        multisig_account::cases(),
        object::cases(),
        primary_fungible_store::cases(),
        registry::cases(),
        resource_account::cases(),
        vendor_account::cases(),
        bounds::cases(),
    ];
    modules.into_iter().flatten().collect()
}

#[test]
fn every_case_has_its_expected_result_and_gas() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/functions/gas.json");
    let golden: BTreeMap<String, u64> =
        serde_json::from_str(&std::fs::read_to_string(&path).unwrap_or_else(|_| "{}".to_owned()))
            .unwrap();
    let mut used = BTreeMap::new();
    let mut differences = Vec::new();
    for case in cases() {
        match case.check() {
            Ok(gas) => assert!(
                used.insert(case.name(), gas).is_none(),
                "{} occurs twice",
                case.name()
            ),
            Err(difference) => differences.push(difference),
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, serde_json::to_string_pretty(&used).unwrap() + "\n").unwrap();
    } else {
        let changed: Vec<String> = used
            .iter()
            .filter(|(name, gas)| golden.get(*name) != Some(gas))
            .map(|(name, gas)| format!("{name}: {gas}, expected {:?}", golden.get(name)))
            .collect();
        assert!(changed.is_empty(), "gas changed:\n{}", changed.join("\n"));
        assert_eq!(
            used.len(),
            golden.len(),
            "gas.json has entries without a case"
        );
    }
}
