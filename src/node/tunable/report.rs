//! The JSON of `GET /settings`.

use super::{
    history::{Applied, Mark, Replaced},
    memory::bytes_max,
    recommend::{Load, Recommendation, recommend},
    state::{Pending, RunTimeSettings, State},
};
use crate::config::{Applies, Kind, Origin, Setting, Value};
use serde::Serialize;

/// All settings of a node, and the changes of them.
#[derive(Clone, Debug, Serialize)]
pub struct SettingsReport {
    /// Every setting, in the order of `config/node.toml`.
    pub settings: Vec<SettingStatus>,
    /// The memory limits.
    pub memory: MemoryStatus,
    /// The change that is reverted unless it is confirmed.
    pub pending: Option<PendingStatus>,
    /// The change that `POST /settings/undo` takes back.
    pub undo: Option<UndoStatus>,
    /// The newest changed settings, the newest first.
    pub changes: Vec<Mark>,
    /// Whether the node ignores `overrides.toml` and cannot write it.
    pub ignores_overrides: bool,
}

/// A setting with its values.
#[derive(Clone, Debug, Serialize)]
pub struct SettingStatus {
    /// The dotted key.
    pub key: &'static str,
    /// The part of the key before the name.
    pub section: &'static str,
    /// The part of the key behind the section.
    pub name: &'static str,
    /// Unit of the values; empty if it has none.
    pub unit: &'static str,
    /// Type of the values: `integer`, `boolean`, `choice` or `text`.
    pub kind: &'static str,
    /// The allowed values in words, as in "expected an integer from 1 to 10".
    pub allowed: String,
    /// Minimum of an integer. 0 may be allowed too.
    pub minimum: Option<u64>,
    /// Maximum of an integer.
    pub maximum: Option<u64>,
    /// The words of a choice.
    pub words: &'static [&'static str],
    /// The default.
    pub default: Value,
    /// The value in force.
    pub value: Value,
    /// The value with which the next start begins, unless files, environment or options change.
    pub configured: Value,
    /// The layer that sets the configured value.
    pub origin: String,
    /// Whether a layer sets the configured value, so that it is not the default by itself.
    pub is_set: bool,
    /// Effect of the setting and reason of its default.
    pub effect: &'static str,
    /// When a changed value applies.
    pub applies: Applies,
    /// Whether the value in force differs from the one at the start.
    pub is_changed: bool,
    /// The value in `overrides.toml`, also if a stronger layer sets another one.
    pub kept: Option<Value>,
    /// The layer that determines the setting, so that it cannot be kept.
    pub keep_refused_by: Option<String>,
    /// Time at which the value is reverted unless it is confirmed, in milliseconds since the Unix
    /// epoch.
    pub reverts_at_unix_ms: Option<u64>,
    /// The value that the measurements suggest.
    pub recommended: Option<Recommendation>,
}

/// The memory limits of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MemoryStatus {
    /// Sum of all limits in force, in bytes.
    pub limit_bytes: u64,
    /// Sum of all limits of the configuration, in bytes.
    pub configured_bytes: u64,
    /// Memory of the machine, or the limit of the process's cgroup if that is lower, in bytes.
    pub machine_bytes: Option<u64>,
}

/// A change that is reverted unless it is confirmed.
#[derive(Clone, Debug, Serialize)]
pub struct PendingStatus {
    /// The values of each setting.
    pub settings: Vec<ReplacedStatus>,
    /// Time of the revert, in milliseconds since the Unix epoch.
    pub reverts_at_unix_ms: u64,
    /// The client that made the change.
    pub author: String,
    /// The reason that the client stated.
    pub reason: Option<String>,
}

/// A change that can be taken back.
#[derive(Clone, Debug, Serialize)]
pub struct UndoStatus {
    /// The values of each setting.
    pub settings: Vec<ReplacedStatus>,
    /// The client that made the change.
    pub author: String,
    /// The reason that the client stated.
    pub reason: Option<String>,
    /// Time of the change, in milliseconds since the Unix epoch.
    pub unix_ms: u64,
}

/// A setting before and after a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReplacedStatus {
    /// The key.
    pub key: &'static str,
    /// The value before the change.
    pub old: Value,
    /// The value after it.
    pub new: Value,
}

impl RunTimeSettings {
    /// Returns the newest changed settings, the newest first.
    pub fn changes(&self) -> Vec<Mark> {
        self.state().history.marks()
    }

