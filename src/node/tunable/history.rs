//! The newest changes: those that undo takes back, and the marks of the charts.

use crate::config::{Setting, Value, shortened};
use serde::Serialize;
use std::{
    collections::{BTreeMap, VecDeque},
    time::{SystemTime, UNIX_EPOCH},
};

/// Maximum number of changes that can be taken back, one after the other. More than a session of
/// trials needs.
const UNDO_MAX: usize = 32;

/// Maximum number of marks, a few for each of the 15 minutes that charts show.
const MARKS_MAX: usize = 64;

/// A setting with the value before and after a change.
#[derive(Clone, Debug)]
pub(super) struct Replaced {
    pub(super) setting: &'static Setting,
    pub(super) old: Value,
    pub(super) new: Value,
}

/// The origin of a change.
#[derive(Clone, Copy, Debug)]
pub(super) struct By<'a> {
    pub(super) cause: Cause,
    /// The client that made it, or a fixed name.
    pub(super) author: &'a str,
    /// The reason that the client stated.
    pub(super) reason: Option<&'a str>,
}

impl<'a> By<'a> {
    /// Returns the origin of a change without a reason.
    pub(super) fn cause(cause: Cause, author: &'a str) -> Self {
        Self {
            cause,
            author,
            reason: None,
        }
    }
}

/// A change that can be taken back.
#[derive(Clone, Debug)]
pub(super) struct Applied {
    /// Number of the change, which no other one has.
    pub(super) number: u64,
    /// The client that made it.
    pub(super) author: String,
    /// The reason that the client stated.
    pub(super) reason: Option<String>,
    /// Time of the change, in milliseconds since the Unix epoch.
    pub(super) unix_ms: u64,
    pub(super) replaced: Vec<Replaced>,
}

/// The reason of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Cause {
    /// A request of a client.
    Change,
    /// A request that takes back the last change.
    Undo,
    /// The time for the confirmation of a change has passed.
    Revert,
    /// SIGHUP.
    Reload,
}

impl Cause {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Change => "change",
            Self::Undo => "undo",
            Self::Revert => "revert",
            Self::Reload => "reload",
        }
    }
}

/// A changed setting, for a marker in the charts.
#[derive(Clone, Debug, Serialize)]
pub struct Mark {
    /// Time of the change, in milliseconds since the Unix epoch.
    pub unix_ms: u64,
    /// The key.
    pub key: &'static str,
    /// The value before, truncated if it is long.
    pub old: String,
    /// The value after, truncated if it is long.
    pub new: String,
    /// Reason of the change.
    pub cause: Cause,
    /// The client that made it, or `SIGHUP`.
    pub author: String,
    /// The reason that the client stated.
    pub reason: Option<String>,
}

/// The newest changes of a node.
#[derive(Debug, Default)]
pub(super) struct History {
    next_number: u64,
    applied: VecDeque<Applied>,
    marks: VecDeque<Mark>,
    /// The newest mark of each setting that has changed.
    newest: BTreeMap<&'static str, Mark>,
}

impl History {
    /// Adds a change that can be taken back, and returns its number.
    pub(super) fn push(&mut self, by: By<'_>, replaced: Vec<Replaced>) -> u64 {
        let number = self.next_number;
        self.next_number += 1;
        self.applied.truncate(UNDO_MAX - 1);
        self.applied.push_front(Applied {
            number,
            author: by.author.to_owned(),
            reason: by.reason.map(str::to_owned),
            unix_ms: unix_ms(),
            replaced,
        });
        number
    }

    /// Returns the newest change that can be taken back.
    pub(super) fn newest(&self) -> Option<&Applied> {
        self.applied.front()
    }

    /// Removes the newest change that can be taken back, and returns it.
    pub(super) fn pop(&mut self) -> Option<Applied> {
        self.applied.pop_front()
    }

    /// Removes the change with this number, which was taken back otherwise.
    pub(super) fn remove(&mut self, number: u64) {
        self.applied.retain(|applied| applied.number != number);
    }

    /// Removes all changes that can be taken back.
    pub(super) fn clear(&mut self) {
        self.applied.clear();
    }

    /// Adds a mark for each changed setting.
    pub(super) fn mark(&mut self, replaced: &[Replaced], by: By<'_>) {
        for Replaced { setting, old, new } in replaced {
            let mark = Mark {
                unix_ms: unix_ms(),
                key: setting.key,
                old: shortened(old.to_string()),
                new: shortened(new.to_string()),
                cause: by.cause,
                author: by.author.to_owned(),
                reason: by.reason.map(str::to_owned),
            };
            self.marks.truncate(MARKS_MAX - 1);
            self.marks.push_front(mark.clone());
            self.newest.insert(setting.key, mark);
        }
    }

    /// Returns the newest mark of a setting.
    pub(super) fn newest_of(&self, key: &str) -> Option<&Mark> {
        self.newest.get(key)
    }

    /// Returns the marks, the newest first.
    pub(super) fn marks(&self) -> Vec<Mark> {
        self.marks.iter().cloned().collect()
    }
}

/// Returns the time of the system clock in milliseconds since the Unix epoch, or 0 before it.
pub(super) fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as u64)
}
