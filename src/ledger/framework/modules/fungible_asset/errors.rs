//! Why functions of `0x1::fungible_asset` abort.

use crate::framework::abort::{Category, ErrorConstant};

/// The store is frozen.
pub const ESTORE_IS_FROZEN: ErrorConstant = ErrorConstant::new(
    "ESTORE_IS_FROZEN",
    Category::PermissionDenied,
    3,
    "the store of this asset is frozen",
);
/// More is taken than there is.
pub const EINSUFFICIENT_BALANCE: ErrorConstant = ErrorConstant::new(
    "EINSUFFICIENT_BALANCE",
    Category::InvalidArgument,
    4,
    "the store holds less than the amount",
);
/// There would be more than the asset allows.
pub const EMAX_SUPPLY_EXCEEDED: ErrorConstant = ErrorConstant::new(
    "EMAX_SUPPLY_EXCEEDED",
    Category::OutOfRange,
    5,
    "the supply would exceed the maximum of this asset",
);
/// Who calls does not own the store.
pub const ENOT_STORE_OWNER: ErrorConstant = ErrorConstant::new(
    "ENOT_STORE_OWNER",
    Category::PermissionDenied,
    8,
    "the sender does not own this store",
);
/// The store is for another asset.
pub const EFUNGIBLE_ASSET_AND_STORE_MISMATCH: ErrorConstant = ErrorConstant::new(
    "EFUNGIBLE_ASSET_AND_STORE_MISMATCH",
    Category::InvalidArgument,
    11,
    "the store is for another asset",
);
/// A store is to go that is not empty.
pub const EBALANCE_IS_NOT_ZERO: ErrorConstant = ErrorConstant::new(
    "EBALANCE_IS_NOT_ZERO",
    Category::PermissionDenied,
    14,
    "the store is not empty",
);
/// The name is too long.
pub const ENAME_TOO_LONG: ErrorConstant = ErrorConstant::new(
    "ENAME_TOO_LONG",
    Category::OutOfRange,
    15,
    "the name of an asset has at most 32 bytes",
);
/// The symbol is too long.
pub const ESYMBOL_TOO_LONG: ErrorConstant = ErrorConstant::new(
    "ESYMBOL_TOO_LONG",
    Category::OutOfRange,
    16,
    "the symbol of an asset has at most 32 bytes",
);
/// There are too many decimals.
pub const EDECIMALS_TOO_LARGE: ErrorConstant = ErrorConstant::new(
    "EDECIMALS_TOO_LARGE",
    Category::OutOfRange,
    17,
    "an asset has at most 32 decimal places",
);
/// A URI is too long.
pub const EURI_TOO_LONG: ErrorConstant = ErrorConstant::new(
    "EURI_TOO_LONG",
    Category::OutOfRange,
    19,
    "a URI of an asset has at most 512 bytes",
);
/// The object is no store.
pub const EFUNGIBLE_STORE_EXISTENCE: ErrorConstant = ErrorConstant::new(
    "EFUNGIBLE_STORE_EXISTENCE",
    Category::NotFound,
    23,
    "this object is no store of a fungible asset",
);
/// The object is no asset.
pub const EFUNGIBLE_METADATA_EXISTENCE: ErrorConstant = ErrorConstant::new(
    "EFUNGIBLE_METADATA_EXISTENCE",
    Category::NotFound,
    30,
    "this object is no fungible asset",
);

/// All of them.
pub(super) const ERRORS: &[ErrorConstant] = &[
    ESTORE_IS_FROZEN,
    EINSUFFICIENT_BALANCE,
    EMAX_SUPPLY_EXCEEDED,
    ENOT_STORE_OWNER,
    EFUNGIBLE_ASSET_AND_STORE_MISMATCH,
    EBALANCE_IS_NOT_ZERO,
    ENAME_TOO_LONG,
    ESYMBOL_TOO_LONG,
    EDECIMALS_TOO_LARGE,
    EURI_TOO_LONG,
    EFUNGIBLE_STORE_EXISTENCE,
    EFUNGIBLE_METADATA_EXISTENCE,
];
