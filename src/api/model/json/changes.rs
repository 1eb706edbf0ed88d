//! JSON forms of state changes: one per state key, or one per member for a resource group.

use super::{JsonString, TypeName, ValueJson, text_schema::hex_text_schema};
use crate::model::{ItemTypes, TableTypes};
use bytes::Bytes;
use ledger_crypto::{HashValue, hex_text};
use ledger_types::{
    AccountAddress, ModuleId, StateKey, StateKeyParts, StructTag, TypeTag, WriteOp, WriteSet,
    state::group_members, state_key_hashes,
};
use ledger_vm::{Chain, JsonView};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::Value;

/// A change of the state.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schemars(rename = "WriteSetChange")]
pub(crate) enum ChangeJson<'a> {
    WriteResource {
        address: JsonString<AccountAddress>,
        state_key_hash: JsonString<HashValue>,
        data: ResourceJson<'a>,
    },
    DeleteResource {
        address: JsonString<AccountAddress>,
        state_key_hash: JsonString<HashValue>,
        #[schemars(with = "JsonString<StructTag>")]
        resource: TypeName<'a>,
    },
    WriteModule {
        address: JsonString<AccountAddress>,
        state_key_hash: JsonString<HashValue>,
        data: ModuleJson,
    },
    DeleteModule {
        address: JsonString<AccountAddress>,
        state_key_hash: JsonString<HashValue>,
        module: JsonString<ModuleId>,
    },
    WriteTableItem {
        state_key_hash: JsonString<HashValue>,
        /// Address of the table, with all 64 digits.
        #[schemars(schema_with = "handle_schema")]
        handle: String,
        #[schemars(schema_with = "hex_text_schema")]
        key: String,
        #[schemars(schema_with = "hex_text_schema")]
        value: String,
        /// Present only if the types of the table are known.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "ItemJson<'_>")]
        data: Option<ItemJson<'a>>,
    },
    DeleteTableItem {
        state_key_hash: JsonString<HashValue>,
        /// Address of the table, with all 64 digits.
        #[schemars(schema_with = "handle_schema")]
        handle: String,
        #[schemars(schema_with = "hex_text_schema")]
        key: String,
        /// Present only if the types of the table are known.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "DeletedItemJson<'_>")]
        data: Option<DeletedItemJson<'a>>,
    },
}

/// A table item, decoded by the types of its table.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TableItem")]
pub(crate) struct ItemJson<'a> {
    #[schemars(with = "Value")]
    key: JsonView<'a>,
    key_type: JsonString<TypeTag>,
    #[schemars(with = "Value")]
    value: JsonView<'a>,
    value_type: JsonString<TypeTag>,
}

/// The key of a deleted table item, decoded by the type of its table.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DeletedTableItem")]
pub(crate) struct DeletedItemJson<'a> {
    #[schemars(with = "Value")]
    key: JsonView<'a>,
    key_type: JsonString<TypeTag>,
}

/// A resource.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MoveResource")]
pub(crate) struct ResourceJson<'a> {
    #[schemars(with = "JsonString<StructTag>")]
    r#type: TypeName<'a>,
    /// Value in the JSON form of its type, or in hexadecimal if it does not decode.
    #[schemars(with = "Value")]
    data: ValueJson<'a>,
}

/// A module: its bytecode and, if the framework declares the module, its ABI.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MoveModule")]
pub(crate) struct ModuleJson {
    #[schemars(schema_with = "hex_text_schema")]
    bytecode: String,
    /// Functions and structs that the module declares.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "serde_json::Map<String, Value>")]
    abi: Option<Value>,
}

/// Returns the schema of an address with all 64 digits.
fn handle_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "format": "hex", "pattern": "^0x[0-9a-f]{64}$"})
}

impl ModuleJson {
    /// Returns the module `id` of the framework, or `None` if the framework does not declare it.
    /// Native modules have no bytecode.
    pub fn declared(chain: &Chain, id: &ModuleId) -> Option<Self> {
        let abi = chain.registry().module_abi(id)?;
        Some(Self {
            bytecode: hex_text(&[]),
            abi: Some(abi),
        })
    }

    /// Creates the view of the module `id`, which a transaction wrote as `bytecode`.
    fn new(chain: &Chain, id: &ModuleId, bytecode: &[u8]) -> Self {
        Self {
            bytecode: hex_text(bytecode),
            abi: chain.registry().module_abi(id),
        }
    }
}

impl<'a> ResourceJson<'a> {
    /// Creates the view of the resource of type `tag` that is stored as `bytes`.
    pub fn new(chain: &'a Chain, tag: StructTag, bytes: Bytes) -> Self {
        Self::with_name(chain, TypeName::of_struct(chain, tag), bytes)
    }

    fn with_name(chain: &'a Chain, name: TypeName<'a>, bytes: Bytes) -> Self {
        Self {
            data: name.value(chain, bytes),
            r#type: name,
        }
    }
}

impl<'a> ChangeJson<'a> {
    /// Creates the views of a write set, in its order.
    ///
    /// `hashes` are the hashes of its keys in the same order, as [`state_key_hashes`] returns them.
    pub fn all(
        chain: &'a Chain,
        writes: &WriteSet,
        hashes: &[HashValue],
        tables: &TableTypes,
    ) -> Vec<Self> {
        let mut changes = Vec::with_capacity(writes.len());
        for ((key, op), hash) in writes.iter().zip(hashes) {
            Self::push(chain, tables, (key, JsonString(*hash)), op, &mut changes);
        }
        changes
    }

