//! `0x1::exchange`: atomic exchanges of coins or assets between two accounts that both sign.
//!
//! Version 3 of the framework introduced this module. On a chain without user bytecode, exchanges
//! are the use case of multi-agent transactions.

use super::{
    coin,
    object::{Object, TypeParameter},
    primary_fungible_store,
};
use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{
    Context, Function, ModuleDeclaration, MoveStruct, Signer, VmError, abort_codes, move_structs,
};

abort_codes! {
    const ERRORS;
    pub EZERO_AMOUNT = InvalidArgument 1 "both sides of an exchange give at least one unit";
}

move_structs! {
    module "exchange";

    /// Event of an exchange of coins.
    CoinsExchanged as "CoinsExchanged" has ["drop", "store"] event true {
        /// First signer.
        first: AccountAddress,
        /// Second signer.
        second: AccountAddress,
        /// Type of the coin that the first signer paid.
        first_coin_type: String,
        /// Type of the coin that the second signer paid.
        second_coin_type: String,
        /// Amount that the first signer paid, in the smallest unit of its coin.
        first_amount: u64,
        /// Amount that the second signer paid, in the smallest unit of its coin.
        second_amount: u64,
    }

    /// Event of an exchange of assets.
    AssetsExchanged as "AssetsExchanged" has ["drop", "store"] event true {
        /// First signer.
        first: AccountAddress,
        /// Second signer.
        second: AccountAddress,
        /// Metadata address of the asset that the first signer paid.
        first_asset: AccountAddress,
        /// Metadata address of the asset that the second signer paid.
        second_asset: AccountAddress,
        /// Amount that the first signer paid, in the smallest unit of its asset.
        first_amount: u64,
        /// Amount that the second signer paid, in the smallest unit of its asset.
        second_amount: u64,
    }
}

fn check_amounts(context: &Context<'_>, first: u64, second: u64) -> Result<(), VmError> {
    if first == 0 || second == 0 {
        context.abort("exchange", &EZERO_AMOUNT)
    } else {
        Ok(())
    }
}

/// Exchanges `first_amount` of the first signer's coin for `second_amount` of the second signer's.
fn exchange_coins(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    first: Signer,
    second: Signer,
    first_amount: u64,
    second_amount: u64,
) -> Result<(), VmError> {
    check_amounts(context, first_amount, second_amount)?;
    let (first_coin, second_coin) = (&type_args[0], &type_args[1]);
    coin::transfer_between(context, first_coin, first.0, second.0, first_amount)?;
    coin::transfer_between(context, second_coin, second.0, first.0, second_amount)?;
    context.emit(&CoinsExchanged {
        first: first.0,
        second: second.0,
        first_coin_type: first_coin.to_string(),
        second_coin_type: second_coin.to_string(),
        first_amount,
        second_amount,
    })
}

/// Exchanges `first_amount` of `first_asset` for `second_amount` of `second_asset`.
///
/// The assets move between the primary stores of the signers.
#[expect(
    clippy::too_many_arguments,
    reason = "they are the parameters of the entry function"
)]
fn exchange_assets(
    context: &mut Context<'_>,
    _: &[TypeTag],
    first: Signer,
    second: Signer,
    first_asset: Object<TypeParameter<0>>,
    first_amount: u64,
    second_asset: Object<TypeParameter<1>>,
    second_amount: u64,
) -> Result<(), VmError> {
    check_amounts(context, first_amount, second_amount)?;
    primary_fungible_store::transfer_between(
        context,
        first.0,
        first_asset.inner,
        second.0,
        first_amount,
    )?;
    primary_fungible_store::transfer_between(
        context,
        second.0,
        second_asset.inner,
        first.0,
        second_amount,
    )?;
    context.emit(&AssetsExchanged {
        first: first.0,
        second: second.0,
        first_asset: first_asset.inner,
        second_asset: second_asset.inner,
        first_amount,
        second_amount,
    })
}

pub(super) fn module() -> ModuleDeclaration {
    ModuleDeclaration {
        name: "exchange",
        structs: vec![
            AssetsExchanged::declaration(),
            CoinsExchanged::declaration(),
        ],
        functions: vec![
            Function::entry("exchange_coins", exchange_coins).with_type_parameters(&[&[], &[]]),
            Function::entry("exchange_assets", exchange_assets)
                .with_type_parameters(&[&["key"], &["key"]]),
        ],
        errors: ERRORS,
    }
}
