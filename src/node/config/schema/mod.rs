//! JSON Schema of a configuration file: the text of `config/node.schema.json`.
//!
//! Editors complete and check keys with it. The loader is stricter in a few cases: it parses IPv6
//! addresses, counts the items of a list, and rejects `7.0`, which is the integer 7 in JSON Schema.

use super::{Kind, SETTINGS, Setting, Value};
use ledger_types::Vendor;
use serde::{Serialize, Serializer, ser::SerializeMap as _};

/// Returns the JSON Schema (draft 2020-12) of a configuration file.
pub fn schema() -> String {
    let mut root = Section::default();
    for setting in SETTINGS {
        root.insert(setting.key, setting);
    }
    let document = Document {
        schema: "https://json-schema.org/draft/2020-12/schema",
        title: "Configuration file of ledger-node",
        root,
    };
    serde_json::to_string_pretty(&document).expect("the schema has only text keys")
}

/// The root of the schema.
#[derive(Serialize)]
struct Document {
    #[serde(rename = "$schema")]
    schema: &'static str,
    title: &'static str,
    #[serde(flatten)]
    root: Section,
}

/// Schema of a TOML table: of the whole file, or of a section.
#[derive(Serialize)]
struct Section {
    r#type: &'static str,
    #[serde(rename = "additionalProperties")]
    additional_properties: bool,
    properties: Properties,
}

/// Properties of a table, in the order of the table of settings.
#[derive(Default)]
struct Properties {
    settings: Vec<(&'static str, SettingSchema)>,
    sections: Vec<(&'static str, Section)>,
}

/// The schema of one setting.
#[derive(Serialize)]
struct SettingSchema {
    #[serde(flatten)]
    allowed: Constraint,
    default: Value,
    description: String,
}

/// The keywords of JSON Schema that constrain a value.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Constraint {
    Integer {
        minimum: u64,
        maximum: u64,
    },
    #[serde(rename = "integer")]
    OptionalInteger {
        #[serde(rename = "anyOf")]
        any_of: [IntegerRange; 2],
    },
    Boolean,
    #[serde(rename_all = "camelCase")]
    String {
        #[serde(rename = "enum", skip_serializing_if = "Option::is_none")]
        words: Option<&'static [&'static str]>,
        #[serde(skip_serializing_if = "Option::is_none")]
        min_length: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        pattern: Option<String>,
    },
}

/// The range of an integer.
#[derive(Serialize)]
struct IntegerRange {
    minimum: u64,
    maximum: u64,
}

impl Default for Section {
    fn default() -> Self {
        Self {
            r#type: "object",
            additional_properties: false,
            properties: Properties::default(),
        }
    }
}

impl Section {
    /// Adds a setting below the path of section names in `key`.
    fn insert(&mut self, key: &'static str, setting: &Setting) {
        match key.split_once('.') {
            Some((name, rest)) => self.section(name).insert(rest, setting),
            None => self.properties.settings.push((key, setting.into())),
        }
    }

    /// Returns the section `name` of this table. Adds it if it is absent.
    fn section(&mut self, name: &'static str) -> &mut Self {
        let sections = &mut self.properties.sections;
        let position = sections.iter().position(|(section, _)| *section == name);
        let index = position.unwrap_or_else(|| {
            sections.push((name, Self::default()));
            sections.len() - 1
        });
        &mut sections[index].1
    }
}

/// Serializes settings and then sections as one map, as a TOML file has them.
impl Serialize for Properties {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, setting) in &self.settings {
            map.serialize_entry(name, setting)?;
        }
        for (name, section) in &self.sections {
            map.serialize_entry(name, section)?;
        }
        map.end()
    }
}

impl From<&Setting> for SettingSchema {
    fn from(setting: &Setting) -> Self {
        Self {
            allowed: (&setting.kind).into(),
            default: setting.default(),
            description: match setting.unit {
                "" => setting.description(),
                unit => format!("{} Unit: {unit}.", setting.description()),
            },
        }
    }
}

