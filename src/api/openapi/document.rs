//! The OpenAPI 3.1 document, made from the routes of the table.

use super::{
    Operation, StatusCode,
    errors::{self, DeclaredError},
    operation::{Body, Link, Media, Success, Tag},
    parameter::{Parameter, ParameterLocation},
    schemas::{Schemas, schema},
};
use crate::{
    error::{ErrorBody, LedgerHeaders},
    model::{
        MediaTypes,
        format::{CONTENT_CODINGS, JSON},
    },
};
use ledger_crypto::HashValue;
use ledger_types::Vendor;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// Placeholder for the vendor word in descriptions.
const VENDOR: &str = "{VENDOR}";

/// Number of ledger headers that every success has: all except gas used and cursor.
const LEDGER_HEADERS: usize = 7;

/// Description of the interface, in Markdown.
const DESCRIPTION: &str = include_str!("description.md");

/// A route of the table, as the document has it.
pub(crate) struct DocumentedRoute<'a> {
    pub method: &'a str,
    /// Path below `/v1`, its parameters in braces.
    pub path: &'static str,
    pub operation: &'a Operation,
}

/// Returns the OpenAPI 3.1 document of the interface with these routes, on a chain with this vendor
/// word, which is part of its headers and media types.
pub(crate) fn document(vendor: &Vendor, routes: &[DocumentedRoute<'_>]) -> Value {
    let mut schemas = Schemas::new();
    let mut writer = Writer {
        error: schemas.of_response(schema::<ErrorBody>()),
        headers: LedgerHeaders::new(vendor),
        media_types: MediaTypes::new(vendor),
        vendor: vendor.upper().to_owned(),
        schemas,
        parameters: Map::new(),
    };
    let mut paths: Map<String, Value> = Map::new();
    // The empty path is a second name of `/`, which a document cannot express.
    for route in routes.iter().filter(|route| !route.path.is_empty()) {
        let operation = writer.operation(route.operation);
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method.to_ascii_lowercase()] = operation;
    }
    let headers = writer.header_components();
    let responses = shared_responses(&mut paths);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Ledger node",
            "version": env!("CARGO_PKG_VERSION"),
            "description": writer.words(DESCRIPTION),
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/v1", "description": "The node that serves this document."}],
        "tags": Tag::ALL.map(|tag| json!({"name": tag.name(), "description": tag.description()})),
        "paths": paths,
        "components": {
            "headers": headers,
            "parameters": writer.parameters,
            "responses": responses,
            "schemas": writer.schemas.finish(),
        },
    })
}

/// Moves error responses that several operations share into components. Returns the components.
fn shared_responses(paths: &mut Map<String, Value>) -> Map<String, Value> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    each_error(paths, |_, response| {
        *counts.entry(response.to_string()).or_default() += 1;
    });
    let mut shared = Map::new();
    each_error(paths, |status, response| {
        if counts
            .get(&response.to_string())
            .is_none_or(|count| *count < 2)
        {
            return;
        }
        let name = component_name(status, response);
        let reference = reference("responses", &name);
        let response = std::mem::replace(response, reference);
        let known = shared.insert(name, response.clone());
        debug_assert!(
            known.is_none_or(|known| known == response),
            "two components: {response}"
        );
    });
    shared
}

/// Returns the name of the component of an error response: its status, its sorted error codes, and
/// two bytes of a hash of its description and content.
///
/// The name depends on nothing else, so that a new operation does not rename the components of
/// others. `web_framework_error` is in the name only if it is the only code.
fn component_name(status: &str, response: &Value) -> String {
    const COMMON_CODE: &str = "web_framework_error";
    const HASH_BYTES: usize = 2;
    let content = &response["content"];
    let enumerated = &content[JSON]["schema"]["properties"]["error_code"]["enum"];
    let codes = enumerated.as_array().into_iter().flatten();
    let mut codes: Vec<_> = codes.filter_map(Value::as_str).collect();
    if codes.len() > 1 {
        codes.retain(|code| *code != COMMON_CODE);
    }
    codes.sort_unstable();
    let parts = [response["description"].to_string(), content.to_string()];
    let hash = HashValue::sha3_of(&parts.each_ref().map(String::as_bytes));
    let hash = hex::encode(&hash.as_bytes()[..HASH_BYTES]);
    format!("Error{status}_{}_{hash}", codes.join("_"))
}

