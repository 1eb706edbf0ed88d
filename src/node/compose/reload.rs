//! Reload of the configuration on `SIGHUP`.
//!
//! All layers of the configuration, the certificate, and the token are read again and checked. If
//! one of them is invalid, nothing changes. Otherwise the node applies [`RELOADABLE`] settings, and
//! logs the names of all other settings whose values differ from those it runs with.
//!
//! A file that is read while it is written may end early and still be valid TOML. So a reload does
//! not take the absence of a line for a decision to remove the token or the filter rules; see
//! [`check_removals`].

use super::{
    admin_token::{check_token_requirement, configured_token},
    error::RunError,
    genesis::configured_genesis,
    tls::load_certificate,
};
use crate::{
    access::{RequiredToken, Token, warn_if_key_is_exposed},
    admin::{ApiCertificate, ReloadGuard},
    config::{Config, ConfigError, ConfigOptions, Origin},
    signals::ReloadSignal,
    telemetry,
};
use ledger_actors::{FilterRules, NodeHandle};
use ledger_http::LoadedCertificate;
use std::{
    collections::BTreeMap,
    mem,
    net::SocketAddr,
    path::{Path, PathBuf},
    pin::pin,
    sync::Arc,
    thread,
};
use tokio::{sync::oneshot, task::JoinHandle};

/// Keys of the settings that a reload applies.
const RELOADABLE: [&str; 5] = [
    TLS_CERTIFICATE,
    TLS_PRIVATE_KEY,
    TOKEN_FILE,
    FILTER_RULES,
    LOG_LEVEL,
];
const TLS_CERTIFICATE: &str = "api.tls_certificate";
const TLS_PRIVATE_KEY: &str = "api.tls_private_key";
const TOKEN_FILE: &str = "admin.token_file";
const FILTER_RULES: &str = "filter.rules";
const LOG_LEVEL: &str = "log.level";

/// Keys of the settings that protect the node, which [`check_removals`] checks.
///
/// The settings of TLS are not among them, because only a restart removes TLS.
const PROTECTIVE: [&str; 2] = [TOKEN_FILE, FILTER_RULES];

/// The TOML form of a path that is not set.
const UNSET: &str = "\"\"";

/// Maximum length of a value in the log, in characters. A list of rules may be long.
const LOGGED_CHARS_MAX: usize = 1_000;

/// Name of the thread that reads the files.
const THREAD: &str = "config-reload";

/// The values of all settings, by key.
type Values = BTreeMap<String, ConfiguredValue>;

/// The value of a setting.
#[derive(Clone, Debug)]
struct ConfiguredValue {
    /// The value in its TOML form.
    toml: String,
    /// The layer that sets it.
    origin: Origin,
}

/// The parts of a running node that a reload changes.
#[derive(Debug)]
pub struct ReloadTargets {
    /// The actors, for the submission filter.
    pub node: NodeHandle,
    /// Certificate of the API listener, if it serves TLS, and the lock of its reloads.
    pub certificate: ApiCertificate,
    /// Token that the admin listener requires.
    pub admin_token: RequiredToken,
}

/// A task that reloads the configuration on each signal, until this is dropped.
#[derive(Debug)]
pub struct ReloadTask(JoinHandle<()>);

impl ReloadTask {
    /// Starts the task on the current actix system.
    ///
    /// `config` is the configuration that the node runs with, and `options` name its layers.
    pub fn start(
        mut signal: ReloadSignal,
        mut options: ConfigOptions,
        config: &Config,
        targets: ReloadTargets,
    ) -> Self {
        // A pipe is empty after the start, and an empty file is a valid configuration.
        options.regular_files_only = true;
        let mut reloader = Reloader {
            options,
            admin_listen: config.settings().admin.listen,
            running: Arc::new(values(config)),
            targets,
        };
        Self(actix_web::rt::spawn(async move {
            reload_on_each(
                async || signal.next().await,
                async || reloader.reload().await,
            )
            .await;
        }))
    }
}

