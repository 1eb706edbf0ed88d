//! `0x1::simple_map`: a small map inside a resource, in insertion order.
//!
//! A lookup compares all preceding keys, so each user of the map must bound its length.

use ledger_vm::{ModuleDeclaration, MoveType, StructDeclaration, TypeSignature};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// A key and its value.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Element<K, V> {
    /// The key.
    pub key: K,
    /// The value.
    pub value: V,
}

/// An insertion-ordered map with unique keys.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(bound(
    serialize = "K: Serialize, V: Serialize",
    deserialize = "K: DeserializeOwned, V: DeserializeOwned"
))]
pub struct SimpleMap<K, V> {
    /// Entries in insertion order.
    pub data: Vec<Element<K, V>>,
}

impl<K, V> Default for SimpleMap<K, V> {
    fn default() -> Self {
        Self { data: Vec::new() }
    }
}

impl<K: MoveType, V: MoveType> MoveType for Element<K, V> {
    fn signature() -> TypeSignature {
        TypeSignature::Struct {
            module: "simple_map",
            name: "Element",
            args: vec![K::signature(), V::signature()],
        }
    }
}

impl<K: MoveType, V: MoveType> MoveType for SimpleMap<K, V> {
    fn signature() -> TypeSignature {
        TypeSignature::Struct {
            module: "simple_map",
            name: "SimpleMap",
            args: vec![K::signature(), V::signature()],
        }
    }
}

impl<K: PartialEq, V> SimpleMap<K, V> {
    /// Returns the value of `key`.
    pub fn get(&self, key: &K) -> Option<&V> {
        self.data
            .iter()
            .find(|element| element.key == *key)
            .map(|element| &element.value)
    }

    /// Sets the value of `key` and returns the previous value.
    ///
    /// An existing key keeps its position. A new key is appended.
    pub fn upsert(&mut self, key: K, value: V) -> Option<V> {
        match self.data.iter_mut().find(|element| element.key == key) {
            Some(element) => Some(std::mem::replace(&mut element.value, value)),
            None => {
                self.data.push(Element { key, value });
                None
            }
        }
    }
}

pub(super) fn module() -> ModuleDeclaration {
    let key = || TypeSignature::Parameter(0);
    let value = || TypeSignature::Parameter(1);
    let element = TypeSignature::Struct {
        module: "simple_map",
        name: "Element",
        args: vec![key(), value()],
    };
    let generic = |name, fields| {
        StructDeclaration::new(name, &["copy", "drop", "store"], fields)
            .with_type_parameters(&[&[], &[]])
    };
    ModuleDeclaration {
        name: "simple_map",
        structs: vec![
            generic(
                "SimpleMap",
                vec![("data", TypeSignature::Vector(Box::new(element)))],
            ),
            generic("Element", vec![("key", key()), ("value", value())]),
        ],
        functions: vec![],
        errors: &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ledger_types::{TypeTag, Vendor};
    use serde_json::json;

    #[test]
    fn keeps_keys_in_insertion_order() {
        let mut map = SimpleMap::default();
        for (key, value) in [("b", 1), ("a", 2)] {
            assert_eq!(map.upsert(key, value), None);
        }
        assert_eq!(map.upsert("b", 3), Some(1));
        let pairs: Vec<_> = map
            .data
            .iter()
            .map(|element| (element.key, element.value))
            .collect();
        assert_eq!(pairs, [("b", 3), ("a", 2)]);
        assert_eq!((map.get(&"b"), map.get(&"c")), (Some(&3), None));
    }

    #[test]
    fn converts_to_json_by_its_type_arguments() {
        let vendor = Vendor::default();
        let registry = crate::module_registry(&vendor);
        let tag = SimpleMap::<String, Vec<u64>>::signature()
            .resolve(&[], &vendor)
            .unwrap();
        let mut map = SimpleMap::default();
        map.upsert("a".to_owned(), vec![1u64, 2]);
        let bytes = bcs::to_bytes(&map).unwrap();
        let json = json!({"data": [{"key": "a", "value": ["1", "2"]}]});
        assert_eq!(registry.value_to_json(&tag, &bytes).unwrap(), json);
        assert_eq!(registry.value_from_json(&tag, &json).unwrap(), bytes);
        let text = "0x1::simple_map::SimpleMap<0x1::string::String, vector<u64>>";
        assert_eq!(tag, text.parse::<TypeTag>().unwrap());
    }
}
