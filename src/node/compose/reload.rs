//! Reload of the configuration on `SIGHUP`.
//!
//! All layers of the configuration, the certificate, and the token are read again and checked. If
//! one of them is invalid, nothing changes. Otherwise the node applies changed settings, and logs
//! the names of those that need a restart ([`Applies`]).
//!
//! A file that is read while it is written may end early and still be valid TOML. So a reload does
//! not take the absence of a line for a decision to remove the token or the filter rules; see
//! [`check_removals`].

use super::{
    admin_token::AdminExposure,
    checked_config::{CheckedConfig, check_config},
    error::RunError,
    tls::{LoadedCertificates, TlsSettings},
};
use crate::{
    access::{Gate, Token, warn_if_key_is_exposed},
    admin::{Certificates, ReloadGuard},
    config::{Applies, Config, ConfigError, ConfigOptions, Origin, Setting, Value, shortened},
    service_manager,
    signals::ReloadSignal,
    tunable::RunTimeSettings,
};
use ledger_http::{CertificateHolder, LoadedCertificate};
use std::{
    mem,
    path::{Path, PathBuf},
    pin::pin,
    thread,
};
use tokio::{sync::oneshot, task::JoinHandle};

const TOKEN_FILE: &str = "admin.token_file";
const FILTER_RULES: &str = "filter.rules";

/// Keys of the settings that protect the node, which [`check_removals`] checks.
///
/// The settings of TLS are not among them, because only a restart removes TLS.
const PROTECTIVE: [&str; 2] = [TOKEN_FILE, FILTER_RULES];

/// Name of the thread that reads the files.
const THREAD: &str = "config-reload";

/// The parts of a running node that a reload changes.
#[derive(Debug)]
pub struct ReloadTargets {
    /// The configuration that the node runs with, and its run-time settings.
    pub settings: RunTimeSettings,
    /// Certificates of the listeners that serve TLS, and the lock of their reloads.
    pub certificates: Certificates,
    /// The requests that the admin listener serves, for its token.
    pub admin_gate: Gate,
}

/// A task that reloads the configuration on each signal, until this is dropped.
#[derive(Debug)]
pub struct ReloadTask(JoinHandle<()>);

impl ReloadTask {
    /// Starts the task on the current actix system.
    ///
    /// `options` name the layers of the configuration that the node runs with.
    pub fn start(
        mut signal: ReloadSignal,
        mut options: ConfigOptions,
        targets: ReloadTargets,
    ) -> Self {
        // A pipe is empty after the start, and an empty file is a valid configuration.
        options.regular_files_only = true;
        let reloader = Reloader { options, targets };
        Self(actix_web::rt::spawn(async move {
            reload_on_each(
                async || signal.next().await,
                async || reloader.reload().await,
            )
            .await;
        }))
    }
}

/// A task that reverts changes which are not confirmed in time, until this is dropped.
#[derive(Debug)]
pub struct RevertTask(JoinHandle<()>);

impl RevertTask {
    /// Starts the task on the current actix system.
    pub fn start(settings: RunTimeSettings) -> Self {
        Self(actix_web::rt::spawn(async move {
            settings.revert_unconfirmed().await;
        }))
    }
}

