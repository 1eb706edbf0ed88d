//! The balance of an account: interface section 4.8.

use super::modules::coin::CoinStore;
use crate::{AccountAddress, Chain, StateError, StateView, StructTag, TypeTag};

/// Which asset a balance is asked of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AssetType {
    /// A fungible asset, by the address of its metadata.
    FungibleAsset(AccountAddress),
    /// A coin, by its type.
    Coin(StructTag),
}

/// The balance of `asset` that `owner` holds; 0 where there is no account or no such asset.
///
/// The chain's coin and its paired asset `0xa` are one pot of money (design section 8).
///
/// # Errors
/// When the state cannot be read, or holds a store that does not decode.
pub fn balance(
    chain: &Chain,
    view: &dyn StateView,
    owner: &AccountAddress,
    asset: &AssetType,
) -> Result<u64, StateError> {
    let native = chain.framework().native_coin();
    let coin = match asset {
        AssetType::FungibleAsset(address) if *address == AccountAddress::NATIVE_ASSET => native.clone(),
        AssetType::FungibleAsset(_) => return Ok(0),
        AssetType::Coin(tag) => TypeTag::from(tag.clone()),
    };
    let key = chain
        .framework()
        .resource_key::<CoinStore>(owner, std::slice::from_ref(&coin));
    let Some(bytes) = view.get(&key)? else {
        return Ok(0);
    };
    let store: CoinStore =
        bcs::from_bytes(&bytes).map_err(|error| StateError(format!("coin store of {owner}: {error}")))?;
    Ok(store.coin.value)
}
