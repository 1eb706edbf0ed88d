//! JSON form of the name of a function: `0x1::module::function`.

use super::text_schema::function_schema;
use ledger_types::FunctionId;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::borrow::Cow;

/// Maximum number of characters of a malformed name that an error message repeats.
const ECHO_CHARS_MAX: usize = 200;

/// A function, represented in JSON by its name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct FunctionText(pub FunctionId);

impl JsonSchema for FunctionText {
    fn schema_name() -> Cow<'static, str> {
        "MoveFunctionId".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        function_schema(generator)
    }
}

impl Serialize for FunctionText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for FunctionText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Self).map_err(|error| {
            let start: String = text.chars().take(ECHO_CHARS_MAX).collect();
            D::Error::custom(format_args!("{error}, got {start:?}"))
        })
    }
}
