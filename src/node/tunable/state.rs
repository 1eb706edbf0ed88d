//! The values of the run-time settings, and the changes while the node runs.

use super::{
    error::{ChangeError, REASON_CHARS_MAX, REVERT_AFTER_SECS},
    history::{By, Cause, History, Replaced, unix_ms},
    memory::{bytes_max, machine_bytes},
    targets::Targets,
};
use crate::config::{Applies, Config, RawValue, SETTINGS, Setting, Settings, Value, shortened};
use ledger_limits::{Limit, Permit};
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

/// The author of changes that a reload makes.
const RELOAD: &str = "SIGHUP";

/// The author of a revert.
const TIMER: &str = "timer";

/// The run-time settings of a node. Clones share them.
#[derive(Clone, Debug)]
pub struct RunTimeSettings(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    targets: Targets,
    state: Mutex<State>,
    /// Time of the next revert, for the task that makes it.
    revert_at: watch::Sender<Option<Instant>>,
    /// Whether the file of kept settings is ignored.
    ignores_overrides: bool,
    /// Memory of the machine, if the system tells it.
    machine_bytes: Option<u64>,
    /// Its only permit is held while the file of kept settings is read and written, so that threads
    /// do not pile up behind a file system that hangs.
    file: Arc<Limit>,
}

/// The settings in force.
#[derive(Debug)]
pub(super) struct State {
    /// The configuration that a start would load, except for settings that need a restart.
    pub(super) config: Config,
    /// The configuration at the start of the node.
    pub(super) started: Settings,
    /// The values in force.
    pub(super) running: Settings,
    pub(super) history: History,
    pub(super) pending: Option<Pending>,
}

/// A change that is reverted unless it is confirmed.
#[derive(Debug)]
pub(super) struct Pending {
    number: u64,
    pub(super) replaced: Vec<Replaced>,
    revert_at: Instant,
    /// The same in milliseconds since the Unix epoch.
    pub(super) revert_at_unix_ms: u64,
    /// The client that made the change.
    pub(super) author: String,
    /// The reason that the client stated.
    pub(super) reason: Option<String>,
}

impl Pending {
    pub(super) fn includes(&self, key: &str) -> bool {
        self.replaced.iter().any(|of| of.setting.key == key)
    }

    /// Returns the error of a change that this one excludes.
    pub(super) fn error(&self) -> ChangeError {
        let keys: Vec<_> = self.replaced.iter().map(|of| of.setting.key).collect();
        let rest = self.revert_at.saturating_duration_since(Instant::now());
        ChangeError::Pending {
            keys: keys.join(", "),
            secs: rest.as_secs(),
        }
    }
}

/// New values of run-time settings.
#[derive(Debug, Default)]
pub struct Change {
    /// The keys with their new values, which are not checked yet.
    pub set: Vec<(String, RawValue)>,
    /// When the old values return, and the reason of the change.
    pub terms: Terms,
}

impl Change {
    /// Returns a change of one setting that is not reverted.
    pub fn of_one(key: &str, value: Value) -> Self {
        Self {
            set: vec![(key.to_owned(), RawValue::Typed(value))],
            terms: Terms::default(),
        }
    }
}

/// The circumstances of a change beside its values.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    /// Time after which the old values return unless the change is confirmed, in seconds.
    pub revert_after_secs: Option<u64>,
    /// The reason that the client states.
    pub reason: Option<String>,
}

impl Terms {
    /// Checks the time of the revert and the reason.
    fn check(&self) -> Result<(), ChangeError> {
        let secs = self.revert_after_secs;
        if let Some(secs) = secs.filter(|secs| !REVERT_AFTER_SECS.contains(secs)) {
            return Err(ChangeError::RevertAfter(secs));
        }
        let is_sentence = |reason: &str| {
            let has_control = reason.chars().any(char::is_control);
            !has_control && reason.chars().count() <= REASON_CHARS_MAX
        };
        match &self.reason {
            Some(reason) if !is_sentence(reason) => Err(ChangeError::Reason),
            _ => Ok(()),
        }
    }
}

