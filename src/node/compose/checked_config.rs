//! The check of a configuration and of the files that it names, without the ledger.

use super::{
    admin_token::{AdminExposure, configured_token},
    genesis::{ConfiguredGenesis, configured_genesis},
    tls::{LoadedCertificates, TlsSettings},
};
use crate::{
    access::Token,
    config::{Config, ConfigError, SequencerSettings, Settings},
};

/// The content of the files that a valid configuration names.
#[derive(Debug)]
pub struct CheckedConfig {
    /// The genesis of the chain.
    pub genesis: ConfiguredGenesis,
    /// The certificates of the listeners.
    pub certificates: LoadedCertificates,
    /// The token that the admin listener requires, or `None` if it requires none.
    pub admin_token: Option<Token>,
}

/// The results of all checks of a configuration and of the files that it names.
#[derive(Debug)]
pub struct ConfigCheck {
    /// The genesis of the chain, if it can be used.
    pub genesis: Option<ConfiguredGenesis>,
    certificates: Option<LoadedCertificates>,
    admin_token: Option<Option<Token>>,
    /// All errors, in the order of a start.
    pub errors: Vec<ConfigError>,
}

impl ConfigCheck {
    /// Checks a configuration as a start does before it opens the ledger. Starts nothing and logs
    /// nothing.
    pub fn new(config: &Config) -> Self {
        let mut errors = settings_errors(config.settings());
        errors.extend(check_in_memory(config).err());
        let genesis = configured_genesis(config).map_err(|error| errors.push(error));
        let certificates = LoadedCertificates::load(config).map_err(|found| errors.extend(found));
        let admin_token = configured_token(config).map_err(|error| errors.push(error));
        Self {
            genesis: genesis.ok(),
            certificates: certificates.ok(),
            admin_token: admin_token.ok(),
            errors,
        }
    }
}

/// Checks a configuration as [`ConfigCheck`] does.
///
/// # Errors
///
/// Returns the first error: those of [`check_settings`], then [`ConfigError::Contradiction`] if a
/// setting contradicts a ledger in memory or the genesis or a private key is not that of its certificate, and
/// [`ConfigError::BadValue`] if a setting names a file that cannot be read or used.
///
/// # Panics
///
/// Panics if a check has neither a result nor an error.
pub fn check_config(config: &Config) -> Result<CheckedConfig, ConfigError> {
    let check = ConfigCheck::new(config);
    match check.errors.into_iter().next() {
        Some(error) => Err(error),
        None => Ok(CheckedConfig {
            genesis: check.genesis.expect("no error is that of the genesis"),
            certificates: check.certificates.expect("nor of a certificate"),
            admin_token: check.admin_token.expect("nor of the token"),
        }),
    }
}