impl Drop for RevertTask {
    fn drop(&mut self) {
        self.0.abort();
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

/// The layers of the configuration, and the parts to which a reload applies changes.
struct Reloader {
    options: ConfigOptions,
    targets: ReloadTargets,
}

/// A valid configuration with the content of the files that it names.
struct Loaded {
    config: Config,
    certificates: LoadedCertificates,
    admin_token: Option<Token>,
}

impl Reloader {
    /// Reads and checks everything, then applies it.
    async fn reload(&self) {
        let guard = self.targets.certificates.lock.acquire().await;
        service_manager::report_reload();
        match self.load(guard).await {
            Ok((loaded, _guard)) => self.apply(loaded),
            Err(error) => tracing::error!(
                %error,
                "SIGHUP: the configuration is invalid and nothing was changed"
            ),
        }
        service_manager::report_reloaded();
    }

    /// Reads and checks everything on a thread of its own, because a file system may hang. The
    /// thread holds the lock, also if the node stops meanwhile.
    async fn load(&self, guard: ReloadGuard) -> Result<(Loaded, ReloadGuard), RunError> {
        let (options, running) = (self.options.clone(), self.targets.settings.config());
        let (sender, loaded) = oneshot::channel();
        thread::Builder::new()
            .name(THREAD.to_owned())
            .spawn(move || {
                let loaded = load(&options, &running);
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
    fn apply(&self, loaded: Loaded) {
        let settings = &self.targets.settings;
        let changes = Changes::between(&settings.config(), &loaded.config);
        // First, because a changed log level may hide it.
        if !changes.needs_restart.is_empty() {
            tracing::warn!(
                settings = %changes.needs_restart.join(", "),
                "changed settings that need a restart"
            );
        }
        let Certificates {
            api,
            admin,
            lock: _,
        } = &self.targets.certificates;
        replace_certificate(TlsSettings::API, api.as_ref(), loaded.certificates.api);
        replace_certificate(
            TlsSettings::ADMIN,
            admin.as_ref(),
            loaded.certificates.admin,
        );
        let mut reloaded = changes.reloaded.iter();
        let has_new_token_file = reloaded.any(|change| change.key == TOKEN_FILE);
        let has_new_token = self.targets.admin_gate.replace_token(loaded.admin_token);
        if has_new_token && !has_new_token_file {
            let path = loaded.config.settings().admin.token_file.as_deref();
            tracing::info!(path = %path.unwrap_or(Path::new("")).display(), "admin token changed");
        }
        for change in &changes.reloaded {
            change.log();
        }
        let needs_restart = |setting: &Setting| changes.needs_restart.contains(&setting.key);
        settings.reload(&loaded.config, needs_restart);
        tracing::info!("SIGHUP: the configuration was reloaded");
    }
}

/// Replaces the certificate of a listener if it serves TLS and still has one.
fn replace_certificate(
    tls: TlsSettings,
    holder: Option<&CertificateHolder>,
    certificate: Option<LoadedCertificate>,
) {
    let (Some(holder), Some(certificate)) = (holder, certificate) else {
        return;
    };
    warn_if_key_is_exposed(tls.private_key, &certificate);
    if certificate.fingerprint() != holder.current().fingerprint() {
        tracing::info!(
            setting = tls.certificate,
            fingerprint_sha256 = certificate.fingerprint(),
            "TLS certificate changed"
        );
    }
    holder.replace(certificate);
}

/// Reads and checks all layers of the configuration and the files that it names.
///
/// # Errors
///
/// Returns the first error, in the order of a start. Returns [`ConfigError::Contradiction`] if the
/// running admin listener can be reached from other machines and would lose its token, and as
/// [`check_removals`] does.
fn load(options: &ConfigOptions, running: &Config) -> Result<Loaded, ConfigError> {
    let config = Config::load(options, std::env::vars_os())?;
    check_removals(&options.files, running, &config)?;
    let CheckedConfig {
        certificates,
        admin_token,
        ..
    } = check_config(&config)?;
    AdminExposure::new(running.settings()).check_token(admin_token.is_some())?;
    Ok(Loaded {
        config,
        certificates,
        admin_token,
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
fn check_removals(files: &[PathBuf], running: &Config, loaded: &Config) -> Result<(), ConfigError> {
    // The position of a file. Layers above the files do not change while the node runs.
    let position = |path: &Path| files.iter().rposition(|file| file == path);
    for key in PROTECTIVE {
        let (Some((old, Origin::File(path, _))), Some((new, new_origin))) =
            (running.get(key), loaded.get(key))
        else {
            continue;
        };
        let new_position = match new_origin {
            Origin::Default | Origin::Preset(..) => None,
            Origin::File(path, _) => position(path),
            // The node replaces the file of kept settings as a whole.
            Origin::Override(..)
            | Origin::Environment(_)
            | Origin::Set
            | Origin::DataDir
            | Origin::InMemory => continue,
        };
        if old != new && new_position < position(path) {
            return Err(ConfigError::Contradiction(format!(
                "{key} is no longer set in {path}, which may be incomplete: set {key} = \"\" there \
                 to remove it, and replace the file by renaming a complete one",
                path = path.display()
            )));
        }
    }
    Ok(())
}

/// The differences between the running and a loaded configuration, except for run-time settings.
#[derive(Debug, PartialEq, Eq)]
struct Changes {
    /// Changes that the reload itself applies.
    reloaded: Vec<Change>,
    /// Keys of the settings that differ and need a restart.
    needs_restart: Vec<&'static str>,
}

/// A setting with its old and new value.
#[derive(Debug, PartialEq, Eq)]
struct Change {
    key: &'static str,
    old: Value,
    new: Value,
}

impl Changes {
    fn between(running: &Config, loaded: &Config) -> Self {
        let mut changes = Self {
            reloaded: Vec::new(),
            needs_restart: Vec::new(),
        };
        let is_switch = |key| {
            let of_key = TlsSettings::ALL.into_iter().find(|tls| tls.contain(key));
            let is_served = |tls: TlsSettings, config: &Config| tls.is_served(config.settings());
            of_key.is_some_and(|tls| is_served(tls, running) != is_served(tls, loaded))
        };
        for ((setting, old, _), (_, new, _)) in running.values().zip(loaded.values()) {
            if old == new {
                continue;
            }
            let key = setting.key;
            match setting.applies {
                Applies::Now => {}
                Applies::Reload if !is_switch(key) => changes.reloaded.push(Change {
                    key,
                    old: old.clone(),
                    new: new.clone(),
                }),
                Applies::Reload | Applies::Restart => changes.needs_restart.push(key),
            }
        }
        changes
    }
}

impl Change {
    fn log(&self) {
        tracing::info!(
            setting = self.key,
            old = %shortened(self.old.to_string()),
            new = %shortened(self.new.to_string()),
            "setting changed"
        );
    }
}

#[cfg(test)]
mod tests;
