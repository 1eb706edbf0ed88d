//! `0x1::{vendor}_account`: transfers that create the recipient's account if it does not exist.
//!
//! Transfers are single or in batches. The setting of an account that rejects direct transfers is
//! stored and shown, and has no effect, as on the reference node.

use super::{
    account, coin, coin::COIN_TYPE, fungible_asset::Metadata, object::Object,
    primary_fungible_store,
};
use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{
    Context, EventHandle, Function, ModuleDeclaration, MoveStruct, Signer, VmError, abort_codes,
    cost, move_structs,
};

abort_codes! {
    const ERRORS;
    pub EMISMATCHING_RECIPIENTS_AND_AMOUNTS_LENGTH = InvalidArgument 5
        "a batch needs as many amounts as recipients";
}

/// Name of the module in aborts.
const MODULE: &str = "{vendor}_account";

move_structs! {
    module "{vendor}_account";

    /// The setting of an account for transfers of coins for which it has no store.
    DirectTransferConfig as "DirectTransferConfig" has ["key"] {
        /// Whether the account accepts these transfers.
        allow_arbitrary_coin_transfers: bool,
        /// A stream that stays empty, as on the reference node. Changes are module events.
        update_coin_transfer_events: EventHandle<DirectCoinTransferConfigUpdatedEvent>,
    }

    /// Event type of the stream in [`DirectTransferConfig`].
    DirectCoinTransferConfigUpdatedEvent as "DirectCoinTransferConfigUpdatedEvent" has ["drop", "store"] {
        /// Whether the account accepts these transfers after the change.
        new_allow_direct_transfers: bool,
    }

    /// Event of an account that creates or changes its [`DirectTransferConfig`].
    DirectCoinTransferConfigUpdated as "DirectCoinTransferConfigUpdated" has ["drop", "store"] event true {
        /// Account of the setting.
        account: AccountAddress,
        /// Whether the account accepts these transfers after the change.
        new_allow_direct_transfers: bool,
    }
}

fn create_account(
    context: &mut Context<'_>,
    _: &[TypeTag],
    address: AccountAddress,
) -> Result<(), VmError> {
    if context.has_resource::<account::Account>(address, &[])? {
        return context.abort("account", &account::EACCOUNT_ALREADY_EXISTS);
    }
    if address.is_reserved() {
        return context.abort("account", &account::ECANNOT_RESERVED_ADDRESS);
    }
    primary_fungible_store::ensure_store(context, address, AccountAddress::NATIVE_ASSET)?;
    Ok(())
}

fn transfer(
    context: &mut Context<'_>,
    _: &[TypeTag],
    from: Signer,
    to: AccountAddress,
    amount: u64,
) -> Result<(), VmError> {
    coin::transfer_native(context, from.0, to, amount)
}

fn batch_transfer(
    context: &mut Context<'_>,
    _: &[TypeTag],
    from: Signer,
    recipients: Vec<AccountAddress>,
    amounts: Vec<u64>,
) -> Result<(), VmError> {
    transfer_to_each(context, recipients, amounts, |context, to, amount| {
        coin::transfer_native(context, from.0, to, amount)
    })
}

fn transfer_coins(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    from: Signer,
    to: AccountAddress,
    amount: u64,
) -> Result<(), VmError> {
    coin::transfer_between(context, &type_args[0], from.0, to, amount)
}

fn batch_transfer_coins(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    from: Signer,
    recipients: Vec<AccountAddress>,
    amounts: Vec<u64>,
) -> Result<(), VmError> {
    transfer_to_each(context, recipients, amounts, |context, to, amount| {
        transfer_coins(context, type_args, from, to, amount)
    })
}

fn transfer_fungible_assets(
    context: &mut Context<'_>,
    _: &[TypeTag],
    from: Signer,
    metadata: Object<Metadata>,
    to: AccountAddress,
    amount: u64,
) -> Result<(), VmError> {
    primary_fungible_store::transfer_between(context, from.0, metadata.inner, to, amount)
}

