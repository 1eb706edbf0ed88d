//! What the node says, as rows of the table.

use super::Problem;
use ledger_actors::{ReadError, SubmitError};

impl From<ReadError> for Problem {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Overloaded { actor } => Self::Overloaded(actor),
            ReadError::Stopping => Self::Stopping,
            ReadError::Unwritable(cause) => Self::Unwritable(cause),
            ReadError::Store(cause) => Self::internal("reading the ledger failed", &cause),
        }
    }
}

impl From<SubmitError> for Problem {
    fn from(error: SubmitError) -> Self {
        match error {
            SubmitError::Invalid(discard) => Self::Refused(discard),
            SubmitError::SequenceNumberTooOld { given, current } => {
                Self::SequenceNumberTooOld { given, current }
            }
            SubmitError::InvalidUpdate(_) | SubmitError::OtherSignature { .. } => {
                Self::InvalidUpdate(error.to_string())
            }
            SubmitError::Full { reason } | SubmitError::AccountFull { reason } => {
                Self::PoolFull(reason)
            }
            SubmitError::Unanswered(error) => error.into(),
        }
    }
}