/// Calls `visit` with each error response and its status.
fn each_error(paths: &mut Map<String, Value>, mut visit: impl FnMut(&str, &mut Value)) {
    let methods = paths.values_mut().filter_map(Value::as_object_mut);
    for operation in methods.flat_map(Map::values_mut) {
        let responses = operation["responses"].as_object_mut().into_iter().flatten();
        for (status, response) in responses.filter(|(status, _)| status.as_str() >= "400") {
            visit(status, response);
        }
    }
}

/// The state of a document that is being made.
struct Writer {
    headers: LedgerHeaders,
    media_types: MediaTypes,
    /// Vendor word in upper case.
    vendor: String,
    schemas: Schemas,
    /// Components of parameters.
    parameters: Map<String, Value>,
    /// Schema of the body of every error.
    error: Value,
}

impl Writer {
    fn words(&self, text: &str) -> String {
        text.trim().replace(VENDOR, &self.vendor)
    }

    fn operation(&mut self, operation: &Operation) -> Value {
        let mut written = json!({
            "operationId": operation.id,
            "tags": [operation.tag.name()],
            "summary": operation.summary,
            "description": self.words(operation.description),
            "responses": self.responses(operation),
        });
        if !operation.parameters.is_empty() {
            let parameters = operation.parameters.iter();
            written["parameters"] = parameters.map(|one| self.parameter(one)).collect();
        }
        if !operation.request.is_empty() {
            let content = self.content(&operation.request, Schemas::of_request);
            written["requestBody"] = json!({"required": true, "content": content});
        }
        written
    }

    /// Returns a parameter, or a reference to its component, which it adds.
    fn parameter(&mut self, parameter: &Parameter) -> Value {
        let place = match parameter.place {
            ParameterLocation::Path => "path",
            ParameterLocation::Query => "query",
            ParameterLocation::Header => "header",
        };
        let written = json!({
            "name": self.words(parameter.name),
            "in": place,
            "description": parameter.description,
            "required": parameter.required,
            "schema": parameter.schema,
            "example": parameter.example,
        });
        let Some(name) = parameter.component else {
            return written;
        };
        self.parameters.insert(name.to_owned(), written);
        reference("parameters", name)
    }

    fn responses(&mut self, operation: &Operation) -> Map<String, Value> {
        let mut responses = Map::new();
        for success in &operation.successes {
            responses.insert(status_text(success.status), self.success(success));
        }
        for error in &operation.errors {
            let of_status = |other: &&DeclaredError| other.status == error.status;
            let status = status_text(error.status);
            if !responses.contains_key(&status) {
                let errors: Vec<_> = operation.errors.iter().filter(of_status).collect();
                responses.insert(status, self.errors(operation.id, error.status, &errors));
            }
        }
        responses
    }

    fn success(&mut self, success: &Success) -> Value {
        let mut headers = self.ledger_headers(true);
        headers.insert("Vary".to_owned(), reference("headers", "Vary"));
        // Other successes, such as that of an accepted submission, are not compressed.
        if success.status == StatusCode::OK {
            let name = "Content-Encoding";
            headers.insert(name.to_owned(), reference("headers", name));
        }
        let optional = [(success.gas_used, "gas-used"), (success.cursor, "cursor")];
        for (_, header) in optional.into_iter().filter(|(has, _)| *has) {
            let name = format!("x-{}-{header}", self.vendor.to_ascii_lowercase());
            headers.insert(name.clone(), reference("headers", &name));
        }
        let mut written =
            json!({"description": self.words(success.description), "headers": headers});
        if !success.bodies.is_empty() {
            written["content"] = self.content(&success.bodies, Schemas::of_response).into();
        }
        if !success.links.is_empty() {
            let links = success
                .links
                .iter()
                .map(|one| (one.name.to_owned(), link(one, &self.vendor)));
            written["links"] = Value::Object(links.collect());
        }
        written
    }

    /// Returns the response of one error status of an operation, with all codes of that status.
    fn errors(&self, operation_id: &str, status: StatusCode, errors: &[&DeclaredError]) -> Value {
        let mut codes: Vec<Value> = Vec::new();
        let mut examples = Map::new();
        let mut description = String::new();
        for error in errors {
            let code = json!(error.code);
            let name = code.as_str().unwrap_or_default().to_owned();
            description += &format!("* `{name}`: {}\n", error.when);
            if !codes.contains(&code) {
                codes.push(code);
                examples.insert(
                    name,
                    json!({"value": errors::example(operation_id, status, error.code)}),
                );
            }
        }
        let mut headers = self.ledger_headers(false);
        headers.insert("Vary".to_owned(), reference("headers", "Vary"));
        let of_status = match status {
            StatusCode::SERVICE_UNAVAILABLE | StatusCode::INSUFFICIENT_STORAGE => {
                Some("Retry-After")
            }
            StatusCode::METHOD_NOT_ALLOWED => Some("Allow"),
            _ => None,
        };
        if let Some(name) = of_status {
            headers.insert(name.to_owned(), reference("headers", name));
        }
        let mut schema = self.error.clone();
        schema["properties"] = json!({"error_code": {"enum": codes}});
        json!({
            "description": self.words(&description),
            "headers": headers,
            "content": {JSON: {"schema": schema, "examples": examples}},
        })
    }

