//! Loads the effective configuration from its layers.

use super::{
    Applies, ConfigError, Origin, Overrides, Preset, RawValue, SETTINGS, Setting, Settings, Value,
    layers::{self, Entry},
    overrides, overrides_path,
    settings::StorageSettings,
};
use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
};

/// Key of the data directory.
const DATA_DIR: &str = "storage.data_dir";

/// Key of the ledger in memory.
const IN_MEMORY: &str = "storage.in_memory";

/// The options of each command that reads a configuration.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ConfigOptions {
    /// A configuration of the program, weaker than files; `config presets` describes them. May be
    /// given several times, a later one wins
    #[arg(long = "preset", value_name = "NAME", value_parser = Preset::parser())]
    pub presets: Vec<Preset>,
    /// A configuration file (TOML); may be given several times, a later one wins
    #[arg(long = "config", value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// One setting, such as wait.timeout_ms=500; wins over files and environment
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub assignments: Vec<String>,
    /// The directory of the ledger, in short for --set storage.data_dir=DIR
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<String>,
    /// Keep the ledger in memory, for tests, in short for --set storage.in_memory=true
    #[arg(long, conflicts_with = "data_dir")]
    pub in_memory: bool,
    /// Ignore overrides.toml in the data directory, the settings that were kept at run time
    #[arg(long)]
    pub no_overrides: bool,
    /// Whether files must be regular ones. A pipe, as the shell makes for `--config <(..)`, can be
    /// read once.
    #[arg(skip)]
    pub regular_files_only: bool,
}

impl ConfigOptions {
    /// Returns these options followed by `later` ones, which are stronger.
    pub fn followed_by(mut self, later: Self) -> Self {
        self.presets.extend(later.presets);
        self.files.extend(later.files);
        self.assignments.extend(later.assignments);
        self.data_dir = later.data_dir.or(self.data_dir);
        self.in_memory |= later.in_memory;
        self.no_overrides |= later.no_overrides;
        self
    }

