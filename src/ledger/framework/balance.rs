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
/// Returns [`StateError`] if the state cannot be read, or if a stored resource does not decode.
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
            coin::paired_metadata_address, fungible_asset::FungibleStore, object::Object,
            object::user_derived_address,
        },
        new_chain,
    };
    use bytes::Bytes;
    use ledger_types::{Parameters, StateKey, Vendor, state::GroupMembers};

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
        for (asset, metadata) in [
            (native(&chain), AccountAddress::NATIVE_ASSET),
            (
                AssetType::FungibleAsset(AccountAddress::NATIVE_ASSET),
                AccountAddress::NATIVE_ASSET,
            ),
            (AssetType::FungibleAsset(METADATA), METADATA),
        ] {
            let store = user_derived_address(OWNER, metadata);
            let group = chain.registry().group_key(&store);
            let corrupt_state = state_with(group, vec![0xff]);
            assert!(balance(&chain, &corrupt_state, &OWNER, &asset).is_err());
        }
    }

    #[test]
    fn reads_the_balance_of_the_native_coin_under_both_of_its_names() {
        let chain = chain();
        let registry = chain.registry();
        let metadata = paired_metadata_address(&chain, registry.native_coin());
        let store = FungibleStore {
            metadata: Object::at(metadata),
            balance: 7,
            frozen: false,
        };
        let members = GroupMembers::from([(
            registry.tag_of::<FungibleStore>(&[]),
            bcs::to_bytes(&store).unwrap().into(),
        )]);
        let key = registry.group_key(&user_derived_address(OWNER, metadata));
        let state = state_with(key, bcs::to_bytes(&members).unwrap());
        for asset in [native(&chain), AssetType::FungibleAsset(metadata)] {
            assert_eq!(balance(&chain, &state, &OWNER, &asset).unwrap(), 7);
        }
    }
}
