//! Errors of the node, as rows of the table.

use super::ErrorKind;
use ledger_actors::{NodeError, SubmitError};

impl From<NodeError> for ErrorKind {
    fn from(error: NodeError) -> Self {
        match error {
            NodeError::Overloaded(overload) => Self::Overloaded(overload),
            NodeError::NotApplied => Self::NotApplied,
            NodeError::Unresolved => Self::Unresolved,
            NodeError::Stopping => Self::Stopping,
            NodeError::NotWritable(cause) => Self::Unwritable(cause),
            NodeError::Store(cause) => Self::internal("reading the ledger failed", &cause),
        }
    }
}

impl From<SubmitError> for ErrorKind {
    fn from(error: SubmitError) -> Self {
        match error {
            SubmitError::Invalid(discard) => Self::Refused(discard),
            SubmitError::SequenceNumberTooOld {
                given,
                current,
                used_by,
            } => Self::SequenceNumberTooOld {
                given,
                current,
                used_by,
            },
            SubmitError::InvalidUpdate(_) | SubmitError::OtherSignature { .. } => {
                Self::InvalidUpdate(error.to_string())
            }
            SubmitError::Full { reason } | SubmitError::AccountFull { reason } => {
                Self::PoolFull(reason)
            }
            SubmitError::Node(error) => error.into(),
        }
    }
}
