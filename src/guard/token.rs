//! The operator's bearer token (RFC 6750), out of a file that nobody else can read.

use crate::config::{ConfigError, Settings};
use actix_web::http::header::{AUTHORIZATION, HeaderMap};
use std::{
    fmt,
    fs::File,
    io::{self, Read as _},
    os::unix::fs::PermissionsExt as _,
    path::Path,
};
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

/// The permission bits of everyone but a file's owner.
const GROUP_AND_OTHERS: u32 = 0o077;
/// The shortest token, in characters: 96 bits where each carries six.
const CHARS_MIN: usize = 16;
/// The largest file, in bytes: far more than a header could carry to no use.
const FILE_BYTES_MAX: u64 = 1024;
/// How a token is made, for messages.
const RECIPE: &str = "for example: (umask 077; openssl rand -base64 32 > FILE)";

/// A secret that a request must carry. `Debug` does not show it, and its memory is cleared.
#[derive(Clone)]
pub struct Token(Zeroizing<String>);

impl Token {
    /// Whether a request carries the token. The time that the comparison takes tells nothing but the
    /// token's length.
    pub fn is_in(&self, headers: &HeaderMap) -> bool {
        let mut values = headers.get_all(AUTHORIZATION);
        let (Some(value), None) = (values.next(), values.next()) else {
            return false;
        };
        let Some((scheme, given)) = value.to_str().ok().and_then(|text| text.split_once(' ')) else {
            return false;
        };
        scheme.eq_ignore_ascii_case("bearer") && given.trim().as_bytes().ct_eq(self.0.as_bytes()).into()
    }

    /// Reads a token out of the text of its file.
    fn of_text(text: &str) -> Result<Self, String> {
        let token = text.trim();
        if token.len() < CHARS_MIN {
            return Err(format!("a token has at least {CHARS_MIN} characters; {RECIPE}"));
        }
        let is_token_char = |c: char| c.is_ascii_alphanumeric() || "-._~+/=".contains(c);
        if !token.chars().all(is_token_char) {
            return Err(format!(
                "a token has one line of letters, digits and -._~+/=; {RECIPE}"
            ));
        }
        Ok(Self(Zeroizing::new(token.to_owned())))
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// The token of the operator's listener, where one is set.
///
/// # Errors
/// When the file cannot be read, can be read by others than its owner, or holds no token; and when the
/// listener can be reached from other machines without one.
pub fn configured_token(settings: &Settings) -> Result<Option<Token>, ConfigError> {
    let admin = &settings.admin;
    match &admin.token_file {
        Some(path) => read(path).map(Some),
        None if admin.listen.ip().is_loopback() => Ok(None),
        None => Err(ConfigError::Contradiction(format!(
            "admin.listen = \"{}\" can be reached from other machines, and who reaches it can change the \
             node: listen on 127.0.0.1, or set admin.token_file to a file that holds a token, {RECIPE}",
            admin.listen
        ))),
    }
}

/// Reads the file. Its text is in no error, for it is the secret.
fn read(path: &Path) -> Result<Token, ConfigError> {
    let unreadable = |source: io::Error| ConfigError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let malformed = |message: String| ConfigError::Malformed {
        path: path.to_owned(),
        message,
    };
    // Looked at once it is open, so that what is looked at is what is read.
    let file = File::open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    if !metadata.is_file() || metadata.len() > FILE_BYTES_MAX {
        return Err(malformed(format!(
            "admin.token_file is to be a file with nothing but a token; {RECIPE}"
        )));
    }
    let mode = metadata.permissions().mode();
    if mode & GROUP_AND_OTHERS != 0 {
        return Err(malformed(format!(
            "others than its owner may use the token of admin.token_file (mode {:o}); chmod 600 it, and \
             make a new one if others use this machine",
            mode & 0o777
        )));
    }
    // As large as the text can get, so that no copy is left where it had to grow.
    let mut text = Zeroizing::new(String::with_capacity(FILE_BYTES_MAX as usize));
    file.take(FILE_BYTES_MAX)
        .read_to_string(&mut text)
        .map_err(unreadable)?;
    Token::of_text(&text).map_err(malformed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::HeaderValue;

    const TEXT: &str = "Zm9yIHRlc3Rz+-._~/==";

    fn headers(values: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, HeaderValue::from_str(value).unwrap());
        }
        headers
    }

    #[test]
    fn a_request_carries_exactly_the_token() {
        let token = Token::of_text(&format!("{TEXT}\n")).unwrap();
        let (right, lower) = (format!("Bearer {TEXT}"), format!("bearer  {TEXT} "));
        for value in [&right, &lower] {
            assert!(token.is_in(&headers(&[value])), "{value}");
        }
        for values in [
            &[][..],
            &[TEXT],
            &["Bearer"],
            &["Bearer "],
            &[&format!("Basic {TEXT}")],
            &[&right[..right.len() - 1]],
            &[&format!("{right}=")],
            &[&right.to_lowercase()],
            &[&right, &right],
        ] {
            assert!(!token.is_in(&headers(values)), "{values:?}");
        }
    }

    #[test]
    fn neither_a_short_secret_nor_a_whole_file_is_a_token() {
        for text in [
            "",
            "\n",
            "secret",
            &TEXT[..CHARS_MIN - 1],
            "two lines of\ntext or more",
            "a b c d e f g h i",
        ] {
            let error = Token::of_text(text).unwrap_err();
            assert!(!error.contains("secret") && error.contains("openssl"), "{error}");
        }
    }

    #[test]
    fn debug_does_not_show_it() {
        let shown = format!("{:?}", Token::of_text(TEXT).unwrap());
        assert!(!shown.contains("Zm9y"), "{shown}");
    }
}
