//! TLS of the listeners, from the files that the settings name.

use crate::config::{Config, ConfigError, Settings};
use ledger_http::{CertificateFiles, LoadedCertificate, ServerTlsError, TlsFile};
use std::path::PathBuf;

/// The settings of TLS of a listener.
#[derive(Clone, Copy, Debug)]
pub struct TlsSettings {
    /// The setting of the certificate chain.
    pub certificate: &'static str,
    /// The setting of its private key.
    pub private_key: &'static str,
    /// Returns the values of both settings.
    paths: fn(&Settings) -> Paths<'_>,
}

/// The values of both settings.
#[derive(Clone, Copy, Debug)]
struct Paths<'a> {
    certificate: Option<&'a PathBuf>,
    private_key: Option<&'a PathBuf>,
}

impl TlsSettings {
    /// The settings of the API listener.
    pub const API: Self = Self {
        certificate: "api.tls_certificate",
        private_key: "api.tls_private_key",
        paths: |settings| Paths {
            certificate: settings.api_listener.tls_certificate.as_ref(),
            private_key: settings.api_listener.tls_private_key.as_ref(),
        },
    };
    /// The settings of the admin listener.
    pub const ADMIN: Self = Self {
        certificate: "admin.tls_certificate",
        private_key: "admin.tls_private_key",
        paths: |settings| Paths {
            certificate: settings.admin.tls_certificate.as_ref(),
            private_key: settings.admin.tls_private_key.as_ref(),
        },
    };
    /// The settings of all listeners.
    pub const ALL: [Self; 2] = [Self::API, Self::ADMIN];

    /// Returns whether this is a setting of the listener.
    pub fn contain(&self, key: &str) -> bool {
        [self.certificate, self.private_key].contains(&key)
    }

    /// Returns whether the listener serves TLS, which only a restart changes.
    pub fn is_served(&self, settings: &Settings) -> bool {
        (self.paths)(settings).certificate.is_some()
    }

    /// Checks that both files are set, or none.
    ///
    /// # Errors
    ///
    /// Returns [`ConfigError::Contradiction`] if only one of them is set.
    pub fn check_pair(&self, settings: &Settings) -> Result<(), ConfigError> {
        let paths = (self.paths)(settings);
        let (set, missing) = match (paths.certificate, paths.private_key) {
            (Some(_), None) => (self.certificate, self.private_key),
            (None, Some(_)) => (self.private_key, self.certificate),
            (None, None) | (Some(_), Some(_)) => return Ok(()),
        };
        Err(ConfigError::Contradiction(format!(
            "{set} is set and {missing} is not; TLS needs both, plain HTTP neither"
        )))
    }

    /// Reads the certificate of the listener, or returns `None` unless both files are set.
    ///
    /// # Errors
    ///
    /// Returns [`ConfigError::BadValue`] for each file that cannot be read or is not a PEM file of
    /// its kind, or [`ConfigError::Contradiction`] if the key is not that of the certificate.
    pub fn load(&self, config: &Config) -> Result<Option<LoadedCertificate>, Vec<ConfigError>> {
        let paths = (self.paths)(config.settings());
        let (Some(certificate), Some(private_key)) = (paths.certificate, paths.private_key) else {
            return Ok(None);
        };
        let files = CertificateFiles {
            certificate: certificate.clone(),
            private_key: private_key.clone(),
        };
        let loaded = files
            .load()
            .map_err(|error| self.config_errors(config, error))?;
        Ok(Some(loaded))
    }

    /// Returns the errors of files that the settings name.
    fn config_errors(&self, config: &Config, error: ServerTlsError) -> Vec<ConfigError> {
        let setting = |file| match file {
            TlsFile::Certificate => self.certificate,
            TlsFile::PrivateKey => self.private_key,
        };
        let error = match error {
            ServerTlsError::Both {
                certificate,
                private_key,
            } => {
                let mut errors = self.config_errors(config, *certificate);
                errors.extend(self.config_errors(config, *private_key));
                return errors;
            }
            ServerTlsError::Unreadable { file, path, source } => {
                config.unreadable_file(setting(file), &path, &source)
            }
            ServerTlsError::Malformed {
                file,
                path,
                message,
            } => config.bad_file(setting(file), &path, message),
            ServerTlsError::Unusable {
                certificate,
                private_key,
                source,
            } => ConfigError::Contradiction(format!(
                "{} = {} and {} = {} cannot be used together: {source}",
                self.certificate,
                certificate.display(),
                self.private_key,
                private_key.display()
            )),
        };
        vec![error]
    }
}

/// The certificates of the listeners, as read from their files. `None` means plain HTTP.
#[derive(Debug)]
pub struct LoadedCertificates {
    /// That of the API listener.
    pub api: Option<LoadedCertificate>,
    /// That of the admin listener.
    pub admin: Option<LoadedCertificate>,
}

impl LoadedCertificates {
    /// Reads the certificates that the settings name.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`TlsSettings::load`] for all listeners.
    pub fn load(config: &Config) -> Result<Self, Vec<ConfigError>> {
        let (api, admin) = (
            TlsSettings::API.load(config),
            TlsSettings::ADMIN.load(config),
        );
        match (api, admin) {
            (Ok(api), Ok(admin)) => Ok(Self { api, admin }),
            (api, admin) => Err([api.err(), admin.err()]
                .into_iter()
                .flatten()
                .flatten()
                .collect()),
        }
    }
}
