//! State keys in their storage encoding (docs/reference/reference-node.md#r30).
//!
//! A key is tag 0 with the BCS of an address and a path, or tag 1 with a table handle and a key.
//! The first byte of a path distinguishes modules, resources and resource groups.

use crate::{AccountAddress, ModuleId, StructTag, Vendor};
use bytes::Bytes;
use ledger_crypto::{HashBatch, HashValue};
use serde::{Deserialize, Serialize};
use std::fmt;

const ACCESS_PATH: u8 = 0;
const TABLE_ITEM: u8 = 1;
const PATH_MODULE: u8 = 0;
const PATH_RESOURCE: u8 = 1;
const PATH_RESOURCE_GROUP: u8 = 2;

/// A key of the state, as its encoded bytes. Cheap to clone; ordered by the bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StateKey(Bytes);

/// What a state key names.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(
    missing_docs,
    reason = "the variants are what their names and fields say"
)]
pub enum StateKeyParts {
    Module(ModuleId),
    Resource {
        address: AccountAddress,
        tag: StructTag,
    },
    ResourceGroup {
        address: AccountAddress,
        tag: StructTag,
    },
    TableItem {
        handle: AccountAddress,
        key: Bytes,
    },
}

/// Bytes that are no state key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a state key: {0}")]
pub struct StateKeyError(String);

/// The part of an access path's encoding that follows the address: a byte vector of kind and `rest`.
fn encoded_path(kind: u8, rest: &impl Serialize) -> Vec<u8> {
    let mut path = vec![kind];
    bcs::serialize_into(&mut path, rest).expect("tags have a BCS form");
    bcs::to_bytes(serde_bytes::Bytes::new(&path)).expect("bytes have a BCS form")
}

impl StateKey {
    /// The key of a resource.
    pub fn resource(address: &AccountAddress, tag: &StructTag) -> Self {
        Self::with_path(address, &encoded_path(PATH_RESOURCE, tag))
    }

    /// What follows the address in the key of a resource; made once where it is used often.
    pub fn resource_path(tag: &StructTag) -> Bytes {
        encoded_path(PATH_RESOURCE, tag).into()
    }

    /// What follows the address in the key of a resource group.
    pub fn resource_group_path(tag: &StructTag) -> Bytes {
        encoded_path(PATH_RESOURCE_GROUP, tag).into()
    }

    /// The key of an address and an encoded path.
    pub fn with_path(address: &AccountAddress, path: &[u8]) -> Self {
        let mut bytes = Vec::with_capacity(1 + AccountAddress::LENGTH + path.len());
        bytes.push(ACCESS_PATH);
        bytes.extend_from_slice(address.as_bytes());
        bytes.extend_from_slice(path);
        Self(bytes.into())
    }

    /// The key of a resource group at an address.
    pub fn resource_group(address: &AccountAddress, tag: &StructTag) -> Self {
        Self::with_path(address, &encoded_path(PATH_RESOURCE_GROUP, tag))
    }

    /// The key of a module.
    pub fn module(id: &ModuleId) -> Self {
        Self::with_path(&id.address, &encoded_path(PATH_MODULE, id))
    }

    /// The key of a table item; `key` is the BCS form of the item's key.
    pub fn table_item(handle: &AccountAddress, key: &[u8]) -> Self {
        let mut bytes = Vec::with_capacity(33 + key.len());
        bytes.push(TABLE_ITEM);
        bytes.extend_from_slice(handle.as_bytes());
        bytes.extend_from_slice(key);
        Self(bytes.into())
    }

    /// The storage encoding.
    pub fn as_bytes(&self) -> &Bytes {
        &self.0
    }

    /// Takes bytes in the storage encoding, as they were written before.
    pub fn from_encoded(bytes: Bytes) -> Self {
        Self(bytes)
    }

    /// The address that the key belongs to; none for table items, whose handle is no account.
    pub fn address(&self) -> Option<AccountAddress> {
        let (&tag, rest) = self.0.split_first()?;
        let address = rest.first_chunk::<{ AccountAddress::LENGTH }>()?;
        (tag == ACCESS_PATH).then(|| AccountAddress::new(*address))
    }

    /// What follows the address in the key, which tells what is there.
    pub fn path(&self) -> Option<&[u8]> {
        let (&tag, rest) = self.0.split_first()?;
        let path = rest.get(AccountAddress::LENGTH..)?;
        (tag == ACCESS_PATH).then_some(path)
    }

    /// The hash that names the key in lists of changes.
    pub fn hash(&self, vendor: &Vendor) -> HashValue {
        vendor.seeds().state_key.hash(&[&self.0])
    }