/// Checks the settings against each other, without the files that they name.
///
/// # Errors
///
/// Returns [`ConfigError::Contradiction`] if nothing keeps `pruner.window_bytes`, if only one file
/// of TLS is set, or if the admin listener can be reached from other machines without a token,
/// directly or through a proxy.
pub fn check_settings(settings: &Settings) -> Result<(), ConfigError> {
    match settings_errors(settings).into_iter().next() {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// Returns the errors of [`check_settings`].
fn settings_errors(settings: &Settings) -> Vec<ConfigError> {
    let pairs = TlsSettings::ALL.map(|tls| tls.check_pair(settings));
    let has_token = settings.admin.token_file.is_some();
    let checks = [check_limit(settings)].into_iter().chain(pairs);
    let checks = checks.chain([AdminExposure::new(settings).check_token(has_token)]);
    checks.filter_map(Result::err).collect()
}

/// Checks that no setting that needs a directory contradicts a ledger in memory, and none that
/// needs a ledger in memory one in a directory.
fn check_in_memory(config: &Config) -> Result<(), ConfigError> {
    let settings = config.settings();
    let message = match settings.storage.in_memory {
        true if config.is_set("storage.data_dir") => {
            "storage.in_memory = true, but storage.data_dir is set: a ledger is in memory or in a \
             directory"
        }
        true if settings.sequencer.mode != SequencerSettings::default().mode => {
            "storage.in_memory = true, but sequencer.mode = bft: a validator must not forget what \
             it has signed"
        }
        false if settings.chain.start_secs > 0 => {
            "chain.start_secs is set, but storage.in_memory = false: the blocks of a later start \
             would be older than those of the ledger; set storage.in_memory = true, or \
             chain.start_secs = 0"
        }
        _ => return Ok(()),
    };
    Err(ConfigError::Contradiction(message.to_owned()))
}

/// Checks that `pruner.window_bytes` can be kept.
fn check_limit(settings: &Settings) -> Result<(), ConfigError> {
    let pruner = &settings.node.pruner;
    if pruner.window_bytes == 0 || pruner.enabled {
        return Ok(());
    }
    Err(ConfigError::Contradiction(format!(
        "pruner.window_bytes = {}, but pruner.enabled = false, so that nothing keeps the limit; \
         enable the pruner, or set the limit to 0",
        pruner.window_bytes
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{ConfigOptions, Kind, SETTINGS};
    use ledger_test_support::http::TestCertificate;
    use std::fs;

    /// Checks the configuration of these settings, and returns the message of its error.
    fn rejection(assignments: &[String]) -> Option<String> {
        let options = ConfigOptions {
            assignments: assignments.to_vec(),
            ..ConfigOptions::default()
        };
        let checked = check_config(&Config::load(&options, []).unwrap());
        checked.err().map(|error| error.to_string())
    }

    #[test]
    fn rejects_as_many_blocks_in_flight_as_the_delay_of_roots() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("genesis.toml");
        fs::write(
            &file,
            "chain_id = 7\naccounts = []\n[parameters]\nroot_delay_blocks = 3\n",
        )
        .unwrap();
        let genesis = format!("chain.genesis={}", file.display());
        let with_blocks = |blocks: u64| format!("sequencer.blocks_in_flight_max={blocks}");
        for (settings, delay_blocks) in [(vec![genesis], 3), (vec![], 8)] {
            let rejection = |blocks| rejection(&[&settings[..], &[with_blocks(blocks)]].concat());
            assert_eq!(rejection(delay_blocks - 1), None);
            for blocks in [delay_blocks, delay_blocks + 1] {
                let message = rejection(blocks).unwrap();
                for part in [
                    format!("sequencer.blocks_in_flight_max = {blocks}"),
                    format!("root_delay_blocks = {delay_blocks}"),
                    format!("set sequencer.blocks_in_flight_max to {}", delay_blocks - 1),
                ] {
                    assert!(message.contains(&part), "{part:?} is not in {message:?}");
                }
            }
        }
    }

    #[test]
    fn names_the_setting_of_each_file_that_cannot_be_used() {
        let directory = tempfile::tempdir().unwrap();
        let text = directory.path().join("text");
        fs::write(&text, "neither TOML nor PEM").unwrap();
        let files = TestCertificate::new();
        // A file of TLS needs the other one.
        let tls = [
            format!("api.tls_certificate={}", files.certificate_file().display()),
            format!("api.tls_private_key={}", files.key_file().display()),
            format!(
                "admin.tls_certificate={}",
                files.certificate_file().display()
            ),
            format!("admin.tls_private_key={}", files.key_file().display()),
        ];
        assert_eq!(rejection(&tls), None);
        // A node that orders alone does not read the directory of a node of several.
        let named = SETTINGS.iter().filter(|setting| {
            matches!(setting.kind, Kind::OptionalPath) && setting.key != "consensus.directory"
        });
        for setting in named {
            for path in ["/nowhere", text.to_str().unwrap()] {
                let key = setting.key;
                let mut assignments = tls.to_vec();
                assignments.push(format!("{key}={path}"));
                let message = rejection(&assignments).unwrap_or_default();
                let start = format!("{key} = \"{path}\" (--set): ");
                assert!(message.starts_with(&start), "{key} = {path}: {message:?}");
            }
        }
    }
}