impl Drop for ReloadTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Runs `reload` after each signal, one at a time and without an end.
///
/// A signal that arrives during a reload causes another one afterwards, because the reload may have
/// read the files before they were changed. Any further signal until then would cause the same
/// reload, and is skipped.
async fn reload_on_each(mut next_signal: impl AsyncFnMut(), mut reload: impl AsyncFnMut()) {
    let mut is_pending = false;
    loop {
        if !mem::take(&mut is_pending) {
            next_signal().await;
        }
        let mut reloading = pin!(reload());
        loop {
            tokio::select! {
                biased;
                () = &mut reloading => break,
                () = next_signal() => {}
            }
            match mem::replace(&mut is_pending, true) {
                false => {
                    tracing::info!("SIGHUP: a reload is under way, and another one follows it");
                }
                true => tracing::info!("SIGHUP: skipped, because another reload follows anyway"),
            }
        }
    }
}

/// The settings that a node runs with, and the parts to which a reload applies changes.
struct Reloader {
    options: ConfigOptions,
    /// Address of the running admin listener.
    admin_listen: SocketAddr,
    /// The values that the node runs with.
    running: Arc<Values>,
    targets: ReloadTargets,
}

/// A valid configuration with the content of the files that it names.
struct Loaded {
    values: Values,
    certificate: Option<LoadedCertificate>,
    admin_token: Option<Token>,
    filter_rules: FilterRules,
    log_level: String,
}

impl Reloader {
    /// Reads and checks everything, then applies it.
    async fn reload(&mut self) {
        let guard = self.targets.certificate.lock.acquire().await;
        match self.load(guard).await {
            Ok((loaded, _guard)) => self.apply(loaded),
            Err(error) => tracing::error!(
                %error,
                "SIGHUP: the configuration is invalid and nothing was changed"
            ),
        }
    }

    /// Reads and checks everything on a thread of its own, because a file system may hang. The
    /// thread holds the lock, also if the node stops meanwhile.
    async fn load(&self, guard: ReloadGuard) -> Result<(Loaded, ReloadGuard), RunError> {
        let (options, admin_listen) = (self.options.clone(), self.admin_listen);
        let running = Arc::clone(&self.running);
        let (sender, loaded) = oneshot::channel();
        thread::Builder::new()
            .name(THREAD.to_owned())
            .spawn(move || {
                let loaded = load(&options, admin_listen, &running);
                // An error means that the node is stopping.
                let _ = sender.send(loaded.map(|loaded| (loaded, guard)));
            })
            .map_err(|error| RunError::fatal("the thread that reads the files", &error))?;
        match loaded.await {
            Ok(loaded) => Ok(loaded?),
            Err(error) => Err(RunError::fatal("the thread that reads the files", &error)),
        }
    }

    /// Applies a valid configuration. Cannot fail.
    fn apply(&mut self, loaded: Loaded) {
        let changes = Changes::between(&self.running, &loaded.values);
        // First, because a changed log level may hide it.
        if !changes.needs_restart.is_empty() {
            tracing::warn!(
                settings = %changes.needs_restart.join(", "),
                "changed settings that need a restart"
            );
        }
        self.replace_certificate(loaded.certificate);
        let has_new_token = self.targets.admin_token.replace(loaded.admin_token);
        let mut applied = changes.applied.iter();
        let has_new_token_file = applied.any(|change| change.key == TOKEN_FILE);
        if has_new_token && !has_new_token_file {
            tracing::info!(path = %loaded.values[TOKEN_FILE].toml, "admin token changed");
        }
        for change in &changes.applied {
            match change.key.as_str() {
                FILTER_RULES => {
                    self.targets.node.set_filter(loaded.filter_rules.clone());
                    change.log();
                }
                LOG_LEVEL => apply_log_level(change, &loaded.log_level),
                _ => change.log(),
            }
        }
        let mut running = loaded.values;
        for key in changes.needs_restart {
            if let Some(value) = self.running.get(&key) {
                running.insert(key, value.clone());
            }
        }
        self.running = Arc::new(running);
        tracing::info!("SIGHUP: the configuration was reloaded");
    }

