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
    admin_token::check_token_requirement,
    checked_config::{CheckedConfig, check_config},
    error::RunError,
    tls,
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
    tls::CERTIFICATE,
    tls::PRIVATE_KEY,
    TOKEN_FILE,
    FILTER_RULES,
    LOG_LEVEL,
];
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
    let CheckedConfig {
        certificate,
        admin_token,
        ..
    } = check_config(&config)?;
    check_token_requirement(admin_listen, admin_token.is_some())?;
    let settings = config.settings();
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
            tls::CERTIFICATE | tls::PRIVATE_KEY => !is_tls_switched,
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
        .get(tls::CERTIFICATE)
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
mod tests;
