//! The balance of an account (docs/reference/rest-contract.md#s4-8).

use super::modules::{coin, primary_fungible_store};
use ledger_types::{AccountAddress, StateError, StateView, StructTag};
use ledger_vm::{BlockState, Chain, Context, Environment, VmError};

/// The asset of a balance query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AssetType {
    /// A fungible asset, named by the address of its metadata.
    FungibleAsset(AccountAddress),
    /// A coin, named by its type.
    Coin(StructTag),
}

/// Returns the balance of `asset` that `owner` holds, in the asset's smallest unit.
///
/// An unknown account or asset has the balance 0. The balance includes only the primary store. A
/// coin and its paired asset are one balance (docs/use/interface.md#paired-assets).
///
/// # Errors
///
/// Returns [`StateError`] if the state cannot be read, if a stored resource does not decode, or if
/// a paired coin type does not parse.
pub fn balance(
    chain: &Chain,
    view: &dyn StateView,
    owner: &AccountAddress,
    asset: &AssetType,
) -> Result<u64, StateError> {
    let state = BlockState::new(view);
    // A balance depends on neither the block nor its time.
    let mut context = Context::unmetered(chain, &state, Environment::NONE);
    let result = match asset {
        AssetType::FungibleAsset(metadata) => {
            primary_fungible_store::balance_of(&mut context, *owner, *metadata)
        }
        AssetType::Coin(tag) => coin::balance_of(&mut context, *owner, &tag.clone().into()),
    };
    result.map_err(|failure| match failure {
        VmError::State(error) => error,
        other => StateError(format!("the balance of {owner}: {other:?}")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        modules::{
            coin::{CoinStore, PairedCoinType},
            type_info::TypeInfo,
        },
        new_chain,
    };
    use bytes::Bytes;
    use ledger_types::{Parameters, StateKey, Vendor};
    use std::collections::BTreeMap;

    const OWNER: AccountAddress = AccountAddress::from_low_u64(0x77);
    const METADATA: AccountAddress = AccountAddress::from_low_u64(0x88);

    fn chain() -> Chain {
        new_chain(4, Vendor::default(), Parameters::default())
    }

    fn native(chain: &Chain) -> AssetType {
        AssetType::Coin(chain.registry().native_coin().to_string().parse().unwrap())
    }

    /// Returns a state in which only `key` has a value.
    fn state_with(key: StateKey, value: Vec<u8>) -> impl StateView {
        let value = Bytes::from(value);
        move |requested: &StateKey| Ok((*requested == key).then(|| value.clone()))
    }

    #[test]
    fn returns_zero_for_unknown_accounts_and_assets() {
        let chain = chain();
        let empty = |_: &StateKey| Ok(None);
        for asset in [
            native(&chain),
            AssetType::Coin("0x5::moon::Coin<u8>".parse().unwrap()),
            AssetType::FungibleAsset(AccountAddress::NATIVE_ASSET),
            AssetType::FungibleAsset(METADATA),
        ] {
            assert_eq!(
                balance(&chain, &empty, &OWNER, &asset).unwrap(),
                0,
                "{asset:?}"
            );
        }
    }

    #[test]
    fn rejects_state_that_does_not_decode() {
        let chain = chain();
        let coin = std::slice::from_ref(chain.registry().native_coin());
        let key = chain.registry().resource_key::<CoinStore>(&OWNER, coin);
        let corrupt_state = state_with(key, vec![1, 2, 3]);
        for asset in [
            native(&chain),
            AssetType::FungibleAsset(AccountAddress::NATIVE_ASSET),
        ] {
            assert!(balance(&chain, &corrupt_state, &OWNER, &asset).is_err());
        }
        let group = chain.registry().group_key(&METADATA);
        let corrupt_state = state_with(group, vec![0xff]);
        assert!(
            balance(
                &chain,
                &corrupt_state,
                &OWNER,
                &AssetType::FungibleAsset(METADATA)
            )
            .is_err()
        );
    }

    #[test]
    fn rejects_paired_coin_types_that_do_not_parse() {
        let chain = chain();
        let balance_of_pair = |struct_name: &str| {
            let pair = PairedCoinType {
                r#type: TypeInfo {
                    account_address: OWNER,
                    module_name: b"moon".to_vec(),
                    struct_name: struct_name.into(),
                },
            };
            let tag = chain.registry().tag_of::<PairedCoinType>(&[]);
            let group = BTreeMap::from([(tag, bcs::to_bytes(&pair).unwrap())]);
            let key = chain.registry().group_key(&METADATA);
            let state = state_with(key, bcs::to_bytes(&group).unwrap());
            balance(&chain, &state, &OWNER, &AssetType::FungibleAsset(METADATA))
        };
        assert_eq!(balance_of_pair("Coin<u8>").unwrap(), 0);
        assert!(balance_of_pair("Coin<u8").is_err());
        assert!(balance_of_pair("").is_err());
    }
}
