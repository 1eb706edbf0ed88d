//! A count of all coins and fungible assets in the state.
//!
//! The census walks every stored value along its type, so that it finds coins and assets in any
//! resource or table.

use bytes::Bytes;
use ledger_framework::modules::table::TableInfo;
use ledger_test_support::MemoryChain;
use ledger_types::{AccountAddress, StateKey, StateKeyParts, StructTag, TypeTag};
use ledger_vm::ModuleRegistry;
use serde_json::Value;
use std::collections::BTreeMap;

/// The total amounts of all coins and fungible assets, and their recorded supplies.
///
/// The coins of an account are units of the paired asset in its stores. Coins that a program holds
/// in a resource are units of the coin.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Sum of the coins of each type that programs hold in resources.
    pub coins: BTreeMap<TypeTag, u128>,
    /// Supply of the coins in resources that the `CoinInfo` of each coin records, if it records one.
    pub coin_supplies: BTreeMap<TypeTag, u128>,
    /// Sum of the balances of all stores of each asset, by the address of its metadata.
    pub assets: BTreeMap<AccountAddress, u128>,
    /// Recorded supply of each asset, by the address of its metadata.
    pub asset_supplies: BTreeMap<AccountAddress, u128>,
}

impl Census {
    /// Counts all coins and assets in the state of `chain`.
    pub fn of(chain: &MemoryChain) -> Self {
        let mut walk = StateWalk {
            registry: chain.chain.registry(),
            census: Self::default(),
        };
        for (key, bytes) in &chain.state {
            match key.decode().unwrap() {
                StateKeyParts::Resource { address, tag } => walk.value(address, &tag.into(), bytes),
                StateKeyParts::ResourceGroup { address, .. } => {
                    let members: BTreeMap<StructTag, Bytes> = bcs::from_bytes(bytes).unwrap();
                    for (tag, bytes) in members {
                        walk.value(address, &tag.into(), &bytes);
                    }
                }
                StateKeyParts::TableItem { handle, key } => {
                    let (key_type, value_type) = table_types(chain, &handle);
                    walk.value(handle, &key_type, &key);
                    walk.value(handle, &value_type, bytes);
                }
                StateKeyParts::Module(_) => {}
            }
        }
        walk.census
    }

    /// Checks that every recorded supply equals the counted sum.
    ///
    /// Coins without a recorded supply are not checked.
    pub fn assert_supplies_hold(&self) {
        for (coin, supply) in &self.coin_supplies {
            let counted = self.coins.get(coin).copied().unwrap_or_default();
            assert_eq!(
                counted, *supply,
                "counted units of coin {coin} (left) and its supply (right)"
            );
        }
        for (asset, supply) in &self.asset_supplies {
            let counted = self.assets.get(asset).copied().unwrap_or_default();
            assert_eq!(
                counted, *supply,
                "counted units of asset {asset} (left) and its supply (right)"
            );
        }
        for asset in self.assets.keys() {
            assert!(
                self.asset_supplies.contains_key(asset),
                "asset {asset} has no supply"
            );
        }
    }

    /// Returns the supply of the chain's coin, in stores and in resources.
    pub fn native_supply(&self, chain: &MemoryChain) -> u128 {
        let native = chain.chain.registry().native_coin();
        self.asset_supplies[&AccountAddress::NATIVE_ASSET] + self.coin_supplies[native]
    }
}

/// Returns the types of the keys and values of the table `handle`.
pub fn table_types(chain: &MemoryChain, handle: &AccountAddress) -> (TypeTag, TypeTag) {
    let tag = chain.chain.registry().tag_of::<TableInfo>(&[]);
    let bytes = &chain.state[&StateKey::resource(handle, &tag)];
    let info: TableInfo = bcs::from_bytes(bytes).unwrap();
    info.types().expect("the recorded types of a table parse")
}

/// A walk over the state, with the census so far.
struct StateWalk<'a> {
    registry: &'a ModuleRegistry,
    census: Census,
}

fn number(value: &Value) -> u128 {
    value.as_str().unwrap().parse().unwrap()
}

impl StateWalk<'_> {
    fn value(&mut self, at: AccountAddress, tag: &TypeTag, bytes: &[u8]) {
        let json = self.registry.value_to_json(tag, bytes).unwrap();
        self.json(at, tag, &json);
    }

    fn json(&mut self, at: AccountAddress, tag: &TypeTag, json: &Value) {
        match tag {
            TypeTag::Vector(item) if **item != TypeTag::U8 => {
                json.as_array()
                    .unwrap()
                    .iter()
                    .for_each(|value| self.json(at, item, value));
            }
            TypeTag::Struct(tag) => self.visit_struct(at, tag, json),
            _ => {}
        }
    }

    fn visit_struct(&mut self, at: AccountAddress, tag: &StructTag, json: &Value) {
        if tag.is_framework("coin", "Coin") {
            *self
                .census
                .coins
                .entry(tag.type_args[0].clone())
                .or_default() += number(&json["value"]);
        } else if tag.is_framework("coin", "CoinInfo") {
            if let Some(supply) = json["supply"]["vec"].get(0) {
                let supply = number(&supply["integer"]["vec"][0]["value"]);
                self.census
                    .coin_supplies
                    .insert(tag.type_args[0].clone(), supply);
            }
        } else if tag.is_framework("fungible_asset", "FungibleStore") {
            let asset = json["metadata"]["inner"].as_str().unwrap().parse().unwrap();
            *self.census.assets.entry(asset).or_default() += number(&json["balance"]);
        } else if tag.is_framework("fungible_asset", "ConcurrentSupply") {
            let supply = number(&json["current"]["value"]);
            self.census.asset_supplies.insert(at, supply);
        } else if tag.is_framework("option", "Option") {
            let items = json["vec"].as_array().unwrap();
            items
                .iter()
                .for_each(|value| self.json(at, &tag.type_args[0], value));
        } else if !tag.is_framework("string", "String") && !tag.is_framework("object", "Object") {
            for (name, field) in fields(self.registry, tag) {
                self.json(at, &field, &json[&name]);
            }
        }
    }
}

/// Returns the names and types of the fields of a declared struct, from its module's ABI.
fn fields(registry: &ModuleRegistry, tag: &StructTag) -> Vec<(String, TypeTag)> {
    let abi = registry.module_abi(&tag.module_id()).unwrap();
    let structs = abi["structs"].as_array().unwrap();
    let declared = structs
        .iter()
        .find(|declared| declared["name"] == tag.name.as_str())
        .unwrap_or_else(|| panic!("{tag} is not declared"));
    let field = |field: &Value| {
        let mut text = field["type"].as_str().unwrap().to_owned();
        for (i, type_arg) in tag.type_args.iter().enumerate() {
            text = with_type_argument(&text, &format!("T{i}"), &type_arg.to_string());
        }
        (
            field["name"].as_str().unwrap().to_owned(),
            text.parse().unwrap(),
        )
    };
    declared["fields"]
        .as_array()
        .unwrap()
        .iter()
        .map(field)
        .collect()
}

/// Replaces the occurrences of a type parameter that are a whole word with a type.
fn with_type_argument(text: &str, parameter: &str, type_arg: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    let mut result = String::new();
    let mut rest = text;
    while let Some(index) = rest.find(parameter) {
        let (before, after) = (&rest[..index], &rest[index + parameter.len()..]);
        let is_alone = !before.ends_with(is_word) && !after.starts_with(is_word);
        result.push_str(before);
        result.push_str(if is_alone { type_arg } else { parameter });
        rest = after;
    }
    result + rest
}
