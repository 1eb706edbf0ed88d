//! View functions of coins, with the signatures of the reference node.

use super::{
    COIN_TYPE, CoinInfo, balance_of,
    info::{self, ensure_initialized, is_initialized},
    is_frozen, paired_metadata_address, supply_of, type_info_of,
};
use crate::modules::{
    fungible_asset::Metadata,
    object::{self, Object},
    type_info::TypeInfo,
};
use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{Context, Function, VmError};

fn balance(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    owner: AccountAddress,
) -> Result<u64, VmError> {
    balance_of(context, owner, &type_args[0])
}

fn is_balance_at_least(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    owner: AccountAddress,
    amount: u64,
) -> Result<bool, VmError> {
    Ok(balance_of(context, owner, &type_args[0])? >= amount)
}

fn is_coin_initialized(context: &mut Context<'_>, type_args: &[TypeTag]) -> Result<bool, VmError> {
    is_initialized(context, &type_args[0])
}

fn is_coin_store_frozen(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    owner: AccountAddress,
) -> Result<bool, VmError> {
    is_frozen(context, owner, &type_args[0])
}

/// Returns `true` if the account has a store.
///
/// An account without a store can still receive coins, because the deposit creates the store.
///
/// # Errors
///
/// Aborts with `ECOIN_INFO_NOT_PUBLISHED` if the coin is not initialized.
fn is_account_registered(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    owner: AccountAddress,
) -> Result<bool, VmError> {
    ensure_initialized(context, &type_args[0])?;
    super::has_store(context, owner, &type_args[0])
}

fn require_info(context: &mut Context<'_>, type_args: &[TypeTag]) -> Result<CoinInfo, VmError> {
    info::read(context, &type_args[0])?.ok_or(VmError::MissingResource)
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
///
/// This function is also `coin_supply`, because coin and asset are one balance.
fn supply(context: &mut Context<'_>, type_args: &[TypeTag]) -> Result<Option<u128>, VmError> {
    supply_of(context, &type_args[0])
}

/// Returns the metadata of the paired asset, or `None` if the coin is not initialized.
fn paired_metadata(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
) -> Result<Option<Object<Metadata>>, VmError> {
    let coin = &type_args[0];
    if !is_initialized(context, coin)? {
        return Ok(None);
    }
    object::charge_derivation(context, coin.to_string().len())?;
    Ok(Some(Object::at(paired_metadata_address(
        context.chain(),
        coin,
    ))))
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

/// Returns `false`: no paired asset has a reference to mint, transfer, or burn it.
///
/// Only the capabilities of the coin control the common balance.
fn paired_ref_exists(_: &mut Context<'_>, _: &[TypeTag]) -> Result<bool, VmError> {
    Ok(false)
}

pub(super) fn functions() -> Vec<Function> {
    let with_coin_type = |function: Function| function.with_type_parameters(COIN_TYPE);
    vec![
        with_coin_type(Function::view("balance", balance)),
        with_coin_type(Function::view("coin_supply", supply)),
        with_coin_type(Function::view("decimals", decimals)),
        with_coin_type(Function::view(
            "is_account_registered",
            is_account_registered,
        )),
        with_coin_type(Function::view("is_balance_at_least", is_balance_at_least)),
        with_coin_type(Function::view("is_coin_initialized", is_coin_initialized)),
        with_coin_type(Function::view("is_coin_store_frozen", is_coin_store_frozen)),
        with_coin_type(Function::view("name", name)),
        with_coin_type(Function::view("paired_burn_ref_exists", paired_ref_exists)),
        Function::view("paired_coin", paired_coin),
        with_coin_type(Function::view("paired_metadata", paired_metadata)),
        with_coin_type(Function::view("paired_mint_ref_exists", paired_ref_exists)),
        with_coin_type(Function::view(
            "paired_transfer_ref_exists",
            paired_ref_exists,
        )),
        with_coin_type(Function::view("supply", supply)),
        with_coin_type(Function::view("symbol", symbol)),
    ]
}