    /// Replaces the certificate if the API listener serves TLS and still has one.
    fn replace_certificate(&self, certificate: Option<LoadedCertificate>) {
        let holder = &self.targets.certificate.holder;
        let (Some(holder), Some(certificate)) = (holder, certificate) else {
            return;
        };
        warn_if_key_is_exposed(&certificate);
        if certificate.fingerprint() != holder.current().fingerprint() {
            tracing::info!(
                fingerprint_sha256 = certificate.fingerprint(),
                "TLS certificate changed"
            );
        }
        holder.replace(certificate);
    }
}

/// Logs the change under the level that shows it, before or after it.
fn apply_log_level(change: &Change, level: &str) {
    let is_logged = tracing::enabled!(tracing::Level::INFO);
    if is_logged {
        change.log();
    }
    telemetry::set_level(level);
    if !is_logged {
        change.log();
    }
}

/// Reads and checks all layers of the configuration and the files that it names.
///
/// # Errors
///
/// Returns the first error, in the order of a start. Returns [`ConfigError::Contradiction`] if the
/// running admin listener can be reached from other machines and would lose its token, and as
/// [`check_removals`] does.
fn load(
    options: &ConfigOptions,
    admin_listen: SocketAddr,
    running: &Values,
) -> Result<Loaded, ConfigError> {
    let config = Config::load(options, std::env::vars_os())?;
    let values = values(&config);
    check_removals(&options.files, running, &values)?;
    let settings = config.settings();
    configured_genesis(&config)?;
    let certificate = load_certificate(settings)?;
    let admin_token = configured_token(settings)?;
    check_token_requirement(admin_listen, admin_token.as_ref())?;
    Ok(Loaded {
        certificate,
        admin_token,
        filter_rules: settings.node.filter.clone(),
        log_level: settings.log.level.clone(),
        values,
    })
}

/// Checks that no [`PROTECTIVE`] setting changes because a file no longer sets it.
///
/// A file may lack its end while it is written, and is valid TOML if it ends between two lines. A
/// setting that is missing then falls back to a file before it or to its default, and the node
/// would stay unprotected until the next reload. So a file removes such a setting by an empty
/// value. An incomplete file has an empty value only if it ends within the opening `"""` of a
/// string.
///
/// # Errors
///
/// Returns [`ConfigError::Contradiction`] for the first such setting.
fn check_removals(files: &[PathBuf], running: &Values, loaded: &Values) -> Result<(), ConfigError> {
    // The position of a file. Layers above the files do not change while the node runs.
    let position = |path: &Path| files.iter().rposition(|file| file == path);
    for key in PROTECTIVE {
        let (old, new) = (&running[key], &loaded[key]);
        let Origin::File(path, _) = &old.origin else {
            continue;
        };
        let new_position = match &new.origin {
            Origin::Default => None,
            Origin::File(path, _) => position(path),
            Origin::Environment(_) | Origin::Set | Origin::DataDir => continue,
        };
        if old.toml != new.toml && new_position < position(path) {
            return Err(ConfigError::Contradiction(format!(
                "{key} is no longer set in {path}, which may be incomplete: set {key} = \"\" there \
                 to remove it, and replace the file by renaming a complete one",
                path = path.display()
            )));
        }
    }
    Ok(())
}

/// Returns the values of a configuration with their origins.
fn values(config: &Config) -> Values {
    let values = config.values();
    values
        .map(|(setting, value, origin)| {
            let value = ConfiguredValue {
                toml: value.to_string(),
                origin: origin.clone(),
            };
            (setting.key.to_owned(), value)
        })
        .collect()
}

/// The differences between the running and a loaded configuration.
#[derive(Debug, PartialEq, Eq)]
struct Changes {
    /// Changes that the node applies.
    applied: Vec<Change>,
    /// Keys of the other settings whose values differ.
    needs_restart: Vec<String>,
}

