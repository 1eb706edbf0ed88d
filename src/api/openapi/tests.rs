//! Consistency of the document: references, names, parameters, examples.

use super::*;
use crate::{
    router::{declared_responses, openapi_document},
    routes,
};
use ledger_types::Vendor;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

fn document() -> Value {
    openapi_document(&Vendor::default())
}

/// Calls `visit` with each object of the document and its JSON pointer.
fn each_object(
    value: &Value,
    place: &str,
    visit: &mut impl FnMut(&str, &serde_json::Map<String, Value>),
) {
    match value {
        Value::Object(object) => {
            visit(place, object);
            for (key, value) in object {
                let key = key.replace('~', "~0").replace('/', "~1");
                each_object(value, &format!("{place}/{key}"), visit);
            }
        }
        Value::Array(all) => {
            for (number, value) in all.iter().enumerate() {
                each_object(value, &format!("{place}/{number}"), visit);
            }
        }
        _ => {}
    }
}

/// Returns the operations of the document with their paths.
fn operations(document: &Value) -> Vec<(&str, &Value)> {
    let paths = document["paths"].as_object().unwrap().iter();
    paths
        .flat_map(|(path, methods)| {
            methods
                .as_object()
                .unwrap()
                .values()
                .map(move |one| (path.as_str(), one))
        })
        .collect()
}

/// Returns the parameters of an operation, with those that are components.
fn parameters<'a>(document: &'a Value, operation: &'a Value) -> Vec<&'a Value> {
    let all = operation["parameters"].as_array().into_iter().flatten();
    let resolved = all.map(|one| match one["$ref"].as_str() {
        Some(reference) => document.pointer(reference.trim_start_matches('#')).unwrap(),
        None => one,
    });
    resolved.collect()
}

/// Returns a validator of a schema of the document, with the components that it refers to.
fn validator(document: &Value, schema: &Value) -> jsonschema::Validator {
    let schema = json!({"allOf": [schema], "components": document["components"]});
    jsonschema::draft202012::new(&schema).unwrap()
}

fn assert_fits(document: &Value, schema: &Value, value: &Value, what: &str) {
    let errors: Vec<_> = validator(document, schema)
        .iter_errors(value)
        .map(|error| error.to_string())
        .collect();
    assert_eq!(errors, [""; 0], "{what}: {value}");
}

#[test]
fn resolves_all_references() {
    let document = document();
    let mut count = 0;
    each_object(&document, "", &mut |place, object| {
        if let Some(Value::String(reference)) = object.get("$ref") {
            let target = reference
                .strip_prefix('#')
                .and_then(|pointer| document.pointer(pointer));
            assert!(target.is_some(), "{place}: {reference}");
            count += 1;
        }
    });
    assert!(count > 100, "{count}");
}

#[test]
fn refers_to_every_component() {
    let document = document();
    let mut used = BTreeSet::new();
    each_object(&document, "", &mut |_, object| {
        used.extend(
            object
                .get("$ref")
                .and_then(Value::as_str)
                .map(str::to_owned),
        );
    });
    for (kind, components) in document["components"].as_object().unwrap() {
        for name in components.as_object().unwrap().keys() {
            assert!(
                used.contains(&format!("#/components/{kind}/{name}")),
                "{kind} {name}"
            );
        }
    }
}

#[test]
fn renames_no_component_for_an_operation_that_is_added() {
    let (vendor, table) = (Vendor::default(), routes::table());
    let responses = |document: &Value| -> BTreeMap<String, Value> {
        let responses = document["components"]["responses"].as_object().unwrap();
        responses.clone().into_iter().collect()
    };
    let all = responses(&document());
    let with_codes =
        |name: &&String| name.starts_with("Error404_table_item_not_found_version_not_found_");
    assert_eq!(all.keys().filter(with_codes).count(), 1);
    for added in &table {
        let others = table.iter().filter(|route| route.path() != added.path());
        let others: Vec<_> = others
            .map(|route| DocumentedRoute {
                method: route.method().as_str(),
                path: route.path(),
                operation: route.operation(),
            })
            .collect();
        for (name, response) in responses(&super::document(&vendor, &others)) {
            assert_eq!(all[&name], response, "{name} without {}", added.path());
        }
    }
}

