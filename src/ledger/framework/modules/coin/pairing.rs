//! Paired fungible assets of coins.
//!
//! The stores of the paired asset hold the coin. The asset of the native coin is at `0xa`, and
//! genesis creates it. The asset of any other coin is at an address derived from the coin's type,
//! and the first operation on the coin creates it.

use super::{CoinInfo, ECOIN_INFO_NOT_PUBLISHED, MODULE, info};
use crate::modules::{
    fungible_asset::{self, BurnRef, Metadata, MintRef, TransferRef},
    object::{self, Object},
    primary_fungible_store,
    table::Table,
    type_info::TypeInfo,
};
use ledger_types::{AccountAddress, StateError, StructTag, TypeTag};
use ledger_vm::{Chain, Context, VmError, move_structs};

move_structs! {
    module "coin";

    /// Event emitted when the paired asset of a coin is created.
    PairCreation as "PairCreation" has ["drop", "store"] event true {
        /// Type of the coin.
        coin_type: TypeInfo,
        /// Address of the asset's metadata.
        fungible_asset_metadata_address: AccountAddress,
    }

    /// Coin of a paired asset, stored with the metadata of the asset.
    PairedCoinType as "PairedCoinType" has ["key"] member true {
        /// Type of the coin.
        r#type: TypeInfo,
    }

    /// References to a paired asset, stored with its metadata. `coin` acts on the asset with the
    /// rights that they represent.
    PairedFungibleAssetRefs as "PairedFungibleAssetRefs" has ["key"] member true {
        /// The right to mint the asset.
        mint_ref_opt: Option<MintRef>,
        /// The right to transfer the asset and to freeze its stores.
        transfer_ref_opt: Option<TransferRef>,
        /// The right to burn the asset. That of the native asset belongs to the ledger.
        burn_ref_opt: Option<BurnRef>,
    }

    /// Table of all pairs, stored at `0x1`.
    CoinConversionMap as "CoinConversionMap" has ["key"] {
        /// Assets by the type of their coin.
        coin_to_fungible_asset_map: Table<TypeInfo, Object<Metadata>>,
    }
}

/// Returns the parts of a coin's type, or `None` if the type is not a struct.
///
/// The name of the struct includes its type arguments (docs/reference/framework.md#f7).
pub fn type_info_of(coin: &TypeTag) -> Option<TypeInfo> {
    let TypeTag::Struct(tag) = coin else {
        return None;
    };
    Some(type_info(tag))
}

fn type_info(tag: &StructTag) -> TypeInfo {
    let path = format!("{}::{}::", tag.address, tag.module);
    let printed = tag.to_string();
    TypeInfo {
        account_address: tag.address,
        module_name: tag.module.as_str().as_bytes().to_vec(),
        struct_name: printed.as_bytes()[path.len()..].to_vec(),
    }
}

/// Parses the coin type from the parts that [`type_info_of`] returned.
fn parse_coin_type(info: &TypeInfo) -> Result<TypeTag, StateError> {
    let text = format!(
        "{}::{}::{}",
        info.account_address,
        String::from_utf8_lossy(&info.module_name),
        String::from_utf8_lossy(&info.struct_name)
    );
    text.parse()
        .map_err(|error| StateError(format!("the paired coin type {text}: {error}")))
}

/// Returns the full name of the coin's type, the seed of its paired asset.
fn seed(coin: &TypeTag) -> Vec<u8> {
    coin.to_string().into_bytes()
}

/// Returns the address of the metadata of the asset paired with `coin`, existing or not.
pub fn paired_metadata_address(chain: &Chain, coin: &TypeTag) -> AccountAddress {
    if coin == chain.registry().native_coin() {
        AccountAddress::NATIVE_ASSET
    } else {
        object::named_address(AccountAddress::NATIVE_ASSET, &seed(coin))
    }
}

