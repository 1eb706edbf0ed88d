//! The layers of a configuration, each a list of keys with their values and origins.

use super::{ConfigError, Origin, Preset, RawValue, SETTINGS, Setting, Value};
use ledger_actors::{FilterRule, FilterRules};
use ledger_limits::{open_regular_file, read_bounded_text};
use std::{ffi::OsString, fs::File, path::Path};
use toml::de::{DeTable, DeValue};

/// Prefix of the environment variables that set a key.
const ENVIRONMENT_PREFIX: &str = "LEDGER_NODE__";

/// Maximum size of a file, in bytes: more than twice the longest list of filter rules, which is the
/// only setting with a long value. Without a limit, a file that is named by mistake could take all
/// memory.
const FILE_BYTES_MAX: usize = 16 * 1024 * 1024;
const _: () =
    assert!(FILE_BYTES_MAX >= 2 * FilterRules::RULES_MAX * (FilterRule::TEXT_BYTES_MAX + 2));

/// A key with its value in a layer.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The dotted key.
    pub key: String,
    /// The unchecked value.
    pub value: RawValue,
    /// The position of the key.
    pub origin: Origin,
}

/// Returns the entries of a file. `must_be_regular` rejects pipes and devices.
///
/// # Errors
///
/// Returns [`ConfigError::Unreadable`] if the file cannot be read or is too large, and
/// [`ConfigError::Malformed`] if it is not TOML.
pub fn file(path: &Path, must_be_regular: bool) -> Result<Vec<Entry>, ConfigError> {
    let opened = match must_be_regular {
        true => open_regular_file(path),
        false => File::open(path),
    };
    let text = opened
        .and_then(|file| read_bounded_text(file, FILE_BYTES_MAX))
        .map_err(|source| ConfigError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
    entries(&text, |line| Origin::File(path.to_owned(), line))
        .map_err(|error| ConfigError::malformed(path, &text, &error))
}

/// Returns the entries of a preset.
///
/// # Panics
///
/// Panics if the preset is not TOML, which a test of the files in `config/` excludes.
pub fn preset(preset: &Preset) -> Vec<Entry> {
    entries(preset.text, |line| Origin::Preset(preset.name, line)).expect("presets are TOML")
}

/// Returns the entries of a TOML text. `origin` returns the origin of a line, from 1.
///
/// # Errors
///
/// Returns the error of the parser if the text is not TOML.
fn entries(text: &str, origin: impl Fn(usize) -> Origin) -> Result<Vec<Entry>, toml::de::Error> {
    let table = DeTable::parse(text)?;
    let mut entries = Vec::new();
    flatten(table.get_ref(), "", &mut |key, value, start| {
        let line = text[..start].lines().count().max(1);
        entries.push(Entry {
            key,
            value,
            origin: origin(line),
        });
    });
    Ok(entries)
}

/// Emits the key, the value and the offset of each entry of a table. The parser bounds the depth of
/// tables.
fn flatten(table: &DeTable<'_>, prefix: &str, emit: &mut impl FnMut(String, RawValue, usize)) {
    for (name, value) in table {
        let key = format!("{prefix}{}", name.get_ref());
        match value.get_ref() {
            // An empty table is emitted unless it is a section: an unknown section is an error.
            DeValue::Table(inner) if !inner.is_empty() || is_section(&key) => {
                flatten(inner, &format!("{key}."), emit);
            }
            other => emit(key, raw_value(other), name.span().end),
        }
    }
}

/// Returns whether `key` is a section or contains one.
fn is_section(key: &str) -> bool {
    SETTINGS.iter().any(|setting| {
        let rest = setting.section().strip_prefix(key);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

fn raw_value(value: &DeValue<'_>) -> RawValue {
    match value {
        DeValue::String(text) => RawValue::Typed(Value::Text(text.to_string())),
        DeValue::Boolean(switch) => RawValue::Typed(Value::Boolean(*switch)),
        DeValue::Integer(number) => match u64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => RawValue::Typed(Value::Integer(number)),
            Err(_) => RawValue::OutOfRange(number.to_string()),
        },
        other => RawValue::Other(other.type_str()),
    }
}

/// Returns the entries of the environment: `LEDGER_NODE__SECTION__KEY`.
///
/// Ignores all other variables. Kubernetes, for example, sets `LEDGER_NODE_SERVICE_HOST` for a
/// service `ledger-node`.
///
/// # Errors
///
/// Returns [`ConfigError::MisspelledVariable`] if a variable has the name of a setting except for
/// case and the number of underscores, and [`ConfigError::NotUnicode`] if the value of a variable
/// that sets a key is not UTF-8.
pub fn environment(
    variables: impl IntoIterator<Item = (OsString, OsString)>,
) -> Result<Vec<Entry>, ConfigError> {
    let named = variables.into_iter();
    let mut named: Vec<_> = named
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
        .collect();
    // The environment has no order. Sorting makes the first error deterministic.
    named.sort_by(|(name, _), (other, _)| name.cmp(other));
    let mut entries = Vec::new();
    for (name, value) in named {
        let path = name.strip_prefix(ENVIRONMENT_PREFIX);
        let key = path.map(|path| path.to_ascii_lowercase().replace("__", "."));
        if key.as_deref().is_none_or(|key| setting(key).is_none())
            && let Some(meant) = misspelled_setting(&name)
        {
            return Err(ConfigError::MisspelledVariable {
                key: meant.key.to_owned(),
                expected: variable(meant.key),
                name,
            });
        }
        let Some(key) = key else { continue };
        let value = value
            .into_string()
            .map_err(|_| ConfigError::NotUnicode(name.clone()))?;
        entries.push(Entry {
            key,
            value: RawValue::Untyped(value),
            origin: Origin::Environment(name),
        });
    }
    Ok(entries)
}

fn setting(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.key == key)
}

/// Returns the name of the environment variable that sets `key`.
fn variable(key: &str) -> String {
    ENVIRONMENT_PREFIX.to_owned() + &key.to_ascii_uppercase().replace('.', "__")
}

/// Returns the setting whose variable differs from `name` only in case and in the number of
/// underscores.
fn misspelled_setting(name: &str) -> Option<&'static Setting> {
    let words = |name: &str| {
        let words = name.split('_').filter(|word| !word.is_empty());
        words.collect::<Vec<_>>().join("_").to_ascii_uppercase()
    };
    let given = words(name);
    // The environment may have many variables, and only those of the node are compared.
    if !given.starts_with(&words(ENVIRONMENT_PREFIX)) {
        return None;
    }
    let mut settings = SETTINGS.iter();
    settings.find(|setting| words(&variable(setting.key)) == given)
}

/// Returns the entry of a `--set key=value`.
///
/// # Errors
///
/// Returns [`ConfigError::NotAnAssignment`] if the text has no `=`.
pub fn assignment(text: &str) -> Result<Entry, ConfigError> {
    let (key, value) = text
        .split_once('=')
        .ok_or_else(|| ConfigError::NotAnAssignment(text.to_owned()))?;
    Ok(Entry {
        key: key.trim().to_owned(),
        value: RawValue::Untyped(value.trim().to_owned()),
        origin: Origin::Set,
    })
}
