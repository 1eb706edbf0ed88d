//! The token of the admin listener, as configured.

use crate::{
    access::{SecretFileError, TOKEN_RECIPE, Token, TokenError},
    config::{ConfigError, Settings},
};
use std::net::SocketAddr;

/// Reads the token that the admin listener requires, or returns `None` if none is configured.
///
/// # Errors
///
/// Returns [`ConfigError::Unreadable`] or [`ConfigError::Malformed`] if the file of
/// `admin.token_file` cannot be read, grants rights to others than its owner, or does not hold a
/// token. Returns [`ConfigError::Contradiction`] as [`check_token_requirement`] does.
pub fn configured_token(settings: &Settings) -> Result<Option<Token>, ConfigError> {
    let admin = &settings.admin;
    let Some(path) = &admin.token_file else {
        check_token_requirement(admin.listen, None)?;
        return Ok(None);
    };
    let token = Token::read(path).map_err(|error| match error {
        TokenError::File(SecretFileError::Unreadable(source)) => ConfigError::Unreadable {
            path: path.clone(),
            source,
        },
        other => ConfigError::Malformed {
            path: path.clone(),
            message: format!("admin.token_file: {other}"),
        },
    })?;
    Ok(Some(token))
}

/// Checks that an admin listener without a token accepts connections of this machine only.
///
/// # Errors
///
/// Returns [`ConfigError::Contradiction`] if there is no token and `listen` can be reached from
/// other machines.
pub fn check_token_requirement(
    listen: SocketAddr,
    token: Option<&Token>,
) -> Result<(), ConfigError> {
    if token.is_some() || listen.ip().is_loopback() {
        return Ok(());
    }
    Err(ConfigError::Contradiction(format!(
        "admin.listen = \"{listen}\" can be reached from other machines, and its clients can change the \
         node: listen on 127.0.0.1, or set admin.token_file to a file that holds a token, {TOKEN_RECIPE}"
    )))
}