/// A setting with its old and new value.
#[derive(Debug, PartialEq, Eq)]
struct Change {
    key: String,
    old: String,
    new: String,
}

impl Changes {
    fn between(running: &Values, loaded: &Values) -> Self {
        let mut changes = Self {
            applied: Vec::new(),
            needs_restart: Vec::new(),
        };
        let is_tls_switched = serves_tls(running) != serves_tls(loaded);
        let is_reloadable = |key: &str| match key {
            TLS_CERTIFICATE | TLS_PRIVATE_KEY => !is_tls_switched,
            _ => RELOADABLE.contains(&key),
        };
        for (key, new) in loaded {
            match running.get(key) {
                Some(old) if old.toml == new.toml => {}
                Some(old) if is_reloadable(key) => changes.applied.push(Change {
                    key: key.clone(),
                    old: old.toml.clone(),
                    new: new.toml.clone(),
                }),
                _ => changes.needs_restart.push(key.clone()),
            }
        }
        changes
    }
}

/// Returns whether the API listener serves TLS, which only a restart changes.
fn serves_tls(values: &Values) -> bool {
    values
        .get(TLS_CERTIFICATE)
        .is_some_and(|path| path.toml != UNSET)
}

impl Change {
    fn log(&self) {
        tracing::info!(
            setting = self.key,
            old = %truncated(&self.old),
            new = %truncated(&self.new),
            "setting changed"
        );
    }
}

