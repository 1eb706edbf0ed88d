//! The token of the admin listener, as configured.

use crate::{
    access::{SecretFileError, TOKEN_RECIPE, Token, TokenError},
    config::{Config, ConfigError},
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

/// Checks that an admin listener without a token accepts connections of this machine only.
///
/// # Errors
///
/// Returns [`ConfigError::Contradiction`] if there is no token and `listen` can be reached from
/// other machines.
pub fn check_token_requirement(listen: SocketAddr, has_token: bool) -> Result<(), ConfigError> {
    if has_token || listen.ip().is_loopback() {
        return Ok(());
    }
    Err(ConfigError::Contradiction(format!(
        "admin.listen = \"{listen}\" can be reached from other machines, and its clients can change the \
         node: listen on 127.0.0.1, or set admin.token_file to a file that holds a token, {TOKEN_RECIPE}"
    )))
}
