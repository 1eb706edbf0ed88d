//! What a transaction changed: one entry per key; a resource group gives one per member.

use super::{Text, hex_text, value_or_hex};
use crate::resource::group_members;
use bytes::Bytes;
use ledger::{
    AccountAddress, Chain, HashValue, ModuleId, StateKey, StateKeyParts, StructTag, WriteOp, WriteSet,
};
use serde::Serialize;
use serde_json::Value;

/// A change of the state.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum ChangeJson {
    WriteResource {
        address: Text<AccountAddress>,
        state_key_hash: Text<HashValue>,
        data: ResourceJson,
    },
    DeleteResource {
        address: Text<AccountAddress>,
        state_key_hash: Text<HashValue>,
        resource: Text<StructTag>,
    },
    WriteModule {
        address: Text<AccountAddress>,
        state_key_hash: Text<HashValue>,
        data: ModuleJson,
    },
    DeleteModule {
        address: Text<AccountAddress>,
        state_key_hash: Text<HashValue>,
        module: Text<ModuleId>,
    },
    WriteTableItem {
        state_key_hash: Text<HashValue>,
        handle: String,
        key: String,
        value: String,
    },
    DeleteTableItem {
        state_key_hash: Text<HashValue>,
        handle: String,
        key: String,
    },
}

/// A resource.
#[derive(Serialize)]
pub(crate) struct ResourceJson {
    r#type: Text<StructTag>,
    data: Value,
}

/// A module: its bytecode and, where the framework declares it, its ABI.
#[derive(Serialize)]
pub(crate) struct ModuleJson {
    bytecode: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    abi: Option<Value>,
}

impl ModuleJson {
    /// The module `id` of the framework; native modules have no bytecode.
    pub fn declared(chain: &Chain, id: &ModuleId) -> Option<Self> {
        let abi = chain.framework().module_abi(id)?;
        Some(Self {
            bytecode: hex_text(&[]),
            abi: Some(abi),
        })
    }

    /// The module `id` that a transaction wrote as `bytecode`.
    fn new(chain: &Chain, id: &ModuleId, bytecode: &[u8]) -> Self {
        Self {
            bytecode: hex_text(bytecode),
            abi: chain.framework().module_abi(id),
        }
    }
}

impl ResourceJson {
    /// The resource of type `tag` that the state holds as `bytes`.
    pub fn new(chain: &Chain, tag: StructTag, bytes: &[u8]) -> Self {
        let data = value_or_hex(chain, &tag.clone().into(), bytes);
        Self {
            r#type: Text(tag),
            data,
        }
    }
}

impl ChangeJson {
    /// The views of a write set, in its order.
    pub fn all(chain: &Chain, writes: &WriteSet) -> Vec<Self> {
        let mut changes = Vec::with_capacity(writes.len());
        for (key, op) in writes.iter() {
            Self::push(chain, key, op, &mut changes);
        }
        changes
    }

    /// Keys that the ledger writes always have parts; one without is left out and logged.
    fn push(chain: &Chain, key: &StateKey, op: &WriteOp, changes: &mut Vec<Self>) {
        let state_key_hash = || Text(key.hash(chain.vendor()));
        match key.parts() {
            Ok(StateKeyParts::Resource { address, tag }) => {
                changes.push(Self::resource(chain, state_key_hash(), address, tag, op.value()));
            }
            Ok(StateKeyParts::ResourceGroup { address, tag }) => {
                match op.value().and_then(|slot| group_members(slot).ok()) {
                    Some(members) => changes.extend(members.into_iter().map(|(tag, value)| {
                        Self::resource(chain, state_key_hash(), address, tag, Some(&value))
                    })),
                    None => changes.push(Self::resource(chain, state_key_hash(), address, tag, op.value())),
                }
            }
            Ok(StateKeyParts::Module(id)) => {
                changes.push(Self::module(chain, state_key_hash(), id, op.value()));
            }
            Ok(StateKeyParts::TableItem { handle, key }) => {
                changes.push(Self::table_item(state_key_hash(), handle, &key, op.value()));
            }
            Err(cause) => tracing::error!(%cause, ?key, "a change of a key without parts is not shown"),
        }
    }

    fn resource(
        chain: &Chain,
        state_key_hash: Text<HashValue>,
        address: AccountAddress,
        tag: StructTag,
        value: Option<&Bytes>,
    ) -> Self {
        let address = Text(address);
        match value {
            Some(value) => Self::WriteResource {
                address,
                state_key_hash,
                data: ResourceJson::new(chain, tag, value),
            },
            None => Self::DeleteResource {
                address,
                state_key_hash,
                resource: Text(tag),
            },
        }
    }

    fn module(chain: &Chain, state_key_hash: Text<HashValue>, id: ModuleId, value: Option<&Bytes>) -> Self {
        let address = Text(id.address);
        match value {
            Some(value) => Self::WriteModule {
                address,
                state_key_hash,
                data: ModuleJson::new(chain, &id, value),
            },
            None => Self::DeleteModule {
                address,
                state_key_hash,
                module: Text(id),
            },
        }
    }

    fn table_item(
        state_key_hash: Text<HashValue>,
        handle: AccountAddress,
        key: &[u8],
        value: Option<&Bytes>,
    ) -> Self {
        let (handle, key) = (handle.to_long_hex(), hex_text(key));
        match value {
            Some(value) => Self::WriteTableItem {
                state_key_hash,
                handle,
                key,
                value: hex_text(value),
            },
            None => Self::DeleteTableItem {
                state_key_hash,
                handle,
                key,
            },
        }
    }
}
