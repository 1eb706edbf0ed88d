//! Abort codes of multisig accounts.
//!
//! If the prologue aborts with a reason above 2000, the transaction gets a validation status
//! instead (docs/reference/framework.md#f11).

use ledger_vm::abort_codes;

abort_codes! {
    pub(super) const ALL_ERRORS;
    pub EDUPLICATE_OWNER = InvalidArgument 1 "an account is named twice among the owners";
    pub EPAYLOAD_CANNOT_BE_EMPTY = InvalidArgument 4 "a proposed transaction needs a payload";
    pub ENOT_ENOUGH_OWNERS = InvalidState 5 "there would be fewer owners than required signatures";
    pub ENOT_ENOUGH_REJECTIONS = InvalidState 10 "too few owners have rejected the transaction";
    pub EINVALID_SIGNATURES_REQUIRED = InvalidArgument 11
        "the number of required signatures must be at least 1 and at most the number of owners";
    pub EINVALID_PAYLOAD_HASH = InvalidArgument 12 "the hash of a payload has 32 bytes";
    pub EOWNER_CANNOT_BE_MULTISIG_ACCOUNT_ITSELF = InvalidArgument 13
        "a multisig account cannot own itself";
    pub ENUMBER_OF_METADATA_KEYS_AND_VALUES_DONT_MATCH = InvalidArgument 15
        "there must be as many metadata values as keys";
    pub EDUPLICATE_METADATA_KEY = InvalidArgument 16 "a metadata key is given twice";
    pub EINVALID_SEQUENCE_NUMBER = InvalidArgument 17
        "no transaction of the multisig account that fits has this number";
    pub EOWNERS_TO_REMOVE_NEW_OWNERS_OVERLAP = InvalidArgument 18
        "an account is both to be added to and removed from the owners";
    pub EMAX_PENDING_TRANSACTIONS_EXCEEDED = InvalidState 19
        "the multisig account has as many pending transactions as it may have";
    pub ETOO_MANY_OWNERS = InvalidArgument 101 "a multisig account has at most 100 owners";
    pub ETOO_MANY_METADATA_PAIRS = InvalidArgument 102
        "a multisig account has at most 100 pairs of metadata";
    pub EMETADATA_TOO_LONG = InvalidArgument 103
        "the metadata of a multisig account have at most 4096 bytes in all";
    pub EACCOUNT_NOT_MULTISIG = InvalidState 2002 "the account is not a multisig account";
    pub ENOT_OWNER = PermissionDenied 2003 "the account is not an owner of the multisig account";
    pub ETRANSACTION_NOT_FOUND = NotFound 2006
        "the multisig account has no pending transaction with this number";
    pub EPAYLOAD_DOES_NOT_MATCH_HASH = InvalidArgument 2008
        "the payload does not have the proposed hash";
    pub ENOT_ENOUGH_APPROVALS = InvalidArgument 2009 "too few owners have approved the transaction";
    pub EPAYLOAD_DOES_NOT_MATCH = InvalidArgument 2010 "the payload is not the proposed one";
}
