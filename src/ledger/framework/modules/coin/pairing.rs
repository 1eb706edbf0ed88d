//! Paired fungible assets of coins.
//!
//! The paired asset of a coin is an object with metadata for the same balance, so it has no stores
//! and no supply of its own. The asset of the native coin is at `0xa`. The asset of any other coin
//! is at an address derived from the coin's type.

use super::CoinInfo;
use crate::modules::{
    fungible_asset::{self, Metadata},
    object,
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

/// Creates the paired asset of a coin during its initialization.
///
/// # Errors
///
/// Returns the errors of [`object::create_named_object`] and [`fungible_asset::publish_metadata`].
pub(super) fn create(
    context: &mut Context<'_>,
    coin: &TypeTag,
    tag: &StructTag,
    info: &CoinInfo,
) -> Result<(), VmError> {
    let creator = AccountAddress::NATIVE_ASSET;
    let metadata = object::create_named_object(context, creator, &seed(coin))?.self_;
    fungible_asset::publish_metadata(context, metadata, metadata_of(info))?;
    let coin_type = type_info(tag);
    let paired = PairedCoinType {
        r#type: coin_type.clone(),
    };
    context.write_resource(metadata, &[], &paired)?;
    context.emit(&PairCreation {
        coin_type,
        fungible_asset_metadata_address: metadata,
    })
}

/// Creates the paired asset of the native coin `info` at `0xa` (docs/reference/framework.md#f6).
///
/// Genesis emits no event for it. Unlike on the reference node, the asset has no supply and no
/// references of its own, because coin and asset are one balance
/// (docs/use/interface.md#paired-assets).
///
/// # Errors
///
/// [`VmError::State`] if the state cannot be read.
pub fn write_genesis(context: &mut Context<'_>, info: &CoinInfo) -> Result<(), VmError> {
    let metadata = AccountAddress::NATIVE_ASSET;
    object::create_at(context, metadata, AccountAddress::ONE, false)?;
    context.write_resource(metadata, &[], &metadata_of(info))?;
    match type_info_of(context.native_coin()) {
        Some(r#type) => context.write_resource(metadata, &[], &PairedCoinType { r#type }),
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
