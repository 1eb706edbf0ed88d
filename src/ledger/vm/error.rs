//! Failures of framework functions. A failed transaction stays in the ledger and pays for gas, but
//! changes nothing else.

use crate::ErrorConstant;
use ledger_types::StateError;

macro_rules! miscellaneous_statuses {
    ($($variant:ident = $code:literal $name:literal,)*) => {
        /// A failure without an abort code that is not in the code of the function.
        ///
        /// A call that does not fit the function has a number of 1000 to 1999, which is the
        /// reference node's class of verification errors. A limit of the execution has a number of
        /// 4000 to 4999. `vm_status` has the names.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[allow(missing_docs, reason = "the names and numbers of the table say all there is")]
        pub enum MiscellaneousStatus { $($variant = $code,)* }

        impl MiscellaneousStatus {
            /// Returns the name of a code in `vm_status`.
            pub fn name_of(code: u64) -> Option<&'static str> {
                match code { $($code => Some($name),)* _ => None }
            }
        }
    };
}

miscellaneous_statuses! {
    InvalidMainFunctionSignature = 1011 "INVALID_MAIN_FUNCTION_SIGNATURE",
    TypeResolutionFailure = 1019 "TYPE_RESOLUTION_FAILURE",
    ConstraintNotSatisfied = 1075 "CONSTRAINT_NOT_SATISFIED",
    NumberOfTypeArgumentsMismatch = 1076 "NUMBER_OF_TYPE_ARGUMENTS_MISMATCH",
    LinkerError = 1081 "LINKER_ERROR",
    FunctionResolutionFailure = 1091 "FUNCTION_RESOLUTION_FAILURE",
    NumberOfArgumentsMismatch = 1098 "NUMBER_OF_ARGUMENTS_MISMATCH",
    FailedToDeserializeArgument = 1100 "FAILED_TO_DESERIALIZE_ARGUMENT",
    NumberOfSignerArgumentsMismatch = 1101 "NUMBER_OF_SIGNER_ARGUMENTS_MISMATCH",
    StorageWriteLimitReached = 4031 "STORAGE_WRITE_LIMIT_REACHED",
}

/// A failure of a call.
#[derive(Debug, Clone)]
pub enum VmError {
    /// A function aborted.
    Abort {
        /// Name of the module that aborted; may contain a placeholder for the vendor word.
        module: &'static str,
        /// Abort code with its name and description.
        error: ErrorConstant,
    },
    /// The transaction needs more gas than its maximum.
    OutOfGas,
    /// The call does not fit the function, or the transaction exceeds a limit.
    Miscellaneous(MiscellaneousStatus),
    /// The function needs a resource that does not exist.
    MissingResource,
    /// The function creates a resource that exists already.
    ResourceExists,
    /// A number does not fit its type.
    Arithmetic,
    /// The state cannot be read. Nothing is committed, and execution stops.
    State(StateError),
}

impl From<MiscellaneousStatus> for VmError {
    fn from(status: MiscellaneousStatus) -> Self {
        Self::Miscellaneous(status)
    }
}

impl From<StateError> for VmError {
    fn from(error: StateError) -> Self {
        Self::State(error)
    }
}

/// Status codes of the other failures, as on the reference node
/// (docs/reference/reference-node.md#r15).
mod code {
    pub(crate) const OUT_OF_GAS: u64 = 4002;
    pub(crate) const RESOURCE_ALREADY_EXISTS: u64 = 4004;
    pub(crate) const MISSING_DATA: u64 = 4008;
    pub(crate) const ABORTED: u64 = 4016;
    pub(crate) const ARITHMETIC_ERROR: u64 = 4017;
}

impl VmError {
    /// Returns the status code of the failure.
    ///
    /// # Errors
    ///
    /// Returns the [`StateError`] if the state could not be read. That failure has no code.
    pub fn code(&self) -> Result<u64, StateError> {
        Ok(match self {
            Self::OutOfGas => code::OUT_OF_GAS,
            Self::ResourceExists => code::RESOURCE_ALREADY_EXISTS,
            Self::MissingResource => code::MISSING_DATA,
            Self::Abort { .. } => code::ABORTED,
            Self::Arithmetic => code::ARITHMETIC_ERROR,
            Self::Miscellaneous(status) => *status as u64,
            Self::State(error) => return Err(error.clone()),
        })
    }

    /// Returns `true` if the failure ends the whole transaction, not only the call: the gas or a
    /// limit of the transaction is exceeded, or the state cannot be read.
    pub fn ends_transaction(&self) -> bool {
        matches!(
            self,
            Self::OutOfGas
                | Self::Miscellaneous(MiscellaneousStatus::StorageWriteLimitReached)
                | Self::State(_)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Category;

    #[test]
    fn returns_the_status_code_of_each_failure() {
        let error = ErrorConstant::new("EWHY", Category::NotFound, 3, "why");
        let abort = VmError::Abort {
            module: "coin",
            error,
        };
        let cases = [
            (abort, 4016),
            (VmError::OutOfGas, 4002),
            (VmError::ResourceExists, 4004),
            (VmError::MissingResource, 4008),
            (VmError::Arithmetic, 4017),
            (MiscellaneousStatus::StorageWriteLimitReached.into(), 4031),
            (MiscellaneousStatus::LinkerError.into(), 1081),
        ];
        for (failure, code) in cases {
            assert_eq!(failure.code().unwrap(), code, "{failure:?}");
        }
        assert!(VmError::State(StateError(String::new())).code().is_err());
    }
}
