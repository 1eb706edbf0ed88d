//! Abort codes of multisig accounts. If the prologue aborts with a reason above 2000, the
//! transaction gets a validation status instead (docs/reference/framework.md#f11).

use crate::framework::abort::{Category, ErrorConstant};

/// An owner is given twice.
pub const EDUPLICATE_OWNER: ErrorConstant = ErrorConstant::new(
    "EDUPLICATE_OWNER",
    Category::InvalidArgument,
    1,
    "an account is named twice among the owners",
);
/// A transaction without a payload is proposed.
pub const EPAYLOAD_CANNOT_BE_EMPTY: ErrorConstant = ErrorConstant::new(
    "EPAYLOAD_CANNOT_BE_EMPTY",
    Category::InvalidArgument,
    4,
    "a proposed transaction needs a payload",
);
/// Fewer owners would be left than signatures are required.
pub const ENOT_ENOUGH_OWNERS: ErrorConstant = ErrorConstant::new(
    "ENOT_ENOUGH_OWNERS",
    Category::InvalidState,
    5,
    "there would be fewer owners than required signatures",
);
/// A transaction is to be dropped that too few owners reject.
pub const ENOT_ENOUGH_REJECTIONS: ErrorConstant = ErrorConstant::new(
    "ENOT_ENOUGH_REJECTIONS",
    Category::InvalidState,
    10,
    "too few owners have rejected the transaction",
);
/// The number of required signatures is zero or above the number of owners.
pub const EINVALID_SIGNATURES_REQUIRED: ErrorConstant = ErrorConstant::new(
    "EINVALID_SIGNATURES_REQUIRED",
    Category::InvalidArgument,
    11,
    "the number of required signatures must be at least 1 and at most the number of owners",
);
/// What is given as a hash has another length.
pub const EINVALID_PAYLOAD_HASH: ErrorConstant = ErrorConstant::new(
    "EINVALID_PAYLOAD_HASH",
    Category::InvalidArgument,
    12,
    "the hash of a payload has 32 bytes",
);
/// The account is to be an owner of itself.
pub const EOWNER_CANNOT_BE_MULTISIG_ACCOUNT_ITSELF: ErrorConstant = ErrorConstant::new(
    "EOWNER_CANNOT_BE_MULTISIG_ACCOUNT_ITSELF",
    Category::InvalidArgument,
    13,
    "a multisig account cannot own itself",
);
/// Keys and values of metadata are not pairs.
pub const ENUMBER_OF_METADATA_KEYS_AND_VALUES_DONT_MATCH: ErrorConstant = ErrorConstant::new(
    "ENUMBER_OF_METADATA_KEYS_AND_VALUES_DONT_MATCH",
    Category::InvalidArgument,
    15,
    "there must be as many metadata values as keys",
);
/// A key of metadata is given twice.
pub const EDUPLICATE_METADATA_KEY: ErrorConstant = ErrorConstant::new(
    "EDUPLICATE_METADATA_KEY",
    Category::InvalidArgument,
    16,
    "a metadata key is given twice",
);
/// A number is given that no transaction had, or that was resolved already.
pub const EINVALID_SEQUENCE_NUMBER: ErrorConstant = ErrorConstant::new(
    "EINVALID_SEQUENCE_NUMBER",
    Category::InvalidArgument,
    17,
    "no transaction of the multisig account that fits has this number",
);
/// An account is to become and to cease to be an owner at once.
pub const EOWNERS_TO_REMOVE_NEW_OWNERS_OVERLAP: ErrorConstant = ErrorConstant::new(
    "EOWNERS_TO_REMOVE_NEW_OWNERS_OVERLAP",
    Category::InvalidArgument,
    18,
    "an account is both to be added to and removed from the owners",
);
/// As many transactions wait as may.
pub const EMAX_PENDING_TRANSACTIONS_EXCEEDED: ErrorConstant = ErrorConstant::new(
    "EMAX_PENDING_TRANSACTIONS_EXCEEDED",
    Category::InvalidState,
    19,
    "the multisig account has as many pending transactions as it may have",
);
/// More owners than [`super::OWNERS_MAX`]; the reference has no such limit.
pub const ETOO_MANY_OWNERS: ErrorConstant = ErrorConstant::new(
    "ETOO_MANY_OWNERS",
    Category::InvalidArgument,
    101,
    "a multisig account has at most 100 owners",
);
/// More pairs of metadata than [`super::METADATA_PAIRS_MAX`]; the reference has no such limit.
pub const ETOO_MANY_METADATA_PAIRS: ErrorConstant = ErrorConstant::new(
    "ETOO_MANY_METADATA_PAIRS",
    Category::InvalidArgument,
    102,
    "a multisig account has at most 100 pairs of metadata",
);
/// More bytes of metadata than [`super::METADATA_BYTES_MAX`]; the reference has no such limit.
pub const EMETADATA_TOO_LONG: ErrorConstant = ErrorConstant::new(
    "EMETADATA_TOO_LONG",
    Category::InvalidArgument,
    103,
    "the metadata of a multisig account have at most 4096 bytes in all",
);
/// There is no multisig account at the address.
pub const EACCOUNT_NOT_MULTISIG: ErrorConstant = ErrorConstant::new(
    "EACCOUNT_NOT_MULTISIG",
    Category::InvalidState,
    2002,
    "the account is not a multisig account",
);
/// The caller is not an owner.
pub const ENOT_OWNER: ErrorConstant = ErrorConstant::new(
    "ENOT_OWNER",
    Category::PermissionDenied,
    2003,
    "the account is not an owner of the multisig account",
);
/// No transaction waits under the number.
pub const ETRANSACTION_NOT_FOUND: ErrorConstant = ErrorConstant::new(
    "ETRANSACTION_NOT_FOUND",
    Category::NotFound,
    2006,
    "the multisig account has no pending transaction with this number",
);
/// The payload is not the one whose hash was proposed.
pub const EPAYLOAD_DOES_NOT_MATCH_HASH: ErrorConstant = ErrorConstant::new(
    "EPAYLOAD_DOES_NOT_MATCH_HASH",
    Category::InvalidArgument,
    2008,
    "the payload does not have the proposed hash",
);
/// Too few owners have approved.
pub const ENOT_ENOUGH_APPROVALS: ErrorConstant = ErrorConstant::new(
    "ENOT_ENOUGH_APPROVALS",
    Category::InvalidArgument,
    2009,
    "too few owners have approved the transaction",
);
/// The payload is not the one that was proposed.
pub const EPAYLOAD_DOES_NOT_MATCH: ErrorConstant = ErrorConstant::new(
    "EPAYLOAD_DOES_NOT_MATCH",
    Category::InvalidArgument,
    2010,
    "the payload is not the proposed one",
);