impl RunTimeSettings {
    /// Creates the settings of a node that runs with `config`. `ignores_overrides` is whether the
    /// file of kept settings was ignored.
    pub fn new(config: Config, ignores_overrides: bool, targets: Targets) -> Self {
        Self::on_machine(config, ignores_overrides, targets, machine_bytes())
    }

    /// Creates the settings as [`Self::new`] does, on a machine with this memory.
    pub(super) fn on_machine(
        config: Config,
        ignores_overrides: bool,
        targets: Targets,
        machine_bytes: Option<u64>,
    ) -> Self {
        let running = config.settings().clone();
        Self(Arc::new(Shared {
            targets,
            state: Mutex::new(State {
                config,
                started: running.clone(),
                running,
                history: History::default(),
                pending: None,
            }),
            revert_at: watch::Sender::new(None),
            ignores_overrides,
            machine_bytes,
            file: Arc::new(Limit::new(1)),
        }))
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the permit to read and write the file of kept settings.
    ///
    /// # Errors
    ///
    /// Returns [`ChangeError::Busy`] if another thread has it.
    pub(super) fn lock_file(&self) -> Result<Permit<Arc<Limit>>, ChangeError> {
        Permit::try_acquire(Arc::clone(&self.0.file)).ok_or(ChangeError::Busy)
    }

    pub(super) fn ignores_overrides(&self) -> bool {
        self.0.ignores_overrides
    }

    pub(super) fn machine_bytes(&self) -> Option<u64> {
        self.0.machine_bytes
    }

    /// Returns the configuration that a start would load, except for settings that need a restart.
    pub fn config(&self) -> Config {
        self.state().config.clone()
    }

    /// Checks all values of a change, and then applies all.
    ///
    /// # Errors
    ///
    /// Returns [`ChangeError::Empty`], [`ChangeError::Unknown`], [`ChangeError::NotRunTime`],
    /// [`ChangeError::NotAllowed`], [`ChangeError::RevertAfter`] or [`ChangeError::Reason`] if the
    /// change is malformed, [`ChangeError::Pending`] if an earlier one waits for its confirmation
    /// and this one has the same setting or a revert too, and [`ChangeError::Memory`] if it lifts
    /// the sum of the memory limits above the memory of the machine. Nothing is changed then.
    pub fn change(&self, change: &Change, author: &str) -> Result<(), ChangeError> {
        self.change_in(&mut self.state(), change, author)
    }

    /// Makes a change as [`Self::change`] does, of settings that are locked.
    pub(super) fn change_in(
        &self,
        state: &mut State,
        change: &Change,
        author: &str,
    ) -> Result<(), ChangeError> {
        change.terms.check()?;
        let secs = change.terms.revert_after_secs;
        let changed = state.checked(&change.set)?;
        if let Some(pending) = &state.pending
            && (secs.is_some() || change.set.iter().any(|(key, _)| pending.includes(key)))
        {
            return Err(pending.error());
        }
        self.check_memory(state, &changed)?;
        let keys: Vec<_> = change.set.iter().map(|(key, _)| key.as_str()).collect();
        let replaced = state.differences(&changed, |setting| keys.contains(&setting.key));
        // Also a value that is already in force, because it begins a new high water.
        let unchanged = SETTINGS.iter().filter(|setting| {
            let is_new = replaced.iter().any(|of| of.setting.key == setting.key);
            keys.contains(&setting.key) && !is_new
        });
        for setting in unchanged {
            self.0.targets.apply(setting, &state.running);
        }
        if replaced.is_empty() {
            return Ok(());
        }
        let by = By {
            cause: Cause::Change,
            author,
            reason: change.terms.reason.as_deref(),
        };
        self.apply(state, &replaced, by);
        let number = state.history.push(by, replaced.clone());
        if let Some(secs) = secs {
            state.pending = Some(Pending {
                number,
                replaced,
                revert_at: Instant::now() + Duration::from_secs(secs),
                revert_at_unix_ms: unix_ms().saturating_add(secs.saturating_mul(1_000)),
                author: author.to_owned(),
                reason: change.terms.reason.clone(),
            });
            self.announce(state);
        }
        Ok(())
    }

    /// Ends the wait for a confirmation, so that the pending change stays.
    ///
    /// # Errors
    ///
    /// Returns [`ChangeError::NothingPending`] if no change waits for one.
    pub fn confirm(&self, author: &str) -> Result<(), ChangeError> {
        let mut state = self.state();
        let pending = state.pending.take().ok_or(ChangeError::NothingPending)?;
        let keys: Vec<_> = pending.replaced.iter().map(|of| of.setting.key).collect();
        tracing::info!(author, settings = keys.join(", "), "change confirmed");
        self.announce(&state);
        Ok(())
    }

    /// Takes back the newest change. A change that was reverted or came before a reload is not
    /// among those that can be taken back.
    ///
    /// # Errors
    ///
    /// Returns [`ChangeError::NothingToUndo`] if there is none.
    pub fn undo(&self, author: &str) -> Result<(), ChangeError> {
        let mut state = self.state();
        let undone = state.history.pop().ok_or(ChangeError::NothingToUndo)?;
        if state.pending.as_ref().map(|pending| pending.number) == Some(undone.number) {
            state.pending = None;
            self.announce(&state);
        }
        let replaced = reversed(undone.replaced);
        self.apply(&mut state, &replaced, By::cause(Cause::Undo, author));
        Ok(())
    }

    /// Reverts each change that is not confirmed in time, without an end.
    pub async fn revert_unconfirmed(&self) {
        let mut revert_at = self.0.revert_at.subscribe();
        loop {
            let next = *revert_at.borrow_and_update();
            let due = async {
                match next {
                    Some(at) => sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = due => self.revert_due(),
                // No error: this has a sender.
                _ = revert_at.changed() => {}
            }
        }
    }

    /// Reverts the pending change if its time has passed.
    fn revert_due(&self) {
        let mut state = self.state();
        let now = Instant::now();
        let Some(pending) = state.pending.take_if(|pending| pending.revert_at <= now) else {
            return;
        };
        state.history.remove(pending.number);
        self.announce(&state);
        let replaced = reversed(pending.replaced);
        self.apply(&mut state, &replaced, By::cause(Cause::Revert, TIMER));
    }

    /// Applies a configuration that was loaded anew, except for the settings that `needs_restart`
    /// accepts.
    ///
    /// A run-time setting gets its configured value if that has changed, or if a change of it waits
    /// for a confirmation. Otherwise its value stays. Changes before the reload cannot be taken
    /// back.
    pub fn reload(&self, loaded: &Config, needs_restart: impl Fn(&Setting) -> bool) {
        let mut state = self.state();
        let before = state.config.clone();
        let pending = state.pending.take();
        let replaced = state.differences(loaded.settings(), |setting| {
            let is_pending = || pending.as_ref().is_some_and(|it| it.includes(setting.key));
            let was = (setting.get)(before.settings());
            setting.applies == Applies::Now
                && ((setting.get)(loaded.settings()) != was || is_pending())
        });
        let mut config = loaded.clone();
        config.copy(&before, needs_restart);
        state.config = config;
        state.history.clear();
        self.announce(&state);
        self.apply(&mut state, &replaced, By::cause(Cause::Reload, RELOAD));
    }

    /// Applies new values, logs them, and adds marks.
    fn apply(&self, state: &mut State, replaced: &[Replaced], by: By<'_>) {
        // Under the level that shows the lines: the one before, or the one after.
        let is_logged = tracing::enabled!(tracing::Level::INFO);
        if is_logged {
            log(replaced, by);
        }
        for Replaced { setting, new, .. } in replaced {
            // The value was in a field of the same settings.
            let _ = (setting.set)(&mut state.running, new);
            self.0.targets.apply(setting, &state.running);
        }
        if !is_logged {
            log(replaced, by);
        }
        state.history.mark(replaced, by);
    }

    /// Passes the time of the next revert to the task that makes it.
    fn announce(&self, state: &State) {
        let revert_at = state.pending.as_ref().map(|pending| pending.revert_at);
        self.0.revert_at.send_replace(revert_at);
    }

    /// Checks that a change does not lift the sum of the memory limits above the memory of the
    /// machine, or above the sum of the configuration, which the start accepted, if that is more.
    pub(super) fn check_memory(
        &self,
        state: &State,
        changed: &Settings,
    ) -> Result<(), ChangeError> {
        let Some(machine_bytes) = self.0.machine_bytes else {
            return Ok(());
        };
        let limit_bytes = bytes_max(changed);
        let allowed_bytes = machine_bytes.max(bytes_max(state.config.settings()));
        if limit_bytes <= allowed_bytes.max(bytes_max(&state.running)) {
            return Ok(());
        }
        Err(ChangeError::Memory {
            limit_bytes,
            allowed_bytes,
        })
    }
}

impl State {
    /// Returns the settings in force with the new values.
    ///
    /// # Errors
    ///
    /// Returns [`ChangeError`] for the first value that is malformed.
    fn checked(&self, set: &[(String, RawValue)]) -> Result<Settings, ChangeError> {
        if set.is_empty() {
            return Err(ChangeError::Empty);
        }
        let mut changed = self.running.clone();
        for (key, value) in set {
            let setting = run_time_setting(key)?;
            let applied = setting.apply(&mut changed, value);
            applied.ok_or_else(|| ChangeError::NotAllowed {
                key: setting.key,
                value: shortened(value.to_string()),
                message: setting.kind.expected(value),
            })?;
        }
        Ok(changed)
    }

    /// Returns the settings that `is_compared` accepts and that differ from those in force.
    fn differences(
        &self,
        changed: &Settings,
        is_compared: impl Fn(&Setting) -> bool,
    ) -> Vec<Replaced> {
        let settings = SETTINGS.iter().filter(|setting| is_compared(setting));
        let replaced = settings.map(|setting| Replaced {
            setting,
            old: (setting.get)(&self.running),
            new: (setting.get)(changed),
        });
        replaced.filter(|of| of.old != of.new).collect()
    }
}

/// Returns the run-time setting with this key.
///
/// # Errors
///
/// Returns [`ChangeError::Unknown`] or [`ChangeError::NotRunTime`] if there is none.
pub(super) fn run_time_setting(key: &str) -> Result<&'static Setting, ChangeError> {
    let setting = SETTINGS.iter().find(|setting| setting.key == key);
    let setting = setting.ok_or_else(|| ChangeError::Unknown(shortened(key.to_owned())))?;
    let when = match setting.applies {
        Applies::Now => return Ok(setting),
        Applies::Reload => "by SIGHUP",
        Applies::Restart => "at the next start",
    };
    Err(ChangeError::NotRunTime {
        key: setting.key,
        when,
    })
}

/// Returns the change that takes back another one.
fn reversed(replaced: Vec<Replaced>) -> Vec<Replaced> {
    let reversed = replaced.into_iter().map(|of| Replaced {
        setting: of.setting,
        old: of.new,
        new: of.old,
    });
    reversed.collect()
}

fn log(replaced: &[Replaced], by: By<'_>) {
    for Replaced { setting, old, new } in replaced {
        tracing::info!(
            author = by.author,
            cause = by.cause.as_str(),
            reason = by.reason,
            setting = setting.key,
            old = %shortened(old.to_string()),
            new = %shortened(new.to_string()),
            "setting changed"
        );
    }
}