fn truncated(value: &str) -> &str {
    match value.char_indices().nth(LOGGED_CHARS_MAX) {
        Some((end, _)) => &value[..end],
        None => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{admin::ReloadLock, compose::ledger::open_ledger};
    use ledger_actors::Node;
    use std::{cell::Cell, fs, time::Duration};
    use tokio::{sync::mpsc, time::timeout};

    /// An address of the admin listener that only this machine reaches.
    const LOCAL: ([u8; 4], u16) = ([127, 0, 0, 1], 9101);

    #[test]
    fn rejects_a_genesis_file_that_a_start_would_reject() {
        let options = ConfigOptions {
            assignments: vec!["chain.genesis=/nowhere".to_owned()],
            ..ConfigOptions::default()
        };
        assert!(load(&options, LOCAL.into(), &with(&[])).is_err());
    }

    #[test]
    fn rejects_a_configuration_that_is_not_a_regular_file() {
        let options = ConfigOptions {
            files: vec!["/dev/null".into()],
            regular_files_only: true,
            ..ConfigOptions::default()
        };
        let loaded = load(&options, LOCAL.into(), &with(&[]));
        let error = loaded.err().map(|error| error.to_string());
        let expected = "cannot read /dev/null: it is not a regular file, but a directory, pipe or \
                        device; write the content to a file";
        assert_eq!(error.as_deref(), Some(expected));
    }

    /// Configuration files with these texts, and the values that they set.
    struct Files {
        _directory: tempfile::TempDir,
        options: ConfigOptions,
    }

    impl Files {
        fn new(texts: &[&str]) -> Self {
            let directory = tempfile::tempdir().unwrap();
            let names = (0..texts.len()).map(|index| directory.path().join(index.to_string()));
            let files = Self {
                options: ConfigOptions {
                    files: names.collect(),
                    ..ConfigOptions::default()
                },
                _directory: directory,
            };
            files.write(texts);
            files
        }

        fn write(&self, texts: &[&str]) {
            for (path, text) in self.options.files.iter().zip(texts) {
                fs::write(path, text).unwrap();
            }
        }

        fn values(&self) -> Values {
            values(&Config::load(&self.options, []).unwrap())
        }
    }

    #[test]
    fn rejects_every_incomplete_form_of_a_file_that_lacks_a_protective_setting() {
        const TEXT: &str = "[log]\nlevel = \"warn\"\n[admin]\ntoken_file = \"token\"\n\
                            [filter]\nrules = \"deny sender 0x1,deny sender 0x2\"\n";
        let files = Files::new(&[TEXT]);
        let running = files.values();
        let mut valid = 0;
        // All but the last, which lacks only the end of a line.
        for end in 0..TEXT.len() - 1 {
            files.write(&[&TEXT[..end]]);
            let Ok(config) = Config::load(&files.options, []) else {
                continue;
            };
            valid += 1;
            let checked = check_removals(&files.options.files, &running, &values(&config));
            let message = checked.unwrap_err().to_string();
            assert!(message.contains("no longer set in"), "{end}: {message}");
        }
        assert!(valid > 5, "{valid}");
        files.write(&[TEXT]);
        check_removals(&files.options.files, &running, &files.values()).unwrap();
    }

    #[test]
    fn removes_protective_settings_by_an_empty_value() {
        let files = Files::new(&["[filter]\nrules = \"deny all\"\n"]);
        let running = files.values();
        files.write(&["[filter]\nrules = \"\"\n"]);
        check_removals(&files.options.files, &running, &files.values()).unwrap();
    }

    #[test]
    fn takes_a_protective_setting_from_another_file_only_if_its_value_is_the_same() {
        let rules = |text: &str| format!("[filter]\nrules = {text:?}\n");
        let [none, some, other] = [rules(""), rules("deny all"), rules("deny sender 0x1")];
        let check = |before: [&str; 2], after: [&str; 2]| {
            let files = Files::new(&before);
            let running = files.values();
            files.write(&after);
            check_removals(&files.options.files, &running, &files.values())
        };
        // The second file may be incomplete.
        check([&none, &some], [&none, ""]).unwrap_err();
        check([&none, &some], [&other, ""]).unwrap_err();
        // Moved.
        check([&none, &some], [&some, ""]).unwrap();
        check([&some, ""], ["", &other]).unwrap();
    }

    #[tokio::test]
    async fn runs_one_more_reload_for_all_signals_during_a_reload() {
        let (send_signal, mut signals) = mpsc::unbounded_channel();
        let (finish_reload, mut finished) = mpsc::unbounded_channel();
        let reloads = Cell::new(0);
        let running = reload_on_each(
            async || signals.recv().await.unwrap(),
            async || {
                reloads.set(reloads.get() + 1);
                finished.recv().await.unwrap();
            },
        );
        let mut running = pin!(running);
        for (signals, expected) in [(0, 0), (1, 1), (1, 1), (3, 1)] {
            for _ in 0..signals {
                send_signal.send(()).unwrap();
            }
            assert!(futures::poll!(&mut running).is_pending());
            assert_eq!(reloads.get(), expected);
        }
        for expected in [2, 2] {
            finish_reload.send(()).unwrap();
            assert!(futures::poll!(&mut running).is_pending());
            assert_eq!(reloads.get(), expected);
        }
        send_signal.send(()).unwrap();
        assert!(futures::poll!(&mut running).is_pending());
        assert_eq!(reloads.get(), 3);
    }

    /// Returns the values of the default configuration with these assignments (`key=value`).
    fn with(assignments: &[&str]) -> Values {
        let options = ConfigOptions {
            assignments: assignments.iter().copied().map(str::to_owned).collect(),
            ..ConfigOptions::default()
        };
        values(&Config::load(&options, []).unwrap())
    }

    fn change(key: &str, old: &str, new: &str) -> Change {
        Change {
            key: key.to_owned(),
            old: old.to_owned(),
            new: new.to_owned(),
        }
    }

    #[test]
    fn finds_no_changes_in_equal_configurations() {
        let changes = Changes::between(&with(&[]), &with(&["wait.timeout_ms=1_000"]));
        assert_eq!((changes.applied, changes.needs_restart), (vec![], vec![]));
    }

    #[test]
    fn applies_reloadable_settings_with_their_old_and_new_values() {
        let running = with(&["filter.rules=deny all"]);
        let changes = Changes::between(
            &running,
            &with(&["admin.token_file=secret", "log.level=debug"]),
        );
        let expected = [
            change(TOKEN_FILE, "\"\"", "\"secret\""),
            change(FILTER_RULES, "\"deny all\"", "\"\""),
            change(LOG_LEVEL, "\"info,actix_server=warn\"", "\"debug\""),
        ];
        assert_eq!(changes.applied, expected);
        assert_eq!(changes.needs_restart, [] as [&str; 0]);
    }

    #[test]
    fn applies_other_files_of_the_certificate_but_not_a_switch_to_or_from_tls() {
        let tls = |name: &str| {
            let [certificate, key] = ["certificate", "private_key"]
                .map(|setting| format!("api.tls_{setting}={name}.pem"));
            with(&[&certificate, &key])
        };
        let changes = Changes::between(&tls("a"), &tls("b"));
        let expected =
            [TLS_CERTIFICATE, TLS_PRIVATE_KEY].map(|key| change(key, "\"a.pem\"", "\"b.pem\""));
        assert_eq!(changes.applied, expected);
        assert_eq!(changes.needs_restart, [] as [&str; 0]);
        for (running, loaded) in [(tls("a"), with(&[])), (with(&[]), tls("a"))] {
            let changes = Changes::between(&running, &loaded);
            assert_eq!(changes.applied, []);
            assert_eq!(changes.needs_restart, [TLS_CERTIFICATE, TLS_PRIVATE_KEY]);
        }
    }

    #[test]
    fn names_every_other_changed_setting_as_one_that_needs_a_restart() {
        let changed = with(&["wait.timeout_ms=7", "storage.data_dir=other"]);
        let changes = Changes::between(&with(&[]), &changed);
        assert_eq!(changes.applied, []);
        assert_eq!(
            changes.needs_restart,
            ["storage.data_dir", "wait.timeout_ms"]
        );
    }

    #[actix_web::test]
    async fn waits_for_another_reload_of_the_certificate() {
        let directory = tempfile::tempdir().unwrap();
        let options = ConfigOptions {
            data_dir: Some(directory.path().display().to_string()),
            ..ConfigOptions::default()
        };
        let config = Config::load(&options, []).unwrap();
        let settings = config.settings();
        let ledger = open_ledger(settings, configured_genesis(&config).unwrap()).unwrap();
        let node = Node::start(ledger.chain, ledger.store, None, settings.node.clone());
        let node = node.await.unwrap();
        let lock = ReloadLock::default();
        let mut reloader = Reloader {
            options,
            admin_listen: LOCAL.into(),
            running: Arc::new(values(&config)),
            targets: ReloadTargets {
                node: node.handle(),
                certificate: ApiCertificate {
                    holder: None,
                    lock: lock.clone(),
                },
                admin_token: RequiredToken::new(None),
            },
        };
        let guard = lock.acquire().await;
        {
            let mut reload = pin!(reloader.reload());
            let waited = timeout(Duration::from_millis(500), &mut reload).await;
            assert!(waited.is_err(), "a reload under way was not waited for");
            drop(guard);
            reload.await;
        }
        // The thread that reads the files has the lock.
        let guard = lock.acquire().await;
        let (_, guard) = reloader.load(guard).await.unwrap();
        assert!(lock.try_acquire().is_none());
        drop(guard);
        assert!(lock.try_acquire().is_some());
        node.stop().await.unwrap();
    }

    #[test]
    fn keeps_the_token_of_a_listener_that_other_machines_reach() {
        let load =
            |address: ([u8; 4], u16)| load(&ConfigOptions::default(), address.into(), &with(&[]));
        let error = load(([0, 0, 0, 0], 9101)).err();
        let message = error.expect("there is no token").to_string();
        assert!(message.contains("admin.token_file"), "{message}");
        assert!(load(LOCAL).is_ok());
    }

    #[test]
    fn names_only_settings_that_exist_as_reloadable() {
        let values = with(&[]);
        for key in RELOADABLE {
            assert!(values.contains_key(key), "{key}");
        }
    }
}
