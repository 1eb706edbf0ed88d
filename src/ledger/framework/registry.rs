//! The registry of a chain: all modules of the framework, and a cache of the structs that most
//! transactions access.

use crate::modules::{
    self,
    account::Account,
    block::{BlockResource, NewBlockEvent},
    coin::CoinInfo,
    fungible_asset::{
        Deposit, DepositEvent, FungibleAssetEvents, FungibleStore, Metadata, Withdraw,
        WithdrawEvent,
    },
    object::ObjectCore,
    timestamp::CurrentTimeMicroseconds,
    transaction_fee::FeeStatement,
    vendor_coin,
};
use ledger_types::{ChainIdentity, Parameters, Vendor};
use ledger_vm::{Chain, ModuleRegistry};

/// Newest framework version of this program. A new development chain starts with it.
///
/// A module added later is listed with the next version, so that each chain enables it at a height
/// of its own (`Parameters::framework_upgrades`).
pub const FRAMEWORK_VERSION: u64 = modules::newest_version();

/// Creates a chain that runs the framework.
pub fn new_chain(id: u8, vendor: Vendor, parameters: Parameters) -> Chain {
    let registry = module_registry(&vendor);
    Chain::new(ChainIdentity { id, vendor }, parameters, registry)
}

/// Returns the modules of a chain with this vendor word.
pub fn module_registry(vendor: &Vendor) -> ModuleRegistry {
    let native_coin = vendor_coin::native_coin(vendor);
    let native = std::slice::from_ref(&native_coin);
    ModuleRegistry::new(vendor, native_coin.clone(), modules::all())
        .with_cached_struct::<Account>(&[])
        .with_cached_struct::<CoinInfo>(native)
        .with_cached_struct::<BlockResource>(&[])
        .with_cached_struct::<CurrentTimeMicroseconds>(&[])
        .with_cached_struct::<NewBlockEvent>(&[])
        .with_cached_struct::<DepositEvent>(&[])
        .with_cached_struct::<WithdrawEvent>(&[])
        .with_cached_struct::<FeeStatement>(&[])
        .with_cached_struct::<ObjectCore>(&[])
        .with_cached_struct::<Metadata>(&[])
        .with_cached_struct::<FungibleStore>(&[])
        .with_cached_struct::<FungibleAssetEvents>(&[])
        .with_cached_struct::<Deposit>(&[])
        .with_cached_struct::<Withdraw>(&[])
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use ledger_types::{AccountAddress, StateKey, StructTag, TYPE_DEPTH_MAX, TypeTag};

    fn registry() -> ModuleRegistry {
        module_registry(&Vendor::default())
    }

    /// Returns a map element type whose key and value are again such types, nested `levels` deep.
    fn nested_element_type(levels: usize) -> TypeTag {
        (0..levels).fold(TypeTag::U8, |inner, _| {
            StructTag::framework("simple_map", "Element", vec![inner.clone(), inner]).into()
        })
    }

    #[test]
    fn rejects_types_with_too_many_parts() {
        let registry = registry();
        let cause = |levels| {
            let error = registry
                .value_to_json(&nested_element_type(levels), &[])
                .unwrap_err();
            error.to_string()
        };
        assert_eq!(cause(TYPE_DEPTH_MAX), "the value ends too early");
        assert_eq!(cause(14), "the type has too many parts");
    }

    #[test]
    fn caches_the_types_of_a_transfer() {
        let registry = registry();
        for tag in [
            StructTag::framework("fungible_asset", "FungibleStore", vec![]),
            StructTag::framework("fungible_asset", "FungibleAssetEvents", vec![]),
            StructTag::framework("object", "ObjectCore", vec![]),
            StructTag::framework("account", "Account", vec![]),
            StructTag::framework("transaction_fee", "FeeStatement", vec![]),
        ] {
            assert_eq!(registry.cached_type(&tag).unwrap().text(), tag.to_string());
        }
    }

    #[test]
    fn finds_the_cached_type_of_a_resource_by_its_state_key() {
        let registry = registry();
        let owner = AccountAddress::from_low_u64(0x77);
        let account = StructTag::framework("account", "Account", vec![]);
        let (address, cached) = registry
            .cached_resource(&StateKey::resource(&owner, &account))
            .unwrap();
        assert_eq!((address, cached.text()), (owner, "0x1::account::Account"));
        let uncached = [
            StateKey::resource(&owner, &StructTag::framework("account", "Nothing", vec![])),
            registry.group_key(&owner),
            StateKey::table_item(&owner, &StateKey::resource_path(&account)),
            StateKey::from_encoded(Bytes::from_static(&[0; 33])),
            StateKey::from_encoded(Bytes::new()),
        ];
        for key in uncached {
            assert!(registry.cached_resource(&key).is_none(), "{key:?}");
        }
    }

    #[test]
    fn cached_keys_and_tags_equal_those_built_from_text() {
        let registry = registry();
        let address = AccountAddress::from_low_u64(9);
        for type_args in [
            &[][..],
            std::slice::from_ref(registry.native_coin()),
            &[TypeTag::U8],
        ] {
            let tag = StructTag::framework("coin", "CoinInfo", type_args.to_vec());
            let key = StateKey::resource(&address, &tag);
            assert_eq!(registry.tag_of::<CoinInfo>(type_args), tag);
            assert_eq!(registry.resource_key::<CoinInfo>(&address, type_args), key);
            assert!(registry.is_resource_key::<CoinInfo>(&key, type_args));
            for other in [&key.as_bytes()[..33], &[]] {
                let item = StateKey::table_item(&address, other);
                assert!(!registry.is_resource_key::<CoinInfo>(&item, type_args));
            }
            let group = registry.group_key(&address);
            assert!(!registry.is_resource_key::<CoinInfo>(&group, type_args));
        }
    }
}
