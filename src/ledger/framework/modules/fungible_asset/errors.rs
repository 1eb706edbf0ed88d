//! Abort codes of `0x1::fungible_asset`.

use ledger_vm::abort_codes;

abort_codes! {
    pub(super) const ERRORS;
    pub ESTORE_IS_FROZEN = PermissionDenied 3 "the store of this asset is frozen";
    pub EINSUFFICIENT_BALANCE = InvalidArgument 4 "the store holds less than the amount";
    pub EMAX_SUPPLY_EXCEEDED = OutOfRange 5 "the supply would exceed the maximum of this asset";
    pub ENOT_STORE_OWNER = PermissionDenied 8 "the sender does not own this store";
    pub EFUNGIBLE_ASSET_AND_STORE_MISMATCH = InvalidArgument 11 "the store is for another asset";
    pub EBALANCE_IS_NOT_ZERO = PermissionDenied 14 "the store is not empty";
    pub ENAME_TOO_LONG = OutOfRange 15 "the name of an asset has at most 32 bytes";
    pub ESYMBOL_TOO_LONG = OutOfRange 16 "the symbol of an asset has at most 32 bytes";
    pub EDECIMALS_TOO_LARGE = OutOfRange 17 "an asset has at most 32 decimal places";
    pub EURI_TOO_LONG = OutOfRange 19 "a URI of an asset has at most 512 bytes";
    pub EFUNGIBLE_STORE_EXISTENCE = NotFound 23 "this object is no store of a fungible asset";
    pub EFUNGIBLE_METADATA_EXISTENCE = NotFound 30 "this object is no fungible asset";
}