#[test]
fn gives_operations_unique_names_and_links_that_resolve() {
    let document = document();
    let mut parameters_of = BTreeMap::new();
    for (path, operation) in operations(&document) {
        let id = operation["operationId"].as_str().unwrap();
        let snake_case = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
        assert!(id.bytes().all(snake_case), "{id}");
        let parameters = parameters(&document, operation).into_iter();
        let names: BTreeSet<_> = parameters
            .map(|one| one["name"].as_str().unwrap())
            .collect();
        assert!(
            parameters_of.insert(id, names).is_none(),
            "{path}: {id} is taken"
        );
    }
    let mut count = 0;
    each_object(&document, "", &mut |place, object| {
        for (name, link) in object
            .get("links")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            let target = link["operationId"].as_str().unwrap();
            let known = &parameters_of[target];
            for parameter in link["parameters"].as_object().unwrap().keys() {
                assert!(
                    known.contains(parameter.as_str()),
                    "{place} {name}: {target} has no {parameter}"
                );
                count += 1;
            }
        }
    });
    assert!(count > 20, "{count}");
}

#[test]
fn declares_exactly_the_parameters_of_each_path() {
    let mut seen = BTreeSet::new();
    for row in routes::table() {
        let of_path: Vec<_> = row
            .path()
            .split('/')
            .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
            .collect();
        let parameters = row.operation().parameters.iter();
        let declared: Vec<_> = parameters
            .filter(|one| one.place == ParameterLocation::Path)
            .map(|one| one.name)
            .collect();
        let sorted = |mut names: Vec<&'static str>| {
            names.sort_unstable();
            names
        };
        assert_eq!(sorted(of_path), sorted(declared), "{}", row.path());
        seen.insert((row.method().to_string(), row.path()));
    }
    assert_eq!(
        seen.len(),
        routes::table().len(),
        "a route stands twice in the table"
    );
}

#[test]
fn describes_every_operation() {
    let document = document();
    for (path, operation) in operations(&document) {
        for words in ["summary", "description"] {
            assert!(
                operation[words]
                    .as_str()
                    .is_some_and(|text| text.len() > 10),
                "{path} {words}"
            );
        }
        let responses = operation["responses"].as_object().unwrap();
        assert!(
            responses.keys().any(|status| status.starts_with('2')),
            "{path}"
        );
        for parameter in parameters(&document, operation) {
            assert!(parameter["example"] != Value::Null, "{path} {parameter}");
        }
        let json = operation.pointer("/requestBody/content/application~1json");
        assert!(
            json.is_none_or(|body| body["example"] != Value::Null),
            "{path} has no example of a body"
        );
        for (status, response) in responses {
            let shared = response["$ref"].as_str();
            let response = shared.map_or(response, |place| document.pointer(&place[1..]).unwrap());
            let json = response.pointer("/content/application~1json");
            let has_example =
                |body: &Value| body["example"] != Value::Null || body["examples"] != Value::Null;
            assert!(
                json.is_none_or(has_example),
                "{path} {status} has no example"
            );
            let headers = response["headers"].as_object().unwrap();
            assert!(headers.len() >= 7, "{path} {status} has no ledger headers");
        }
    }
    assert!(!document.to_string().contains("{VENDOR}"));
}

#[test]
fn has_examples_that_fit_their_schemas() {
    let document = document();
    let mut count = 0;
    each_object(&document, "", &mut |place, object| {
        let Some(schema) = object.get("schema") else {
            return;
        };
        let one = object.get("example").into_iter();
        let many = object.get("examples").and_then(Value::as_object);
        let many = many
            .into_iter()
            .flat_map(|all| all.values().map(|one| &one["value"]));
        for example in one.chain(many) {
            assert_fits(&document, schema, example, place);
            count += 1;
        }
    });
    assert!(count > 150, "{count}");
}

/// docs/reference/rest-contract.md#s7
#[test]
fn declares_the_statuses_of_the_contract() {
    let read: &[u16] = &[200, 400, 403, 404, 410, 500, 503];
    let rows: [(&str, &str, &[u16]); 8] = [
        (
            "POST",
            "/v1/transactions",
            &[202, 400, 403, 404, 413, 500, 503, 507],
        ),
        ("GET", "/v1/blocks/by_height/{block_height}", read),
        (
            "GET",
            "/v1/accounts/{address}/events/{creation_number}",
            read,
        ),
        (
            "GET",
            "/v1/accounts/{address}/events/{event_handle}/{field_name}",
            read,
        ),
        ("GET", "/v1/transactions/wait_by_hash/{txn_hash}", read),
        ("GET", "/v1/accounts/{address}/transaction_summaries", read),
        ("POST", "/v1/tables/{table_handle}/raw_item", read),
        ("GET", "/v1/accounts/{address}/balance/{asset_type}", read),
    ];
    let declared = declared_responses();
    for (method, path, statuses) in rows {
        for status in statuses {
            let is = |answer: &&DeclaredResponse| {
                (answer.method.as_str(), answer.path.as_str(), answer.status)
                    == (method, path, *status)
            };
            assert!(
                declared.iter().any(|answer| is(&answer)),
                "{method} {path} {status}"
            );
        }
    }
}

