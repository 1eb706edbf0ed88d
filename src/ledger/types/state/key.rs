//! State keys in their storage encoding (docs/reference/reference-node.md#r30).
//!
//! A key is tag 0 with the BCS of an address and a path, or tag 1 with a table handle and an item
//! key. The first byte of a path distinguishes modules, resources, and resource groups.

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

/// A key of the state in its storage encoding.
///
/// Keys are cheap to clone and ordered by their bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StateKey(Bytes);

/// A decoded state key.
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

/// The error of decoding bytes that are not a state key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a state key: {0}")]
pub struct StateKeyError(String);

/// Encodes the part of a key after the address: a byte vector of `kind` and the BCS of `rest`.
fn encoded_path(kind: u8, rest: &impl Serialize) -> Vec<u8> {
    let mut path = vec![kind];
    bcs::serialize_into(&mut path, rest).expect("tags have a BCS form");
    bcs::to_bytes(serde_bytes::Bytes::new(&path)).expect("bytes have a BCS form")
}

impl StateKey {
    /// Returns the key of a resource.
    pub fn resource(address: &AccountAddress, tag: &StructTag) -> Self {
        Self::with_path(address, &encoded_path(PATH_RESOURCE, tag))
    }

    /// Returns the part of a resource's key after the address.
    ///
    /// A frequent caller encodes the part once and passes it to [`Self::with_path`].
    pub fn resource_path(tag: &StructTag) -> Bytes {
        encoded_path(PATH_RESOURCE, tag).into()
    }

    /// Returns the part of a resource group's key after the address.
    pub fn resource_group_path(tag: &StructTag) -> Bytes {
        encoded_path(PATH_RESOURCE_GROUP, tag).into()
    }

    /// Returns the key with the encoded path `path` at an address.
    pub fn with_path(address: &AccountAddress, path: &[u8]) -> Self {
        let mut bytes = Vec::with_capacity(Self::length_with_path(path));
        bytes.push(ACCESS_PATH);
        bytes.extend_from_slice(address.as_bytes());
        bytes.extend_from_slice(path);
        Self(bytes.into())
    }

    /// Returns the length of a key with the encoded path `path`, in bytes.
    pub const fn length_with_path(path: &[u8]) -> usize {
        1 + AccountAddress::LENGTH + path.len()
    }

    /// Returns the key of a resource group at an address.
    pub fn resource_group(address: &AccountAddress, tag: &StructTag) -> Self {
        Self::with_path(address, &encoded_path(PATH_RESOURCE_GROUP, tag))
    }

    /// Returns the key of a module.
    pub fn module(id: &ModuleId) -> Self {
        Self::with_path(&id.address, &encoded_path(PATH_MODULE, id))
    }

    /// Returns the key of a table item. `key` is the BCS form of the item's key.
    pub fn table_item(handle: &AccountAddress, key: &[u8]) -> Self {
        let mut bytes = Vec::with_capacity(33 + key.len());
        bytes.push(TABLE_ITEM);
        bytes.extend_from_slice(handle.as_bytes());
        bytes.extend_from_slice(key);
        Self(bytes.into())
    }

    /// Returns the storage encoding.
    pub fn as_bytes(&self) -> &Bytes {
        &self.0
    }

    /// Creates a key from its storage encoding, without a check. [`Self::decode`] decodes it.
    pub fn from_encoded(bytes: Bytes) -> Self {
        Self(bytes)
    }

    /// Returns the address in the key.
    ///
    /// Returns `None` for table items, because a table handle is not an account, and for bytes
    /// without an address.
    pub fn address(&self) -> Option<AccountAddress> {
        let (&tag, rest) = self.0.split_first()?;
        let address = rest.first_chunk::<{ AccountAddress::LENGTH }>()?;
        (tag == ACCESS_PATH).then(|| AccountAddress::new(*address))
    }

    /// Returns the part of the key after the address, which identifies the item at the address.
    ///
    /// Returns `None` for table items and for bytes without an address.
    pub fn path(&self) -> Option<&[u8]> {
        let (&tag, rest) = self.0.split_first()?;
        let path = rest.get(AccountAddress::LENGTH..)?;
        (tag == ACCESS_PATH).then_some(path)
    }

    /// Returns the hash that identifies the key in lists of changes.
    pub fn hash(&self, vendor: &Vendor) -> HashValue {
        vendor.seeds().state_key.hash(&[&self.0])
    }

    /// Decodes the key.
    ///
    /// # Errors
    ///
    /// Returns [`StateKeyError`] if the bytes are not a state key.
    pub fn decode(&self) -> Result<StateKeyParts, StateKeyError> {
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

/// Number of state keys that are hashed in one batch.
///
/// The number is large enough to leave few lanes of the permutation empty, and small enough for the
/// copies of the keys to stay in a CPU cache.
const STATE_KEYS_PER_BATCH: usize = 64;

/// Returns the hashes of `keys` in their order. The result equals calls of [`StateKey::hash`].
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
    fn decodes_the_parts_of_each_kind_of_key() {
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
            assert_eq!(key.decode(), Ok(parts));
        }
        assert_eq!(
            StateKey::from_encoded(Bytes::from_static(b"\0\x01")).address(),
            None
        );
        assert!(
            StateKey::from_encoded(Bytes::from_static(b"\0"))
                .decode()
                .is_err()
        );
    }

    #[test]
    fn batch_hashes_equal_single_hashes() {
        let vendor = Vendor::default();
        let handle = AccountAddress::ONE;
        let counts = [0, 1, 9, STATE_KEYS_PER_BATCH, 2 * STATE_KEYS_PER_BATCH + 3];
        for count in counts {
            let keys: Vec<_> = (0..count)
                .map(|n| StateKey::table_item(&handle, &vec![n as u8; 3 * n]))
                .collect();
            let expected: Vec<_> = keys.iter().map(|key| key.hash(&vendor)).collect();
            assert_eq!(state_key_hashes(&vendor, &keys), expected, "{count} keys");
        }
    }
}
