//! The file of kept settings in the data directory: a layer between files and environment.
//!
//! The admin listener writes it (`POST /settings/keep`), one line for each setting. An operator may
//! change it by hand, so it is checked like any other file.

use super::{
    Applies, ConfigError, Origin, SETTINGS, Value,
    layers::{self, Entry},
};
use ledger_store::OVERRIDES_NAME;
use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

/// First lines of the file.
const HEADER: &str = "\
# Settings of this node that were kept at run time, stronger than its configuration files.
# Written by the admin listener: POST /settings/keep. `--no-overrides` ignores this file.
";

/// Kept values by key.
pub type Overrides = BTreeMap<String, Value>;

/// Returns the path of the file in a data directory.
pub fn overrides_path(data_dir: &Path) -> PathBuf {
    data_dir.join(OVERRIDES_NAME)
}

/// Returns the entries of the file at `path`, or none if it does not exist.
///
/// # Errors
///
/// Returns the errors of [`layers::file`], and [`ConfigError::NotKeepable`] for the first key that
/// is no run-time setting. The key of no setting at all is an error of the later check of all
/// layers.
pub(super) fn read(path: &Path) -> Result<Vec<Entry>, ConfigError> {
    let entries = match layers::file(path, true) {
        Err(ConfigError::Unreadable { source, .. }) if is_absent(&source) => return Ok(Vec::new()),
        read => read?,
    };
    entries.into_iter().map(into_override).collect()
}

/// Returns whether a file does not exist, also because its directory does not.
fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Changes the origin of an entry of a file.
///
/// # Errors
///
/// Returns [`ConfigError::NotKeepable`] if its key is that of a setting that is no run-time
/// setting.
fn into_override(entry: Entry) -> Result<Entry, ConfigError> {
    let origin = match entry.origin {
        Origin::File(path, line) => Origin::Override(path, line),
        origin => origin,
    };
    let setting = SETTINGS.iter().find(|setting| setting.key == entry.key);
    if setting.is_some_and(|setting| setting.applies != Applies::Now) {
        return Err(ConfigError::NotKeepable {
            key: entry.key,
            origin,
        });
    }
    Ok(Entry { origin, ..entry })
}

/// Returns the text of a file with these values, in the order of the table of settings.
pub fn render_overrides(values: &Overrides) -> String {
    let kept = SETTINGS
        .iter()
        .filter_map(|setting| Some((setting.key, values.get(setting.key)?)));
    let lines = kept.map(|(key, value)| format!("{key} = {value}\n"));
    lines.fold(HEADER.to_owned(), |text, line| text + &line)
}

/// Returns the lines of a file with the values `after`, each with a space, or with a plus if it is
/// new. The lines of `before` that it does not have are among them, with a minus.
pub fn overrides_diff(before: &Overrides, after: &Overrides) -> Vec<String> {
    let keys = SETTINGS.iter().map(|setting| setting.key);
    keys.flat_map(|key| {
        let line = |sign, value: &Value| format!("{sign}{key} = {value}");
        let (old, new) = (before.get(key), after.get(key));
        match old == new {
            true => [None, new.map(|value| line(' ', value))],
            false => [
                old.map(|value| line('-', value)),
                new.map(|value| line('+', value)),
            ],
        }
    })
    .flatten()
    .collect()
}
