//! `0x1::gas_schedule`: what things cost, as the meter charges them, written where clients of the
//! reference look for it. Written once, at genesis: a ledger that an earlier version began shows that
//! version's prices.

use ledger_types::AccountAddress;
use ledger_vm::{Context, ModuleDeclaration, MoveStruct, VmError, gas_schedule, move_structs};

/// The version of the entries' names and meanings. It is this ledger's own count: the entries are those
/// that its meter uses, a part of the reference's.
pub const GAS_FEATURE_VERSION: u64 = 1;

move_structs! {
    module "gas_schedule";

    /// One price or limit.
    GasEntry as "GasEntry" has ["store", "copy", "drop"] {
        /// Its name.
        key: String,
        /// Its value, in what the name says; prices in internal gas units.
        val: u64,
    }

    /// All of them.
    GasScheduleV2 as "GasScheduleV2" has ["key", "copy", "drop", "store"] {
        /// The version of the names.
        feature_version: u64,
        /// The prices and limits.
        entries: Vec<GasEntry>,
    }
}

/// Writes what the module has at genesis.
pub fn write_genesis(context: &mut Context<'_>) -> Result<(), VmError> {
    let chain = context.chain();
    let entry = |(name, val): (&str, u64)| GasEntry {
        key: name.replace("{vendor}", chain.vendor().lower()),
        val,
    };
    let schedule = GasScheduleV2 {
        feature_version: GAS_FEATURE_VERSION,
        entries: gas_schedule(chain.parameters())
            .into_iter()
            .map(entry)
            .collect(),
    };
    context.write_resource(AccountAddress::ONE, &[], &schedule)
}

pub(super) fn module() -> ModuleDeclaration {
    ModuleDeclaration {
        name: "gas_schedule",
        structs: vec![GasEntry::declaration(), GasScheduleV2::declaration()],
        functions: vec![],
        errors: &[],
    }
}
