//! The token of the admin listener, as configured.

use crate::{
    access::{SecretFileError, TOKEN_RECIPE, Token, TokenError},
    config::{Config, ConfigError, Settings},
};
use std::net::SocketAddr;

/// The setting that names the file.
const SETTING: &str = "admin.token_file";

/// Reads the token that the admin listener requires, or returns `None` if none is configured.
///
/// # Errors
///
/// Returns [`ConfigError::BadValue`] if the file of `admin.token_file` cannot be read, grants
/// rights to others than its owner, or does not hold a token.
pub fn configured_token(config: &Config) -> Result<Option<Token>, ConfigError> {
    let Some(path) = &config.settings().admin.token_file else {
        return Ok(None);
    };
    let token = Token::read(path).map_err(|error| match error {
        TokenError::File(SecretFileError::Unreadable(source)) => {
            config.unreadable_file(SETTING, path, &source)
        }
        other => config.bad_file(SETTING, path, other.to_string()),
    })?;
    Ok(Some(token))
}

/// The machines that reach an admin listener.
#[derive(Clone, Copy, Debug)]
pub struct AdminExposure {
    listen: SocketAddr,
    is_behind_proxy: bool,
}

impl AdminExposure {
    /// Returns the exposure of the listener of these settings.
    pub fn new(settings: &Settings) -> Self {
        Self {
            listen: settings.admin.listen,
            is_behind_proxy: settings.admin.behind_proxy,
        }
    }

    /// Checks that a listener without a token accepts connections of this machine only.
    ///
    /// # Errors
    ///
    /// Returns [`ConfigError::Contradiction`] if there is no token and other machines reach the
    /// listener, directly or through a proxy.
    pub fn check_token(self, has_token: bool) -> Result<(), ConfigError> {
        let listen = self.listen;
        let reached = match (has_token, listen.ip().is_loopback(), self.is_behind_proxy) {
            (true, ..) | (false, true, false) => return Ok(()),
            (false, true, true) => "admin.behind_proxy = true: the listener".to_owned(),
            (false, false, _) => format!("admin.listen = \"{listen}\""),
        };
        Err(ConfigError::Contradiction(format!(
            "{reached} can be reached from other machines, and its clients can change the node: \
             listen on 127.0.0.1, or set admin.token_file to a file that holds a token, {TOKEN_RECIPE}"
        )))
    }
}
