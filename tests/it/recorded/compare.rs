//! Differences of a response from the recorded one.
//!
//! | part | compared |
//! |---|---|
//! | status, `error_code`, `vm_error_code` | the value; messages are not |
//! | headers | the names, and values that are the same on all nodes |
//! | JSON | names and types of members; elements of a list by their `type` |
//! | BCS | the media type; the length for values of a fixed form |
//!
//! Which slots and events a transaction has is compared below HTTP
//! (`src/ledger/execution/tests/recorded/`), so a list of changes or events is compared only in the
//! elements that both have.

use super::Template;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use ledger_test_support::{differences::Difference, http::RawResponse};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Headers that say nothing about the interface.
const CONNECTION_HEADERS: [&str; 4] = ["connection", "content-length", "date", "transfer-encoding"];

/// Classes of requests whose bodies have the same length on all nodes.
const FIXED_LENGTH: [&str; 7] = [
    "account",
    "balance",
    "estimate_gas_price",
    "resource",
    "table_item",
    "table_raw",
    "view",
];

/// A recorded response.
#[derive(Deserialize)]
pub struct Answer {
    status: u16,
    headers: BTreeMap<String, String>,
    json: Option<String>,
    bcs_b64: Option<String>,
    text: Option<String>,
    empty: Option<bool>,
    cut: Option<Map<String, Value>>,
}

/// Returns the differences of a response.
pub fn compare(template: &Template, response: &RawResponse) -> Vec<Difference> {
    let mut found = Found {
        step: &template.id,
        differences: Vec::new(),
    };
    let answer = &template.answer;
    let [theirs, ours] = [answer.status, response.status].map(|status| status.to_string());
    found.check("status", "", &theirs, &ours);
    found.headers(&answer.headers, response);
    if !template.varies {
        found.body(template, response);
    }
    found.differences
}

/// A collector of the differences of one response.
struct Found<'a> {
    step: &'a str,
    differences: Vec<Difference>,
}

impl Found<'_> {
    fn push(&mut self, kind: &str, item: &str) {
        self.differences.push(Difference {
            step: self.step.to_owned(),
            ..Difference::new(kind, item)
        });
    }

    /// Compares values. The item of a difference has both.
    fn check(&mut self, kind: &str, name: &str, theirs: &str, ours: &str) {
        if theirs != ours {
            let item = format!("{name} {theirs} -> {ours}");
            self.push(kind, item.trim_start());
        }
    }

    fn headers(&mut self, theirs: &BTreeMap<String, String>, response: &RawResponse) {
        let names = theirs.keys().chain(response.headers.keys());
        let names: BTreeSet<&String> = names.collect();
        for name in names {
            if CONNECTION_HEADERS.contains(&&**name) {
                continue;
            }
            match (theirs.get(name), response.headers.get(name)) {
                (Some(_), None) => self.push("header absent", name),
                (None, Some(_)) => self.push("header added", name),
                (Some(theirs), Some(ours)) if !theirs.starts_with('<') => {
                    self.check("header", name, &members(theirs), &members(ours));
                }
                _ => {}
            }
        }
    }

    fn body(&mut self, template: &Template, response: &RawResponse) {
        let Answer {
            json,
            bcs_b64,
            text,
            empty,
            cut,
            ..
        } = &template.answer;
        if let Some(text) = json {
            let theirs: Value = serde_json::from_str(text).unwrap();
            match serde_json::from_slice(&response.body) {
                Ok(ours) => self.json(&theirs, &ours, cut.as_ref()),
                Err(_) => self.push("body", "JSON -> other"),
            }
        } else if let Some(text) = bcs_b64 {
            let recorded = BASE64_STANDARD.decode(text).unwrap().len();
            let whole = cut.as_ref().and_then(|cut| cut["of_bytes"].as_u64());
            let length = whole.unwrap_or(recorded as u64);
            let (class, _) = template.id.split_once('.').expect("an id with a class");
            if FIXED_LENGTH.contains(&class) && response.status == template.answer.status {
                let [theirs, ours] = [length, response.body.len() as u64];
                self.check("BCS length", "", &theirs.to_string(), &ours.to_string());
            }
        } else if let (Some(text), None) = (text, cut) {
            if response.text() != *text {
                self.push("body", "text");
            }
        } else if empty.is_some() && !response.body.is_empty() {
            self.push("body", "empty -> other");
        }
    }

    fn json(&mut self, theirs: &Value, ours: &Value, cut: Option<&Map<String, Value>>) {
        let is_error = |body: &Value| body.get("error_code").is_some();
        if is_error(theirs) || is_error(ours) {
            let code = |body: &Value| text_of(body.get("error_code"));
            self.check("error code", "", &code(theirs), &code(ours));
            let code = |body: &Value| text_of(body.get("vm_error_code"));
            self.check("VM error code", "", &code(theirs), &code(ours));
            let is_null = theirs.get("vm_error_code") == Some(&Value::Null);
            if is_error(ours) && is_null && ours.get("vm_error_code").is_none() {
                self.push("null absent", ".vm_error_code");
            }
            return;
        }
        let comparison = Comparison {
            is_cut: cut.is_some(),
            is_keys_only: cut.is_some_and(|cut| cut.contains_key("only_keys")),
        };
        self.shapes(&Shape::of(theirs), &Shape::of(ours), "", &comparison);
    }

    fn shapes(&mut self, theirs: &Shape, ours: &Shape, path: &str, comparison: &Comparison) {
        if comparison.is_keys_only {
            return self.keys(theirs, ours);
        }
        let types = |shape: &Shape| Vec::from_iter(shape.types.iter().copied()).join(" or ");
        self.check("type", path, &types(theirs), &types(ours));
        let is_effects = path.ends_with(".changes") || path.ends_with(".events");
        let mut compared = BTreeSet::new();
        for (name, theirs) in &theirs.members {
            let path = format!("{path}{name}");
            if let Some((name, ours)) = ours.counterpart(name) {
                compared.insert(name);
                self.shapes(theirs, ours, &path, comparison);
            } else if theirs.types == BTreeSet::from(["null"]) {
                self.push("null absent", &path);
            } else if !is_effects {
                self.push("member absent", &path);
            }
        }
        for name in ours.members.keys() {
            if !is_effects && !comparison.is_cut && !compared.contains(name) {
                self.push("member added", &format!("{path}{name}"));
            }
        }
    }

    /// Compares an object with the list of the names of its members.
    fn keys(&mut self, names: &Shape, ours: &Shape) {
        for name in &names.texts {
            if !ours.members.contains_key(&format!(".{name}")) {
                self.push("member absent", &format!(".{name}"));
            }
        }
    }
}

