//! JSON form of the function that authenticates for an abstract account: `0x1::module::function`.

use crate::model::json::text_schema::function_schema;
use ledger_types::{Identifier, ModuleId, transaction::FunctionInfo};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::borrow::Cow;

/// A function, represented in JSON by its name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct FunctionText(pub FunctionInfo);

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
        let FunctionInfo { module, function } = &self.0;
        serializer.collect_str(&format_args!("{module}::{function}"))
    }
}

impl<'de> Deserialize<'de> for FunctionText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let parts = text.rsplit_once("::");
        let (module, function) = parts
            .ok_or_else(|| D::Error::custom("a function is written as 0x1::module::function"))?;
        Ok(Self(FunctionInfo {
            module: module.parse::<ModuleId>().map_err(D::Error::custom)?,
            function: function.parse::<Identifier>().map_err(D::Error::custom)?,
        }))
    }
}