    /// Returns the change that is reverted unless it is confirmed.
    pub fn pending(&self) -> Option<PendingStatus> {
        self.state().pending.as_ref().map(PendingStatus::from)
    }

    /// Returns the newest change of a setting since the start.
    pub fn newest_change(&self, key: &str) -> Option<Mark> {
        self.state().history.newest_of(key).cloned()
    }

    /// Returns all settings, and the changes of them. `loads` are the measurements from which
    /// values are suggested.
    pub fn report(&self, loads: &[Load]) -> SettingsReport {
        let state = self.state();
        let overrides = state.config.overrides();
        let values = state.config.values();
        let settings = values.map(|(setting, configured, origin)| {
            let kept = overrides.get(setting.key).cloned();
            SettingStatus {
                recommended: self.recommended(&state, setting, loads),
                ..status(&state, setting, kept, configured, origin)
            }
        });
        SettingsReport {
            settings: settings.collect(),
            memory: MemoryStatus {
                limit_bytes: bytes_max(&state.running),
                configured_bytes: bytes_max(state.config.settings()),
                machine_bytes: self.machine_bytes(),
            },
            pending: state.pending.as_ref().map(PendingStatus::from),
            undo: state.history.newest().map(UndoStatus::from),
            changes: state.history.marks(),
            ignores_overrides: self.ignores_overrides(),
        }
    }
}

impl RunTimeSettings {
    /// Returns the value that the measurements suggest for a setting, if the machine has the memory
    /// for it.
    fn recommended(
        &self,
        state: &State,
        setting: &Setting,
        loads: &[Load],
    ) -> Option<Recommendation> {
        let load = loads.iter().find(|load| load.key == setting.key)?;
        recommend(setting, &state.running, load, |value| {
            let mut changed = state.running.clone();
            let is_set = (setting.set)(&mut changed, &Value::Integer(value)).is_some();
            is_set && self.check_memory(state, &changed).is_ok()
        })
    }
}

fn status(
    state: &State,
    setting: &'static Setting,
    kept: Option<Value>,
    configured: &Value,
    origin: &Origin,
) -> SettingStatus {
    let value = (setting.get)(&state.running);
    let (minimum, maximum) = match &setting.kind {
        Kind::Integer(range) | Kind::OptionalInteger(range) => {
            (Some(*range.start()), Some(*range.end()))
        }
        _ => (None, None),
    };
    let pending = state.pending.as_ref();
    let pending = pending.filter(|pending| pending.includes(setting.key));
    SettingStatus {
        key: setting.key,
        section: setting.section(),
        name: setting.name(),
        unit: setting.unit,
        kind: match &setting.kind {
            Kind::Integer(_) | Kind::OptionalInteger(_) => "integer",
            Kind::Boolean => "boolean",
            Kind::Choice(_) => "choice",
            _ => "text",
        },
        allowed: setting.kind.to_string(),
        minimum,
        maximum,
        words: match setting.kind {
            Kind::Choice(words) => words,
            _ => &[],
        },
        default: setting.default(),
        is_changed: value != (setting.get)(&state.started),
        value,
        configured: configured.clone(),
        origin: origin.to_string(),
        is_set: *origin != Origin::Default,
        effect: setting.reason,
        applies: setting.applies,
        kept,
        keep_refused_by: origin
            .is_stronger_than_overrides()
            .then(|| origin.to_string()),
        reverts_at_unix_ms: pending.map(|pending| pending.revert_at_unix_ms),
        recommended: None,
    }
}

impl From<&Replaced> for ReplacedStatus {
    fn from(replaced: &Replaced) -> Self {
        Self {
            key: replaced.setting.key,
            old: replaced.old.clone(),
            new: replaced.new.clone(),
        }
    }
}

impl From<&Pending> for PendingStatus {
    fn from(pending: &Pending) -> Self {
        Self {
            settings: pending.replaced.iter().map(Into::into).collect(),
            reverts_at_unix_ms: pending.revert_at_unix_ms,
            author: pending.author.clone(),
            reason: pending.reason.clone(),
        }
    }
}

impl From<&Applied> for UndoStatus {
    fn from(applied: &Applied) -> Self {
        Self {
            settings: applied.replaced.iter().map(Into::into).collect(),
            author: applied.author.clone(),
            reason: applied.reason.clone(),
            unix_ms: applied.unix_ms,
        }
    }
}