impl From<&Kind> for Constraint {
    fn from(kind: &Kind) -> Self {
        match kind {
            Kind::Integer(range) => Self::Integer {
                minimum: *range.start(),
                maximum: *range.end(),
            },
            Kind::OptionalInteger(range) => Self::OptionalInteger {
                any_of: [(0, 0), (*range.start(), *range.end())]
                    .map(|(minimum, maximum)| IntegerRange { minimum, maximum }),
            },
            Kind::Boolean => Self::Boolean,
            Kind::Choice(words) => Self::text(Some(words), None, None),
            Kind::Path => Self::text(None, Some(1), None),
            Kind::OptionalPath => Self::text(None, None, None),
            Kind::Listen => Self::pattern(&address()),
            Kind::OptionalListen => Self::pattern(&optional(&address())),
            Kind::Vendor => Self::pattern(&format!("[A-Za-z]{{1,{}}}", Vendor::LENGTH_MAX)),
            Kind::FrameworkUpgrades => Self::pattern(&optional(&list("[0-9]+@[0-9]+"))),
            Kind::FilterRules => Self::pattern(&filter_rules()),
            Kind::HostNames => Self::pattern(&optional(&list(NAME))),
            Kind::Origins => Self::pattern(&optional(&list(&origin()))),
            Kind::Networks => Self::pattern(&optional(&list(&network()))),
            Kind::LogLevel => Self::pattern(&log_levels()),
        }
    }
}

impl Constraint {
    fn text(
        words: Option<&'static [&'static str]>,
        min_length: Option<u64>,
        pattern: Option<String>,
    ) -> Self {
        Self::String {
            words,
            min_length,
            pattern,
        }
    }

    /// A string that matches the pattern as a whole.
    fn pattern(pattern: &str) -> Self {
        Self::text(None, None, Some(format!("^{pattern}$")))
    }
}

/// Pattern of a number from 0 to 65535, also with leading zeros.
const PORT: &str =
    "0*(6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[0-9]{1,4})";

/// Pattern of a host name or an IPv4 address.
const NAME: &str = "[A-Za-z0-9._-]{1,253}";

/// Pattern of an IPv6 address in brackets. It also matches other groups of hexadecimal digits.
const BRACKETED_IPV6: &str = r"\[[0-9A-Fa-f:.]+\]";

fn optional(pattern: &str) -> String {
    format!("({pattern})?")
}

/// Returns the pattern of one or more items with commas and white space between them.
fn list(item: &str) -> String {
    format!(r"\s*{item}\s*(,\s*{item}\s*)*")
}

/// Returns the pattern of an IPv4 address.
fn ipv4() -> String {
    let byte = "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
    format!(r"{byte}(\.{byte}){{3}}")
}

/// Returns the pattern of `IP:PORT`.
fn address() -> String {
    let scoped_ipv6 = r"\[[0-9A-Fa-f:.]+(%[0-9]+)?\]";
    format!(r"({}|{scoped_ipv6}):{PORT}", ipv4())
}

/// Returns the pattern of a network in CIDR notation, or of an address. It also matches other
/// groups of hexadecimal digits than those of IPv6 addresses.
fn network() -> String {
    let ipv6 = "[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*(/(12[0-8]|1[01][0-9]|[1-9]?[0-9]))?";
    format!("({}(/(3[0-2]|[12]?[0-9]))?|{ipv6})", ipv4())
}

/// Returns the pattern of an origin or `*`.
fn origin() -> String {
    format!(r"(\*|https?://({NAME}|{BRACKETED_IPV6})(:{PORT})?)")
}

/// Returns the pattern of filter rules, of which only the last may be about `all`.
fn filter_rules() -> String {
    let address = "[0-9A-Fa-f]{1,64}";
    let name = "[A-Za-z_][A-Za-z0-9_]{0,254}";
    let module = format!("0x{address}::{name}");
    let one = format!(r"(sender\s+(0x)?{address}|module\s+{module}|function\s+{module}::{name})");
    let action = "(allow|deny)";
    format!(r"\s*({action}\s+{one}\s*,\s*)*({action}\s+(all|{one})\s*,?\s*)?")
}

/// Returns the pattern of levels, of which some may be of a module.
fn log_levels() -> String {
    let words = ["off", "error", "warn", "info", "debug", "trace"].map(ignoring_case);
    let level = format!("({}|[0-5])", words.join("|"));
    let part = format!("([^,=]+=)?{level}");
    format!("{part}(,{part})*")
}

/// Returns a pattern of the word in any case, as JSON Schema has no flag for it.
fn ignoring_case(word: &str) -> String {
    word.chars()
        .map(|letter| format!("[{}{letter}]", letter.to_ascii_uppercase()))
        .collect()
}

#[cfg(test)]
mod tests;
