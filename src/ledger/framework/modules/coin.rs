//! `0x1::coin`: stores of coins, with a stream of deposits and one of withdrawals each.
//!
//! The chain's coin lives here too, as one pot of money per account (design section 8).

use super::{account, event::EventHandle, optional_aggregator::OptionalAggregator};
use crate::{
    AccountAddress, TypeTag,
    execute::{Context, Failure},
    framework::{
        abort::{Category, ErrorConstant},
        declare::{ModuleDeclaration, MoveStruct, move_structs},
        function::{Function, Signer},
    },
};

/// A coin is used that was never initialised.
pub const ECOIN_INFO_NOT_PUBLISHED: ErrorConstant = ErrorConstant::new(
    "ECOIN_INFO_NOT_PUBLISHED",
    Category::InvalidArgument,
    3,
    "this type is no coin: it was not initialised",
);
/// More is taken than there is.
pub const EINSUFFICIENT_BALANCE: ErrorConstant = ErrorConstant::new(
    "EINSUFFICIENT_BALANCE",
    Category::InvalidArgument,
    6,
    "the account holds less than the amount",
);
/// A frozen store is used.
pub const EFROZEN: ErrorConstant = ErrorConstant::new(
    "EFROZEN",
    Category::PermissionDenied,
    10,
    "the account's coin store is frozen",
);
/// A store would hold more than fits.
pub const EBALANCE_OVERFLOW: ErrorConstant = ErrorConstant::new(
    "EBALANCE_OVERFLOW",
    Category::OutOfRange,
    30,
    "the recipient's balance would exceed 64 bits",
);

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
        /// How many coins there are.
        supply: Option<OptionalAggregator>,
    }
}

/// Takes `amount` of `coin` from `owner`.
///
/// # Errors
/// `EINSUFFICIENT_BALANCE` also where there is no store, `EFROZEN`.
pub fn withdraw(
    context: &mut Context<'_>,
    owner: AccountAddress,
    coin: &TypeTag,
    amount: u64,
) -> Result<(), Failure> {
    let type_args = std::slice::from_ref(coin);
    let Some(mut store) = context.read_resource::<CoinStore>(owner, type_args)? else {
        return if amount == 0 {
            Ok(())
        } else {
            context.abort("coin", &EINSUFFICIENT_BALANCE)
        };
    };
    if store.frozen {
        return context.abort("coin", &EFROZEN);
    }
    if amount == 0 {
        return Ok(());
    }
    let Some(rest) = store.coin.value.checked_sub(amount) else {
        return context.abort("coin", &EINSUFFICIENT_BALANCE);
    };
    store.coin.value = rest;
    context.emit_to(&mut store.withdraw_events, &WithdrawEvent { amount })?;
    context.write_resource(owner, type_args, &store)
}

/// Gives `amount` of `coin` to `owner`, making account and store where they are missing.
///
/// # Errors
/// `EFROZEN`, `EBALANCE_OVERFLOW`, and `ECANNOT_RESERVED_ADDRESS` where no account can be made.
pub fn deposit(
    context: &mut Context<'_>,
    owner: AccountAddress,
    coin: &TypeTag,
    amount: u64,
) -> Result<(), Failure> {
    let type_args = std::slice::from_ref(coin);
    let mut store = match context.read_resource::<CoinStore>(owner, type_args)? {
        Some(store) if amount == 0 && !store.frozen => return Ok(()),
        Some(store) => store,
        None => new_store(context, owner)?,
    };
    if store.frozen {
        return context.abort("coin", &EFROZEN);
    }
    if amount > 0 {
        let Some(value) = store.coin.value.checked_add(amount) else {
            return context.abort("coin", &EBALANCE_OVERFLOW);
        };
        store.coin.value = value;
        context.emit_to(&mut store.deposit_events, &DepositEvent { amount })?;
    }
    context.write_resource(owner, type_args, &store)
}

/// An empty store for `owner`, with the next two streams of its account.
fn new_store(context: &mut Context<'_>, owner: AccountAddress) -> Result<CoinStore, Failure> {
    if owner.is_reserved() {
        return context.abort("account", &account::ECANNOT_RESERVED_ADDRESS);
    }
    let mut account = account::load(context, owner)?;
    let store = CoinStore {
        coin: Coin { value: 0 },
        frozen: false,
        deposit_events: account.new_event_handle(owner),
        withdraw_events: account.new_event_handle(owner),
    };
    context.write_resource(owner, &[], &account)?;
    Ok(store)
}

/// Moves `amount` of `coin`.
///
/// # Errors
/// `ECOIN_INFO_NOT_PUBLISHED`, and those of [`withdraw`] and [`deposit`].
pub fn transfer_between(
    context: &mut Context<'_>,
    coin: &TypeTag,
    from: AccountAddress,
    to: AccountAddress,
    amount: u64,
) -> Result<(), Failure> {
    ensure_initialised(context, coin)?;
    withdraw(context, from, coin, amount)?;
    deposit(context, to, coin, amount)
}

/// The chain's own coin needs no look-up: genesis initialised it, and its info, whose supply each
/// block changes, must not make all transfers depend on one another.
fn ensure_initialised(context: &mut Context<'_>, coin: &TypeTag) -> Result<(), Failure> {
    if coin == context.native_coin() {
        return Ok(());
    }
    let TypeTag::Struct(tag) = coin else {
        return context.abort("coin", &ECOIN_INFO_NOT_PUBLISHED);
    };
    match context.read_resource::<CoinInfo>(tag.address, std::slice::from_ref(coin))? {
        Some(_) => Ok(()),
        None => context.abort("coin", &ECOIN_INFO_NOT_PUBLISHED),
    }
}

/// The entry function, which `{vendor}_account::transfer_coins` is too.
pub(super) fn transfer(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    from: Signer,
    to: AccountAddress,
    amount: u64,
) -> Result<(), Failure> {
    transfer_between(context, &type_args[0], from.0, to, amount)
}

pub(super) fn module() -> ModuleDeclaration {
    ModuleDeclaration {
        name: "coin",
        structs: vec![
            Coin::declaration(),
            CoinInfo::declaration(),
            CoinStore::declaration(),
            DepositEvent::declaration(),
            WithdrawEvent::declaration(),
        ],
        functions: vec![Function::entry("transfer", transfer).with_type_parameters(&[&[]])],
        errors: &[
            ECOIN_INFO_NOT_PUBLISHED,
            EINSUFFICIENT_BALANCE,
            EFROZEN,
            EBALANCE_OVERFLOW,
        ],
    }
}
