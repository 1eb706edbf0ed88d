//! The values that differ between any two nodes, and the form in which they are compared.
//!
//! | value | compared | reason |
//! |---|---|---|
//! | description of an abort | not | each program has texts of its own |
//! | fields of `FeeStatement` | not | prices of execution are fitted to measured times |
//! | balance of a store of the chain's coin | its change in the step, without the fee | fees |
//! | supply of the chain's coin | not | each chain starts with another one, and fees are burnt |
//! | handle of a table | the field that holds it | derived from other parts on each node |
//!
//! The recording is replayed with its signed bytes at its block times, so sequence numbers, nonces,
//! expirations and times need no rule.

use super::effects::{Effects, Place, short};
use ledger_framework::modules::object::user_derived_address;
use ledger_types::{AccountAddress, SignedTransaction};
use serde_json::{Map, Value};
use std::collections::HashMap;

const FEE_STATEMENT: &str = "0x1::transaction_fee::FeeStatement";
const FUNGIBLE_STORE: &str = "0x1::fungible_asset::FungibleStore";
const CONCURRENT_SUPPLY: &str = "0x1::fungible_asset::ConcurrentSupply";

/// The rules for the transactions of one node, in order.
#[derive(Default)]
pub struct Rules {
    /// The field that holds each table, by handle.
    pub tables: HashMap<AccountAddress, String>,
    /// The last balance of each store of the chain's coin, by store.
    balances: HashMap<AccountAddress, u64>,
}

/// Returns the store of the chain's coin of an account.
pub fn coin_store(owner: AccountAddress) -> AccountAddress {
    user_derived_address(owner, AccountAddress::NATIVE_ASSET)
}

impl Rules {
    /// Sets the balance of an account before its first recorded change.
    pub fn fund(&mut self, owner: AccountAddress, balance: u64) {
        self.balances.entry(coin_store(owner)).or_insert(balance);
    }

    /// Applies the rules to the effects of `transaction`, or of genesis.
    pub fn apply(&mut self, transaction: Option<&SignedTransaction>, effects: &mut Effects) {
        let fee = transaction.map_or(0, |transaction| fee(transaction, effects));
        let payer = transaction.map(|transaction| coin_store(transaction.gas_payer()));
        self.name_tables(effects);
        for event in &mut effects.events {
            if event.r#type == FEE_STATEMENT {
                event.data = Value::Null;
            }
        }
        for change in &mut effects.changes {
            let Some(fields) = &mut change.fields else {
                continue;
            };
            match &change.place {
                Place::Resource { address, r#type }
                    if r#type == FUNGIBLE_STORE && is_of_the_coin(fields) =>
                {
                    let fee = if payer == Some(*address) { fee } else { 0 };
                    let balance = u64_of(&fields["balance"]);
                    let last = self.balances.insert(*address, balance).unwrap_or(0);
                    let moved = i128::from(balance) - i128::from(last) + fee;
                    fields["balance"] = format!("{moved:+}").into();
                }
                Place::Resource { address, r#type }
                    if r#type == CONCURRENT_SUPPLY && *address == AccountAddress::NATIVE_ASSET =>
                {
                    fields["current"] = Value::Null;
                }
                _ => {}
            }
        }
    }

    /// Replaces handles of tables with names.
    fn name_tables(&mut self, effects: &mut Effects) {
        for change in &mut effects.changes {
            if let (Place::Resource { address, r#type }, Some(fields)) =
                (&change.place, &mut change.fields)
            {
                for (field, value) in fields {
                    let name = format!("{} {type}.{field}", short(address));
                    self.name_handle(&name, value);
                }
            }
        }
        for change in &mut effects.changes {
            if let Place::TableItem { table, .. } = &mut change.place {
                let handle = table.parse().expect("a handle");
                let name = self.tables.get(&handle);
                *table = name.cloned().unwrap_or_else(|| short(&handle));
            }
        }
    }

    /// Names the table whose handle is in a field, directly or in a table with a length.
    fn name_handle(&mut self, name: &str, value: &mut Value) {
        let table = match value.get("inner") {
            Some(inner) if inner.get("handle").is_some() => &mut value["inner"],
            _ => value,
        };
        if let Some(Value::String(handle)) = table.get_mut("handle") {
            let address = handle.parse().expect("a handle");
            let known = self.tables.entry(address);
            *handle = known.or_insert_with(|| name.to_owned()).clone();
        }
    }
}

/// Returns what the gas payer lost, in the smallest unit of the coin.
fn fee(transaction: &SignedTransaction, effects: &Effects) -> i128 {
    if let Some(fee) = effects.fee {
        return fee.into();
    }
    let events = &effects.events;
    let Some(statement) = events.iter().find(|event| event.r#type == FEE_STATEMENT) else {
        return 0;
    };
    let field = |name: &str| i128::from(u64_of(&statement.data[name]));
    field("total_charge_gas_units") * i128::from(transaction.raw.gas_unit_price)
        - field("storage_fee_refund_octas")
}

fn is_of_the_coin(store: &Map<String, Value>) -> bool {
    let metadata = store["metadata"]["inner"].as_str();
    metadata.and_then(|text| text.parse().ok()) == Some(AccountAddress::NATIVE_ASSET)
}

fn u64_of(value: &Value) -> u64 {
    let text = value.as_str().expect("a u64 is a string");
    text.parse().expect("a u64")
}