    /// Creates the views of a single write set like [`Self::all`], and computes the hashes of its
    /// keys.
    pub fn of_write_set(chain: &'a Chain, writes: &WriteSet, tables: &TableTypes) -> Vec<Self> {
        let keys = writes.iter().map(|(key, _)| key);
        Self::all(
            chain,
            writes,
            &state_key_hashes(chain.vendor(), keys),
            tables,
        )
    }

    /// Appends the change of one key, or one change per member if a resource group is written.
    ///
    /// A key that does not decode is skipped and logged as an error. The ledger writes no such
    /// keys.
    fn push(
        chain: &'a Chain,
        tables: &TableTypes,
        (key, state_key_hash): (&StateKey, JsonString<HashValue>),
        op: &WriteOp,
        changes: &mut Vec<Self>,
    ) {
        let resource = |address, name, value: Option<&Bytes>| {
            Self::resource(chain, state_key_hash, address, name, value)
        };
        if let Some((address, cached)) = chain.registry().cached_resource(key) {
            changes.push(resource(address, TypeName::Cached(cached), op.value()));
            return;
        }
        match key.decode() {
            Ok(StateKeyParts::Resource { address, tag }) => {
                changes.push(resource(address, TypeName::Struct(tag), op.value()));
            }
            Ok(StateKeyParts::ResourceGroup { address, tag }) => {
                match op.value().and_then(|slot| group_members(slot).ok()) {
                    Some(members) => changes.extend(members.into_iter().map(|(tag, value)| {
                        resource(address, TypeName::of_struct(chain, tag), Some(&value))
                    })),
                    None => changes.push(resource(
                        address,
                        TypeName::of_struct(chain, tag),
                        op.value(),
                    )),
                }
            }
            Ok(StateKeyParts::Module(id)) => {
                changes.push(Self::module(chain, state_key_hash, id, op.value()));
            }
            Ok(StateKeyParts::TableItem { handle, key }) => {
                let types = tables.get(&handle);
                changes.push(Self::table_item(
                    chain,
                    types,
                    state_key_hash,
                    handle,
                    &key,
                    op.value(),
                ));
            }
            Err(cause) => {
                tracing::error!(
                    %cause, ?key,
                    "a change is omitted from the response: its state key cannot be decoded"
                );
            }
        }
    }

    fn resource(
        chain: &'a Chain,
        state_key_hash: JsonString<HashValue>,
        address: AccountAddress,
        name: TypeName<'a>,
        value: Option<&Bytes>,
    ) -> Self {
        let address = JsonString(address);
        match value {
            Some(value) => Self::WriteResource {
                address,
                state_key_hash,
                data: ResourceJson::with_name(chain, name, value.clone()),
            },
            None => Self::DeleteResource {
                address,
                state_key_hash,
                resource: name,
            },
        }
    }

    fn module(
        chain: &'a Chain,
        state_key_hash: JsonString<HashValue>,
        id: ModuleId,
        value: Option<&Bytes>,
    ) -> Self {
        let address = JsonString(id.address);
        match value {
            Some(value) => Self::WriteModule {
                address,
                state_key_hash,
                data: ModuleJson::new(chain, &id, value),
            },
            None => Self::DeleteModule {
                address,
                state_key_hash,
                module: JsonString(id),
            },
        }
    }

    fn table_item(
        chain: &'a Chain,
        types: Option<&ItemTypes>,
        state_key_hash: JsonString<HashValue>,
        handle: AccountAddress,
        key: &Bytes,
        value: Option<&Bytes>,
    ) -> Self {
        let handle = handle.to_long_hex();
        match value {
            Some(value) => Self::WriteTableItem {
                state_key_hash,
                handle,
                key: hex_text(key),
                value: hex_text(value),
                data: types.and_then(|types| ItemJson::new(chain, types, key, value)),
            },
            None => Self::DeleteTableItem {
                state_key_hash,
                handle,
                key: hex_text(key),
                data: types.and_then(|types| DeletedItemJson::new(chain, types, key)),
            },
        }
    }
}

impl<'a> ItemJson<'a> {
    /// Creates the view of an item, or returns `None` if it does not fit the types of its table.
    fn new(chain: &'a Chain, types: &ItemTypes, key: &Bytes, value: &Bytes) -> Option<Self> {
        let registry = chain.registry();
        Some(Self {
            key: registry.json_view(&types.key, key.clone()).ok()?,
            key_type: JsonString(types.key.clone()),
            value: registry.json_view(&types.value, value.clone()).ok()?,
            value_type: JsonString(types.value.clone()),
        })
    }
}

impl<'a> DeletedItemJson<'a> {
    /// Creates the view of a deleted item, or returns `None` if its key does not fit the type of
    /// its table's keys.
    fn new(chain: &'a Chain, types: &ItemTypes, key: &Bytes) -> Option<Self> {
        Some(Self {
            key: chain.registry().json_view(&types.key, key.clone()).ok()?,
            key_type: JsonString(types.key.clone()),
        })
    }
}