    /// Checks that there are none, for a command that reads no configuration.
    ///
    /// # Errors
    ///
    /// Returns [`ConfigError::UnusedOption`] with the first option.
    pub fn check_unused(&self, command: &'static str) -> Result<(), ConfigError> {
        let option = match self {
            Self { presets, .. } if !presets.is_empty() => "--preset",
            Self { files, .. } if !files.is_empty() => "--config",
            Self { assignments, .. } if !assignments.is_empty() => "--set",
            Self {
                data_dir: Some(_), ..
            } => "--data-dir",
            Self {
                in_memory: true, ..
            } => "--in-memory",
            Self {
                no_overrides: true, ..
            } => "--no-overrides",
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
    layers: Layers,
}

/// The layers of a configuration, the weakest first.
#[derive(Debug, Clone)]
struct Layers {
    /// Presets, then files.
    files: Vec<Entry>,
    /// Settings that were kept at run time.
    overrides: Vec<Entry>,
    /// The environment and the command line.
    strong: Vec<Entry>,
}

impl Config {
    /// Reads all layers.
    ///
    /// # Errors
    ///
    /// Returns [`ConfigError`] for the first file that cannot be read or is not TOML, variable that
    /// is misspelled or not UTF-8, `--set` without a `=`, or kept key that is no run-time setting;
    /// then for the first unknown key or value that is not allowed, from the weakest layer to the
    /// strongest.
    pub fn load(
        options: &ConfigOptions,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Self, ConfigError> {
        let mut layers = Layers::read(options, environment)?;
        if !options.no_overrides {
            let storage = layers.storage();
            if let Some(directory) = storage.directory() {
                layers.overrides = overrides::read(&overrides_path(directory))?;
            }
        }
        Self::of_layers(layers)
    }

    /// Checks the entries of all layers.
    ///
    /// # Errors
    ///
    /// Returns [`ConfigError`] for the first unknown key or value that is not allowed.
    fn of_layers(layers: Layers) -> Result<Self, ConfigError> {
        let mut settings = Settings::default();
        let mut values: Vec<_> = SETTINGS
            .iter()
            .map(|setting| ((setting.get)(&settings), Origin::Default))
            .collect();
        for entry in layers.all() {
            let index = find(entry)?;
            let setting = &SETTINGS[index];
            let value = setting.apply(&mut settings, &entry.value).ok_or_else(|| {
                ConfigError::bad_value(setting, &entry.value, entry.origin.clone())
            })?;
            values[index] = (value, entry.origin.clone());
        }
        Ok(Self {
            settings,
            values,
            layers,
        })
    }

    /// Returns the settings that were kept at run time. A stronger layer may set some of them too.
    pub fn overrides(&self) -> Overrides {
        let mut settings = Settings::default();
        let entries = self.layers.overrides.iter().filter_map(|entry| {
            let setting = &SETTINGS[find(entry).ok()?];
            let value = setting.apply(&mut settings, &entry.value)?;
            Some((entry.key.clone(), value))
        });
        entries.collect()
    }

    /// Reads the kept settings again. The values of all others stay as they were loaded.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::load`] about the file of kept settings. The configuration is
    /// unchanged then.
    pub fn reload_overrides(&mut self) -> Result<(), ConfigError> {
        self.replace_overrides(overrides::read(&overrides_path(
            &self.settings.storage.data_dir,
        ))?)
    }

    /// Copies the kept settings that another configuration has read.
    ///
    /// # Errors
    ///
    /// Returns [`ConfigError`] for the first value that is not allowed. `other` has checked them, so
    /// there is none.
    pub fn copy_overrides(&mut self, other: &Self) -> Result<(), ConfigError> {
        self.replace_overrides(other.layers.overrides.clone())
    }

    fn replace_overrides(&mut self, overrides: Vec<Entry>) -> Result<(), ConfigError> {
        let layers = Layers {
            overrides,
            ..self.layers.clone()
        };
        let loaded = Self::of_layers(layers)?;
        self.copy(&loaded, |setting| setting.applies == Applies::Now);
        self.layers = loaded.layers;
        Ok(())
    }

    /// Copies value and origin of the settings that `is_copied` accepts from another configuration.
    pub fn copy(&mut self, other: &Self, is_copied: impl Fn(&Setting) -> bool) {
        for (index, setting) in SETTINGS.iter().enumerate() {
            if is_copied(setting) {
                self.values[index] = other.values[index].clone();
                // The value is one that the field of the other configuration has.
                let _ = (setting.set)(&mut self.settings, &self.values[index].0);
            }
        }
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

    /// Returns the value of `key` with its origin, or `None` if there is no such setting.
    pub fn get(&self, key: &str) -> Option<(&Value, &Origin)> {
        let index = SETTINGS.iter().position(|setting| setting.key == key)?;
        let (value, origin) = &self.values[index];
        Some((value, origin))
    }

    /// Returns the origin of the value of `key`, or `None` if there is no such setting.
    pub fn origin(&self, key: &str) -> Option<&Origin> {
        self.get(key).map(|(_, origin)| origin)
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

impl Layers {
    /// Reads all layers but the kept settings.
    fn read(
        options: &ConfigOptions,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Self, ConfigError> {
        let mut files: Vec<_> = options.presets.iter().flat_map(layers::preset).collect();
        for path in &options.files {
            files.extend(layers::file(path, options.regular_files_only)?);
        }
        let mut strong = layers::environment(environment)?;
        for text in &options.assignments {
            strong.push(layers::assignment(text)?);
        }
        if let Some(directory) = &options.data_dir {
            strong.push(Entry {
                key: DATA_DIR.to_owned(),
                value: RawValue::Untyped(directory.clone()),
                origin: Origin::DataDir,
            });
        }
        if options.in_memory {
            strong.push(Entry {
                key: IN_MEMORY.to_owned(),
                value: RawValue::Untyped(true.to_string()),
                origin: Origin::InMemory,
            });
        }
        Ok(Self {
            files,
            overrides: Vec::new(),
            strong,
        })
    }

    fn all(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        let weak = self.files.iter().chain(&self.overrides);
        weak.chain(&self.strong)
    }

    /// Returns the location of the ledger, which no run-time setting changes, so the kept settings
    /// do not have it. An invalid value counts as the default until it is rejected with its origin.
    fn storage(&self) -> StorageSettings {
        let mut settings = Settings::default();
        for key in [DATA_DIR, IN_MEMORY] {
            let setting = SETTINGS.iter().find(|setting| setting.key == key);
            let entry = self.all().rfind(|entry| entry.key == key);
            if let (Some(setting), Some(entry)) = (setting, entry) {
                setting.apply(&mut settings, &entry.value);
            }
        }
        settings.storage
    }
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