/// All of them, for the declaration of the module.
pub(super) const ALL_ERRORS: &[ErrorConstant] = &[
    EDUPLICATE_OWNER,
    EPAYLOAD_CANNOT_BE_EMPTY,
    ENOT_ENOUGH_OWNERS,
    ENOT_ENOUGH_REJECTIONS,
    EINVALID_SIGNATURES_REQUIRED,
    EINVALID_PAYLOAD_HASH,
    EOWNER_CANNOT_BE_MULTISIG_ACCOUNT_ITSELF,
    ENUMBER_OF_METADATA_KEYS_AND_VALUES_DONT_MATCH,
    EDUPLICATE_METADATA_KEY,
    EINVALID_SEQUENCE_NUMBER,
    EOWNERS_TO_REMOVE_NEW_OWNERS_OVERLAP,
    EMAX_PENDING_TRANSACTIONS_EXCEEDED,
    ETOO_MANY_OWNERS,
    ETOO_MANY_METADATA_PAIRS,
    EMETADATA_TOO_LONG,
    EACCOUNT_NOT_MULTISIG,
    ENOT_OWNER,
    ETRANSACTION_NOT_FOUND,
    EPAYLOAD_DOES_NOT_MATCH_HASH,
    ENOT_ENOUGH_APPROVALS,
    EPAYLOAD_DOES_NOT_MATCH,
];
