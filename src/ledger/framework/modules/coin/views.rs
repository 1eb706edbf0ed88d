//! View functions of coins, with the signatures of the reference node.

use super::{
    COIN_TYPE, CoinInfo, CoinStore, PairedFungibleAssetRefs, balance_of,
    info::{self, ensure_initialized, is_initialized, supply_outside_stores},
    supply_of, type_info_of,
};
use crate::modules::{
    fungible_asset::Metadata,
    object::Object,
    type_info::{TypeInfo, ensure_struct},
};
use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{Context, Function, VmError};

/// Returns the type of the coin.
///
/// # Errors
///
/// Aborts with `E_NATIVE_FUN_NOT_AVAILABLE` if it is no struct, as on the reference node. Entry
/// functions treat such a type as a coin that is not initialized.
fn coin_type(type_args: &[TypeTag]) -> Result<&TypeTag, VmError> {
    ensure_struct(&type_args[0])?;
    Ok(&type_args[0])
}

fn balance(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    owner: AccountAddress,
) -> Result<u64, VmError> {
    balance_of(context, owner, coin_type(type_args)?)
}

fn is_balance_at_least(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    owner: AccountAddress,
    amount: u64,
) -> Result<bool, VmError> {
    Ok(balance_of(context, owner, coin_type(type_args)?)? >= amount)
}

fn is_coin_initialized(context: &mut Context<'_>, type_args: &[TypeTag]) -> Result<bool, VmError> {
    is_initialized(context, coin_type(type_args)?)
}

/// Returns `true` if the coin store of `owner` is frozen.
///
/// No function creates coin stores any more. `primary_fungible_store::is_frozen` returns whether
/// the store that holds the coin is frozen.
///
/// # Errors
///
/// Returns [`VmError::MissingResource`] without a coin store, as on the reference node.
fn is_coin_store_frozen(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    owner: AccountAddress,
) -> Result<bool, VmError> {
    let store: CoinStore = context.require_resource(owner, type_args)?;
    Ok(store.frozen)
}

/// Returns `true`: every account can receive the coin.
///
/// # Errors
///
/// Aborts with `ECOIN_INFO_NOT_PUBLISHED` if the coin is not initialized.
fn is_account_registered(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    _: AccountAddress,
) -> Result<bool, VmError> {
    ensure_initialized(context, coin_type(type_args)?)?;
    Ok(true)
}

fn require_info(context: &mut Context<'_>, type_args: &[TypeTag]) -> Result<CoinInfo, VmError> {
    info::read(context, coin_type(type_args)?)?.ok_or(VmError::MissingResource)
}

fn name(context: &mut Context<'_>, type_args: &[TypeTag]) -> Result<String, VmError> {
    Ok(require_info(context, type_args)?.name)
}

fn symbol(context: &mut Context<'_>, type_args: &[TypeTag]) -> Result<String, VmError> {
    Ok(require_info(context, type_args)?.symbol)
}

fn decimals(context: &mut Context<'_>, type_args: &[TypeTag]) -> Result<u8, VmError> {
    Ok(require_info(context, type_args)?.decimals)
}

/// Returns the supply of the coin, which includes that of its paired asset.
fn supply(context: &mut Context<'_>, type_args: &[TypeTag]) -> Result<Option<u128>, VmError> {
    supply_of(context, coin_type(type_args)?)
}

/// Returns the supply of the coin without that of its paired asset.
fn coin_supply(context: &mut Context<'_>, type_args: &[TypeTag]) -> Result<Option<u128>, VmError> {
    supply_outside_stores(context, coin_type(type_args)?)
}

/// Returns the metadata of the paired asset, or `None` if the coin is not paired yet.
fn paired_metadata(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
) -> Result<Option<Object<Metadata>>, VmError> {
    let metadata = super::paired_metadata(context, coin_type(type_args)?)?;
    Ok(metadata.map(Object::at))
}

/// Returns the coin of a paired asset, or `None` if no coin is paired with the asset.
fn paired_coin(
    context: &mut Context<'_>,
    _: &[TypeTag],
    metadata: Object<Metadata>,
) -> Result<Option<TypeInfo>, VmError> {
    let coin = super::paired_coin(context, metadata.inner)?;
    Ok(coin.as_ref().and_then(type_info_of))
}

/// Returns the references to the paired asset, or `None` if the coin is not paired yet.
fn paired_refs(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
) -> Result<Option<PairedFungibleAssetRefs>, VmError> {
    match super::paired_metadata(context, coin_type(type_args)?)? {
        Some(metadata) => context.read_resource(metadata, &[]),
        None => Ok(None),
    }
}

fn paired_mint_ref_exists(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
) -> Result<bool, VmError> {
    Ok(paired_refs(context, type_args)?.is_some_and(|refs| refs.mint_ref_opt.is_some()))
}

fn paired_transfer_ref_exists(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
) -> Result<bool, VmError> {
    Ok(paired_refs(context, type_args)?.is_some_and(|refs| refs.transfer_ref_opt.is_some()))
}

fn paired_burn_ref_exists(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
) -> Result<bool, VmError> {
    Ok(paired_refs(context, type_args)?.is_some_and(|refs| refs.burn_ref_opt.is_some()))
}

pub(super) fn functions() -> Vec<Function> {
    let with_coin_type = |function: Function| function.with_type_parameters(COIN_TYPE);
    vec![
        with_coin_type(Function::view("balance", balance)),
        with_coin_type(Function::view("coin_supply", coin_supply)),
        with_coin_type(Function::view("decimals", decimals)),
        with_coin_type(Function::view(
            "is_account_registered",
            is_account_registered,
        )),
        with_coin_type(Function::view("is_balance_at_least", is_balance_at_least)),
        with_coin_type(Function::view("is_coin_initialized", is_coin_initialized)),
        with_coin_type(Function::view("is_coin_store_frozen", is_coin_store_frozen)),
        with_coin_type(Function::view("name", name)),
        with_coin_type(Function::view(
            "paired_burn_ref_exists",
            paired_burn_ref_exists,
        )),
        Function::view("paired_coin", paired_coin),
        with_coin_type(Function::view("paired_metadata", paired_metadata)),
        with_coin_type(Function::view(
            "paired_mint_ref_exists",
            paired_mint_ref_exists,
        )),
        with_coin_type(Function::view(
            "paired_transfer_ref_exists",
            paired_transfer_ref_exists,
        )),
        with_coin_type(Function::view("supply", supply)),
        with_coin_type(Function::view("symbol", symbol)),
    ]
}
