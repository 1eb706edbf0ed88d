//! The statuses that the ledger records for failures, and their text.

use crate::{Chain, MiscellaneousStatus, VmError};
use ledger_types::{
    EntryFunction, ExecutionStatus, ModuleId, StateError, ValidationStatus,
    transaction::{AbortInfo, AbortLocation},
};

impl VmError {
    /// Returns the status that the ledger records for a failed call of `called`.
    ///
    /// # Errors
    ///
    /// Returns the [`StateError`] if the state could not be read. That failure has no status, and
    /// the execution of the block stops.
    pub fn into_status(
        self,
        chain: &Chain,
        called: Option<&EntryFunction>,
    ) -> Result<ExecutionStatus, StateError> {
        Ok(match self {
            Self::MissingResource | Self::ResourceExists | Self::Arithmetic => {
                let function = called.and_then(|call| {
                    let function = chain
                        .registry()
                        .function_index(&call.module, &call.function)?;
                    Some((call.module.clone(), function))
                });
                match function {
                    Some((module, function)) => ExecutionStatus::ExecutionFailure {
                        location: AbortLocation::Module(module),
                        function,
                        code_offset: 0,
                    },
                    None => ExecutionStatus::MiscellaneousError(None),
                }
            }
            Self::Abort { module, error } => ExecutionStatus::MoveAbort {
                location: AbortLocation::Module(chain.registry().module_id(module)),
                code: error.code(),
                info: (!error.name.is_empty()).then(|| AbortInfo {
                    reason_name: error.name.to_owned(),
                    description: error.description.to_owned(),
                }),
            },
            Self::OutOfGas => ExecutionStatus::OutOfGas,
            Self::Miscellaneous(status) => ExecutionStatus::MiscellaneousError(Some(status as u64)),
            Self::State(error) => return Err(error),
        })
    }
}

impl Chain {
    /// Returns the text of `vm_status` for a status (docs/reference/reference-node.md#r17).
    pub fn vm_status(&self, status: &ExecutionStatus) -> String {
        match status {
            ExecutionStatus::Success => "Executed successfully".to_owned(),
            ExecutionStatus::OutOfGas => "Out of gas".to_owned(),
            ExecutionStatus::MoveAbort {
                location: AbortLocation::Script,
                code,
                ..
            } => format!("Move abort: code {code:#x}"),
            ExecutionStatus::MoveAbort {
                location: AbortLocation::Module(module),
                code,
                info: None,
            } => {
                format!("Move abort in {module}: {code:#x}")
            }
            ExecutionStatus::MoveAbort {
                location: AbortLocation::Module(module),
                code,
                info: Some(info),
            } => {
                format!(
                    "Move abort in {module}: {}({code:#x}): {}",
                    info.reason_name, info.description
                )
            }
            ExecutionStatus::ExecutionFailure {
                location,
                function,
                code_offset,
            } => {
                let name = match location {
                    AbortLocation::Script => "script".to_owned(),
                    AbortLocation::Module(module) => function_name(self, module, *function),
                };
                format!("Execution failed in {name} at code offset {code_offset}")
            }
            // Only simulations have validation statuses here, because the ledger has no rejected
            // transactions.
            ExecutionStatus::MiscellaneousError(code) => code
                .and_then(|code| {
                    let validation_name =
                        || ValidationStatus::from_code(code).map(ValidationStatus::name);
                    MiscellaneousStatus::name_of(code).or_else(validation_name)
                })
                .unwrap_or("UNKNOWN_STATUS")
                .to_owned(),
        }
    }

    /// Returns the text of `vm_status` for the simulation of `call`: [`Self::vm_status`], followed
    /// by the name that the framework version does not have if `call` failed for it.
    pub fn simulated_vm_status(
        &self,
        status: &ExecutionStatus,
        call: &EntryFunction,
        framework_version: u64,
    ) -> String {
        let text = self.vm_status(status);
        let failure = match self.registry().called_function(call, framework_version) {
            Err(failure)
                if *status == ExecutionStatus::MiscellaneousError(Some(failure as u64)) =>
            {
                failure
            }
            _ => return text,
        };
        let EntryFunction {
            module, function, ..
        } = call;
        let cause = match failure {
            MiscellaneousStatus::LinkerError => {
                let address = hex::encode(module.address.as_bytes());
                format!(
                    "Linker Error: Module {address}::{} doesn't exist",
                    module.name
                )
            }
            _ => format!("Function {module}::{function} does not exist"),
        };
        format!("{text}\nExecution failed with message: {cause}")
    }
}

/// Returns the full name of a function, or the module id if the module has no function with this
/// index.
fn function_name(chain: &Chain, module: &ModuleId, function: u16) -> String {
    match chain.registry().function_name(module, function) {
        Some(name) => format!("{module}::{name}"),
        None => module.to_string(),
    }
}
