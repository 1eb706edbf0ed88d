//! Keeping settings after a restart: `overrides.toml` of the data directory.

use super::{
    error::ChangeError,
    state::{RunTimeSettings, run_time_setting},
};
use crate::{
    config::{Overrides, overrides_diff, overrides_path, render_overrides, shortened},
    replaced_file::replace_file,
};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Permissions of the file. Its values are no secrets, but those of the directory's other files.
const FILE_MODE: u32 = 0o600;

/// A change of the file of kept settings.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keep {
    /// Keys to keep with their values in force.
    #[serde(default)]
    pub keys: Vec<String>,
    /// Keys to keep no longer. Their values stay in force until the next start.
    #[serde(default)]
    pub forget: Vec<String>,
    /// Whether only to show the difference.
    #[serde(default)]
    pub preview: bool,
}

/// The file of kept settings after a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Kept {
    /// Path of the file.
    pub file: PathBuf,
    /// The lines of the file, each with a space, or with a plus if it is new, and the lines that
    /// it does not have any more with a minus.
    pub diff: Vec<String>,
    /// Whether the file was written.
    pub written: bool,
}

impl RunTimeSettings {
    /// Writes values in force into the file of kept settings, and removes others.
    ///
    /// Waits for the disk, so it runs on a thread of its own.
    ///
    /// # Errors
    ///
    /// Returns [`ChangeError::OverridesIgnored`] if the node ignores the file, [`ChangeError::Busy`]
    /// if another thread reads or writes it, [`ChangeError::Empty`], [`ChangeError::Unknown`] or
    /// [`ChangeError::NotRunTime`] if the request is malformed, [`ChangeError::Pending`] for a
    /// setting that waits for a confirmation, [`ChangeError::Determined`] for one that a stronger
    /// layer sets, [`ChangeError::NotKept`] for one that cannot be forgotten,
    /// [`ChangeError::InvalidFile`] if the file has invalid content, and
    /// [`ChangeError::Unwritable`] if it cannot be written. The file is unchanged then, except if
    /// only the sync of the directory failed.
    pub fn keep(&self, request: &Keep, author: &str) -> Result<Kept, ChangeError> {
        if self.ignores_overrides() {
            return Err(ChangeError::OverridesIgnored);
        }
        if request.keys.is_empty() && request.forget.is_empty() {
            return Err(ChangeError::Empty);
        }
        let _file = self.lock_file()?;
        // An operator may have changed the file since it was read.
        let mut config = self.config();
        config.reload_overrides()?;
        let before = config.overrides();
        let after = self.kept_after(request, &before)?;
        let kept = Kept {
            file: overrides_path(&config.settings().storage.data_dir),
            diff: overrides_diff(&before, &after),
            written: !request.preview,
        };
        if request.preview {
            return Ok(kept);
        }
        let text = render_overrides(&after);
        replace_file(&kept.file, &text, FILE_MODE).map_err(|source| ChangeError::Unwritable {
            path: kept.file.clone(),
            source,
        })?;
        // Not under the lock, which requests wait for.
        config.reload_overrides()?;
        self.state().config.copy_overrides(&config)?;
        tracing::info!(
            author,
            file = %kept.file.display(),
            kept = request.keys.join(", "),
            forgotten = request.forget.join(", "),
            "kept settings changed"
        );
        Ok(kept)
    }

    /// Returns the kept settings after a change of those in `before`.
    fn kept_after(&self, request: &Keep, before: &Overrides) -> Result<Overrides, ChangeError> {
        let state = self.state();
        let mut after = before.clone();
        for key in &request.keys {
            let setting = run_time_setting(key)?;
            if let Some(pending) = state.pending.as_ref().filter(|it| it.includes(key)) {
                return Err(pending.error());
            }
            if let Some(origin) = state.config.origin(key)
                && origin.is_stronger_than_overrides()
            {
                return Err(ChangeError::Determined {
                    key: setting.key,
                    origin: origin.to_string(),
                });
            }
            after.insert(key.clone(), (setting.get)(&state.running));
        }
        for key in &request.forget {
            let removed = after.remove(key);
            removed.ok_or_else(|| ChangeError::NotKept(shortened(key.clone())))?;
        }
        Ok(after)
    }
}
