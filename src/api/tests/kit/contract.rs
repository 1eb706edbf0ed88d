//! Checks of responses against the document of the interface: it declares the status for the route,
//! the body fits the schema, and the ledger headers are the declared ones.

use super::RawResponse;
use jsonschema::Validator;
use ledger_api::openapi_document;
use ledger_types::Vendor;
use serde_json::{Value, json};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock},
};

/// The document of chains with one vendor word, and a cache of validators of its schemas.
struct Contract {
    document: Value,
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

/// Asserts that the document declares `response` for a request with this method and target.
pub fn assert_declared(vendor: &str, method: &str, target: &str, response: &RawResponse) {
    let path = target.split('?').next().unwrap_or_default();
    let Some(path) = path.strip_prefix("/v1") else {
        return;
    };
    // A preflight request, and an error of the HTTP layer, have no operation.
    if method == "OPTIONS"
        || (response.status >= 400 && !response.headers.contains_key("content-type"))
    {
        return;
    }
    let contract = of_vendor(vendor);
    let case = format!("{method} {target} {}", response.status);
    let error = json!({"$ref": "#/components/schemas/ErrorBody"});
    let Some((template, methods)) = contract.route(path) else {
        assert!(response.status >= 400, "{case}: no route of the document");
        return contract.assert_fits("", &error, response, &case);
    };
    let Some(operation) = methods.get(method.to_ascii_lowercase()) else {
        assert!(
            [405, 414, 503].contains(&response.status),
            "{case}: not in the document"
        );
        // A response to HEAD has no body.
        return match method {
            "HEAD" => (),
            _ => contract.assert_fits("", &error, response, &case),
        };
    };
    let declaration = contract.resolved(&operation["responses"][response.status.to_string()]);
    assert!(
        declaration.is_object(),
        "{case} is not declared: {}",
        response.text()
    );
    contract.assert_headers(vendor, declaration, response, &case);
    contract.assert_body(declaration, template, response, &case);
}

fn of_vendor(vendor: &str) -> Arc<Contract> {
    static CONTRACTS: OnceLock<Mutex<HashMap<String, Arc<Contract>>>> = OnceLock::new();
    let mut contracts = CONTRACTS.get_or_init(Mutex::default).lock().unwrap();
    let contract = contracts.entry(vendor.to_owned()).or_insert_with(|| {
        let word: Vendor = vendor.to_ascii_uppercase().parse().unwrap();
        Arc::new(Contract {
            document: openapi_document(&word),
            validators: Mutex::default(),
        })
    });
    Arc::clone(contract)
}

impl Contract {
    /// Returns the template and the methods of the route that matches a path below `/v1`. A literal
    /// segment takes precedence over a parameter.
    fn route(&self, path: &str) -> Option<(&str, &Value)> {
        let path = decoded(if path.is_empty() { "/" } else { path });
        let fits = |template: &str| {
            let mut parts = path.split('/');
            let same = template.split('/').all(|expected| {
                let part = parts.next();
                let is_parameter = expected.starts_with('{');
                part.is_some_and(|part| part == expected || (is_parameter && !part.is_empty()))
            });
            same && parts.next().is_none()
        };
        let routes = self.document["paths"].as_object().unwrap().iter();
        let fitting = routes.filter(|(template, _)| fits(template));
        let best = fitting.min_by_key(|(template, _)| template.matches('{').count());
        best.map(|(template, methods)| (template.as_str(), methods))
    }

    /// Returns the target of a reference, or the value itself.
    fn resolved<'a>(&'a self, value: &'a Value) -> &'a Value {
        match value["$ref"].as_str() {
            Some(reference) => self.document.pointer(&reference[1..]).unwrap(),
            None => value,
        }
    }

    fn assert_headers(
        &self,
        vendor: &str,
        declaration: &Value,
        response: &RawResponse,
        case: &str,
    ) {
        let declared = declaration["headers"].as_object().unwrap();
        for (name, header) in declared {
            let header = self.resolved(header);
            let value = response.headers.get(&name.to_ascii_lowercase());
            let required = header["required"] == true;
            assert!(
                value.is_some() || !required,
                "{case}: the header {name} is missing"
            );
            if let (Some(value), "integer") = (value, header["schema"]["type"].as_str().unwrap()) {
                assert!(value.parse::<u64>().is_ok(), "{case}: {name} is {value}");
            }
        }
        let ours = format!("x-{vendor}-");
        for name in response
            .headers
            .keys()
            .filter(|name| name.starts_with(&ours))
        {
            assert!(
                declared.contains_key(name),
                "{case}: the header {name} is not declared"
            );
        }
    }

    fn assert_body(&self, declaration: &Value, template: &str, response: &RawResponse, case: &str) {
        let media_type = response
            .headers
            .get("content-type")
            .map(String::as_str)
            .unwrap_or_default();
        let essence = media_type.split(';').next().unwrap_or_default();
        let content = &declaration["content"][essence];
        assert!(
            content.is_object(),
            "{case}: {media_type:?} is not declared"
        );
        let key = format!("{} {template}", case.split(' ').next().unwrap_or_default());
        match essence {
            "application/json" => self.assert_fits(&key, &content["schema"], response, case),
            "application/x-ndjson" => {
                for line in response.json_lines() {
                    self.assert_value_fits(&key, &content["schema"], &line, case);
                }
            }
            _ => {}
        }
    }

    /// Asserts that the body fits the schema. `key` identifies the schema together with the status.
    fn assert_fits(&self, key: &str, schema: &Value, response: &RawResponse, case: &str) {
        if response.headers.contains_key("content-encoding") {
            return;
        }
        let key = format!("{key} {}", response.status);
        self.assert_value_fits(&key, schema, &response.json(), case);
    }

    fn assert_value_fits(&self, key: &str, schema: &Value, body: &Value, case: &str) {
        let validator = {
            let mut validators = self.validators.lock().unwrap();
            Arc::clone(validators.entry(key.to_owned()).or_insert_with(|| {
                let schema = json!({"allOf": [schema], "components": self.document["components"]});
                Arc::new(jsonschema::draft202012::new(&schema).unwrap())
            }))
        };
        let errors: Vec<_> = validator
            .iter_errors(body)
            .map(|error| format!("{error} at {}", error.instance_path()))
            .collect();
        assert!(
            errors.is_empty(),
            "{case} does not fit its schema: {errors:?}\n{body}"
        );
    }
}

/// Decodes the percent-encoded letters and digits of a path. Other encoded characters occur in
/// parameters only.
fn decoded(path: &str) -> String {
    let mut parts = path.split('%');
    let mut decoded = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let code = part
            .get(..2)
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match code.map(char::from).filter(char::is_ascii_alphanumeric) {
            Some(letter) => {
                decoded.push(letter);
                decoded += &part[2..];
            }
            None => {
                decoded.push('%');
                decoded += part;
            }
        }
    }
    decoded
}
