//! Creation and management of assets.

use super::MODULE;
use crate::modules::{
    fungible_asset::{
        self, BurnRef, FungibleStore, Metadata, MintRef, MutateMetadataRef, TransferRef,
        Untransferable, store_at,
    },
    object::{self, Object},
    primary_fungible_store::{self, ensure_store, store_address},
};
use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{Context, Function, Signer, VmError, abort_codes, move_structs};

abort_codes! {
    pub ENOT_MANAGER = PermissionDenied 1
        "the sender does not own the object of this asset, whose owner manages it";
    pub ENOT_MANAGED = NotFound 2
        "this asset has no manager: it was not made by managed_fungible_asset";
}

move_structs! {
    module "managed_fungible_asset";

    /// The references of a managed asset, stored with its metadata. The asset's manager uses them.
    ManagedFungibleAsset as "ManagedFungibleAsset" has ["key"] member true {
        /// Permission to mint the asset.
        mint_ref: MintRef,
        /// Permission to move the asset and to freeze its stores.
        transfer_ref: TransferRef,
        /// Permission to burn the asset.
        burn_ref: BurnRef,
        /// Permission to change the metadata.
        mutate_metadata_ref: MutateMetadataRef,
    }
}

fn create_at_symbol(
    context: &mut Context<'_>,
    creator: AccountAddress,
    metadata: Metadata,
    maximum_supply: Option<u128>,
) -> Result<AccountAddress, VmError> {
    let seed = metadata.symbol.clone();
    let asset = object::create_named_object(context, creator, seed.as_bytes())?.self_;
    primary_fungible_store::create_asset(context, asset, metadata, maximum_supply)?;
    let metadata = Object::at(asset);
    let manager_refs = ManagedFungibleAsset {
        mint_ref: MintRef { metadata },
        transfer_ref: TransferRef { metadata },
        burn_ref: BurnRef { metadata },
        mutate_metadata_ref: MutateMetadataRef { metadata },
    };
    context.write_resource(asset, &[], &manager_refs)?;
    Ok(asset)
}

/// Returns the body of an entry function that creates an asset.
///
/// The arguments are name, symbol, decimals, icon URI, project URI, and maximum supply. If
/// `is_untransferable`, stores of the asset can never change their owner. Their content can only
/// move by transfers of the asset.
#[expect(
    clippy::type_complexity,
    reason = "it lists the parameters of an entry function"
)]
fn create(
    is_untransferable: bool,
) -> impl Fn(
    &mut Context<'_>,
    &[TypeTag],
    Signer,
    String,
    String,
    u8,
    String,
    String,
    Option<u128>,
) -> Result<(), VmError> {
    move |context, _, creator, name, symbol, decimals, icon_uri, project_uri, maximum_supply| {
        let metadata = Metadata {
            name,
            symbol,
            decimals,
            icon_uri,
            project_uri,
        };
        let asset = create_at_symbol(context, creator.0, metadata, maximum_supply)?;
        if is_untransferable {
            context.write_resource(asset, &[], &Untransferable { dummy_field: false })?;
        }
        Ok(())
    }
}

/// Returns the references of an asset after checking that `manager` manages it.
fn manager_refs(
    context: &mut Context<'_>,
    manager: Signer,
    asset: AccountAddress,
) -> Result<ManagedFungibleAsset, VmError> {
    let Some(manager_refs) = context.read_resource::<ManagedFungibleAsset>(asset, &[])? else {
        return context.abort(MODULE, &ENOT_MANAGED);
    };
    if object::owns(context, asset, manager.0)? {
        Ok(manager_refs)
    } else {
        context.abort(MODULE, &ENOT_MANAGER)
    }
}

fn mint(
    context: &mut Context<'_>,
    _: &[TypeTag],
    manager: Signer,
    metadata: Object<Metadata>,
    to: AccountAddress,
    amount: u64,
) -> Result<(), VmError> {
    let mint_ref = manager_refs(context, manager, metadata.inner)?.mint_ref;
    let store = ensure_store(context, to, mint_ref.metadata.inner)?;
    fungible_asset::mint_to(context, &mint_ref, store, amount)
}

fn burn(
    context: &mut Context<'_>,
    _: &[TypeTag],
    manager: Signer,
    metadata: Object<Metadata>,
    from: AccountAddress,
    amount: u64,
) -> Result<(), VmError> {
    let burn_ref = manager_refs(context, manager, metadata.inner)?.burn_ref;
    let store = store_address(context, from, metadata.inner)?;
    fungible_asset::burn_from(context, &burn_ref, store, amount)
}