fn batch_transfer_fungible_assets(
    context: &mut Context<'_>,
    _: &[TypeTag],
    from: Signer,
    metadata: Object<Metadata>,
    recipients: Vec<AccountAddress>,
    amounts: Vec<u64>,
) -> Result<(), VmError> {
    transfer_to_each(context, recipients, amounts, |context, to, amount| {
        primary_fungible_store::transfer_between(context, from.0, metadata.inner, to, amount)
    })
}

/// Calls `transfer` for each recipient and amount in order.
///
/// A failure undoes the whole transaction. The size of the transaction bounds the number of
/// transfers, and each transfer is charged for one step.
fn transfer_to_each(
    context: &mut Context<'_>,
    recipients: Vec<AccountAddress>,
    amounts: Vec<u64>,
    mut transfer: impl FnMut(&mut Context<'_>, AccountAddress, u64) -> Result<(), VmError>,
) -> Result<(), VmError> {
    if recipients.len() != amounts.len() {
        return context.abort(MODULE, &EMISMATCHING_RECIPIENTS_AND_AMOUNTS_LENGTH);
    }
    for (to, amount) in recipients.into_iter().zip(amounts) {
        context.charge(cost::STEP)?;
        transfer(context, to, amount)?;
    }
    Ok(())
}

fn accepts_unregistered_coins(
    context: &mut Context<'_>,
    account: AccountAddress,
) -> Result<bool, VmError> {
    let config = context.read_resource::<DirectTransferConfig>(account, &[])?;
    Ok(config.is_none_or(|config| config.allow_arbitrary_coin_transfers))
}

/// Sets whether the account accepts transfers of coins for which it has no store.
///
/// The first call always emits an event. A later call emits one only if the value changes.
fn set_allow_direct_coin_transfers(
    context: &mut Context<'_>,
    _: &[TypeTag],
    account: Signer,
    allow: bool,
) -> Result<(), VmError> {
    let address = account.0;
    let config = match context.read_resource::<DirectTransferConfig>(address, &[])? {
        Some(config) if config.allow_arbitrary_coin_transfers == allow => return Ok(()),
        Some(config) => DirectTransferConfig {
            allow_arbitrary_coin_transfers: allow,
            ..config
        },
        None => {
            let mut account = account::load(context, address)?;
            let config = DirectTransferConfig {
                allow_arbitrary_coin_transfers: allow,
                update_coin_transfer_events: account.new_event_handle(address)?,
            };
            context.write_resource(address, &[], &account)?;
            config
        }
    };
    context.write_resource(address, &[], &config)?;
    context.emit(&DirectCoinTransferConfigUpdated {
        account: address,
        new_allow_direct_transfers: allow,
    })
}

fn can_receive_direct_coin_transfers(
    context: &mut Context<'_>,
    _: &[TypeTag],
    account: AccountAddress,
) -> Result<bool, VmError> {
    accepts_unregistered_coins(context, account)
}

pub(super) fn module() -> ModuleDeclaration {
    let with_coin_parameter = |function: Function| function.with_type_parameters(COIN_TYPE);
    ModuleDeclaration {
        name: MODULE,
        structs: vec![
            DirectCoinTransferConfigUpdated::declaration(),
            DirectCoinTransferConfigUpdatedEvent::declaration(),
            DirectTransferConfig::declaration(),
        ],
        functions: vec![
            Function::entry("batch_transfer", batch_transfer),
            with_coin_parameter(Function::entry(
                "batch_transfer_coins",
                batch_transfer_coins,
            )),
            Function::entry(
                "batch_transfer_fungible_assets",
                batch_transfer_fungible_assets,
            ),
            Function::entry("create_account", create_account),
            Function::entry(
                "set_allow_direct_coin_transfers",
                set_allow_direct_coin_transfers,
            ),
            Function::entry("transfer", transfer),
            with_coin_parameter(Function::entry("transfer_coins", transfer_coins)),
            Function::entry("transfer_fungible_assets", transfer_fungible_assets),
            Function::view(
                "can_receive_direct_coin_transfers",
                can_receive_direct_coin_transfers,
            ),
        ],
        errors: ERRORS,
    }
}
