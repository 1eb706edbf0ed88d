//! Metadata and supply of fungible assets.

use super::{
    EDECIMALS_TOO_LARGE, EMAX_SUPPLY_EXCEEDED, ENAME_TOO_LONG, ESYMBOL_TOO_LONG, EURI_TOO_LONG,
    resources::{ConcurrentSupply, Creation, Metadata, MutateMetadataRef},
};
use crate::modules::aggregator_v2::Aggregator;
use ledger_types::AccountAddress;
use ledger_vm::{Context, VmError};

/// Maximum length of a name or a symbol, in bytes.
const NAME_BYTES_MAX: usize = 32;
/// Maximum length of a URI, in bytes.
const URI_BYTES_MAX: usize = 512;
/// Maximum number of decimal places.
const DECIMALS_MAX: u8 = 32;
/// Maximum supply of an asset without a limit.
pub(super) const UNLIMITED: u128 = u128::MAX;

/// Checks the lengths and the decimal places of an asset's metadata.
fn check_metadata(context: &Context<'_>, metadata: &Metadata) -> Result<(), VmError> {
    let error = if metadata.name.len() > NAME_BYTES_MAX {
        &ENAME_TOO_LONG
    } else if metadata.symbol.len() > NAME_BYTES_MAX {
        &ESYMBOL_TOO_LONG
    } else if metadata.decimals > DECIMALS_MAX {
        &EDECIMALS_TOO_LARGE
    } else if metadata.icon_uri.len().max(metadata.project_uri.len()) > URI_BYTES_MAX {
        &EURI_TOO_LONG
    } else {
        return Ok(());
    };
    context.abort("fungible_asset", error)
}

/// Turns the object at `at` into an asset with a supply of 0.
///
/// The supply is limited to `maximum_supply`, in the smallest unit, or unlimited if it is `None`.
///
/// # Errors
///
/// Aborts with:
///
/// * `ENAME_TOO_LONG` if the name has more than 32 bytes.
/// * `ESYMBOL_TOO_LONG` if the symbol has more than 32 bytes.
/// * `EDECIMALS_TOO_LARGE` if there are more than 32 decimal places.
/// * `EURI_TOO_LONG` if a URI has more than 512 bytes.
pub fn add_fungibility(
    context: &mut Context<'_>,
    at: AccountAddress,
    metadata: Metadata,
    maximum_supply: Option<u128>,
) -> Result<(), VmError> {
    check_metadata(context, &metadata)?;
    write_asset(context, at, &metadata, 0, maximum_supply)?;
    context.emit(&Creation {
        metadata: at,
        name: metadata.name,
        symbol: metadata.symbol,
        decimals: metadata.decimals,
        icon_uri: metadata.icon_uri,
        project_uri: metadata.project_uri,
        maximum_supply,
    })
}

/// Writes the metadata and the supply of an asset at `at`, without checks and without an event.
/// Genesis creates the native asset with this function.
///
/// # Errors
///
/// Returns [`VmError::State`] if the state cannot be read or decoded, and [`VmError::OutOfGas`] if
/// gas runs out.
pub(crate) fn write_asset(
    context: &mut Context<'_>,
    at: AccountAddress,
    metadata: &Metadata,
    supply: u128,
    maximum_supply: Option<u128>,
) -> Result<(), VmError> {
    context.write_resource(at, &[], metadata)?;
    let current = Aggregator {
        value: supply,
        max_value: maximum_supply.unwrap_or(UNLIMITED),
    };
    context.write_resource(at, &[], &ConcurrentSupply { current })
}

/// Replaces the metadata of an asset by the result of `change`.
///
/// # Errors
///
/// Returns [`VmError::MissingResource`] if there is no asset. Also returns the errors of
/// [`add_fungibility`].
pub fn mutate_metadata(
    context: &mut Context<'_>,
    mutate_ref: &MutateMetadataRef,
    change: impl FnOnce(Metadata) -> Metadata,
) -> Result<(), VmError> {
    let asset = mutate_ref.metadata.inner;
    let metadata = change(context.require_resource(asset, &[])?);
    check_metadata(context, &metadata)?;
    context.write_resource(asset, &[], &metadata)
}

/// Adds a minted amount to the supply of an asset.
///
/// # Errors
///
/// Aborts with `EMAX_SUPPLY_EXCEEDED` if the supply would exceed its maximum.
pub(crate) fn increase_supply(
    context: &mut Context<'_>,
    asset: AccountAddress,
    amount: u64,
) -> Result<(), VmError> {
    let mut supply: ConcurrentSupply = context.require_resource(asset, &[])?;
    let sum = supply.current.value.checked_add(u128::from(amount));
    let Some(value) = sum.filter(|value| *value <= supply.current.max_value) else {
        return context.abort("fungible_asset", &EMAX_SUPPLY_EXCEEDED);
    };
    supply.current.value = value;
    context.write_resource(asset, &[], &supply)
}

/// Subtracts a burned amount, which the caller has withdrawn from a store, from an asset's supply.
///
/// # Errors
///
/// Returns [`VmError::Arithmetic`] if the amount exceeds the supply. No sequence of calls causes
/// this.
pub(crate) fn decrease_supply(
    context: &mut Context<'_>,
    asset: AccountAddress,
    amount: u64,
) -> Result<(), VmError> {
    let mut supply: ConcurrentSupply = context.require_resource(asset, &[])?;
    let remaining = supply.current.value.checked_sub(u128::from(amount));
    supply.current.value = remaining.ok_or(VmError::Arithmetic)?;
    context.write_resource(asset, &[], &supply)
}
