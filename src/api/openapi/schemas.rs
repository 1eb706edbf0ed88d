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
use serde_json::{Map, Value, json};

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
        let mut components = inline_extended(self.written.take_definitions(true));
        for schema in components.values_mut() {
            each_subschema(schema, &mut leave_out_null);
            close(schema);
        }
        components = name_variants(components);
        for (name, mut schema) in name_variants(inline_extended(self.read.take_definitions(true))) {
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

/// Replaces each reference that has members beside it, as a variant of an enum has its `type`, by
/// the referenced object: a closed object cannot be extended from outside, and generators of clients
/// ignore what is beside a reference.
fn inline_extended(mut components: Map<String, Value>) -> Map<String, Value> {
    let closed_over = components.clone();
    for schema in components.values_mut() {
        each_subschema(schema, &mut |object| {
            if !object.contains_key("properties") {
                return;
            }
            let target = object.get("$ref").and_then(Value::as_str);
            let target =
                target.and_then(|reference| closed_over.get(reference.strip_prefix(COMPONENTS)?));
            if let Some(Value::Object(target)) = target.cloned() {
                object.remove("$ref");
                merge(object, target);
            }
        });
    }
    components
}

/// Moves each variant of a union into a component of its own. Generators of clients then give it a
/// name, and can read a union with a variant that refers to the union.
fn name_variants(components: Map<String, Value>) -> Map<String, Value> {
    let mut named = Map::new();
    let mut add = |name: String, schema| {
        let known = named.insert(name, schema);
        debug_assert!(known.is_none(), "two components of one name: {known:?}");
    };
    for (union, mut schema) in components {
        if let Some(Value::Array(variants)) = schema.get_mut("oneOf") {
            for variant in variants {
                let Some(tag) = tag_of(variant) else { continue };
                let name = variant_name(&union, tag);
                let reference = json!({"$ref": format!("{COMPONENTS}{name}")});
                add(name, std::mem::replace(variant, reference));
            }
        }
        add(union, schema);
    }
    named
}

/// Returns the value that names the variant of a union, which is its only constant member.
fn tag_of(variant: &Value) -> Option<&str> {
    let members = variant["properties"].as_object()?;
    members.values().find_map(|member| member["const"].as_str())
}

/// Returns the name of a variant's component: `TransactionPayloadEntryFunction` for the variant
/// `entry_function_payload` of `TransactionPayload`.
fn variant_name(union: &str, tag: &str) -> String {
    let capitalized = |word: &str| {
        let (first, rest) = word.split_at(word.len().min(1));
        first.to_ascii_uppercase() + rest
    };
    let mut words: Vec<_> = tag.split('_').map(capitalized).collect();
    if words.len() > 1 && words.last().is_some_and(|last| union.ends_with(last)) {
        words.pop();
    }
    format!("{union}{}", words.concat())
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
