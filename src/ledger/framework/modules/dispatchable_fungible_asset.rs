//! `0x1::dispatchable_fungible_asset`: the interface to assets with custom transfer functions.
//!
//! This ledger has none of these assets, so all functions have the semantics of `fungible_asset`.
//! Clients may call either module.

use super::{
    fungible_asset::{self, store_at},
    object::{Object, TypeParameter},
};
use ledger_types::TypeTag;
use ledger_vm::{Context, Function, ModuleDeclaration, Signer, VmError, abort_codes};

abort_codes! {
    const ERRORS;
    pub EAMOUNT_MISMATCH = Aborted 2 "less would arrive than the sender expects";
}

type AnyObject = Object<TypeParameter<0>>;

/// Checks that the deposited `amount` is at least `expected`.
///
/// # Errors
///
/// Aborts with `EAMOUNT_MISMATCH` if it is less.
pub(super) fn check_deposit(
    context: &Context<'_>,
    amount: u64,
    expected: u64,
) -> Result<(), VmError> {
    if amount >= expected {
        Ok(())
    } else {
        context.abort("dispatchable_fungible_asset", &EAMOUNT_MISMATCH)
    }
}

fn transfer_assert_minimum_deposit(
    context: &mut Context<'_>,
    _: &[TypeTag],
    sender: Signer,
    from: AnyObject,
    to: AnyObject,
    amount: u64,
    expected: u64,
) -> Result<(), VmError> {
    fungible_asset::transfer_by(context, sender.0, from.inner, to.inner, amount)?;
    check_deposit(context, amount, expected)
}

fn derived_balance(
    context: &mut Context<'_>,
    _: &[TypeTag],
    store: AnyObject,
) -> Result<u64, VmError> {
    Ok(store_at(context, store.inner)?.balance)
}

fn is_derived_balance_at_least(
    context: &mut Context<'_>,
    _: &[TypeTag],
    store: AnyObject,
    amount: u64,
) -> Result<bool, VmError> {
    Ok(store_at(context, store.inner)?.balance >= amount)
}

fn derived_supply(
    context: &mut Context<'_>,
    _: &[TypeTag],
    metadata: AnyObject,
) -> Result<Option<u128>, VmError> {
    fungible_asset::supply_of(context, metadata.inner)
}

pub(super) fn module() -> ModuleDeclaration {
    let with_key_parameter = |function: Function| function.with_type_parameters(&[&["key"]]);
    ModuleDeclaration {
        name: "dispatchable_fungible_asset",
        structs: vec![],
        functions: vec![
            with_key_parameter(Function::entry("transfer", fungible_asset::transfer)),
            with_key_parameter(Function::entry(
                "transfer_assert_minimum_deposit",
                transfer_assert_minimum_deposit,
            )),
            with_key_parameter(Function::view("derived_balance", derived_balance)),
            with_key_parameter(Function::view("derived_supply", derived_supply)),
            with_key_parameter(Function::view(
                "is_derived_balance_at_least",
                is_derived_balance_at_least,
            )),
        ],
        errors: ERRORS,
    }
}
