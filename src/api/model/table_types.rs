//! Which types the keys and values of tables have. A table records them when it is made, as a
//! resource at the address that is its handle; they never change.

use bytes::Bytes;
use ledger_framework::modules::table::TableInfo;
use ledger_store::{Snapshot, StoreError};
use ledger_types::{AccountAddress, StateKey, StateKeyParts, TypeTag, WriteSet};
use ledger_vm::Chain;
use std::collections::{BTreeSet, HashMap};

/// The types of a table.
pub(crate) struct ItemTypes {
    pub key: TypeTag,
    pub value: TypeTag,
}

/// What is known of the tables whose items some transactions change; asked for once for each table.
#[derive(Default)]
pub(crate) struct TableTypes(HashMap<AccountAddress, Option<ItemTypes>>);

fn info_key(chain: &Chain, handle: &AccountAddress) -> StateKey {
    StateKey::resource(handle, &chain.registry().tag_of::<TableInfo>(&[]))
}

fn decode(info: &Bytes) -> Option<ItemTypes> {
    let info: TableInfo = bcs::from_bytes(info).ok()?;
    let (key, value) = info.types()?;
    Some(ItemTypes { key, value })
}

/// The types of one table after `version`.
///
/// # Errors
/// When the store fails.
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
    /// The types of a table, where they are known.
    pub fn get(&self, handle: &AccountAddress) -> Option<&ItemTypes> {
        self.0.get(handle)?.as_ref()
    }

    /// Learns what `writes` tell of the tables whose items they change; gives the tables that only
    /// the state knows.
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
            match written.and_then(|place| changes[place].1.value()) {
                Some(info) => {
                    self.0.insert(handle, decode(info));
                }
                None => unknown.push(handle),
            }
        }
        unknown
    }

    /// Reads the types of `tables` after `version`, or after the nearest version of the window.
    ///
    /// # Errors
    /// When the store fails.
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

    /// Learns all there is to know of the tables whose items the transaction of `version` changed.
    ///
    /// # Errors
    /// When the store fails.
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

/// The tables whose items are changed. Only keys of table items belong to no address, which tells
/// them from the others without decoding those.
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
        WriteOp::Put(bcs::to_bytes(&info).unwrap().into())
    }

    fn writes(mut changes: Vec<(StateKey, WriteOp)>) -> WriteSet {
        changes.sort_by(|(a, _), (b, _)| a.cmp(b));
        WriteSet::from_ascending(changes)
    }

    fn item(table: AccountAddress) -> (StateKey, WriteOp) {
        (StateKey::table_item(&table, b"k"), WriteOp::Delete)
    }

    #[test]
    fn what_a_transaction_writes_tells_its_own_tables() {
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
            "what is known is not asked for again"
        );
    }

    #[test]
    fn a_table_that_goes_and_types_that_do_not_parse_tell_nothing() {
        let chain = chain();
        let mut tables = TableTypes::default();
        let gone = writes(vec![
            item(TABLE),
            (info_key(&chain, &TABLE), WriteOp::Delete),
        ]);
        assert_eq!(tables.add_from_writes(&chain, &gone), [TABLE]);
        let odd = writes(vec![
            item(TABLE),
            (info_key(&chain, &TABLE), info("vector<")),
        ]);
        assert_eq!(tables.add_from_writes(&chain, &odd), []);
        assert!(tables.get(&TABLE).is_none());
    }
}
