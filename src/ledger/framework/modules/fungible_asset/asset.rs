//! What an asset is and how much of it there is.

use super::{
    EDECIMALS_TOO_LARGE, EMAX_SUPPLY_EXCEEDED, ENAME_TOO_LONG, ESYMBOL_TOO_LONG, EURI_TOO_LONG,
    resources::{ConcurrentSupply, Creation, Metadata, MutateMetadataRef},
};
use crate::modules::aggregator_v2::Aggregator;
use ledger_types::AccountAddress;
use ledger_vm::{Context, VmError};

/// The longest name and the longest symbol, in bytes.
const NAME_BYTES_MAX: usize = 32;
/// The longest URI, in bytes.
const URI_BYTES_MAX: usize = 512;
/// The most decimal places.
const DECIMALS_MAX: u8 = 32;
/// The bound of a supply that has none.
pub(super) const UNLIMITED: u128 = u128::MAX;

/// Checks the lengths of what an asset is called.
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

/// Makes the object at `at` an asset whose supply is kept elsewhere: the paired asset of a coin.
///
/// # Errors
/// `ENAME_TOO_LONG`, `ESYMBOL_TOO_LONG`, `EDECIMALS_TOO_LARGE`, `EURI_TOO_LONG`.
pub fn publish_metadata(
    context: &mut Context<'_>,
    at: AccountAddress,
    metadata: Metadata,
) -> Result<(), VmError> {
    publish(context, at, metadata, None)
}

fn publish(
    context: &mut Context<'_>,
    at: AccountAddress,
    metadata: Metadata,
    maximum_supply: Option<u128>,
) -> Result<(), VmError> {
    check_metadata(context, &metadata)?;
    context.write_resource(at, &[], &metadata)?;
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

/// Makes the object at `at` an asset of which there is nothing yet, and may be `maximum_supply`.
///
/// # Errors
/// As [`publish_metadata`].
pub fn add_fungibility(
    context: &mut Context<'_>,
    at: AccountAddress,
    metadata: Metadata,
    maximum_supply: Option<u128>,
) -> Result<(), VmError> {
    publish(context, at, metadata, maximum_supply)?;
    let current = Aggregator {
        value: 0,
        max_value: maximum_supply.unwrap_or(UNLIMITED),
    };
    context.write_resource(at, &[], &ConcurrentSupply { current })
}

/// Changes what an asset is called; `change` makes the new metadata of the old.
///
/// # Errors
/// As [`publish_metadata`], and [`VmError::MissingResource`] where there is no asset.
pub fn mutate_metadata(
    context: &mut Context<'_>,
    power: &MutateMetadataRef,
    change: impl FnOnce(Metadata) -> Metadata,
) -> Result<(), VmError> {
    let asset = power.metadata.inner;
    let metadata = change(context.require_resource(asset, &[])?);
    check_metadata(context, &metadata)?;
    context.write_resource(asset, &[], &metadata)
}

/// Counts `amount` as made.
///
/// # Errors
/// `EMAX_SUPPLY_EXCEEDED`.
pub(super) fn increase_supply(
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

/// Counts `amount`, which was taken from a store, as destroyed.
///
/// # Errors
/// [`VmError::Arithmetic`] where less was made than is destroyed, which no sequence of calls brings
/// about.
pub(super) fn decrease_supply(
    context: &mut Context<'_>,
    asset: AccountAddress,
    amount: u64,
) -> Result<(), VmError> {
    let mut supply: ConcurrentSupply = context.require_resource(asset, &[])?;
    let rest = supply.current.value.checked_sub(u128::from(amount));
    supply.current.value = rest.ok_or(VmError::Arithmetic)?;
    context.write_resource(asset, &[], &supply)
}
