//! The body of every error response, and the closed list of its codes
//! (docs/reference/rest-contract.md#s7).

use schemars::JsonSchema;
use serde::Serialize;

// The comments of types with a schema are part of the OpenAPI document.
/// The body of every error response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ErrorBody {
    /// Description of the error, for people.
    pub message: String,
    /// Code of the error, for programs.
    pub error_code: ErrorCode,
    // docs/reference/reference-node.md#r14 and docs/reference/reference-node.md#r15. Unlike on the
    // reference node, absent if there is none (docs/use/interface.md#absent-members).
    /// Number of the validation status that rejected the transaction, or of the status of a failed
    /// view.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vm_error_code: Option<u64>,
}

/// The `error_code` of an error. The list is closed and in the order of the numbers in BCS. Some
/// codes never occur on this node.
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

/// Maximum length of a `message`, in characters. Some causes repeat a part of the request, which
/// may be as long as its body.
const MESSAGE_CHARS_MAX: usize = 1_000;

/// End of a message that was cut.
const CUT_MARK: &str = " ... (cut)";

/// Cuts a message to [`MESSAGE_CHARS_MAX`] characters.
pub(super) fn shortened(mut message: String) -> String {
    if let Some((end, _)) = message.char_indices().nth(MESSAGE_CHARS_MAX) {
        message.truncate(end);
        message.push_str(CUT_MARK);
    }
    message
}
