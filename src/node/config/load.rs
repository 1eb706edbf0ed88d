//! Loads the effective configuration from its layers.

use super::{
    ConfigError, Origin, RawValue, SETTINGS, Setting, Settings, Value,
    layers::{self, Entry},
};
use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
};

/// The options of each command that reads a configuration.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ConfigOptions {
    /// A configuration file (TOML); may be given several times, a later one wins
    #[arg(long = "config", value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// One setting, such as wait.timeout_ms=500; wins over files and environment
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub assignments: Vec<String>,
    /// The directory of the ledger, in short for --set storage.data_dir=DIR
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<String>,
    /// Whether files must be regular ones. A pipe, as the shell makes for `--config <(..)`, can be
    /// read once.
    #[arg(skip)]
    pub regular_files_only: bool,
}

impl ConfigOptions {
    /// Returns these options followed by `later` ones, which are stronger.
    pub fn followed_by(mut self, later: Self) -> Self {
        self.files.extend(later.files);
        self.assignments.extend(later.assignments);
        self.data_dir = later.data_dir.or(self.data_dir);
        self
    }

    /// Checks that there are none, for a command that reads no configuration.
    ///
    /// # Errors
    ///
    /// Returns [`ConfigError::UnusedOption`] with the first option.
    pub fn check_unused(&self, command: &'static str) -> Result<(), ConfigError> {
        let option = match self {
            Self { files, .. } if !files.is_empty() => "--config",
            Self { assignments, .. } if !assignments.is_empty() => "--set",
            Self {
                data_dir: Some(_), ..
            } => "--data-dir",
            _ => return Ok(()),
        };
        Err(ConfigError::UnusedOption { option, command })
    }
}

/// An effective configuration, with the origin of each value.
#[derive(Debug, Clone)]
pub struct Config {
    settings: Settings,
    /// Values as the layers have them, in the order of [`SETTINGS`].
    values: Vec<(Value, Origin)>,
}

impl Config {
    /// Reads all layers.
    ///
    /// # Errors
    ///
    /// Returns [`ConfigError`] for the first file that cannot be read or is not TOML, variable that
    /// is misspelled or not UTF-8, or `--set` without a `=`; then for the first unknown key or
    /// value that is not allowed, from the weakest layer to the strongest.
    pub fn load(
        options: &ConfigOptions,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Self, ConfigError> {
        let mut settings = Settings::default();
        let mut values: Vec<_> = SETTINGS
            .iter()
            .map(|setting| ((setting.get)(&settings), Origin::Default))
            .collect();
        for entry in entries(options, environment)? {
            let index = find(&entry)?;
            let setting = &SETTINGS[index];
            let value = setting.apply(&mut settings, &entry.value).ok_or_else(|| {
                ConfigError::bad_value(setting, &entry.value, entry.origin.clone())
            })?;
            values[index] = (value, entry.origin);
        }
        Ok(Self { settings, values })
    }

    /// Returns every setting with its value and origin, in the order of [`SETTINGS`].
    pub fn values(&self) -> impl Iterator<Item = (&'static Setting, &Value, &Origin)> {
        let values = SETTINGS.iter().zip(&self.values);
        values.map(|(setting, (value, origin))| (setting, value, origin))
    }

    /// Returns the typed configuration.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the origin of the value of `key`, or `None` if there is no such setting.
    pub fn origin(&self, key: &str) -> Option<&Origin> {
        let index = SETTINGS.iter().position(|setting| setting.key == key)?;
        Some(&self.values[index].1)
    }

    /// Returns the error of the file that the setting `key` names and that cannot be used.
    pub fn bad_file(&self, key: &str, path: &Path, message: String) -> ConfigError {
        ConfigError::BadValue {
            key: key.to_owned(),
            value: Value::Text(path.display().to_string()).to_string(),
            origin: self.origin(key).cloned().unwrap_or(Origin::Default),
            message,
        }
    }

    /// Returns the error of the file that the setting `key` names and that cannot be read.
    pub fn unreadable_file(&self, key: &str, path: &Path, source: &io::Error) -> ConfigError {
        self.bad_file(key, path, format!("the file cannot be read: {source}"))
    }

    /// Returns whether a layer sets `key`.
    pub fn is_set(&self, key: &str) -> bool {
        self.origin(key)
            .is_some_and(|origin| *origin != Origin::Default)
    }
}

/// Returns the entries of all layers, the weakest first.
fn entries(
    options: &ConfigOptions,
    environment: impl IntoIterator<Item = (OsString, OsString)>,
) -> Result<Vec<Entry>, ConfigError> {
    let mut entries = Vec::new();
    for path in &options.files {
        entries.extend(layers::file(path, options.regular_files_only)?);
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

/// Returns the index of an entry's setting in [`SETTINGS`].
fn find(entry: &Entry) -> Result<usize, ConfigError> {
    SETTINGS
        .iter()
        .position(|setting| setting.key == entry.key)
        .ok_or_else(|| ConfigError::UnknownKey {
            key: entry.key.clone(),
            origin: entry.origin.clone(),
            hint: hint(&entry.key),
        })
}

/// Returns the keys of the section of an unknown key, or the sections if its section is unknown.
fn hint(key: &str) -> String {
    let section = key.rsplit_once('.').map_or(key, |(section, _)| section);
    let join = |names: Vec<&str>| names.join(", ");
    let names: Vec<_> = SETTINGS
        .iter()
        .filter(|setting| setting.section() == section)
        .map(Setting::name)
        .collect();
    if !names.is_empty() {
        return format!("the keys of [{section}] are {}", join(names));
    }
    let mut sections: Vec<_> = SETTINGS.iter().map(Setting::section).collect();
    sections.dedup();
    format!("the sections are {}", join(sections))
}
