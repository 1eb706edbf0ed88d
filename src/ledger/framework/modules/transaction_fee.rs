//! `0x1::transaction_fee`: the fee statement, which is the last event of every user transaction.
//!
//! Also `0x1::transaction_validation`, which has only abort codes here.

use ledger_vm::{ModuleDeclaration, MoveStruct, abort_codes, move_structs};

abort_codes! {
    pub EOUT_OF_GAS = OutOfRange 1005 "the account no longer holds the fee after the transaction";
}

move_structs! {
    module "transaction_fee";

    /// The charges of a transaction (docs/reference/framework.md#f13).
    FeeStatement as "FeeStatement" has ["drop", "store"] event true {
        /// Total charge, in gas units.
        total_charge_gas_units: u64,
        /// Charge for execution, in gas units.
        execution_gas_units: u64,
        /// Charge for reads and writes, in gas units.
        io_gas_units: u64,
        /// Charge for storage, in the coin's smallest unit.
        storage_fee_octas: u64,
        /// Refund for storage, in the coin's smallest unit.
        storage_fee_refund_octas: u64,
    }
}

pub(super) fn module() -> ModuleDeclaration {
    ModuleDeclaration {
        name: "transaction_fee",
        structs: vec![FeeStatement::declaration()],
        functions: vec![],
        errors: &[],
    }
}

pub(super) fn validation_module() -> ModuleDeclaration {
    ModuleDeclaration {
        name: "transaction_validation",
        structs: vec![],
        functions: vec![],
        errors: &[EOUT_OF_GAS],
    }
}