/// Returns the coin paired with the asset at `metadata`, or `None` if there is none.
///
/// # Errors
///
/// Returns [`VmError::State`] if the state cannot be read or the recorded type is malformed, and
/// [`VmError::OutOfGas`] if gas runs out.
pub fn paired_coin(
    context: &mut Context<'_>,
    metadata: AccountAddress,
) -> Result<Option<TypeTag>, VmError> {
    if metadata == AccountAddress::NATIVE_ASSET {
        return Ok(Some(context.native_coin().clone()));
    }
    let paired = context.read_resource::<PairedCoinType>(metadata, &[])?;
    Ok(paired
        .map(|paired| parse_coin_type(&paired.r#type))
        .transpose()?)
}

/// Returns `true` if a coin is paired with the asset at `metadata`.
///
/// # Errors
///
/// Returns [`VmError::State`] if the state cannot be read or decoded, and [`VmError::OutOfGas`] if
/// gas runs out.
pub fn is_paired(context: &mut Context<'_>, metadata: AccountAddress) -> Result<bool, VmError> {
    Ok(metadata == AccountAddress::NATIVE_ASSET
        || context.has_resource::<PairedCoinType>(metadata, &[])?)
}

/// Returns the metadata address of the asset paired with `coin`, or `None` if the coin is not
/// paired yet.
///
/// # Errors
///
/// Returns [`VmError::State`] if the state cannot be read or decoded, and [`VmError::OutOfGas`] if
/// gas runs out.
pub fn paired_metadata(
    context: &mut Context<'_>,
    coin: &TypeTag,
) -> Result<Option<AccountAddress>, VmError> {
    if coin == context.native_coin() {
        return Ok(Some(AccountAddress::NATIVE_ASSET));
    }
    let TypeTag::Struct(_) = coin else {
        return Ok(None);
    };
    object::charge_derivation(context, coin.to_string().len())?;
    let metadata = paired_metadata_address(context.chain(), coin);
    Ok(is_paired(context, metadata)?.then_some(metadata))
}

/// Returns the metadata address of the asset paired with `coin`, which is created if it is missing.
///
/// # Errors
///
/// Aborts with `ECOIN_INFO_NOT_PUBLISHED` if the coin is not initialized.
pub(super) fn ensure_paired(
    context: &mut Context<'_>,
    coin: &TypeTag,
) -> Result<AccountAddress, VmError> {
    if let Some(metadata) = paired_metadata(context, coin)? {
        return Ok(metadata);
    }
    match (coin, info::read(context, coin)?) {
        (TypeTag::Struct(tag), Some(info)) => create(context, coin, tag, &info),
        _ => context.abort(MODULE, &ECOIN_INFO_NOT_PUBLISHED),
    }
}

/// Returns the metadata of the paired asset, with the name, symbol, and decimals of the coin.
fn metadata_of(info: &CoinInfo) -> Metadata {
    Metadata {
        name: info.name.clone(),
        symbol: info.symbol.clone(),
        decimals: info.decimals,
        icon_uri: String::new(),
        project_uri: String::new(),
    }
}

/// Creates the paired asset of `coin` and returns the address of its metadata.
///
/// # Errors
///
/// Returns the errors of [`object::create_named_object`] and
/// [`primary_fungible_store::create_asset`].
fn create(
    context: &mut Context<'_>,
    coin: &TypeTag,
    tag: &StructTag,
    info: &CoinInfo,
) -> Result<AccountAddress, VmError> {
    let creator = AccountAddress::NATIVE_ASSET;
    let metadata = object::create_named_object(context, creator, &seed(coin))?.self_;
    primary_fungible_store::create_asset(context, metadata, metadata_of(info), None)?;
    let asset = Object::at(metadata);
    let refs = PairedFungibleAssetRefs {
        mint_ref_opt: Some(MintRef { metadata: asset }),
        transfer_ref_opt: Some(TransferRef { metadata: asset }),
        burn_ref_opt: Some(BurnRef { metadata: asset }),
    };
    let map: CoinConversionMap = context.require_resource(AccountAddress::ONE, &[])?;
    let coin_type = type_info(tag);
    write_pair(context, &map, metadata, &coin_type, &refs)?;
    context.emit(&PairCreation {
        coin_type,
        fungible_asset_metadata_address: metadata,
    })?;
    Ok(metadata)
}

/// Records that the coin `coin_type` is paired with the asset at `metadata`.
fn write_pair(
    context: &mut Context<'_>,
    map: &CoinConversionMap,
    metadata: AccountAddress,
    coin_type: &TypeInfo,
    refs: &PairedFungibleAssetRefs,
) -> Result<(), VmError> {
    let paired = PairedCoinType {
        r#type: coin_type.clone(),
    };
    context.write_resource(metadata, &[], &paired)?;
    context.write_resource(metadata, &[], refs)?;
    let asset = Object::at(metadata);
    map.coin_to_fungible_asset_map
        .add(context, coin_type, &asset)
}

/// Creates the paired asset of the native coin `info` at `0xa` (docs/reference/framework.md#f6),
/// with a supply of `supply` in the smallest unit.
///
/// Genesis emits no event for it.
///
/// # Errors
///
/// [`VmError::State`] if the state cannot be read.
pub fn write_genesis(
    context: &mut Context<'_>,
    info: &CoinInfo,
    supply: u128,
) -> Result<(), VmError> {
    let metadata = AccountAddress::NATIVE_ASSET;
    object::create_at(context, metadata, AccountAddress::ONE, false)?;
    fungible_asset::write_asset(context, metadata, &metadata_of(info), supply, None)?;
    primary_fungible_store::allow_primary_stores(context, metadata)?;
    let asset = Object::at(metadata);
    let refs = PairedFungibleAssetRefs {
        mint_ref_opt: Some(MintRef { metadata: asset }),
        transfer_ref_opt: Some(TransferRef { metadata: asset }),
        burn_ref_opt: None,
    };
    let map = CoinConversionMap {
        coin_to_fungible_asset_map: Table::new(context)?,
    };
    context.write_resource(AccountAddress::ONE, &[], &map)?;
    match type_info_of(context.native_coin()) {
        Some(coin_type) => write_pair(context, &map, metadata, &coin_type, &refs),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ledger_types::{Parameters, Vendor};
    use proptest::prelude::*;

    fn chain() -> Chain {
        crate::new_chain(4, Vendor::default(), Parameters::default())
    }

    fn coin(text: &str) -> TypeTag {
        text.parse().unwrap()
    }

    /// A coin on the main network of the reference node, followed by its paired asset there.
    const BRIDGED_COIN: &str =
        "0xf22bede237a07e121b56d91a491eb7bcdfd1f5907926a9e58338f964a01b17fa::asset::USDC";
    const BRIDGED_ASSET: &str =
        "0x2b3be0a97a73c87ff62cbdd36837a9fb5bbd1d7f06a73b7ed62ec15c5326c1b8";

    #[test]
    fn derives_the_paired_asset_addresses_of_the_reference_node() {
        let chain = chain();
        let address = |text| paired_metadata_address(&chain, &coin(text)).to_string();
        assert_eq!(address(BRIDGED_COIN), BRIDGED_ASSET);
        assert_eq!(address("0x1::node_coin::NodeCoin"), "0xa");
        // Leading zeros and spaces are not part of a type's name.
        assert_eq!(
            address("0x05::pool::Share<u8,0x01::m::A>"),
            address("0x5::pool::Share<u8, 0x1::m::A>")
        );
    }

    #[test]
    fn returns_no_type_info_for_types_that_are_not_structs() {
        for text in ["u8", "vector<0x1::node_coin::NodeCoin>", "signer"] {
            assert_eq!(type_info_of(&coin(text)), None);
        }
    }

    fn any_struct() -> impl Strategy<Value = String> {
        let name = || "[A-Za-z_][A-Za-z0-9_]{1,8}";
        let argument = prop::sample::select(vec!["u8", "vector<address>", "0x1::m::A<bool, u256>"]);
        (
            any::<u64>(),
            name(),
            name(),
            prop::collection::vec(argument, 0..3),
        )
            .prop_map(
                |(address, module, name, arguments)| match arguments.as_slice() {
                    [] => format!("{address:#x}::{module}::{name}"),
                    some => format!("{address:#x}::{module}::{name}<{}>", some.join(", ")),
                },
            )
    }

    proptest! {
        #[test]
        fn parses_the_coin_type_from_its_type_info(text in any_struct()) {
            let coin = coin(&text);
            let info = type_info_of(&coin).unwrap();
            prop_assert_eq!(parse_coin_type(&info).unwrap(), coin);
        }
    }
}