    fn content(
        &mut self,
        bodies: &[Body],
        schema_of: fn(&mut Schemas, super::schemas::SchemaOf) -> Value,
    ) -> Map<String, Value> {
        let mut content = Map::new();
        for body in bodies {
            let mut written = json!({});
            written["schema"] = match (body.schema, body.media) {
                (Some(schema), _) => schema_of(&mut self.schemas, schema),
                (None, Media::Text(_)) => {
                    json!({"type": "string", "description": body.description})
                }
                // Bytes have no JSON type, so the schema has the description.
                (None, _) => json!({"description": self.words(body.description)}),
            };
            if let Some(example) = &body.example {
                written["example"] = example.clone();
            }
            content.insert(body.media.name(&self.media_types).to_owned(), written);
        }
        content
    }

    /// Returns references to the ledger headers that every success has. Errors have them only if
    /// they depend on the ledger, so they refer to optional headers.
    fn ledger_headers(&self, required: bool) -> Map<String, Value> {
        let suffix = if required { "" } else { "-optional" };
        let always = self.headers.names().take(LEDGER_HEADERS);
        always
            .map(|name| {
                (
                    name.to_string(),
                    reference("headers", &format!("{name}{suffix}")),
                )
            })
            .collect()
    }

    fn header_components(&self) -> Map<String, Value> {
        let number = |format: &str| json!({"type": "integer", "format": format, "minimum": 0});
        let rows = [
            ("Chain ID.", number("uint8")),
            ("Newest version of the ledger.", number("uint64")),
            ("Oldest readable version.", number("uint64")),
            (
                "Time of the newest block, in microseconds since the Unix epoch.",
                number("uint64"),
            ),
            ("Epoch.", number("uint64")),
            ("Height of the newest block.", number("uint64")),
            ("Height of the oldest readable block.", number("uint64")),
            ("Gas that the call used, in gas units.", number("uint64")),
            (
                "Value of `start` in the request for the next page. Absent on the last page.",
                json!({"type": "string", "pattern": "^(0x)?[0-9a-f]+$"}),
            ),
        ];
        let mut headers = Map::new();
        for (place, (name, (description, schema))) in self.headers.names().zip(rows).enumerate() {
            let mut header = json!({"description": description, "schema": schema});
            if place < LEDGER_HEADERS {
                headers.insert(format!("{name}-optional"), header.clone());
                header["required"] = true.into();
            }
            headers.insert(name.to_string(), header);
        }
        headers.insert(
            "Retry-After".to_owned(),
            json!({
                "description": "Time to wait before a retry, in seconds.",
                "schema": number("uint64"),
            }),
        );
        headers.insert(
            "Content-Encoding".to_owned(),
            json!({
                "description": "Content coding of a compressed body. Only large bodies are \
                                compressed, with a coding of `Accept-Encoding`.",
                "schema": {"type": "string", "enum": CONTENT_CODINGS},
            }),
        );
        headers.insert(
            "Vary".to_owned(),
            json!({
                "description": "Request headers that the response depends on: `accept` if it \
                                selects JSON or BCS, `accept-encoding` if the body may be \
                                compressed, `origin` and other headers of web pages.",
                "required": true,
                "schema": {"type": "string"},
            }),
        );
        headers.insert(
            "Allow".to_owned(),
            json!({
                "description": "Methods of the path.",
                "required": true,
                "schema": {"type": "string"},
            }),
        );
        headers
    }
}

/// Returns a status as a key of the document.
fn status_text(status: StatusCode) -> String {
    status.as_u16().to_string()
}

fn reference(kind: &str, name: &str) -> Value {
    json!({"$ref": format!("#/components/{kind}/{name}")})
}

fn link(link: &Link, vendor: &str) -> Value {
    let parameters = link.parameters.iter().map(|(name, value)| {
        let value = value.replace(VENDOR, vendor).into();
        ((*name).to_owned(), value)
    });
    let parameters: Map<String, Value> = parameters.collect();
    json!({"operationId": link.operation_id, "parameters": parameters})
}
