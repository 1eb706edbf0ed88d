//! `0x1::primary_fungible_store`: one store per account and asset, created on first use.
//!
//! The address of a primary store is derived from the account and the asset.

use super::{
    account, coin, dispatchable_fungible_asset,
    fungible_asset::{self, FungibleStore, Metadata},
    object::{self, DeriveRef, Object, TombStone, TypeParameter},
};
use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{Context, Function, ModuleDeclaration, MoveStruct, Signer, VmError, move_structs};

move_structs! {
    module "primary_fungible_store";

    /// Permission to create primary stores of an asset, stored with its metadata.
    DeriveRefPod as "DeriveRefPod" has ["key"] member true {
        /// Permission to derive object addresses from the metadata's address.
        metadata_derive_ref: DeriveRef,
    }
}

/// Makes the object at `at` an asset that is held in primary stores.
///
/// # Errors
///
/// Aborts with `ENAME_TOO_LONG`, `ESYMBOL_TOO_LONG`, `EDECIMALS_TOO_LARGE`, or `EURI_TOO_LONG` if
/// the field of `metadata` exceeds its limit.
pub fn create_asset(
    context: &mut Context<'_>,
    at: AccountAddress,
    metadata: Metadata,
    maximum_supply: Option<u128>,
) -> Result<(), VmError> {
    fungible_asset::add_fungibility(context, at, metadata, maximum_supply)?;
    allow_primary_stores(context, at)
}

/// Permits primary stores of the asset at `at`.
///
/// # Errors
///
/// Returns [`VmError::State`] if the state cannot be read or decoded, and [`VmError::OutOfGas`] if
/// gas runs out.
pub(crate) fn allow_primary_stores(
    context: &mut Context<'_>,
    at: AccountAddress,
) -> Result<(), VmError> {
    let metadata_derive_ref = DeriveRef { self_: at };
    context.write_resource(
        at,
        &[],
        &DeriveRefPod {
            metadata_derive_ref,
        },
    )
}

/// Returns the address of the primary store of `owner`, whether or not the store exists.
///
/// # Errors
///
/// Returns [`VmError::OutOfGas`] if gas runs out.
pub fn store_address(
    context: &mut Context<'_>,
    owner: AccountAddress,
    metadata: AccountAddress,
) -> Result<AccountAddress, VmError> {
    object::charge_derivation(context, 0)?;
    if metadata == AccountAddress::NATIVE_ASSET
        && let Some(store) = context.native_store(&owner)
    {
        return Ok(store);
    }
    Ok(object::user_derived_address(owner, metadata))
}

/// Returns the address of the primary store of `owner`, and creates the store if it does not exist.
///
/// # Errors
///
/// Aborts with one of these codes, if the store does not exist:
///
/// * `ECANNOT_RESERVED_ADDRESS` of `account` if `owner` is an address of the framework, unless the
///   chain parameter `transfers_to_framework` is true.
/// * `ERESOURCE_DOES_NOT_EXIST` of `object` if there is no asset at `metadata`.
///
/// Returns [`VmError::MissingResource`] if the asset has no primary stores.
pub fn ensure_store(
    context: &mut Context<'_>,
    owner: AccountAddress,
    metadata: AccountAddress,
) -> Result<AccountAddress, VmError> {
    let address = store_address(context, owner, metadata)?;
    if !context.has_resource::<FungibleStore>(address, &[])? {
        create_store(context, owner, metadata, address)?;
    }
    Ok(address)
}

/// Creates the primary store of `owner` at `address`.
///
/// # Errors
///
/// Returns the errors of [`ensure_store`].
fn create_store(
    context: &mut Context<'_>,
    owner: AccountAddress,
    metadata: AccountAddress,
    address: AccountAddress,
) -> Result<(), VmError> {
    if owner.is_reserved() && !context.chain().parameters().transfers_to_framework {
        return context.abort("account", &account::ECANNOT_RESERVED_ADDRESS);
    }
    // Genesis created the native asset, so its store needs no look-up.
    if metadata != AccountAddress::NATIVE_ASSET {
        if !context.has_resource::<Metadata>(metadata, &[])? {
            return context.abort("object", &object::ERESOURCE_DOES_NOT_EXIST);
        }
        context.require_resource::<DeriveRefPod>(metadata, &[])?;
    }
    object::create_user_derived_object(context, owner, metadata)?;
    object::set_ungated_transfer(context, &object::TransferRef { self_: address }, false)?;
    fungible_asset::create_store(context, address, metadata)?;
    let has_streams =
        context.chain().parameters().coin_event_handles && coin::is_paired(context, metadata)?;
    if has_streams {
        fungible_asset::create_event_streams(context, address)?;
    }
    Ok(())
}

