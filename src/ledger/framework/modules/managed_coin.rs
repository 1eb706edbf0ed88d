//! `0x1::managed_coin`: coins whose creator holds the capabilities to mint, burn, and freeze them.
//!
//! The creator uses the capabilities by transactions. The reference node has no `freeze_coin_store`
//! and `unfreeze_coin_store`: there, only programs can use the freeze capability.

use super::coin::{
    self, BurnCapability, COIN_TYPE, CoinInfo, FreezeCapability, MintCapability, register,
};
use crate::modules::optional_aggregator::OptionalAggregator;
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

    /// The capabilities over a coin, stored at its creator.
    Capabilities as "Capabilities" has ["key"] phantom 1 {
        /// Capability to burn coins.
        burn_cap: BurnCapability,
        /// Capability to freeze the stores of the coin.
        freeze_cap: FreezeCapability,
        /// Capability to mint coins.
        mint_cap: MintCapability,
    }
}

fn check_capabilities(
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
    check_capabilities(context, account, type_args)?;
    coin::mint(context, &type_args[0], to, amount)
}

/// Burns coins of the account that holds the capabilities.
fn burn(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    account: Signer,
    amount: u64,
) -> Result<(), VmError> {
    check_capabilities(context, account, type_args)?;
    coin::burn(context, &type_args[0], account.0, amount)
}

/// Destroys the capabilities. Afterwards, no account can mint, burn, or freeze the coin.
fn destroy_caps(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    account: Signer,
) -> Result<(), VmError> {
    check_capabilities(context, account, type_args)?;
    context.remove_resource::<Capabilities>(account.0, type_args)
}

fn freeze_coin_store(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    account: Signer,
    owner: AccountAddress,
) -> Result<(), VmError> {
    check_capabilities(context, account, type_args)?;
    coin::set_frozen(context, owner, &type_args[0], true)
}

fn unfreeze_coin_store(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    account: Signer,
    owner: AccountAddress,
) -> Result<(), VmError> {
    check_capabilities(context, account, type_args)?;
    coin::set_frozen(context, owner, &type_args[0], false)
}

pub(super) fn module() -> ModuleDeclaration {
    let with_coin_parameter = |function: Function| function.with_type_parameters(COIN_TYPE);
    ModuleDeclaration {
        name: "managed_coin",
        structs: vec![Capabilities::declaration()],
        functions: vec![
            with_coin_parameter(Function::entry("burn", burn)),
            with_coin_parameter(Function::entry("destroy_caps", destroy_caps)),
            with_coin_parameter(Function::entry("freeze_coin_store", freeze_coin_store)),
            with_coin_parameter(Function::entry("initialize", initialize)),
            with_coin_parameter(Function::entry("mint", mint)),
            with_coin_parameter(Function::entry("register", register)),
            with_coin_parameter(Function::entry("unfreeze_coin_store", unfreeze_coin_store)),
        ],
        errors: &[ENO_CAPABILITIES],
    }
}
