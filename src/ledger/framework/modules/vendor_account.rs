//! `0x1::{vendor}_account`: transfers that make the recipient's account where there is none.

use super::{account, coin};
use crate::{
    AccountAddress, TypeTag,
    execute::{Context, Failure},
    framework::{
        abort::{Category, ErrorConstant},
        declare::ModuleDeclaration,
        function::{Function, Signer},
    },
};

/// A batch whose lists differ in length.
pub const EMISMATCHING_RECIPIENTS_AND_AMOUNTS_LENGTH: ErrorConstant = ErrorConstant::new(
    "EMISMATCHING_RECIPIENTS_AND_AMOUNTS_LENGTH",
    Category::InvalidArgument,
    5,
    "a batch needs as many amounts as recipients",
);

/// The module's own name, for aborts.
const MODULE: &str = "{vendor}_account";

fn create_account(context: &mut Context<'_>, _: &[TypeTag], address: AccountAddress) -> Result<(), Failure> {
    if address.is_reserved() {
        return context.abort("account", &account::ECANNOT_RESERVED_ADDRESS);
    }
    if context.read_resource::<account::Account>(address, &[])?.is_some() {
        return context.abort("account", &account::EACCOUNT_ALREADY_EXISTS);
    }
    let native = context.native_coin().clone();
    coin::deposit(context, address, &native, 0)
}

fn transfer(
    context: &mut Context<'_>,
    _: &[TypeTag],
    from: Signer,
    to: AccountAddress,
    amount: u64,
) -> Result<(), Failure> {
    let native = context.native_coin().clone();
    coin::transfer_between(context, &native, from.0, to, amount)
}

fn batch_transfer(
    context: &mut Context<'_>,
    _: &[TypeTag],
    from: Signer,
    recipients: Vec<AccountAddress>,
    amounts: Vec<u64>,
) -> Result<(), Failure> {
    let native = context.native_coin().clone();
    transfer_all(context, &native, from, recipients, amounts)
}

fn batch_transfer_coins(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    from: Signer,
    recipients: Vec<AccountAddress>,
    amounts: Vec<u64>,
) -> Result<(), Failure> {
    transfer_all(context, &type_args[0], from, recipients, amounts)
}

fn transfer_coins(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    from: Signer,
    to: AccountAddress,
    amount: u64,
) -> Result<(), Failure> {
    coin::transfer_between(context, &type_args[0], from.0, to, amount)
}

/// One transfer after the other; all or nothing, because a failure undoes the transaction.
fn transfer_all(
    context: &mut Context<'_>,
    coin: &TypeTag,
    from: Signer,
    recipients: Vec<AccountAddress>,
    amounts: Vec<u64>,
) -> Result<(), Failure> {
    if recipients.len() != amounts.len() {
        return context.abort(MODULE, &EMISMATCHING_RECIPIENTS_AND_AMOUNTS_LENGTH);
    }
    recipients
        .into_iter()
        .zip(amounts)
        .try_for_each(|(to, amount)| coin::transfer_between(context, coin, from.0, to, amount))
}

pub(super) fn module() -> ModuleDeclaration {
    ModuleDeclaration {
        name: MODULE,
        structs: vec![],
        functions: vec![
            Function::entry("batch_transfer", batch_transfer),
            Function::entry("batch_transfer_coins", batch_transfer_coins).with_type_parameters(&[&[]]),
            Function::entry("create_account", create_account),
            Function::entry("transfer", transfer),
            Function::entry("transfer_coins", transfer_coins).with_type_parameters(&[&[]]),
        ],
        errors: &[EMISMATCHING_RECIPIENTS_AND_AMOUNTS_LENGTH],
    }
}
