//! JSON form of a `single_sender` signature: the signature of one account, of any kind.
//!
//! The reference node writes both unions into one object and cannot read that object
//! (docs/reference/reference-node.md#r21). This node writes the inner signature as the member
//! `sender`, as in the multi-agent form, and for keys of any kind also its members, which clients
//! of the reference node read. It reads both forms, because the members of an account's signature
//! determine its kind.

use super::account::{AccountSignatureJson, SingleKeyJson};
use super::function::FunctionText;
use super::hex_form::HexBytes;
use super::keys::{AnySignatureJson, Ed25519Json, PublicKeyJson};
use super::multi::MultiEd25519Json;
use super::multi_key::{IndexedSignatureJson, MultiKeyJson};
use crate::model::json::{parse::from_value, tagged::TAG};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error as _, MapAccess, Visitor},
};
use serde_json::{Map, Value};
use std::{
    borrow::Cow,
    fmt::{self, Formatter},
};

/// The signature of a `single_sender`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SingleSenderJson {
    pub sender: AccountSignatureJson,
}

/// The members that a `single_sender` has beside `sender`.
#[derive(Serialize)]
#[serde(untagged)]
enum FlatMembers<'a> {
    SingleKey(&'a SingleKeyJson),
    MultiKey(&'a MultiKeyJson),
    None {},
}

impl Serialize for SingleSenderJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Members<'a> {
            sender: &'a AccountSignatureJson,
            #[serde(flatten)]
            flat: FlatMembers<'a>,
        }
        let Self { sender } = self;
        let flat = match sender {
            AccountSignatureJson::SingleKey(single) => FlatMembers::SingleKey(single),
            AccountSignatureJson::MultiKey(multi) => FlatMembers::MultiKey(multi),
            _ => FlatMembers::None {},
        };
        Members { sender, flat }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for SingleSenderJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(SingleSenderVisitor)
    }
}

/// Visitor of the object of a `single_sender`, without `type`.
struct SingleSenderVisitor;

impl<'de> Visitor<'de> for SingleSenderVisitor {
    type Value = SingleSenderJson;

    fn expecting(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<SingleSenderJson, A::Error> {
        let (mut sender, mut merged) = (None, Map::new());
        while let Some(key) = members.next_key::<String>()? {
            if key != "sender" {
                merged.insert(key, members.next_value()?);
            } else if sender.replace(members.next_value()?).is_some() {
                return Err(A::Error::duplicate_field("sender"));
            }
        }
        if let Some(sender) = sender {
            return Ok(SingleSenderJson { sender });
        }
        let kind = infer_kind(&merged).ok_or_else(|| {
            A::Error::custom(
                "a single_sender needs `sender`, or the members of an account's signature",
            )
        })?;
        merged.insert(TAG.to_owned(), kind.into());
        let sender = from_value(&Value::Object(merged)).map_err(A::Error::custom)?;
        Ok(SingleSenderJson { sender })
    }
}

impl JsonSchema for SingleSenderJson {
    fn schema_name() -> Cow<'static, str> {
        "SingleSenderSignature".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let sender = generator.subschema_for::<AccountSignatureJson>();
        if generator.contract().is_serialize() {
            let public_key = generator.subschema_for::<PublicKeyJson>();
            let signature = generator.subschema_for::<AnySignatureJson>();
            let indexed = generator.subschema_for::<IndexedSignatureJson>();
            return json_schema!({
                "type": "object",
                "properties": {
                    "sender": sender,
                    "public_key": public_key.clone(),
                    "signature": signature,
                    "public_keys": {"type": "array", "items": public_key},
                    "signatures": {"type": "array", "items": indexed},
                    "signatures_required": generator.subschema_for::<u8>(),
                    "signatures_bitmap": generator.subschema_for::<HexBytes>(),
                },
                "required": ["sender"],
            });
        }
        let with_sender = json_schema!({
            "type": "object",
            "properties": {"sender": sender},
            "required": ["sender"],
        });
        let ed25519 = Ed25519Json::json_schema(generator);
        let multi_ed25519 = MultiEd25519Json::json_schema(generator);
        let multi_key = MultiKeyJson::json_schema(generator);
        let public_key = generator.subschema_for::<PublicKeyJson>();
        let key_signature = generator.subschema_for::<AnySignatureJson>();
        let function_info = generator.subschema_for::<FunctionText>();
        let auth_data = generator.subschema_for::<HexBytes>();
        json_schema!({
            "type": "object",
            "anyOf": [
                with_sender,
                ed25519,
                multi_ed25519,
                multi_key,
                {
                    "type": "object",
                    "properties": {"public_key": public_key, "signature": key_signature},
                    "required": ["public_key", "signature"],
                },
                {
                    "type": "object",
                    "properties": {"function_info": function_info, "auth_data": auth_data},
                    "required": ["function_info", "auth_data"],
                },
                // `type` alone. A limit on the number of members expresses this, because
                // `additionalProperties` is removed from the parts of a union.
                {
                    "description": "No signature, as a simulation may have it.",
                    "type": "object",
                    "maxProperties": 1,
                },
            ],
        })
    }
}

/// Returns the kind of an account's signature that has these members, or `None` if no kind has
/// them. An object without members means that there is no signature.
fn infer_kind(members: &Map<String, Value>) -> Option<&'static str> {
    let has = |name| members.contains_key(name);
    if has("signatures_required") {
        Some("multi_key_signature")
    } else if has("threshold") {
        Some("multi_ed25519_signature")
    } else if has("function_info") {
        Some("abstract_signature")
    } else if let Some(public_key) = members.get("public_key") {
        Some(match public_key {
            Value::Object(_) => "single_key_signature",
            _ => "ed25519_signature",
        })
    } else {
        members.is_empty().then_some("no_account_signature")
    }
}
