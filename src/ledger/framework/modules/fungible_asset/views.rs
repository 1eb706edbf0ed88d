//! View functions of assets and stores.
//!
//! Assets have no functions of their own on this chain, so none is dispatchable.

use super::{
    EFUNGIBLE_METADATA_EXISTENCE,
    asset::UNLIMITED,
    resources::{ConcurrentSupply, FungibleStore, Metadata, Untransferable},
    store::store_at,
};
use crate::modules::object::{Object, TypeParameter};
use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{Context, Function, VmError};

type AnyObject = Object<TypeParameter<0>>;

/// Returns the metadata of the asset at `asset`.
///
/// # Errors
///
/// Aborts with `EFUNGIBLE_METADATA_EXISTENCE` if there is none.
fn metadata_at(context: &mut Context<'_>, asset: AccountAddress) -> Result<Metadata, VmError> {
    match context.read_resource(asset, &[])? {
        Some(metadata) => Ok(metadata),
        None => context.abort("fungible_asset", &EFUNGIBLE_METADATA_EXISTENCE),
    }
}

/// Returns the supply of the asset in its smallest unit, or `None` if it is not tracked.
///
/// # Errors
///
/// Returns [`VmError::State`] if the state cannot be read, and [`VmError::OutOfGas`] if gas runs
/// out.
pub fn supply_of(
    context: &mut Context<'_>,
    asset: AccountAddress,
) -> Result<Option<u128>, VmError> {
    let supply = context.read_resource::<ConcurrentSupply>(asset, &[])?;
    Ok(supply.map(|supply| supply.current.value))
}

fn supply(
    context: &mut Context<'_>,
    _: &[TypeTag],
    metadata: AnyObject,
) -> Result<Option<u128>, VmError> {
    supply_of(context, metadata.inner)
}

fn maximum(
    context: &mut Context<'_>,
    _: &[TypeTag],
    metadata: AnyObject,
) -> Result<Option<u128>, VmError> {
    let supply = context.read_resource::<ConcurrentSupply>(metadata.inner, &[])?;
    Ok(supply
        .map(|supply| supply.current.max_value)
        .filter(|maximum| *maximum != UNLIMITED))
}

fn name(context: &mut Context<'_>, _: &[TypeTag], metadata: AnyObject) -> Result<String, VmError> {
    Ok(metadata_at(context, metadata.inner)?.name)
}

fn symbol(
    context: &mut Context<'_>,
    _: &[TypeTag],
    metadata: AnyObject,
) -> Result<String, VmError> {
    Ok(metadata_at(context, metadata.inner)?.symbol)
}

fn decimals(context: &mut Context<'_>, _: &[TypeTag], metadata: AnyObject) -> Result<u8, VmError> {
    Ok(metadata_at(context, metadata.inner)?.decimals)
}

fn icon_uri(
    context: &mut Context<'_>,
    _: &[TypeTag],
    metadata: AnyObject,
) -> Result<String, VmError> {
    Ok(metadata_at(context, metadata.inner)?.icon_uri)
}

fn project_uri(
    context: &mut Context<'_>,
    _: &[TypeTag],
    metadata: AnyObject,
) -> Result<String, VmError> {
    Ok(metadata_at(context, metadata.inner)?.project_uri)
}

fn metadata(
    context: &mut Context<'_>,
    _: &[TypeTag],
    metadata: AnyObject,
) -> Result<Metadata, VmError> {
    metadata_at(context, metadata.inner)
}

fn is_untransferable(
    context: &mut Context<'_>,
    _: &[TypeTag],
    metadata: AnyObject,
) -> Result<bool, VmError> {
    context.has_resource::<Untransferable>(metadata.inner, &[])
}

fn is_asset_type_dispatchable(
    _: &mut Context<'_>,
    _: &[TypeTag],
    _: Object<Metadata>,
) -> Result<bool, VmError> {
    Ok(false)
}

fn is_store_dispatchable(
    context: &mut Context<'_>,
    _: &[TypeTag],
    store: AnyObject,
) -> Result<bool, VmError> {
    store_at(context, store.inner).map(|_| false)
}

fn store_exists(
    context: &mut Context<'_>,
    _: &[TypeTag],
    store: AccountAddress,
) -> Result<bool, VmError> {
    context.has_resource::<FungibleStore>(store, &[])
}

fn store_metadata(
    context: &mut Context<'_>,
    _: &[TypeTag],
    store: AnyObject,
) -> Result<Object<Metadata>, VmError> {
    Ok(store_at(context, store.inner)?.metadata)
}

/// Returns the balance of the store in the asset's smallest unit, or 0 if there is no store.
///
/// # Errors
///
/// Returns [`VmError::State`] if the state cannot be read, and [`VmError::OutOfGas`] if gas runs
/// out.
pub fn balance_of(context: &mut Context<'_>, store: AccountAddress) -> Result<u64, VmError> {
    let resource = context.read_resource::<FungibleStore>(store, &[])?;
    Ok(resource.map_or(0, |store| store.balance))
}

/// Returns `true` if the store is frozen, or `false` if there is no store.
///
/// # Errors
///
/// Returns [`VmError::State`] if the state cannot be read, and [`VmError::OutOfGas`] if gas runs
/// out.
pub fn is_store_frozen(context: &mut Context<'_>, store: AccountAddress) -> Result<bool, VmError> {
    let resource = context.read_resource::<FungibleStore>(store, &[])?;
    Ok(resource.is_some_and(|store| store.frozen))
}

fn balance(context: &mut Context<'_>, _: &[TypeTag], store: AnyObject) -> Result<u64, VmError> {
    balance_of(context, store.inner)
}

fn is_balance_at_least(
    context: &mut Context<'_>,
    _: &[TypeTag],
    store: AnyObject,
    amount: u64,
) -> Result<bool, VmError> {
    Ok(balance_of(context, store.inner)? >= amount)
}

fn is_frozen(context: &mut Context<'_>, _: &[TypeTag], store: AnyObject) -> Result<bool, VmError> {
    is_store_frozen(context, store.inner)
}

/// Returns the view functions of the module.
pub(super) fn functions() -> Vec<Function> {
    let with_object_type = |function: Function| function.with_type_parameters(&[&["key"]]);
    vec![
        with_object_type(Function::view("balance", balance)),
        with_object_type(Function::view("decimals", decimals)),
        with_object_type(Function::view("icon_uri", icon_uri)),
        Function::view("is_asset_type_dispatchable", is_asset_type_dispatchable),
        with_object_type(Function::view("is_balance_at_least", is_balance_at_least)),
        with_object_type(Function::view("is_frozen", is_frozen)),
        with_object_type(Function::view(
            "is_store_dispatchable",
            is_store_dispatchable,
        )),
        with_object_type(Function::view("is_untransferable", is_untransferable)),
        with_object_type(Function::view("maximum", maximum)),
        with_object_type(Function::view("metadata", metadata)),
        with_object_type(Function::view("name", name)),
        with_object_type(Function::view("project_uri", project_uri)),
        Function::view("store_exists", store_exists),
        with_object_type(Function::view("store_metadata", store_metadata)),
        with_object_type(Function::view("supply", supply)),
        with_object_type(Function::view("symbol", symbol)),
    ]
}
