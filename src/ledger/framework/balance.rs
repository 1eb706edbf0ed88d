//! The balance of an account: interface section 4.8.

use super::modules::{coin, primary_fungible_store};
use crate::{
    AccountAddress, Chain, HashValue, StateError, StateView, StructTag,
    execute::{BlockState, Context, Environment, Failure},
};

/// Which asset a balance is asked of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AssetType {
    /// A fungible asset, by the address of its metadata.
    FungibleAsset(AccountAddress),
    /// A coin, by its type.
    Coin(StructTag),
}

/// The balance of `asset` that `owner` holds, of an asset in its primary store; 0 where there is no
/// account or no such asset. A coin and its paired asset are one pot of money (design section 8).
///
/// # Errors
/// When the state cannot be read, or holds a store that does not decode.
pub fn balance(
    chain: &Chain,
    view: &dyn StateView,
    owner: &AccountAddress,
    asset: &AssetType,
) -> Result<u64, StateError> {
    let state = BlockState::new(view);
    // A balance depends on neither block nor time.
    let nowhere = Environment {
        height: 0,
        timestamp_usecs: 0,
        transaction_hash: HashValue::ZERO,
    };
    let mut context = Context::unmetered(chain, &state, nowhere);
    let held = match asset {
        AssetType::FungibleAsset(metadata) => {
            primary_fungible_store::balance_of(&mut context, *owner, *metadata)
        }
        AssetType::Coin(tag) => coin::balance_of(&mut context, *owner, &tag.clone().into()),
    };
    held.map_err(|failure| match failure {
        Failure::State(error) => error,
        other => StateError(format!("the balance of {owner}: {other:?}")),
    })
}
