//! The body of every error response, and the closed list of its codes (docs/reference/rest-contract.md#s7).

use schemars::JsonSchema;
use serde::Serialize;

// docs/reference/rest-contract.md#s7. The comments of types with a schema are part of the OpenAPI document.
/// The body of every error answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ErrorBody {
    /// What went wrong, for people.
    pub message: String,
    /// What went wrong, for programs.
    pub error_code: ErrorCode,
    // docs/reference/reference-node.md#r14 and docs/reference/reference-node.md#r15. Unlike on the
    // reference node, absent if there is none (docs/interface.md#rule-2).
    /// The number of the validation status that refused a transaction, or of how a view ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vm_error_code: Option<u64>,
}

/// The `error_code` of an answer, the closed list of the interface in its order, which is that of the
/// numbers in BCS. Not all of them can be raised here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the variants are the words of the interface")]
pub enum ErrorCode {
    AccountNotFound,
    ResourceNotFound,
    ModuleNotFound,
    StructFieldNotFound,
    VersionNotFound,
    TransactionNotFound,
    TableItemNotFound,
    BlockNotFound,
    StateValueNotFound,
    VersionPruned,
    BlockPruned,
    InvalidInput,
    InvalidTransactionUpdate,
    SequenceNumberTooOld,
    VmError,
    RejectedByFilter,
    HealthCheckFailed,
    MempoolIsFull,
    InternalError,
    WebFrameworkError,
    BcsNotSupported,
    ApiDisabled,
}

/// The longest `message`, in characters. Some causes repeat what the client sent, which may be as
/// large as its body.
const MESSAGE_CHARS_MAX: usize = 1_000;

/// What stands at the end of a message that was cut.
const CUT_MARK: &str = " ... (cut)";

/// `message`, cut where it is longer than [`MESSAGE_CHARS_MAX`].
pub(super) fn shortened(mut message: String) -> String {
    if let Some((end, _)) = message.char_indices().nth(MESSAGE_CHARS_MAX) {
        message.truncate(end);
        message.push_str(CUT_MARK);
    }
    message
}
