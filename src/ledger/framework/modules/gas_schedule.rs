//! `0x1::gas_schedule`: the prices and limits of the gas meter, in the resource that clients of the
//! reference node read.
//!
//! Genesis writes the resource once. A ledger that an earlier version of this program started
//! therefore shows the prices of that version.

use ledger_types::AccountAddress;
use ledger_vm::{Context, ModuleDeclaration, MoveStruct, VmError, gas_schedule, move_structs};

/// Version of the names and meanings of the entries.
///
/// The numbering is this ledger's own, because its meter uses only some of the reference node's
/// entries.
pub const GAS_FEATURE_VERSION: u64 = 1;

move_structs! {
    module "gas_schedule";

    /// One price or limit.
    GasEntry as "GasEntry" has ["store", "copy", "drop"] {
        /// Name of the entry.
        key: String,
        /// Value in the unit of the entry's name. Prices are in internal gas units.
        val: u64,
    }

    /// All prices and limits.
    GasScheduleV2 as "GasScheduleV2" has ["key", "copy", "drop", "store"] {
        /// Version of the entries' names and meanings.
        feature_version: u64,
        /// Prices and limits.
        entries: Vec<GasEntry>,
    }
}

/// Writes the gas schedule of the chain.
///
/// # Errors
///
/// Returns [`VmError::State`] if the state cannot be read.
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
