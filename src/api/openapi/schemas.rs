//! Schemas of Rust types.
//!
//! The schema of a response describes the serialized form, the schema of a request the deserialized
//! form. Objects of responses are closed: a member that the schema does not have is an error.
//! Objects of requests may have further members, because serde ignores them.

use schemars::{
    JsonSchema, Schema, SchemaGenerator,
    generate::SchemaSettings,
    transform::{ReplaceBoolSchemas, Transform},
};
use serde_json::{Map, Value};

/// Returns the schema of a type, usually a reference to a component.
pub(crate) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// Returns the function that makes the schema of `T`.
pub(crate) fn schema<T: JsonSchema>() -> SchemaOf {
    SchemaGenerator::subschema_for::<T>
}

/// Returns the schema of any object.
pub(crate) fn any_object(_: &mut SchemaGenerator) -> Schema {
    schemars::json_schema!({"type": "object"})
}

/// Location of the schemas in the document.
const COMPONENTS: &str = "#/components/schemas/";

/// End of the component names of requests.
const READ_SUFFIX: &str = "Input";

/// Returns the transformation of boolean schemas to objects, because some tools do not read `true`.
fn without_booleans() -> ReplaceBoolSchemas {
    let mut transform = ReplaceBoolSchemas::default();
    transform.skip_additional_properties = true;
    transform
}

/// The schemas of a document that is being made.
pub(crate) struct Schemas {
    written: SchemaGenerator,
    read: SchemaGenerator,
}

impl Schemas {
    pub fn new() -> Self {
        let settings = || {
            SchemaSettings::draft2020_12().with(|settings| {
                settings.definitions_path = COMPONENTS.trim_matches('#').into();
                settings.meta_schema = None;
                settings.transforms.push(Box::new(without_booleans()));
            })
        };
        Self {
            written: settings().for_serialize().into_generator(),
            read: settings().for_deserialize().into_generator(),
        }
    }

    /// Returns the schema of a response.
    pub fn of_response(&mut self, schema: SchemaOf) -> Value {
        let mut schema = schema(&mut self.written);
        without_booleans().transform(&mut schema);
        schema.to_value()
    }

    /// Returns the schema of a request. Its references lead to components of [`Self::finish`].
    pub fn of_request(&mut self, schema: SchemaOf) -> Value {
        let mut schema = schema(&mut self.read);
        without_booleans().transform(&mut schema);
        let mut schema = schema.to_value();
        rename_references(&mut schema);
        schema
    }

    /// Returns the components that the schemas refer to.
    pub fn finish(mut self) -> Map<String, Value> {
        let mut components = self.written.take_definitions(true);
        let closed_over = components.clone();
        for schema in components.values_mut() {
            inline_extended(schema, &closed_over);
            each_subschema(schema, &mut leave_out_null);
            close(schema);
        }
        for (name, mut schema) in self.read.take_definitions(true) {
            rename_references(&mut schema);
            components.insert(format!("{name}{READ_SUFFIX}"), schema);
        }
        components
    }
}

fn rename_references(schema: &mut Value) {
    each_subschema(schema, &mut |object| {
        if let Some(Value::String(reference)) = object.get_mut("$ref") {
            reference.push_str(READ_SUFFIX);
        }
    });
}

/// Calls `visit` with each object in `schema`, outermost first.
fn each_subschema(schema: &mut Value, visit: &mut impl FnMut(&mut Map<String, Value>)) {
    match schema {
        Value::Object(object) => {
            visit(object);
            for value in object.values_mut() {
                each_subschema(value, visit);
            }
        }
        Value::Array(all) => {
            for value in all {
                each_subschema(value, visit);
            }
        }
        _ => {}
    }
}

/// Replaces a reference that has members beside it, as a variant of an enum has its `type`, by the
/// referenced object: a closed object cannot be extended from outside.
fn inline_extended(schema: &mut Value, components: &Map<String, Value>) {
    each_subschema(schema, &mut |object| {
        if !object.contains_key("properties") {
            return;
        }
        let target = object.get("$ref").and_then(Value::as_str);
        let target =
            target.and_then(|reference| components.get(reference.strip_prefix(COMPONENTS)?));
        if let Some(Value::Object(target)) = target.cloned() {
            object.remove("$ref");
            merge(object, target);
        }
    });
}

/// Adds the members of `base` to `object`.
fn merge(object: &mut Map<String, Value>, base: Map<String, Value>) {
    for (key, of_base) in base {
        match (object.get_mut(&key), of_base) {
            (None, of_base) => {
                object.insert(key, of_base);
            }
            (Some(Value::Object(members)), Value::Object(of_base)) => {
                for (name, member) in of_base {
                    members.entry(name).or_insert(member);
                }
            }
            (Some(Value::Array(all)), Value::Array(of_base)) => all.extend(of_base),
            _ => {}
        }
    }
}

/// Removes `null` from the schemas of optional members, because a response omits a member without a
/// value.
fn leave_out_null(object: &mut Map<String, Value>) {
    let required = object.get("required").and_then(Value::as_array).cloned();
    let is_required = |name: &String| required.iter().flatten().any(|one| one == name);
    if let Some(Value::Object(members)) = object.get_mut("properties") {
        for (_, member) in members.iter_mut().filter(|(name, _)| !is_required(name)) {
            if let Value::Object(member) = member {
                without_null(member);
            }
        }
    }
}

/// Removes `null` from a schema.
fn without_null(schema: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|one| one != "null");
        if let [one] = types.as_slice() {
            let one = one.clone();
            schema.insert("type".to_owned(), one);
        }
    }
    if let Some(Value::Array(choices)) = schema.get_mut("anyOf") {
        choices.retain(|one| one["type"] != "null");
        if let [Value::Object(one)] = choices.as_slice() {
            let one = one.clone();
            schema.remove("anyOf");
            merge(schema, one);
        }
    }
}

/// Keywords that apply further schemas to an object.
const OVERLAYS: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// Closes each object of `schema` whose members are declared.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(object) => close_object(object),
        Value::Array(all) => all.iter_mut().for_each(close),
        _ => {}
    }
}

fn close_object(object: &mut Map<String, Value>) {
    let declares_members = object.get("properties").is_some_and(Value::is_object);
    let overlaid = OVERLAYS.iter().any(|keyword| object.contains_key(*keyword));
    for (keyword, value) in object.iter_mut() {
        match (keyword.as_str(), value) {
            // The keys are names of members, not keywords.
            ("properties", Value::Object(members)) => members.values_mut().for_each(close),
            // The schemas that apply to an object are closed with it.
            (keyword, Value::Array(overlays))
                if declares_members && OVERLAYS.contains(&keyword) =>
            {
                for members in overlays
                    .iter_mut()
                    .filter_map(|one| one.get_mut("properties"))
                {
                    members
                        .as_object_mut()
                        .into_iter()
                        .flat_map(Map::values_mut)
                        .for_each(close);
                }
            }
            ("const" | "enum" | "default" | "examples", _) => {}
            (_, value) => close(value),
        }
    }
    if declares_members && !object.contains_key("additionalProperties") {
        let keyword = if overlaid {
            "unevaluatedProperties"
        } else {
            "additionalProperties"
        };
        object.insert(keyword.to_owned(), false.into());
    }
}
