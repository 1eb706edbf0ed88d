//! How a transaction ended, in the words of the interface's `vm_status`.

use ledger::{
    ExecutionStatus, ValidationStatus,
    transaction::{AbortInfo, AbortLocation},
};

/// The `vm_status` of a committed transaction.
pub(crate) fn vm_status(status: &ExecutionStatus) -> String {
    match status {
        ExecutionStatus::Success => "Executed successfully".to_owned(),
        ExecutionStatus::OutOfGas => "Out of gas".to_owned(),
        ExecutionStatus::MoveAbort { location, code, info } => abort(location, *code, info.as_ref()),
        ExecutionStatus::ExecutionFailure {
            location,
            function,
            code_offset,
        } => match location {
            // The ledger records the function's place in its module, not its name.
            AbortLocation::Module(module) => {
                format!("Execution failed in {module}::#{function} at code offset {code_offset}")
            }
            AbortLocation::Script => format!("Execution failed in script at code offset {code_offset}"),
        },
        ExecutionStatus::MiscellaneousError(code) => miscellaneous(*code),
    }
}

fn abort(location: &AbortLocation, code: u64, info: Option<&AbortInfo>) -> String {
    match (location, info) {
        (AbortLocation::Module(module), Some(info)) => {
            let AbortInfo {
                reason_name,
                description,
            } = info;
            format!("Move abort in {module}: {reason_name}({code:#x}): {description}")
        }
        (AbortLocation::Module(module), None) => format!("Move abort in {module}: {code:#x}"),
        (AbortLocation::Script, _) => format!("Move abort: code {code:#x}"),
    }
}

fn miscellaneous(code: Option<u64>) -> String {
    match code {
        None => "Unknown error".to_owned(),
        Some(code) => match ValidationStatus::from_code(code) {
            Some(status) => status.name().to_owned(),
            None => format!("Status code {code}"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_every_status() {
        let module = || AbortLocation::Module("0x1::coin".parse().unwrap());
        let info = AbortInfo {
            reason_name: "ENAME".to_owned(),
            description: "what it means".to_owned(),
        };
        let abort = |location, info| ExecutionStatus::MoveAbort {
            location,
            code: 0x60012,
            info,
        };
        let failure = |location| ExecutionStatus::ExecutionFailure {
            location,
            function: 3,
            code_offset: 0,
        };
        let cases = [
            (ExecutionStatus::Success, "Executed successfully"),
            (ExecutionStatus::OutOfGas, "Out of gas"),
            (
                abort(module(), Some(info)),
                "Move abort in 0x1::coin: ENAME(0x60012): what it means",
            ),
            (abort(module(), None), "Move abort in 0x1::coin: 0x60012"),
            (abort(AbortLocation::Script, None), "Move abort: code 0x60012"),
            (
                failure(module()),
                "Execution failed in 0x1::coin::#3 at code offset 0",
            ),
            (
                failure(AbortLocation::Script),
                "Execution failed in script at code offset 0",
            ),
            (ExecutionStatus::MiscellaneousError(Some(12)), "UNKNOWN_MODULE"),
            (
                ExecutionStatus::MiscellaneousError(Some(4444)),
                "Status code 4444",
            ),
            (ExecutionStatus::MiscellaneousError(None), "Unknown error"),
        ];
        for (status, words) in cases {
            assert_eq!(vm_status(&status), words);
        }
    }
}
