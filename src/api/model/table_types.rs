//! Types of the keys and values of tables.
//!
//! A table records its types when it is created, as a resource at the address that is its handle.
//! The types never change.

use bytes::Bytes;
use ledger_framework::modules::table::TableInfo;
use ledger_store::{Snapshot, StoreError};
use ledger_types::{AccountAddress, StateKey, StateKeyParts, TypeTag, WriteSet};
use ledger_vm::Chain;
use std::collections::{BTreeSet, HashMap};

/// The types of a table's keys and values.
pub(crate) struct ItemTypes {
    pub key: TypeTag,
    pub value: TypeTag,
}

/// Types of the tables that a set of transactions changes. The types of each table are looked up
/// once.
#[derive(Default)]
pub(crate) struct TableTypes(HashMap<AccountAddress, Option<ItemTypes>>);

/// Returns the state key of the resource that records the types of a table.
fn info_key(chain: &Chain, handle: &AccountAddress) -> StateKey {
    StateKey::resource(handle, &chain.registry().tag_of::<TableInfo>(&[]))
}

/// Decodes the recorded types, or returns `None` if they do not parse.
fn decode(info: &Bytes) -> Option<ItemTypes> {
    let info: TableInfo = bcs::from_bytes(info).ok()?;
    let (key, value) = info.types()?;
    Some(ItemTypes { key, value })
}

/// Returns the types of one table after `version`, or `None` if the table does not exist or its
/// types do not parse.
///
/// # Errors
///
/// Returns an error if the store cannot be read.
pub(crate) fn read_types(
    chain: &Chain,
    snapshot: &Snapshot,
    handle: &AccountAddress,
    version: u64,
) -> Result<Option<ItemTypes>, StoreError> {
    let info = snapshot.state_value(&info_key(chain, handle), version)?;
    Ok(info.as_ref().and_then(decode))
}

impl TableTypes {
    /// Returns the types of a table, or `None` if they are unknown.
    pub fn get(&self, handle: &AccountAddress) -> Option<&ItemTypes> {
        self.0.get(handle)?.as_ref()
    }

    /// Adds the types that `writes` record for the tables that they change.
    ///
    /// Returns the changed tables that remain unknown, because neither `writes` nor earlier calls
    /// have their types. The caller has to read these types from the state.
    pub fn add_from_writes(&mut self, chain: &Chain, writes: &WriteSet) -> Vec<AccountAddress> {
        let WriteSet::V0(changes) = writes;
        let mut unknown = Vec::new();
        for handle in changed_tables(writes) {
            if self.0.contains_key(&handle) {
                continue;
            }
            let key = info_key(chain, &handle);
            let written = changes
                .binary_search_by(|(changed, _)| changed.cmp(&key))
                .ok();
            match written.and_then(|index| changes[index].1.value()) {
                Some(info) => {
                    self.0.insert(handle, decode(info));
                }
                None => unknown.push(handle),
            }
        }
        unknown
    }

    /// Reads the types of `tables` after `version`.
    ///
    /// If `version` is outside the window of readable versions, the nearest version inside it is
    /// read.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read.
    pub fn read(
        &mut self,
        chain: &Chain,
        snapshot: &Snapshot,
        tables: &[AccountAddress],
        version: u64,
    ) -> Result<(), StoreError> {
        let window = snapshot.ledger_info();
        let version = version.max(window.oldest_version).min(window.version);
        for handle in tables {
            let types = read_types(chain, snapshot, handle, version)?;
            self.0.insert(*handle, types);
        }
        Ok(())
    }

    /// Adds the types of all tables that the transaction at `version` changed, from its writes or
    /// from the state.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read.
    pub fn load(
        &mut self,
        chain: &Chain,
        snapshot: &Snapshot,
        writes: &WriteSet,
        version: u64,
    ) -> Result<(), StoreError> {
        let unknown = self.add_from_writes(chain, writes);
        self.read(chain, snapshot, &unknown, version)
    }
}

/// Returns the tables that `writes` change.
///
/// Among valid state keys, only the keys of table items have no address, so the other keys need not
/// be decoded.
fn changed_tables(writes: &WriteSet) -> BTreeSet<AccountAddress> {
    let item_keys = writes
        .iter()
        .map(|(key, _)| key)
        .filter(|key| key.address().is_none());
    let handle = |key: &StateKey| match key.decode() {
        Ok(StateKeyParts::TableItem { handle, .. }) => Some(handle),
        _ => None,
    };
    item_keys.filter_map(handle).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ledger_execution::{build_chain, development_genesis};
    use ledger_types::{Parameters, Vendor, WriteOp};

    const TABLE: AccountAddress = AccountAddress::from_low_u64(0x7ab1e);

    fn chain() -> Chain {
        let genesis = development_genesis(4, Vendor::default(), Parameters::default());
        build_chain(&genesis).unwrap()
    }

    fn info(value_type: &str) -> WriteOp {
        let info = TableInfo {
            key_type: "u64".to_owned(),
            value_type: value_type.to_owned(),
        };
        WriteOp::Create(bcs::to_bytes(&info).unwrap().into())
    }

    fn writes(mut changes: Vec<(StateKey, WriteOp)>) -> WriteSet {
        changes.sort_by(|(a, _), (b, _)| a.cmp(b));
        WriteSet::from_ascending(changes)
    }

    fn item(table: AccountAddress) -> (StateKey, WriteOp) {
        (StateKey::table_item(&table, b"k"), WriteOp::Delete)
    }

    #[test]
    fn reads_types_from_the_writes_of_the_transaction() {
        let chain = chain();
        let other = AccountAddress::from_low_u64(0x07);
        let changes = writes(vec![
            item(TABLE),
            item(other),
            (info_key(&chain, &TABLE), info("bool")),
        ]);
        let mut tables = TableTypes::default();
        assert_eq!(tables.add_from_writes(&chain, &changes), [other]);
        let types = tables.get(&TABLE).unwrap();
        assert_eq!((&types.key, &types.value), (&TypeTag::U64, &TypeTag::Bool));
        assert!(tables.get(&other).is_none());
        assert_eq!(
            tables.add_from_writes(&chain, &writes(vec![item(TABLE)])),
            [],
            "known tables are not returned"
        );
    }

    #[test]
    fn adds_no_types_for_deleted_tables_and_unparsable_types() {
        let chain = chain();
        let mut tables = TableTypes::default();
        let deleted = writes(vec![
            item(TABLE),
            (info_key(&chain, &TABLE), WriteOp::Delete),
        ]);
        assert_eq!(tables.add_from_writes(&chain, &deleted), [TABLE]);
        let unparsable = writes(vec![
            item(TABLE),
            (info_key(&chain, &TABLE), info("vector<")),
        ]);
        assert_eq!(tables.add_from_writes(&chain, &unparsable), []);
        assert!(tables.get(&TABLE).is_none());
    }
}