fn transfer(
    context: &mut Context<'_>,
    _: &[TypeTag],
    manager: Signer,
    metadata: Object<Metadata>,
    from: AccountAddress,
    to: AccountAddress,
    amount: u64,
) -> Result<(), VmError> {
    let transfer_ref = manager_refs(context, manager, metadata.inner)?.transfer_ref;
    let from_store = store_address(context, from, metadata.inner)?;
    let to_store = ensure_store(context, to, metadata.inner)?;
    fungible_asset::transfer_with_ref(context, &transfer_ref, from_store, to_store, amount)
}

fn set_frozen(
    context: &mut Context<'_>,
    manager: Signer,
    asset: AccountAddress,
    owner: AccountAddress,
    is_frozen: bool,
) -> Result<(), VmError> {
    let transfer_ref = manager_refs(context, manager, asset)?.transfer_ref;
    let store = ensure_store(context, owner, asset)?;
    fungible_asset::set_frozen_flag(context, &transfer_ref, store, is_frozen)
}

fn freeze(
    context: &mut Context<'_>,
    _: &[TypeTag],
    manager: Signer,
    metadata: Object<Metadata>,
    owner: AccountAddress,
) -> Result<(), VmError> {
    set_frozen(context, manager, metadata.inner, owner, true)
}

fn unfreeze(
    context: &mut Context<'_>,
    _: &[TypeTag],
    manager: Signer,
    metadata: Object<Metadata>,
    owner: AccountAddress,
) -> Result<(), VmError> {
    set_frozen(context, manager, metadata.inner, owner, false)
}

fn set_store_frozen(
    context: &mut Context<'_>,
    manager: Signer,
    store: AccountAddress,
    is_frozen: bool,
) -> Result<(), VmError> {
    let asset = store_at(context, store)?.metadata.inner;
    let transfer_ref = manager_refs(context, manager, asset)?.transfer_ref;
    fungible_asset::set_frozen_flag(context, &transfer_ref, store, is_frozen)
}

fn freeze_store(
    context: &mut Context<'_>,
    _: &[TypeTag],
    manager: Signer,
    store: Object<FungibleStore>,
) -> Result<(), VmError> {
    set_store_frozen(context, manager, store.inner, true)
}

fn unfreeze_store(
    context: &mut Context<'_>,
    _: &[TypeTag],
    manager: Signer,
    store: Object<FungibleStore>,
) -> Result<(), VmError> {
    set_store_frozen(context, manager, store.inner, false)
}

fn burn_from_store(
    context: &mut Context<'_>,
    _: &[TypeTag],
    manager: Signer,
    store: Object<FungibleStore>,
    amount: u64,
) -> Result<(), VmError> {
    let asset = store_at(context, store.inner)?.metadata.inner;
    let burn_ref = manager_refs(context, manager, asset)?.burn_ref;
    fungible_asset::burn_from(context, &burn_ref, store.inner, amount)
}

/// Replaces the given fields of the metadata. A new symbol does not change the object's address.
#[expect(
    clippy::too_many_arguments,
    reason = "they are the parameters of the entry function"
)]
fn set_metadata(
    context: &mut Context<'_>,
    _: &[TypeTag],
    manager: Signer,
    metadata: Object<Metadata>,
    name: Option<String>,
    symbol: Option<String>,
    decimals: Option<u8>,
    icon_uri: Option<String>,
    project_uri: Option<String>,
) -> Result<(), VmError> {
    let mutate_metadata_ref = manager_refs(context, manager, metadata.inner)?.mutate_metadata_ref;
    fungible_asset::mutate_metadata(context, &mutate_metadata_ref, |old| Metadata {
        name: name.unwrap_or(old.name),
        symbol: symbol.unwrap_or(old.symbol),
        decimals: decimals.unwrap_or(old.decimals),
        icon_uri: icon_uri.unwrap_or(old.icon_uri),
        project_uri: project_uri.unwrap_or(old.project_uri),
    })
}

/// Returns the entry functions for managers.
pub(super) fn functions() -> Vec<Function> {
    vec![
        Function::entry("burn", burn),
        Function::entry("burn_from_store", burn_from_store),
        Function::entry("create", create(false)),
        Function::entry("create_untransferable", create(true)),
        Function::entry("freeze", freeze),
        Function::entry("freeze_store", freeze_store),
        Function::entry("mint", mint),
        Function::entry("set_metadata", set_metadata),
        Function::entry("transfer", transfer),
        Function::entry("unfreeze", unfreeze),
        Function::entry("unfreeze_store", unfreeze_store),
    ]
}
