//! Tags and state key paths of the structs that nearly every transaction touches, made once per
//! chain: building them anew took a third of the time of a transfer.

use super::{
    ModuleRegistry, MoveStruct,
    modules::{
        account::{Account, CoinRegisterEvent},
        block::{BlockResource, NewBlockEvent},
        coin::{CoinInfo, CoinStore, DepositEvent, WithdrawEvent},
        fungible_asset::{Deposit, FungibleStore, Metadata, Withdraw},
        object::ObjectCore,
        timestamp::CurrentTimeMicroseconds,
        transaction_fee::FeeStatement,
    },
};
use crate::{AccountAddress, StateKey, StructTag, TypeTag};
use bytes::Bytes;
use std::{any::TypeId, collections::HashMap};

/// A struct with the type arguments it nearly always has.
#[derive(Debug)]
struct Known {
    tag: StructTag,
    path: Bytes,
}

/// The known structs by their Rust type.
#[derive(Debug, Default)]
pub(super) struct KnownStructs(HashMap<TypeId, Known>);

impl KnownStructs {
    fn insert<T: MoveStruct>(&mut self, registry: &ModuleRegistry, type_args: &[TypeTag]) {
        let tag = registry.make_tag::<T>(type_args);
        let path = StateKey::resource_path(&tag);
        self.0.insert(TypeId::of::<T>(), Known { tag, path });
    }

    /// The structs of `framework`, whose modules are complete.
    pub(super) fn of(registry: &ModuleRegistry) -> Self {
        let mut known = Self::default();
        let native = std::slice::from_ref(&registry.native_coin);
        known.insert::<Account>(registry, &[]);
        known.insert::<CoinStore>(registry, native);
        known.insert::<CoinInfo>(registry, native);
        known.insert::<BlockResource>(registry, &[]);
        known.insert::<CurrentTimeMicroseconds>(registry, &[]);
        known.insert::<NewBlockEvent>(registry, &[]);
        known.insert::<CoinRegisterEvent>(registry, &[]);
        known.insert::<DepositEvent>(registry, &[]);
        known.insert::<WithdrawEvent>(registry, &[]);
        known.insert::<FeeStatement>(registry, &[]);
        known.insert::<ObjectCore>(registry, &[]);
        known.insert::<Metadata>(registry, &[]);
        known.insert::<FungibleStore>(registry, &[]);
        known.insert::<Deposit>(registry, &[]);
        known.insert::<Withdraw>(registry, &[]);
        known
    }

    fn get<T: MoveStruct>(&self, type_args: &[TypeTag]) -> Option<&Known> {
        self.0
            .get(&TypeId::of::<T>())
            .filter(|known| known.tag.type_args == type_args)
    }
}

impl ModuleRegistry {
    /// The tag of a declared struct of this chain.
    pub fn tag_of<T: MoveStruct>(&self, type_args: &[TypeTag]) -> StructTag {
        match self.known.get::<T>(type_args) {
            Some(known) => known.tag.clone(),
            None => self.make_tag::<T>(type_args),
        }
    }

    /// The state key of the object resource group at `address`.
    pub fn group_key(&self, address: &AccountAddress) -> StateKey {
        StateKey::with_path(address, &self.group_path)
    }

    /// The state key of the resource `T` at `address`.
    pub(crate) fn resource_key<T: MoveStruct>(
        &self,
        address: &AccountAddress,
        type_args: &[TypeTag],
    ) -> StateKey {
        match self.known.get::<T>(type_args) {
            Some(known) => StateKey::with_path(address, &known.path),
            None => StateKey::resource(address, &self.make_tag::<T>(type_args)),
        }
    }

    /// Whether `key` is that of the resource `T` at some address.
    pub(crate) fn is_resource_key<T: MoveStruct>(
        &self,
        key: &StateKey,
        type_args: &[TypeTag],
    ) -> bool {
        match self.known.get::<T>(type_args) {
            Some(known) => key.path() == Some(&known.path[..]),
            None => {
                key.path() == Some(&StateKey::resource_path(&self.make_tag::<T>(type_args))[..])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Vendor;

    #[test]
    fn known_keys_are_the_keys_that_are_made() {
        let registry = ModuleRegistry::new(&Vendor::default());
        let address = AccountAddress::from_low_u64(9);
        for type_args in [
            &[][..],
            std::slice::from_ref(&registry.native_coin),
            &[TypeTag::U8],
        ] {
            let made = StateKey::resource(&address, &registry.make_tag::<CoinStore>(type_args));
            assert_eq!(
                registry.resource_key::<CoinStore>(&address, type_args),
                made
            );
            assert!(registry.is_resource_key::<CoinStore>(&made, type_args));
            let others =
                [&made.as_bytes()[..33], &[]].map(|key| StateKey::table_item(&address, key));
            assert!(
                others
                    .iter()
                    .all(|key| !registry.is_resource_key::<CoinStore>(key, type_args))
            );
            assert!(
                !registry.is_resource_key::<CoinStore>(&registry.group_key(&address), type_args)
            );
            assert_eq!(
                registry.tag_of::<CoinStore>(type_args),
                registry.make_tag::<CoinStore>(type_args)
            );
        }
    }
}
