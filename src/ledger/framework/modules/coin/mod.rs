//! `0x1::coin`: coin types.
//!
//! A coin and its paired fungible asset are one balance per account: the primary store of the asset
//! holds it (docs/use/interface.md#paired-assets). No coin store exists on this ledger, so the
//! functions that migrate one find nothing to do.

mod info;
mod pairing;
mod store;
mod views;

pub use info::{initialize, supply_of};
pub use pairing::{
    CoinConversionMap, PairCreation, PairedCoinType, PairedFungibleAssetRefs, is_paired,
    paired_coin, paired_metadata, paired_metadata_address, type_info_of, write_genesis,
};
pub use store::{
    balance_of, burn, deposit, mint, set_frozen, transfer_between, transfer_native, withdraw,
};

use super::optional_aggregator::OptionalAggregator;
use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{
    Constraints, Context, EventHandle, Function, ModuleDeclaration, MoveStruct, Signer, VmError,
    abort_codes, cost, move_structs,
};

abort_codes! {
    const ERRORS;
    pub ECOIN_INFO_ADDRESS_MISMATCH = InvalidArgument 1
        "only the account at the address of a coin's type can initialise the coin";
    pub ECOIN_INFO_ALREADY_PUBLISHED = AlreadyExists 2 "this coin is initialised already";
    pub ECOIN_INFO_NOT_PUBLISHED = InvalidArgument 3 "this type is no coin: it was not initialised";
    pub ECOIN_SUPPLY_UPGRADE_NOT_SUPPORTED = InvalidState 11
        "the supply of a coin is no longer upgraded";
    pub ECOIN_NAME_TOO_LONG = InvalidArgument 12 "the name of a coin has at most 32 bytes";
    pub ECOIN_SYMBOL_TOO_LONG = InvalidArgument 13 "the symbol of a coin has at most 32 bytes";
    pub ECOIN_DECIMALS_TOO_LARGE = InvalidArgument 29 "a coin has at most 32 decimal places";
}

/// Maximum length of a coin's name, in bytes (`MAX_COIN_NAME_LENGTH` of the reference node).
pub const NAME_BYTES_MAX: usize = 32;
/// Maximum length of a coin's symbol, in bytes (`MAX_COIN_SYMBOL_LENGTH` of the reference node).
pub const SYMBOL_BYTES_MAX: usize = 32;
/// Maximum number of decimal places of a coin (`MAX_DECIMALS` of the reference node).
pub const DECIMALS_MAX: u8 = 32;

/// Name of this module in aborts.
const MODULE: &str = "coin";

/// Constraints of a function with one type parameter, a coin type that needs no ability.
pub(super) const COIN_TYPE: &[Constraints] = &[&[]];

move_structs! {
    module "coin";

    /// An amount of a coin.
    Coin as "Coin" has ["store"] phantom 1 {
        /// Amount in the coin's smallest unit.
        value: u64,
    }

    /// Event emitted when coins are deposited into a store.
    DepositEvent as "DepositEvent" has ["drop", "store"] {
        /// Amount in the coin's smallest unit.
        amount: u64,
    }

    /// Event emitted when coins are withdrawn from a store.
    WithdrawEvent as "WithdrawEvent" has ["drop", "store"] {
        /// Amount in the coin's smallest unit.
        amount: u64,
    }

    /// Former store of an account for one coin. No function creates one.
    CoinStore as "CoinStore" has ["key"] phantom 1 {
        /// Balance of the store.
        coin: Coin,
        /// `true` if the store rejects deposits and withdrawals.
        frozen: bool,
        /// Stream of deposit events.
        deposit_events: EventHandle<DepositEvent>,
        /// Stream of withdraw events.
        withdraw_events: EventHandle<WithdrawEvent>,
    }

    /// Metadata and supply of a coin.
    CoinInfo as "CoinInfo" has ["key"] phantom 1 {
        /// Name of the coin.
        name: String,
        /// Symbol of the coin.
        symbol: String,
        /// Number of decimal places between the displayed unit and the smallest unit.
        decimals: u8,
        /// Supply in the coin's smallest unit, or `None` if it is not tracked.
        supply: Option<OptionalAggregator>,
    }

    /// The right to mint a coin.
    MintCapability as "MintCapability" has ["copy", "store"] phantom 1 {
        /// Hidden byte of a struct without fields.
        dummy_field: bool,
    }

    /// The right to freeze stores of a coin.
    FreezeCapability as "FreezeCapability" has ["copy", "store"] phantom 1 {
        /// Hidden byte of a struct without fields.
        dummy_field: bool,
    }

    /// The right to burn a coin.
    BurnCapability as "BurnCapability" has ["copy", "store"] phantom 1 {
        /// Hidden byte of a struct without fields.
        dummy_field: bool,
    }
}

/// Transfers coins of the caller.
fn transfer(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    from: Signer,
    to: AccountAddress,
    amount: u64,
) -> Result<(), VmError> {
    transfer_between(context, &type_args[0], from.0, to, amount)
}

/// Checks that the coin is initialized. `managed_coin::register` is the same function.
///
/// Every account can receive every coin, so there is nothing to register.
pub(super) fn register(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    _: Signer,
) -> Result<(), VmError> {
    info::ensure_initialized(context, &type_args[0])
}

/// Does nothing, because the caller has no coin store.
fn migrate_to_fungible_store(_: &mut Context<'_>, _: &[TypeTag], _: Signer) -> Result<(), VmError> {
    Ok(())
}

/// Does nothing, because the accounts have no coin stores.
#[expect(clippy::needless_pass_by_value, reason = "arguments come by value")]
fn migrate_coin_store_to_fungible_store(
    context: &mut Context<'_>,
    _: &[TypeTag],
    accounts: Vec<AccountAddress>,
) -> Result<(), VmError> {
    context.charge(cost::STEP.saturating_mul(accounts.len() as u64))
}

/// Aborts with `ECOIN_SUPPLY_UPGRADE_NOT_SUPPORTED`.
fn upgrade_supply(context: &mut Context<'_>, _: &[TypeTag], _: Signer) -> Result<(), VmError> {
    context.abort(MODULE, &ECOIN_SUPPLY_UPGRADE_NOT_SUPPORTED)
}

pub(super) fn module() -> ModuleDeclaration {
    let mut functions = vec![
        Function::entry(
            "migrate_coin_store_to_fungible_store",
            migrate_coin_store_to_fungible_store,
        )
        .with_type_parameters(COIN_TYPE),
        Function::entry("migrate_to_fungible_store", migrate_to_fungible_store)
            .with_type_parameters(COIN_TYPE),
        Function::entry("register", register).with_type_parameters(COIN_TYPE),
        Function::entry("transfer", transfer).with_type_parameters(COIN_TYPE),
        Function::entry("upgrade_supply", upgrade_supply).with_type_parameters(COIN_TYPE),
    ];
    functions.extend(views::functions());
    ModuleDeclaration {
        name: MODULE,
        structs: vec![
            BurnCapability::declaration(),
            Coin::declaration(),
            CoinConversionMap::declaration(),
            CoinInfo::declaration(),
            CoinStore::declaration(),
            DepositEvent::declaration(),
            FreezeCapability::declaration(),
            MintCapability::declaration(),
            PairCreation::declaration(),
            PairedCoinType::declaration(),
            PairedFungibleAssetRefs::declaration(),
            WithdrawEvent::declaration(),
        ],
        functions,
        errors: ERRORS,
    }
}
