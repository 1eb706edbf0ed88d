//! `0x1::coin`: stores of coins, with a stream of deposits and one of withdrawals each, and what a coin
//! is. A coin and its paired fungible asset are one balance per account (docs/interface.md#rule-11): it lies
//! in the coin store, and everything that names the asset comes here.

mod info;
mod pairing;
mod store;
mod views;

pub use info::{burn, initialize, mint, supply_of};
pub use pairing::write_genesis;
pub use pairing::{
    PairCreation, PairedCoinType, paired_coin, paired_metadata_address, type_info_of,
};
pub use store::{
    balance_of, deposit, ensure_store, has_store, is_frozen, set_frozen, transfer_between, withdraw,
};

use super::optional_aggregator::OptionalAggregator;
use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{
    Constraints, Context, EventHandle, Function, ModuleDeclaration, MoveStruct, Signer, VmError,
    abort_codes, move_structs,
};

abort_codes! {
    const ERRORS;
    pub ECOIN_INFO_ADDRESS_MISMATCH = InvalidArgument 1
        "only the account at the address of a coin's type can initialise the coin";
    pub ECOIN_INFO_ALREADY_PUBLISHED = AlreadyExists 2 "this coin is initialised already";
    pub ECOIN_INFO_NOT_PUBLISHED = InvalidArgument 3 "this type is no coin: it was not initialised";
    pub EINSUFFICIENT_BALANCE = InvalidArgument 6 "the account holds less than the amount";
    pub EFROZEN = PermissionDenied 10 "the account's coin store is frozen";
    pub ECOIN_NAME_TOO_LONG = InvalidArgument 12 "the name of a coin has at most 32 bytes";
    pub ECOIN_SYMBOL_TOO_LONG = InvalidArgument 13 "the symbol of a coin has at most 32 bytes";
    pub ECOIN_DECIMALS_TOO_LARGE = InvalidArgument 29 "a coin has at most 32 decimal places";
    pub EBALANCE_OVERFLOW = OutOfRange 30 "the recipient's balance would exceed 64 bits";
}

/// The longest name of a coin, in bytes (the reference's `MAX_COIN_NAME_LENGTH`).
pub const NAME_BYTES_MAX: usize = 32;
/// The longest symbol of a coin, in bytes (the reference's `MAX_COIN_SYMBOL_LENGTH`).
pub const SYMBOL_BYTES_MAX: usize = 32;
/// The most decimal places of a coin (the reference's `MAX_DECIMALS`).
pub const DECIMALS_MAX: u8 = 32;

/// The module's own name, for aborts.
const MODULE: &str = "coin";

/// One type parameter that asks for no ability: the type of a coin.
pub(super) const COIN_TYPE: &[Constraints] = &[&[]];

move_structs! {
    module "coin";

    /// An amount of a coin.
    Coin as "Coin" has ["store"] phantom 1 {
        /// In the coin's smallest unit.
        value: u64,
    }

    /// Coins were put into a store.
    DepositEvent as "DepositEvent" has ["drop", "store"] {
        /// How many, in the smallest unit.
        amount: u64,
    }

    /// Coins were taken from a store.
    WithdrawEvent as "WithdrawEvent" has ["drop", "store"] {
        /// How many, in the smallest unit.
        amount: u64,
    }

    /// The coins of an account.
    CoinStore as "CoinStore" has ["key"] phantom 1 {
        /// The coins.
        coin: Coin,
        /// Whether nothing may come or go.
        frozen: bool,
        /// What came.
        deposit_events: EventHandle<DepositEvent>,
        /// What went.
        withdraw_events: EventHandle<WithdrawEvent>,
    }

    /// What a coin is.
    CoinInfo as "CoinInfo" has ["key"] phantom 1 {
        /// Its name.
        name: String,
        /// Its symbol.
        symbol: String,
        /// Decimal places between the shown and the smallest unit.
        decimals: u8,
        /// How many coins there are; none where nobody counts.
        supply: Option<OptionalAggregator>,
    }

    /// The right to make coins.
    MintCapability as "MintCapability" has ["copy", "store"] phantom 1 {
        /// A struct without fields has one hidden byte.
        dummy_field: bool,
    }

    /// The right to freeze stores of a coin.
    FreezeCapability as "FreezeCapability" has ["copy", "store"] phantom 1 {
        /// A struct without fields has one hidden byte.
        dummy_field: bool,
    }

    /// The right to burn coins.
    BurnCapability as "BurnCapability" has ["copy", "store"] phantom 1 {
        /// A struct without fields has one hidden byte.
        dummy_field: bool,
    }
}

/// The entry function: moves coins of the caller.
fn transfer(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    from: Signer,
    to: AccountAddress,
    amount: u64,
) -> Result<(), VmError> {
    transfer_between(context, &type_args[0], from.0, to, amount)
}

/// The entry function, which `managed_coin::register` is too: makes the caller's store.
pub(super) fn register(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    account: Signer,
) -> Result<(), VmError> {
    ensure_store(context, account.0, &type_args[0])
}

pub(super) fn module() -> ModuleDeclaration {
    let mut functions = vec![
        Function::entry("register", register).with_type_parameters(COIN_TYPE),
        Function::entry("transfer", transfer).with_type_parameters(COIN_TYPE),
    ];
    functions.extend(views::functions());
    ModuleDeclaration {
        name: MODULE,
        structs: vec![
            BurnCapability::declaration(),
            Coin::declaration(),
            CoinInfo::declaration(),
            CoinStore::declaration(),
            DepositEvent::declaration(),
            FreezeCapability::declaration(),
            MintCapability::declaration(),
            PairCreation::declaration(),
            PairedCoinType::declaration(),
            WithdrawEvent::declaration(),
        ],
        functions,
        errors: ERRORS,
    }
}