/// Returns the address of the primary store of `owner` for a withdrawal by the owner.
///
/// Creates the store if it does not exist, and restores it if it is burned.
///
/// # Errors
///
/// Returns the errors of [`ensure_store`].
fn store_to_withdraw_from(
    context: &mut Context<'_>,
    owner: AccountAddress,
    metadata: AccountAddress,
) -> Result<AccountAddress, VmError> {
    let store = ensure_store(context, owner, metadata)?;
    if object::is_burnt(context, store)? {
        context.remove_resource::<TombStone>(store, &[])?;
    }
    Ok(store)
}

/// Transfers `amount` of an asset between two accounts on behalf of `from`.
///
/// Creates missing stores, and restores the store of `from` if it is burned.
///
/// # Errors
///
/// Aborts with one of these codes:
///
/// * `ECANNOT_RESERVED_ADDRESS` of `account` if `to` may have no store ([`ensure_store`]).
/// * `ERESOURCE_DOES_NOT_EXIST` of `object` if there is no asset at `metadata`.
/// * `EINSUFFICIENT_BALANCE` if `from` holds less than `amount`.
/// * `ESTORE_IS_FROZEN` if a store is frozen.
///
/// Returns [`VmError::Arithmetic`] if the balance of `to` would exceed 64 bits.
pub fn transfer_between(
    context: &mut Context<'_>,
    from: AccountAddress,
    metadata: AccountAddress,
    to: AccountAddress,
    amount: u64,
) -> Result<(), VmError> {
    let from_store = store_to_withdraw_from(context, from, metadata)?;
    let to_store = ensure_store(context, to, metadata)?;
    fungible_asset::transfer_by(context, from, from_store, to_store, amount)
}

/// Withdraws `amount` of an asset from the primary store of `owner`, on behalf of `owner`.
///
/// The caller burns the amount: it decreases the supply. Creates the store if it does not exist,
/// and restores it if it is burned.
///
/// # Errors
///
/// Aborts with one of these codes:
///
/// * `ERESOURCE_DOES_NOT_EXIST` of `object` if there is no asset at `metadata`.
/// * `EINSUFFICIENT_BALANCE` if `owner` holds less than `amount`.
/// * `ESTORE_IS_FROZEN` if the store is frozen.
pub(super) fn withdraw_burned(
    context: &mut Context<'_>,
    owner: AccountAddress,
    metadata: AccountAddress,
    amount: u64,
) -> Result<(), VmError> {
    let store = store_to_withdraw_from(context, owner, metadata)?;
    fungible_asset::withdraw_burned(context, owner, store, amount)
}

/// Deposits `amount` of an asset, by which the caller increases the supply, into the primary store
/// of `owner`. Creates the store if it does not exist.
///
/// # Errors
///
/// Aborts with one of these codes:
///
/// * `ECANNOT_RESERVED_ADDRESS` of `account` if `owner` may have no store ([`ensure_store`]).
/// * `ERESOURCE_DOES_NOT_EXIST` of `object` if there is no asset at `metadata`.
/// * `ESTORE_IS_FROZEN` if the store is frozen.
///
/// Returns [`VmError::Arithmetic`] if the balance would exceed 64 bits.
pub(super) fn deposit_minted(
    context: &mut Context<'_>,
    owner: AccountAddress,
    metadata: AccountAddress,
    amount: u64,
) -> Result<(), VmError> {
    let store = ensure_store(context, owner, metadata)?;
    fungible_asset::deposit_minted(context, metadata, store, amount)
}