    /// What the key names.
    ///
    /// # Errors
    /// When the bytes are no state key.
    pub fn parts(&self) -> Result<StateKeyParts, StateKeyError> {
        let error = |text: &str| StateKeyError(text.to_owned());
        let Some((&tag, rest)) = self.0.split_first() else {
            return Err(error("empty"));
        };
        if rest.len() < 32 {
            return Err(error("too short"));
        }
        let (address, rest) = rest.split_at(32);
        let address = AccountAddress::new(address.try_into().expect("32 bytes"));
        match tag {
            TABLE_ITEM => Ok(StateKeyParts::TableItem {
                handle: address,
                key: Bytes::copy_from_slice(rest),
            }),
            ACCESS_PATH => {
                let path: &serde_bytes::Bytes =
                    bcs::from_bytes(rest).map_err(|e| StateKeyError(e.to_string()))?;
                let Some((&kind, tag)) = path.split_first() else {
                    return Err(error("empty path"));
                };
                let struct_tag = || bcs::from_bytes(tag).map_err(|e| StateKeyError(e.to_string()));
                match kind {
                    PATH_MODULE => bcs::from_bytes(tag)
                        .map(StateKeyParts::Module)
                        .map_err(|e| StateKeyError(e.to_string())),
                    PATH_RESOURCE => Ok(StateKeyParts::Resource {
                        address,
                        tag: struct_tag()?,
                    }),
                    PATH_RESOURCE_GROUP => Ok(StateKeyParts::ResourceGroup {
                        address,
                        tag: struct_tag()?,
                    }),
                    _ => Err(error("unknown kind of path")),
                }
            }
            _ => Err(error("unknown tag")),
        }
    }
}

impl fmt::Debug for StateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{}", hex::encode(&self.0))
    }
}

/// Number of state keys that are hashed in one batch: large enough that few lanes of the permutation
/// stay empty, small enough that the copies of the keys stay in a CPU cache.
const STATE_KEYS_PER_BATCH: usize = 64;

/// Returns the hashes of `keys` in their order, each as [`StateKey::hash`] returns it.
pub fn state_key_hashes<'k>(
    vendor: &Vendor,
    keys: impl IntoIterator<Item = &'k StateKey>,
) -> Vec<HashValue> {
    let seed = &vendor.seeds().state_key;
    let mut keys = keys.into_iter().peekable();
    let mut hashes = Vec::with_capacity(keys.size_hint().0);
    let mut batch = HashBatch::default();
    while keys.peek().is_some() {
        for key in keys.by_ref().take(STATE_KEYS_PER_BATCH) {
            batch.push(seed, &[&key.as_bytes()[..]]);
        }
        hashes.extend(batch.finish());
    }
    hashes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_round_trip() {
        let tag: StructTag = "0x1::coin::CoinStore<0x1::m::A>".parse().unwrap();
        let address = AccountAddress::from_low_u64(7);
        let module: ModuleId = "0x1::coin".parse().unwrap();
        let cases = [
            (
                StateKey::resource(&address, &tag),
                StateKeyParts::Resource {
                    address,
                    tag: tag.clone(),
                },
            ),
            (
                StateKey::resource_group(&address, &tag),
                StateKeyParts::ResourceGroup { address, tag },
            ),
            (StateKey::module(&module), StateKeyParts::Module(module)),
            (
                StateKey::table_item(&address, b"k"),
                StateKeyParts::TableItem {
                    handle: address,
                    key: Bytes::from_static(b"k"),
                },
            ),
        ];
        for (key, parts) in cases {
            let owner = match &parts {
                StateKeyParts::Resource { address, .. }
                | StateKeyParts::ResourceGroup { address, .. } => Some(*address),
                StateKeyParts::Module(module) => Some(module.address),
                StateKeyParts::TableItem { .. } => None,
            };
            assert_eq!(key.address(), owner);
            assert_eq!(key.parts(), Ok(parts));
        }
        assert_eq!(
            StateKey::from_encoded(Bytes::from_static(b"\0\x01")).address(),
            None
        );
        assert!(
            StateKey::from_encoded(Bytes::from_static(b"\0"))
                .parts()
                .is_err()
        );
    }

    #[test]
    fn hashes_state_keys_in_a_batch_as_alone() {
        let vendor = Vendor::default();
        let handle = AccountAddress::ONE;
        let counts = [0, 1, 9, STATE_KEYS_PER_BATCH, 2 * STATE_KEYS_PER_BATCH + 3];
        for count in counts {
            let keys: Vec<_> = (0..count)
                .map(|n| StateKey::table_item(&handle, &vec![n as u8; 3 * n]))
                .collect();
            let alone: Vec<_> = keys.iter().map(|key| key.hash(&vendor)).collect();
            assert_eq!(state_key_hashes(&vendor, &keys), alone, "{count} keys");
        }
    }
}
