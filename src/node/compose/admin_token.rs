//! The token of the admin listener, as configured.

use crate::{
    access::{SecretFileError, TOKEN_RECIPE, Token, TokenError},
    config::{ConfigError, Settings},
};

/// Reads the token that the admin listener requires, or returns `None` if none is configured.
///
/// # Errors
///
/// Returns [`ConfigError::Unreadable`] or [`ConfigError::Malformed`] if the file of
/// `admin.token_file` cannot be read, grants rights to others than its owner, or does not hold a
/// token. Returns [`ConfigError::Contradiction`] if there is no token and the listener can be
/// reached from other machines.
pub fn configured_token(settings: &Settings) -> Result<Option<Token>, ConfigError> {
    let admin = &settings.admin;
    let Some(path) = &admin.token_file else {
        if admin.listen.ip().is_loopback() {
            return Ok(None);
        }
        return Err(ConfigError::Contradiction(format!(
            "admin.listen = \"{}\" can be reached from other machines, and who reaches it can change the \
             node: listen on 127.0.0.1, or set admin.token_file to a file that holds a token, {TOKEN_RECIPE}",
            admin.listen
        )));
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
