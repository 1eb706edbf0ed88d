//! Why functions of accounts refuse; codes and names are the reference's.

use crate::framework::abort::{Category, ErrorConstant};

macro_rules! errors {
    ($($(#[$doc:meta])* $name:ident = $category:ident $reason:literal $description:literal;)*) => {
        $($(#[$doc])*
        pub const $name: ErrorConstant =
            ErrorConstant::new(stringify!($name), Category::$category, $reason, $description);)*
    };
}

errors! {
    /// An account is to be created where there is one.
    EACCOUNT_ALREADY_EXISTS = AlreadyExists 1 "there is an account at this address";
    /// An authentication key does not have 32 bytes.
    EMALFORMED_AUTHENTICATION_KEY = InvalidArgument 4 "an authentication key has 32 bytes";
    /// An address of the framework cannot be an account.
    ECANNOT_RESERVED_ADDRESS = InvalidArgument 5 "this address is reserved for the framework";
    /// The public key given is not the account's.
    EWRONG_CURRENT_PUBLIC_KEY = Unauthenticated 7 "the public key is not the account's current one";
    /// A signature does not hold over the challenge.
    EINVALID_PROOF_OF_KNOWLEDGE = InvalidArgument 8 "the signature does not hold over the challenge";
    /// A proof is offered with a kind of key that cannot give one.
    EINVALID_SCHEME = InvalidArgument 12 "proofs are signed with scheme 0 (ed25519) or 1 (multi-ed25519)";
    /// The table of originating addresses names another account for the current key.
    EINVALID_ORIGINATING_ADDRESS = NotFound 13 "the current key is recorded for another account";
    /// The right to sign is not offered to that address.
    ENO_SUCH_SIGNER_CAPABILITY = NotFound 14 "the right to sign is not offered to this address";
    /// The resource account was created before.
    ERESOURCE_ACCCOUNT_EXISTS = AlreadyExists 15 "there is a resource account of this creator and seed";
    /// The address of the resource account has sent transactions of its own.
    EACCOUNT_ALREADY_USED = InvalidState 16 "the account at this address has sent transactions";
    /// The account whose key is to be changed was never written.
    EOFFERER_ADDRESS_DOES_NOT_EXIST = NotFound 17 "there is no account at the offerer's address";
    /// The right to change the key is not offered to that address.
    ENO_SUCH_ROTATION_CAPABILITY_OFFER = NotFound 18 "the right to change the key is not offered to this address";
    /// Nobody is offered the right that a view asks for.
    ENO_SIGNER_CAPABILITY_OFFERED = NotFound 19 "the right is offered to nobody";
    /// The new key is recorded for an account.
    ENEW_AUTH_KEY_ALREADY_MAPPED = InvalidArgument 21 "the new key is recorded for an account";
    /// The new key is the current one.
    ENEW_AUTH_KEY_SAME_AS_CURRENT = InvalidArgument 22 "the new key is the current one";
    /// There is no kind of key with that number.
    EUNRECOGNIZED_SCHEME = InvalidArgument 24 "schemes are 0 (ed25519), 1 (multi-ed25519), 2 (single key), 3 (multi key)";
    /// The reference refuses the function for good.
    ESET_ORIGINATING_ADDRESS_DISABLED = InvalidState 27 "originating addresses are set by proven rotations alone";
}

/// The same refusal where a right is offered: there the reference calls it an argument that does not fit.
pub const EWRONG_PUBLIC_KEY_FOR_MESSAGE: ErrorConstant =
    EWRONG_CURRENT_PUBLIC_KEY.with_category(Category::InvalidArgument);

/// All of them.
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
