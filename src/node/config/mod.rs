//! Configuration: built-in values < files < environment < `--set` (docs/interface.md#rule-24).

mod error;
mod layers;
mod render;
mod setting;
mod table;
mod value;

#[cfg(test)]
mod tests;

pub use error::ConfigError;
pub use layers::Origin;
pub use render::defaults;
pub use setting::{Kind, RawValue, Setting};
pub use table::{FaucetSettings, MAILBOX_CAPACITY, SETTINGS, Settings};
pub use value::{FromValue, Value};

use layers::Entry;
use std::{ffi::OsString, path::PathBuf};

/// The options of every command that reads a configuration.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ConfigOptions {
    /// A configuration file (TOML); may be given several times, a later one wins
    #[arg(long = "config", value_name = "FILE", global = true)]
    pub files: Vec<PathBuf>,
    /// One setting, such as wait.timeout_ms=500; wins over files and environment
    #[arg(long = "set", value_name = "KEY=VALUE", global = true)]
    pub assignments: Vec<String>,
    /// The directory of the ledger, in short for --set storage.data_dir=DIR
    #[arg(long, value_name = "DIR", global = true)]
    pub data_dir: Option<String>,
}

/// An effective configuration: every setting's value and where it comes from.
#[derive(Debug, Clone)]
pub struct Config {
    settings: Settings,
    values: Vec<(Value, Origin)>,
}

impl Config {
    /// Reads all layers.
    ///
    /// # Errors
    /// On an unreadable file, an unknown key, or a value outside of its range.
    pub fn load(
        options: &ConfigOptions,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Self, ConfigError> {
        let mut values: Vec<_> = SETTINGS
            .iter()
            .map(|setting| ((setting.default)(), Origin::Default))
            .collect();
        for entry in entries(options, environment)? {
            let index = find(&entry)?;
            let setting = &SETTINGS[index];
            let value = setting.accept(&entry.value).ok_or_else(|| {
                ConfigError::bad_value(setting, &entry.value, entry.origin.clone())
            })?;
            values[index] = (value, entry.origin);
        }
        let settings = Settings::from_values(values.iter().map(|(value, _)| value));
        Ok(Self { settings, values })
    }

    /// Returns the key and the value of every setting, in the order of [`SETTINGS`].
    pub fn values(&self) -> impl Iterator<Item = (String, &Value)> {
        let values = self.values.iter().map(|(value, _)| value);
        SETTINGS.iter().map(Setting::key).zip(values)
    }

    /// The values, typed.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Where the value of `key` comes from; `None` when there is no such setting.
    pub fn origin(&self, key: &str) -> Option<&Origin> {
        let index = SETTINGS.iter().position(|setting| setting.key() == key)?;
        Some(&self.values[index].1)
    }

    /// Whether a layer sets `key`.
    pub fn is_set(&self, key: &str) -> bool {
        self.origin(key)
            .is_some_and(|origin| *origin != Origin::Default)
    }
}

/// The entries of all layers, the weakest first.
fn entries(
    options: &ConfigOptions,
    environment: impl IntoIterator<Item = (OsString, OsString)>,
) -> Result<Vec<Entry>, ConfigError> {
    let mut entries = Vec::new();
    for path in &options.files {
        entries.extend(layers::file(path)?);
    }
    entries.extend(layers::environment(environment)?);
    for text in &options.assignments {
        entries.push(layers::assignment(text)?);
    }
    if let Some(directory) = &options.data_dir {
        entries.push(Entry {
            key: "storage.data_dir".to_owned(),
            value: RawValue::Untyped(directory.clone()),
            origin: Origin::DataDir,
        });
    }
    Ok(entries)
}

/// The place of an entry's setting in [`SETTINGS`].
fn find(entry: &Entry) -> Result<usize, ConfigError> {
    SETTINGS
        .iter()
        .position(|setting| setting.key() == entry.key)
        .ok_or_else(|| ConfigError::UnknownKey {
            key: entry.key.clone(),
            origin: entry.origin.clone(),
            hint: hint(&entry.key),
        })
}

/// Which keys or sections the writer of an unknown key may have meant.
fn hint(key: &str) -> String {
    let section = key.rsplit_once('.').map_or(key, |(section, _)| section);
    let join = |names: Vec<&str>| names.join(", ");
    let names: Vec<_> = SETTINGS
        .iter()
        .filter(|setting| setting.section == section)
        .map(|setting| setting.name)
        .collect();
    if !names.is_empty() {
        return format!("[{section}] has {}", join(names));
    }
    let mut sections: Vec<_> = SETTINGS.iter().map(|setting| setting.section).collect();
    sections.dedup();
    format!("the sections are {}", join(sections))
}
