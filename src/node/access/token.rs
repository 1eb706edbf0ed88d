//! The operator's bearer token (RFC 6750), out of a file that nobody else can read.

use super::secret_file::{SecretFileError, read_secret_file};
use crate::config::{ConfigError, Settings};
use actix_web::http::header::{AUTHORIZATION, HeaderMap};
use std::{fmt, path::Path};
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

/// The shortest token, in characters: 96 bits where each carries six.
const CHARS_MIN: usize = 16;
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
        let Some((scheme, given)) = value.to_str().ok().and_then(|text| text.split_once(' '))
        else {
            return false;
        };
        scheme.eq_ignore_ascii_case("bearer")
            && given.trim().as_bytes().ct_eq(self.0.as_bytes()).into()
    }

    /// Reads a token out of the text of its file.
    fn of_text(text: &str) -> Result<Self, String> {
        let token = text.trim();
        if token.len() < CHARS_MIN {
            return Err(format!(
                "a token has at least {CHARS_MIN} characters; {RECIPE}"
            ));
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

fn read(path: &Path) -> Result<Token, ConfigError> {
    let malformed = |message: String| ConfigError::Malformed {
        path: path.to_owned(),
        message: format!("admin.token_file: {message}"),
    };
    let text = read_secret_file(path).map_err(|error| match error {
        SecretFileError::Unreadable(source) => ConfigError::Unreadable {
            path: path.to_owned(),
            source,
        },
        other => malformed(other.to_string()),
    })?;
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
            assert!(
                !error.contains("secret") && error.contains("openssl"),
                "{error}"
            );
        }
    }

    #[test]
    fn debug_does_not_show_it() {
        let shown = format!("{:?}", Token::of_text(TEXT).unwrap());
        assert!(!shown.contains("Zm9y"), "{shown}");
    }
}
