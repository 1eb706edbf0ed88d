//! `0x1::primary_fungible_store`: one store per account and asset, created on first use.
//!
//! The address of a primary store is derived from the account and the asset. The primary store of
//! an asset that is paired with a coin is the account's coin store. Operations on such an asset are
//! forwarded to `coin`, and their aborts name that module.

use super::{
    coin, dispatchable_fungible_asset,
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
    Ok(object::user_derived_address(owner, metadata))
}

/// Returns the address of the primary store of `owner`, and creates the store if it does not exist.
///
/// The asset must not be paired with a coin.
///
/// # Errors
///
/// Aborts with `ERESOURCE_DOES_NOT_EXIST` of `object` if there is no asset at `metadata`. Returns
/// [`VmError::MissingResource`] if the asset has no primary stores.
pub fn ensure_store(
    context: &mut Context<'_>,
    owner: AccountAddress,
    metadata: AccountAddress,
) -> Result<AccountAddress, VmError> {
    let address = store_address(context, owner, metadata)?;
    if context
        .read_resource::<FungibleStore>(address, &[])?
        .is_some()
    {
        return Ok(address);
    }
    if context.read_resource::<Metadata>(metadata, &[])?.is_none() {
        return context.abort("object", &object::ERESOURCE_DOES_NOT_EXIST);
    }
    let derive_ref_pod: DeriveRefPod = context.require_resource(metadata, &[])?;
    object::create_user_derived_object(context, owner, derive_ref_pod.metadata_derive_ref.self_)?;
    object::set_ungated_transfer(context, &object::TransferRef { self_: address }, false)?;
    fungible_asset::create_store(context, address, metadata)?;
    Ok(address)
}

/// Transfers `amount` of an asset between two accounts on behalf of `from`.
///
/// Creates missing stores, and restores the store of `from` if it is burned.
///
/// # Errors
///
/// Aborts with one of these codes:
///
/// * `ERESOURCE_DOES_NOT_EXIST` of `object` if there is no asset at `metadata`.
/// * `EINSUFFICIENT_BALANCE` if `from` holds less than `amount`.
/// * `ESTORE_IS_FROZEN` if a store is frozen, or `EFROZEN` if it is a coin store.
/// * `EBALANCE_OVERFLOW` if the balance of a coin store would exceed 64 bits.
/// * `ECANNOT_RESERVED_ADDRESS` if a coin store would be created at a reserved address.
///
/// Returns [`VmError::Arithmetic`] if the balance of a primary store would exceed 64 bits.
pub fn transfer_between(
    context: &mut Context<'_>,
    from: AccountAddress,
    metadata: AccountAddress,
    to: AccountAddress,
    amount: u64,
) -> Result<(), VmError> {
    let asset = Asset::of_metadata(context, metadata)?;
    transfer_asset(context, &asset, from, to, amount)
}

/// An asset and the kind of store that holds it.
pub enum Asset {
    /// The paired asset of this coin, held in coin stores.
    Coin(TypeTag),
    /// An asset held in primary stores, named by the address of its metadata.
    PrimaryStore(AccountAddress),
}

impl Asset {
    /// Returns the asset whose metadata is at `metadata`.
    ///
    /// # Errors
    ///
    /// Returns [`VmError::State`] if the state cannot be read or decoded, and [`VmError::OutOfGas`]
    /// if gas runs out.
    pub fn of_metadata(
        context: &mut Context<'_>,
        metadata: AccountAddress,
    ) -> Result<Self, VmError> {
        let coin = coin::paired_coin(context, metadata)?;
        Ok(coin.map_or(Self::PrimaryStore(metadata), Self::Coin))
    }
}

/// Transfers `amount` of an asset between two accounts on behalf of `from`.
///
/// Unlike [`transfer_between`], this takes the result of [`Asset::of_metadata`], so that a batch of
/// transfers reads it once.
///
/// # Errors
///
/// Fails under the conditions of [`transfer_between`].
pub fn transfer_asset(
    context: &mut Context<'_>,
    asset: &Asset,
    from: AccountAddress,
    to: AccountAddress,
    amount: u64,
) -> Result<(), VmError> {
    let metadata = match asset {
        Asset::Coin(coin) => return coin::transfer_between(context, coin, from, to, amount),
        Asset::PrimaryStore(metadata) => *metadata,
    };
    let from_store = ensure_store(context, from, metadata)?;
    if object::is_burnt(context, from_store)? {
        context.remove_resource::<TombStone>(from_store, &[])?;
    }
    let to_store = ensure_store(context, to, metadata)?;
    fungible_asset::transfer_by(context, from, from_store, to_store, amount)
}

/// Returns the balance of an account in its primary store or coin store, in the smallest unit.
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
    if let Some(coin) = coin::paired_coin(context, metadata)? {
        return coin::balance_of(context, owner, &coin);
    }
    let store = store_address(context, owner, metadata)?;
    fungible_asset::balance_of(context, store)
}

fn store_exists(
    context: &mut Context<'_>,
    owner: AccountAddress,
    metadata: AccountAddress,
) -> Result<bool, VmError> {
    if let Some(coin) = coin::paired_coin(context, metadata)? {
        return coin::has_store(context, owner, &coin);
    }
    let store = store_address(context, owner, metadata)?;
    Ok(context
        .read_resource::<FungibleStore>(store, &[])?
        .is_some())
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
    if let Some(coin) = coin::paired_coin(context, metadata.inner)? {
        return coin::is_frozen(context, account, &coin);
    }
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