/// The extent to which the recorded JSON is complete.
struct Comparison {
    /// Whether elements are left out.
    is_cut: bool,
    /// Whether only the names of the members of the whole are recorded.
    is_keys_only: bool,
}

/// The types and members of all values at one place of a body.
#[derive(Default)]
struct Shape {
    types: BTreeSet<&'static str>,
    members: BTreeMap<String, Shape>,
    /// The texts of a list.
    texts: BTreeSet<String>,
}

impl Shape {
    fn of(value: &Value) -> Self {
        let mut shape = Self::default();
        shape.add(value);
        shape
    }

    /// Returns the member or element of this name. An object that names a type is also the
    /// counterpart of one that names none, if it is the only one.
    fn counterpart(&self, name: &str) -> Option<(&String, &Shape)> {
        let base = name.trim_end_matches("[]");
        let named = || {
            let mut all = self.members.iter().filter(|(name, _)| {
                let of_type = name.strip_prefix(base);
                of_type.is_some_and(|rest| rest.starts_with('['))
            });
            all.next().filter(|_| all.next().is_none())
        };
        let is_without_type = !base.contains('[');
        let same = self.members.get_key_value(name);
        same.or_else(|| is_without_type.then(named)?)
    }

    fn add(&mut self, value: &Value) {
        self.types.insert(match value {
            Value::Null => "null",
            Value::Bool(_) => "bool",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(elements) => {
                for element in elements {
                    self.texts.extend(element.as_str().map(str::to_owned));
                    let name = type_of(element).unwrap_or_else(|| "[]".into());
                    self.members.entry(name).or_default().add(element);
                }
                "array"
            }
            Value::Object(members) => {
                for (name, member) in members {
                    let name = format!(".{name}{}", type_of(member).unwrap_or_default());
                    self.members.entry(name).or_default().add(member);
                }
                "object"
            }
        });
    }
}

/// Returns the type that an object names, in brackets, with that of its data.
fn type_of(value: &Value) -> Option<String> {
    let named = |value: &Value| {
        let mut names = ["type", "value_type"].into_iter();
        let name = names.find_map(|name| value.get(name)?.as_str());
        name.map(str::to_owned)
    };
    let data = value.get("data").and_then(named);
    let data = data.map(|data| format!(" {data}")).unwrap_or_default();
    Some(format!("[{}{data}]", named(value)?))
}

/// Returns the members of a header, in order.
fn members(value: &str) -> String {
    let members = value.split(',').map(|member| member.trim().to_lowercase());
    let mut members: Vec<_> = members.collect();
    members.sort_unstable();
    members.join(", ")
}

/// Returns the text or number of a code, or `none`.
fn text_of(code: Option<&Value>) -> String {
    match code {
        None | Some(Value::Null) => "none".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(number) => number.to_string(),
    }
}
