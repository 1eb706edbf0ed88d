//! JSON form of a `single_sender` signature: the signature of one account, of any kind.
//!
//! The reference node writes both unions into one object and cannot read that object
//! (docs/reference/reference-node.md#r21). This node writes the inner signature as the member
//! `sender`, as in the multi-agent form. It also reads the object of the reference node, because
//! the members of an account's signature determine its kind.

use super::account::AccountSignatureJson;
use super::function::FunctionText;
use super::hex_form::HexBytes;
use super::keys::{AnySignatureJson, Ed25519Json, PublicKeyJson};
use super::multi::MultiEd25519Json;
use super::multi_key::MultiKeyJson;
use crate::model::json::{parse::from_value, tagged::TAG};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{Error as _, MapAccess, Visitor},
};
use serde_json::{Map, Value};
use std::{
    borrow::Cow,
    fmt::{self, Formatter},
};

/// The signature of a `single_sender`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(crate) struct SingleSenderJson {
    pub sender: AccountSignatureJson,
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
        let with_sender = json_schema!({
            "type": "object",
            "properties": {"sender": sender},
            "required": ["sender"],
        });
        if generator.contract().is_serialize() {
            return with_sender;
        }
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
