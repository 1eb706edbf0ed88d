//! Abort codes of `0x1::account`, with the codes and names of the reference node.

use ledger_vm::{Category, ErrorConstant, abort_codes};

abort_codes! {
    pub EACCOUNT_ALREADY_EXISTS = AlreadyExists 1 "there is an account at this address";
    pub EMALFORMED_AUTHENTICATION_KEY = InvalidArgument 4 "an authentication key has 32 bytes";
    pub ECANNOT_RESERVED_ADDRESS = InvalidArgument 5 "this address is reserved for the framework";
    pub EWRONG_CURRENT_PUBLIC_KEY = Unauthenticated 7
        "the public key is not the account's current one";
    pub EINVALID_PROOF_OF_KNOWLEDGE = InvalidArgument 8
        "the signature does not hold over the challenge";
    pub EINVALID_SCHEME = InvalidArgument 12
        "proofs are signed with scheme 0 (ed25519) or 1 (multi-ed25519)";
    pub EINVALID_ORIGINATING_ADDRESS = NotFound 13
        "the current key is recorded for another account";
    pub ENO_SUCH_SIGNER_CAPABILITY = NotFound 14 "the right to sign is not offered to this address";
    pub ERESOURCE_ACCCOUNT_EXISTS = AlreadyExists 15
        "there is a resource account of this creator and seed";
    pub EACCOUNT_ALREADY_USED = InvalidState 16 "the account at this address has sent transactions";
    pub EOFFERER_ADDRESS_DOES_NOT_EXIST = NotFound 17
        "there is no account at the offerer's address";
    pub ENO_SUCH_ROTATION_CAPABILITY_OFFER = NotFound 18
        "the right to change the key is not offered to this address";
    pub ENO_SIGNER_CAPABILITY_OFFERED = NotFound 19 "the right is offered to nobody";
    pub ENEW_AUTH_KEY_ALREADY_MAPPED = InvalidArgument 21 "the new key is recorded for an account";
    pub ENEW_AUTH_KEY_SAME_AS_CURRENT = InvalidArgument 22 "the new key is the current one";
    pub EUNRECOGNIZED_SCHEME = InvalidArgument 24
        "schemes are 0 (ed25519), 1 (multi-ed25519), 2 (single key), 3 (multi key)";
    pub ESET_ORIGINATING_ADDRESS_DISABLED = InvalidState 27
        "originating addresses are set by proven rotations alone";
}

/// [`EWRONG_CURRENT_PUBLIC_KEY`] with the category `InvalidArgument`.
///
/// Offers of capabilities abort with it, because the reference node uses this category for them.
pub const EWRONG_PUBLIC_KEY_FOR_MESSAGE: ErrorConstant =
    EWRONG_CURRENT_PUBLIC_KEY.with_category(Category::InvalidArgument);

/// All abort codes of `0x1::account`.
pub(super) const ALL: &[ErrorConstant] = &[
    EACCOUNT_ALREADY_EXISTS,
    EMALFORMED_AUTHENTICATION_KEY,
    ECANNOT_RESERVED_ADDRESS,
    EWRONG_CURRENT_PUBLIC_KEY,
    EWRONG_PUBLIC_KEY_FOR_MESSAGE,
    EINVALID_PROOF_OF_KNOWLEDGE,
    EINVALID_SCHEME,
    EINVALID_ORIGINATING_ADDRESS,
    ENO_SUCH_SIGNER_CAPABILITY,
    ERESOURCE_ACCCOUNT_EXISTS,
    EACCOUNT_ALREADY_USED,
    EOFFERER_ADDRESS_DOES_NOT_EXIST,
    ENO_SUCH_ROTATION_CAPABILITY_OFFER,
    ENO_SIGNER_CAPABILITY_OFFERED,
    ENEW_AUTH_KEY_ALREADY_MAPPED,
    ENEW_AUTH_KEY_SAME_AS_CURRENT,
    EUNRECOGNIZED_SCHEME,
    ESET_ORIGINATING_ADDRESS_DISABLED,
];
