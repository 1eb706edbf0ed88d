//! Reload of the configuration on `SIGHUP`.
//!
//! All layers of the configuration, the certificate, and the token are read again and checked. If
//! one of them is invalid, nothing changes. Otherwise the node applies [`RELOADABLE`] settings, and
//! logs the names of all other settings whose values differ from those it runs with.

use super::{
    admin_token::{check_token_requirement, configured_token},
    error::RunError,
    genesis::configured_genesis,
    tls::load_certificate,
};
use crate::{
    access::{RequiredToken, Token, warn_if_key_is_exposed},
    config::{Config, ConfigError, ConfigOptions},
    signals::ReloadSignal,
    telemetry,
};
use ledger_actors::{FilterRules, NodeHandle};
use ledger_http::{CertificateHolder, LoadedCertificate};
use std::{collections::BTreeMap, fs, io, net::SocketAddr, path::Path, thread};
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

/// The TOML form of a path that is not set.
const UNSET: &str = "\"\"";

/// Maximum length of a value in the log, in characters. A list of rules may be long.
const LOGGED_CHARS_MAX: usize = 1_000;

/// Name of the thread that reads the files.
const THREAD: &str = "config-reload";

/// The values of all settings in their TOML form, by key.
type Values = BTreeMap<String, String>;

/// The parts of a running node that a reload changes.
#[derive(Debug)]
pub struct ReloadTargets {
    /// The actors, for the submission filter.
    pub node: NodeHandle,
    /// Certificate of the API listener, if it serves TLS.
    pub certificate: Option<CertificateHolder>,
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
        options: ConfigOptions,
        config: &Config,
        targets: ReloadTargets,
    ) -> Self {
        let mut reloader = Reloader {
            options,
            admin_listen: config.settings().admin.listen,
            running: values(config),
            targets,
        };
        Self(actix_web::rt::spawn(async move {
            loop {
                signal.next().await;
                reloader.reload().await;
            }
        }))
    }
}

impl Drop for ReloadTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

struct Reloader {
    options: ConfigOptions,
    /// Address of the running admin listener.
    admin_listen: SocketAddr,
    /// The values that the node runs with.
    running: Values,
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
        match self.load().await {
            Ok(loaded) => self.apply(loaded),
            Err(error) => tracing::error!(
                %error,
                "SIGHUP: the configuration is invalid and nothing was changed"
            ),
        }
    }

    /// Reads and checks everything on a thread of its own, because a file may be a pipe or on a
    /// file system that hangs.
    async fn load(&self) -> Result<Loaded, RunError> {
        let (options, admin_listen) = (self.options.clone(), self.admin_listen);
        let (sender, loaded) = oneshot::channel();
        thread::Builder::new()
            .name(THREAD.to_owned())
            .spawn(move || {
                // An error means that the node is stopping.
                let _ = sender.send(load(&options, admin_listen));
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
        self.targets.admin_token.replace(loaded.admin_token);
        for change in changes.applied {
            match change.key.as_str() {
                FILTER_RULES => {
                    self.targets.node.set_filter(loaded.filter_rules.clone());
                    change.log();
                }
                LOG_LEVEL => apply_log_level(&change, &loaded.log_level),
                _ => change.log(),
            }
            self.running.insert(change.key, change.new);
        }
        tracing::info!("SIGHUP: the configuration was reloaded");
    }

    /// Replaces the certificate if the API listener serves TLS and still has one.
    fn replace_certificate(&self, certificate: Option<LoadedCertificate>) {
        let (Some(holder), Some(certificate)) = (&self.targets.certificate, certificate) else {
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
/// running admin listener can be reached from other machines and would lose its token.
fn load(options: &ConfigOptions, admin_listen: SocketAddr) -> Result<Loaded, ConfigError> {
    for path in &options.files {
        check_regular_file(path)?;
    }
    let config = Config::load(options, std::env::vars_os())?;
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
        values: values(&config),
    })
}

/// Checks that a file of the configuration can be read a second time.
///
/// A pipe, as the shell makes for `--config <(..)`, is empty after the start. An empty file is a
/// valid configuration, without a token and without filter rules.
///
/// # Errors
///
/// Returns [`ConfigError::Unreadable`] if there is no file, or if it is not a regular file.
fn check_regular_file(path: &Path) -> Result<(), ConfigError> {
    let unreadable = |source| ConfigError::Unreadable {
        path: path.to_owned(),
        source,
    };
    match fs::metadata(path).map_err(unreadable)?.is_file() {
        true => Ok(()),
        false => Err(unreadable(io::Error::other(
            "only a regular file can be read again",
        ))),
    }
}

/// Returns the values of a configuration in their TOML form.
fn values(config: &Config) -> Values {
    let values = config.values();
    values
        .map(|(setting, value, _)| (setting.key.to_owned(), value.to_string()))
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
                Some(old) if old == new => {}
                Some(old) if is_reloadable(key) => changes.applied.push(Change {
                    key: key.clone(),
                    old: old.clone(),
                    new: new.clone(),
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
        .is_some_and(|path| path != UNSET)
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

    #[test]
    fn rejects_a_genesis_file_that_a_start_would_reject() {
        let options = ConfigOptions {
            assignments: vec!["chain.genesis=/nowhere".to_owned()],
            ..ConfigOptions::default()
        };
        assert!(load(&options, ([127, 0, 0, 1], 0).into()).is_err());
    }

    #[test]
    fn rejects_a_configuration_that_is_not_a_regular_file() {
        let options = ConfigOptions {
            files: vec!["/dev/null".into()],
            ..ConfigOptions::default()
        };
        let loaded = load(&options, ([127, 0, 0, 1], 0).into());
        let error = loaded.err().map(|error| error.to_string());
        let expected = "cannot read /dev/null: only a regular file can be read again";
        assert_eq!(error.as_deref(), Some(expected));
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

    #[test]
    fn keeps_the_token_of_a_listener_that_other_machines_reach() {
        let error = load(&ConfigOptions::default(), ([0, 0, 0, 0], 9101).into()).err();
        let message = error.expect("there is no token").to_string();
        assert!(message.contains("admin.token_file"), "{message}");
        assert!(load(&ConfigOptions::default(), ([127, 0, 0, 1], 9101).into()).is_ok());
    }

    #[test]
    fn names_only_settings_that_exist_as_reloadable() {
        let values = with(&[]);
        for key in RELOADABLE {
            assert!(values.contains_key(key), "{key}");
        }
    }
}
