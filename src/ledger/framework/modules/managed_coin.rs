//! `0x1::managed_coin`: coins whose capabilities the account that initialised them keeps, to mint, burn
//! and freeze by transactions.
//!
//! `freeze_coin_store` and `unfreeze_coin_store` are this ledger's own: in the reference the freeze
//! capability is only of use to programs.

use super::coin::{
    self, BurnCapability, COIN_TYPE, CoinInfo, FreezeCapability, MintCapability, register,
};
use crate::modules::{
    fungible_asset::Frozen, object, optional_aggregator::OptionalAggregator, primary_fungible_store,
};
use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{
    Context, Function, ModuleDeclaration, MoveStruct, Signer, VmError, abort_codes, move_structs,
};

abort_codes! {
    pub ENO_CAPABILITIES = NotFound 1 "the account does not hold the capabilities of this coin";
    pub EINVALID_UTF8 = None 1 "the bytes are no UTF-8 text";
}

move_structs! {
    module "managed_coin";

    /// The rights over a coin.
    Capabilities as "Capabilities" has ["key"] phantom 1 {
        /// To burn.
        burn_cap: BurnCapability,
        /// To freeze.
        freeze_cap: FreezeCapability,
        /// To mint.
        mint_cap: MintCapability,
    }
}

fn ensure_capabilities(
    context: &mut Context<'_>,
    account: Signer,
    type_args: &[TypeTag],
) -> Result<(), VmError> {
    match context.read_resource::<Capabilities>(account.0, type_args)? {
        Some(_) => Ok(()),
        None => context.abort("managed_coin", &ENO_CAPABILITIES),
    }
}

fn text(context: &Context<'_>, bytes: Vec<u8>) -> Result<String, VmError> {
    String::from_utf8(bytes).or_else(|_| context.abort("string", &EINVALID_UTF8))
}

fn initialize(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    account: Signer,
    name: Vec<u8>,
    symbol: Vec<u8>,
    decimals: u8,
    monitor_supply: bool,
) -> Result<(), VmError> {
    let info = CoinInfo {
        name: text(context, name)?,
        symbol: text(context, symbol)?,
        decimals,
        supply: monitor_supply.then(|| OptionalAggregator::unlimited(0)),
    };
    coin::initialize(context, account.0, &type_args[0], &info)?;
    let capabilities = Capabilities {
        burn_cap: BurnCapability { dummy_field: false },
        freeze_cap: FreezeCapability { dummy_field: false },
        mint_cap: MintCapability { dummy_field: false },
    };
    context.write_resource(account.0, type_args, &capabilities)
}

fn mint(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    account: Signer,
    to: AccountAddress,
    amount: u64,
) -> Result<(), VmError> {
    ensure_capabilities(context, account, type_args)?;
    coin::mint(context, &type_args[0], to, amount)
}

/// Burns coins of the holder of the capabilities itself.
fn burn(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    account: Signer,
    amount: u64,
) -> Result<(), VmError> {
    ensure_capabilities(context, account, type_args)?;
    coin::burn(context, &type_args[0], account.0, amount)
}

/// Gives the capabilities up for good: from then on nobody mints, burns or freezes.
fn destroy_caps(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    account: Signer,
) -> Result<(), VmError> {
    ensure_capabilities(context, account, type_args)?;
    context.remove_resource::<Capabilities>(account.0, type_args)
}

/// Freezes a store or lets it go, and tells so by the store's name as a primary store of the paired
/// asset, as the reference does.
fn set_frozen(
    context: &mut Context<'_>,
    coin: &TypeTag,
    owner: AccountAddress,
    frozen: bool,
) -> Result<(), VmError> {
    coin::set_frozen(context, owner, coin, frozen)?;
    object::charge_derivation(context, coin.to_string().len())?;
    let metadata = coin::paired_metadata_address(context.chain(), coin);
    let store = primary_fungible_store::store_address(context, owner, metadata)?;
    context.emit(&Frozen { store, frozen })
}

fn freeze_coin_store(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    account: Signer,
    owner: AccountAddress,
) -> Result<(), VmError> {
    ensure_capabilities(context, account, type_args)?;
    set_frozen(context, &type_args[0], owner, true)
}

fn unfreeze_coin_store(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    account: Signer,
    owner: AccountAddress,
) -> Result<(), VmError> {
    ensure_capabilities(context, account, type_args)?;
    set_frozen(context, &type_args[0], owner, false)
}

pub(super) fn module() -> ModuleDeclaration {
    let of_coin = |function: Function| function.with_type_parameters(COIN_TYPE);
    ModuleDeclaration {
        name: "managed_coin",
        structs: vec![Capabilities::declaration()],
        functions: vec![
            of_coin(Function::entry("burn", burn)),
            of_coin(Function::entry("destroy_caps", destroy_caps)),
            of_coin(Function::entry("freeze_coin_store", freeze_coin_store)),
            of_coin(Function::entry("initialize", initialize)),
            of_coin(Function::entry("mint", mint)),
            of_coin(Function::entry("register", register)),
            of_coin(Function::entry("unfreeze_coin_store", unfreeze_coin_store)),
        ],
        errors: &[ENO_CAPABILITIES],
    }
}
