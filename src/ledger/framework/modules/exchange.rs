//! `0x1::exchange`: two accounts give one another coins or assets in one transaction that both sign, or
//! neither gives anything. Came with version 3 of the framework; what multi-agent transactions are for on
//! a chain without user bytecode.

use super::{
    coin,
    object::{Object, TypeParameter},
    primary_fungible_store as primary,
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

    /// Coins were exchanged.
    CoinsExchanged as "CoinsExchanged" has ["drop", "store"] event true {
        /// Who signed first.
        first: AccountAddress,
        /// Who signed second.
        second: AccountAddress,
        /// The type of the coin that the first gave.
        first_coin_type: String,
        /// The type of the coin that the second gave.
        second_coin_type: String,
        /// What the first gave, in that coin's smallest unit.
        first_amount: u64,
        /// What the second gave, in that coin's smallest unit.
        second_amount: u64,
    }

    /// Assets were exchanged.
    AssetsExchanged as "AssetsExchanged" has ["drop", "store"] event true {
        /// Who signed first.
        first: AccountAddress,
        /// Who signed second.
        second: AccountAddress,
        /// The metadata of the asset that the first gave.
        first_asset: AccountAddress,
        /// The metadata of the asset that the second gave.
        second_asset: AccountAddress,
        /// What the first gave, in that asset's smallest unit.
        first_amount: u64,
        /// What the second gave, in that asset's smallest unit.
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

/// The first gives `first_amount` of the first coin for `second_amount` of the second one.
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

/// The first gives `first_amount` of the first asset for `second_amount` of the second one, between
/// their primary stores; what is paired with a coin moves between their coin stores.
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
    primary::transfer_between(context, first.0, first_asset.inner, second.0, first_amount)?;
    primary::transfer_between(
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