#[test]
fn names_headers_and_media_types_by_the_vendor_word() {
    let text = openapi_document(&"OTHER".parse().unwrap()).to_string();
    for name in [
        "x-other-cursor",
        "application/x.other.signed_transaction+bcs",
        "X-OTHER-CURSOR",
    ] {
        assert!(text.contains(name), "{name}");
    }
    assert!(
        !text.contains("x-node-"),
        "a header has the word of another chain"
    );
}

#[test]
fn rejects_undeclared_members_of_responses() {
    let document = document();
    let schema = json!({"$ref": "#/components/schemas/ErrorBody"});
    let good = json!({"message": "m", "error_code": "vm_error", "vm_error_code": 1});
    assert_fits(&document, &schema, &good, "an error");
    let mut more = good.clone();
    more["more"] = 1.into();
    assert!(!validator(&document, &schema).is_valid(&more));
    let mut other_code = good;
    other_code["error_code"] = "rate_limited".into();
    assert!(!validator(&document, &schema).is_valid(&other_code));
}

/// docs/use/interface.md#absent-members
#[test]
fn allows_no_null_in_optional_members_of_responses() {
    /// The only member that is null and never absent.
    const NULLABLE: (&str, &str) = ("TransactionPayloadMultisig", "transaction_payload");
    let document = document();
    let schemas = document["components"]["schemas"].as_object().unwrap();
    let nullable = |member: &Value| {
        let mut choices = member["anyOf"].as_array().into_iter().flatten();
        let mut types = member["type"].as_array().into_iter().flatten();
        types.any(|one| one == "null") || choices.any(|one| one["type"] == "null")
    };
    for (name, schema) in schemas.iter().filter(|(name, _)| !name.ends_with("Input")) {
        each_object(schema, name, &mut |place, object| {
            let members = object.get("properties").and_then(Value::as_object);
            for (member, schema) in members.into_iter().flatten() {
                let is_allowed = (place, &member[..]) == NULLABLE;
                assert_eq!(nullable(schema), is_allowed, "{place}: {member}");
            }
        });
    }
}

/// Generators of clients give no name to an object within a union, and cannot read a union that
/// refers to itself through such an object.
#[test]
fn names_each_variant_of_a_union_that_is_an_object() {
    let document = document();
    let schemas = document["components"]["schemas"].as_object().unwrap();
    let mut count = 0;
    for (name, schema) in schemas {
        for variant in schema["oneOf"].as_array().into_iter().flatten() {
            assert!(variant.get("properties").is_none(), "{name}: {variant}");
            count += usize::from(variant.get("$ref").is_some());
        }
    }
    assert!(count > 50, "{count}");
    for (variant, members) in [
        ("TransactionPayloadMultisig", "multisig_address"),
        ("SubmittedPayloadEntryFunctionInput", "function"),
    ] {
        let properties = &schemas[variant]["properties"];
        assert!(properties["type"]["const"].is_string(), "{variant}");
        assert!(properties[members].is_object(), "{variant}");
    }
}

#[test]
fn adds_the_minimum_version_to_every_operation_that_reads_the_ledger() {
    let without: BTreeSet<_> = routes::table()
        .iter()
        .filter(|route| !route.operation().has_parameter("min_ledger_version"))
        .map(|route| route.operation().id)
        .collect();
    let expected = BTreeSet::from([
        "check_health",
        "encode_submission",
        "get_node_info",
        "get_spec_json",
        "get_spec_page",
        "get_spec_part",
        "get_spec_yaml",
        "submit_batch_transactions",
        "submit_transaction",
    ]);
    assert_eq!(without, expected);
}

#[test]
fn documents_all_declared_parameters_and_statuses() {
    let document = document();
    let vendor = Vendor::default();
    let written = operations(&document);
    for route in routes::table() {
        let operation = route.operation();
        let is_it = |(_, one): &&(&str, &Value)| one["operationId"] == operation.id;
        let (_, one) = written.iter().find(is_it).unwrap();
        let declared: BTreeSet<_> = operation
            .parameters
            .iter()
            .map(|one| one.name.replace("{VENDOR}", vendor.upper()))
            .collect();
        let names = parameters(&document, one).into_iter();
        let names: BTreeSet<_> = names
            .map(|one| one["name"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(names, declared, "{}", operation.id);
        let successes = operation.successes.iter().map(|success| success.status);
        let errors = operation.errors.iter().map(|error| error.status);
        let declared: BTreeSet<_> = successes
            .chain(errors)
            .map(|status| status.as_u16().to_string())
            .collect();
        let responses: BTreeSet<_> = one["responses"]
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect();
        assert_eq!(responses, declared, "{}", operation.id);
    }
}
