//! The state of an account that validation depends on: its account resource, and its store of the
//! chain's coin.

use bytes::Bytes;
use ledger_crypto::HashValue;
use ledger_framework::modules::{
    account::Account,
    fungible_asset::FungibleStore,
    object::{ObjectCore, user_derived_address},
};
use ledger_types::{AccountAddress, StateError, StateKey, StateView, state::ResourceGroup};
use ledger_vm::{BlockState, Chain, MoveStruct, decode_resource};
use serde::Deserialize;

/// The state of an account that validation depends on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccountSnapshot {
    /// Sequence number of the next transaction of the account.
    pub sequence_number: u64,
    /// Authentication key of the account.
    pub authentication_key: HashValue,
    /// Balance of the chain's coin, in the smallest unit.
    pub balance: u64,
    /// Address of the store that holds the chain's coin of the account, whether or not it exists.
    pub store: AccountAddress,
}

impl AccountSnapshot {
    /// Reads the snapshot of `address`.
    ///
    /// An account without an account resource has sequence number 0 and its own address as
    /// authentication key. Its balance is that of its primary store, which may exist without an
    /// account resource.
    ///
    /// # Errors
    ///
    /// Returns [`StateError`] if the state cannot be read or a resource cannot be decoded.
    pub fn read(
        chain: &Chain,
        view: &dyn StateView,
        address: &AccountAddress,
    ) -> Result<Self, StateError> {
        Self::read_with_store(chain, view, address, native_store(address))
    }

    /// Reads the snapshot like [`Self::read`], with the store address if `state` knows it.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::read`].
    pub(super) fn read_in_block(
        chain: &Chain,
        state: &BlockState<'_>,
        address: &AccountAddress,
    ) -> Result<Self, StateError> {
        let store = state.native_store(address);
        let store = store.unwrap_or_else(|| native_store(address));
        Self::read_with_store(chain, state, address, store)
    }

    /// Reads the snapshot of `address`, whose primary store is at `store`.
    fn read_with_store(
        chain: &Chain,
        view: &dyn StateView,
        address: &AccountAddress,
        store: AccountAddress,
    ) -> Result<Self, StateError> {
        let registry = chain.registry();
        let account = view.get(&registry.resource_key::<Account>(address, &[]))?;
        let coins = view.get(&registry.group_key(&store))?;
        let (sequence_number, authentication_key) = decode_account(address, account.as_ref())?;
        Ok(Self {
            sequence_number,
            authentication_key,
            balance: balance(chain, coins.as_ref())?,
            store,
        })
    }

    /// Returns the snapshot after a write of `value` to `key`, as [`Self::read`] would return it.
    ///
    /// A value of `None` is a deletion. A key of another resource returns `self` unchanged.
    ///
    /// # Errors
    ///
    /// Returns [`StateError`] if `value` cannot be decoded as the resource of `key`.
    pub fn after_write(
        self,
        chain: &Chain,
        address: &AccountAddress,
        (key, value): (&StateKey, Option<&Bytes>),
    ) -> Result<Self, StateError> {
        let registry = chain.registry();
        if registry.is_resource_key::<Account>(key, &[]) {
            let (sequence_number, authentication_key) = decode_account(address, value)?;
            return Ok(Self {
                sequence_number,
                authentication_key,
                ..self
            });
        }
        if key.address() == Some(self.store) && registry.is_group_key(key) {
            let balance = balance(chain, value)?;
            return Ok(Self { balance, ..self });
        }
        Ok(self)
    }
}

/// Returns the address of the store that holds the chain's coin of `owner`.
fn native_store(owner: &AccountAddress) -> AccountAddress {
    user_derived_address(*owner, AccountAddress::NATIVE_ASSET)
}

/// Returns the account whose snapshot a write of `value` to `key` may change, or `None` if it
/// changes no snapshot.
///
/// The deletion of a store changes none, because only an empty store can be deleted.
///
/// # Errors
///
/// Returns [`StateError`] if `value` is a resource group that cannot be decoded.
pub fn written_account(
    chain: &Chain,
    (key, value): (&StateKey, Option<&Bytes>),
) -> Result<Option<AccountAddress>, StateError> {
    if !chain.registry().is_group_key(key) {
        return Ok(key.address());
    }
    let Some(group) = value else {
        return Ok(None);
    };
    let group = decode_group(group)?;
    match member::<FungibleStore>(chain, &group)? {
        Some(store) if store.metadata.inner == AccountAddress::NATIVE_ASSET => {
            Ok(member::<ObjectCore>(chain, &group)?.map(|core| core.owner))
        }
        _ => Ok(None),
    }
}

fn decode_group(slot: &Bytes) -> Result<ResourceGroup, StateError> {
    ResourceGroup::decode(slot).map_err(|error| StateError(error.to_string()))
}

/// Returns the member `T` of a resource group.
fn member<T: MoveStruct>(chain: &Chain, group: &ResourceGroup) -> Result<Option<T>, StateError> {
    let tag = chain.registry().tag_bytes_of::<T>(&[]);
    group.get(&tag).map(decode_resource).transpose()
}

/// The first fields of [`Account`], which are all that validation needs.
#[derive(Deserialize)]
struct AccountHead<'a> {
    authentication_key: &'a [u8],
    sequence_number: u64,
}

/// Returns the sequence number and the authentication key of an account resource, or the defaults
/// of an account without one.
fn decode_account(
    address: &AccountAddress,
    account: Option<&Bytes>,
) -> Result<(u64, HashValue), StateError> {
    let head = match account {
        Some(bytes) => {
            let mut decoder = bcs::Deserializer::new(&bytes[..], bcs::MAX_CONTAINER_DEPTH);
            AccountHead::deserialize(&mut decoder)
                .map_err(|error| StateError(format!("a stored account does not decode: {error}")))?
        }
        None => AccountHead {
            authentication_key: address.as_bytes(),
            sequence_number: 0,
        },
    };
    // A key of another length becomes zero, which matches no signature.
    let key = head.authentication_key.try_into().unwrap_or_default();
    Ok((head.sequence_number, HashValue::new(key)))
}

/// Returns the balance of the store in the resource group `slot`, in the coin's smallest unit; zero
/// without a store.
fn balance(chain: &Chain, slot: Option<&Bytes>) -> Result<u64, StateError> {
    let Some(slot) = slot else {
        return Ok(0);
    };
    let store = member::<FungibleStore>(chain, &decode_group(slot)?)?;
    Ok(store.map_or(0, |store| store.balance))
}