/// Returns the balance of an account in its primary store, in the smallest unit.
///
/// # Errors
///
/// Returns [`VmError::State`] if the state cannot be read or decoded, and [`VmError::OutOfGas`] if
/// gas runs out.
pub fn balance_of(
    context: &mut Context<'_>,
    owner: AccountAddress,
    metadata: AccountAddress,
) -> Result<u64, VmError> {
    let store = store_address(context, owner, metadata)?;
    fungible_asset::balance_of(context, store)
}

fn store_exists(
    context: &mut Context<'_>,
    owner: AccountAddress,
    metadata: AccountAddress,
) -> Result<bool, VmError> {
    let store = store_address(context, owner, metadata)?;
    context.has_resource::<FungibleStore>(store, &[])
}

type AnyObject = Object<TypeParameter<0>>;

fn transfer(
    context: &mut Context<'_>,
    _: &[TypeTag],
    sender: Signer,
    metadata: AnyObject,
    recipient: AccountAddress,
    amount: u64,
) -> Result<(), VmError> {
    transfer_between(context, sender.0, metadata.inner, recipient, amount)
}

/// Transfers `amount` and checks it against `expected`. No fee is deducted from a transfer, so the
/// recipient receives the whole amount.
fn transfer_assert_minimum_deposit(
    context: &mut Context<'_>,
    _: &[TypeTag],
    sender: Signer,
    metadata: AnyObject,
    recipient: AccountAddress,
    amount: u64,
    expected: u64,
) -> Result<(), VmError> {
    transfer_between(context, sender.0, metadata.inner, recipient, amount)?;
    dispatchable_fungible_asset::check_deposit(context, amount, expected)
}

fn primary_store_address(
    context: &mut Context<'_>,
    _: &[TypeTag],
    owner: AccountAddress,
    metadata: AnyObject,
) -> Result<AccountAddress, VmError> {
    store_address(context, owner, metadata.inner)
}

fn primary_store(
    context: &mut Context<'_>,
    _: &[TypeTag],
    owner: AccountAddress,
    metadata: AnyObject,
) -> Result<Object<FungibleStore>, VmError> {
    if !store_exists(context, owner, metadata.inner)? {
        return context.abort("object", &object::EOBJECT_DOES_NOT_EXIST);
    }
    store_address(context, owner, metadata.inner).map(Object::at)
}

fn primary_store_exists(
    context: &mut Context<'_>,
    _: &[TypeTag],
    account: AccountAddress,
    metadata: AnyObject,
) -> Result<bool, VmError> {
    store_exists(context, account, metadata.inner)
}

fn balance(
    context: &mut Context<'_>,
    _: &[TypeTag],
    account: AccountAddress,
    metadata: AnyObject,
) -> Result<u64, VmError> {
    balance_of(context, account, metadata.inner)
}

fn is_balance_at_least(
    context: &mut Context<'_>,
    _: &[TypeTag],
    account: AccountAddress,
    metadata: AnyObject,
    amount: u64,
) -> Result<bool, VmError> {
    Ok(balance_of(context, account, metadata.inner)? >= amount)
}

fn is_frozen(
    context: &mut Context<'_>,
    _: &[TypeTag],
    account: AccountAddress,
    metadata: AnyObject,
) -> Result<bool, VmError> {
    let store = store_address(context, account, metadata.inner)?;
    fungible_asset::is_store_frozen(context, store)
}

pub(super) fn module() -> ModuleDeclaration {
    let with_key_parameter = |function: Function| function.with_type_parameters(&[&["key"]]);
    ModuleDeclaration {
        name: "primary_fungible_store",
        structs: vec![DeriveRefPod::declaration()],
        functions: vec![
            with_key_parameter(Function::entry("transfer", transfer)),
            with_key_parameter(Function::entry(
                "transfer_assert_minimum_deposit",
                transfer_assert_minimum_deposit,
            )),
            with_key_parameter(Function::view("balance", balance)),
            with_key_parameter(Function::view("is_balance_at_least", is_balance_at_least)),
            with_key_parameter(Function::view("is_frozen", is_frozen)),
            with_key_parameter(Function::view("primary_store", primary_store)),
            with_key_parameter(Function::view(
                "primary_store_address",
                primary_store_address,
            )),
            with_key_parameter(Function::view("primary_store_exists", primary_store_exists)),
        ],
        errors: &[],
    }
}
