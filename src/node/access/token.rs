//! The bearer token of the admin listener (RFC 6750).

use super::secret_file::{SecretFileError, read_secret_file};
use actix_web::http::header::{AUTHORIZATION, HeaderMap};
use ledger_limits::open_regular_file;
use std::{fmt, path::Path};
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

/// Minimum length of a token, in characters: 96 bits at six bits each.
const CHARS_MIN: usize = 16;
/// Command that creates a token file, for messages.
pub const TOKEN_RECIPE: &str = "for example: (umask 077; openssl rand -base64 32 > FILE)";

/// A secret that requests must carry.
///
/// `Debug` does not print it, and its memory is cleared when it is dropped.
#[derive(Clone)]
pub struct Token(Zeroizing<String>);

impl Token {
    /// Returns the token, for the requests of a client.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns whether a request with these headers carries the token.
    ///
    /// The duration of the comparison reveals only the length of the token.
    pub(super) fn is_in(&self, headers: &HeaderMap) -> bool {
        let mut values = headers.get_all(AUTHORIZATION);
        let (Some(value), None) = (values.next(), values.next()) else {
            return false;
        };
        let Some((scheme, given)) = value.to_str().ok().and_then(|text| text.split_once(' '))
        else {
            return false;
        };
        scheme.eq_ignore_ascii_case("bearer") && self.is(given.trim())
    }

    /// Compares a text with the token, in a time that reveals only the length of the token.
    pub(super) fn is(&self, given: &str) -> bool {
        given.as_bytes().ct_eq(self.0.as_bytes()).into()
    }

    /// Compares two tokens, in a time that reveals only their lengths.
    pub(super) fn is_other_than(&self, other: &Self) -> bool {
        bool::from(self.0.as_bytes().ct_ne(other.0.as_bytes()))
    }

    /// Reads a token from a regular file that only its owner can access.
    ///
    /// # Errors
    ///
    /// Returns [`TokenError::File`] if the file cannot be read, is not a regular file, or grants
    /// rights to others than its owner, and [`TokenError::Malformed`] if it does not hold a token.
    pub fn read(path: &Path) -> Result<Self, TokenError> {
        let file = open_regular_file(path).map_err(SecretFileError::from)?;
        Self::parse(&read_secret_file(file)?)
    }

    /// Parses the text of a token file.
    pub(super) fn parse(text: &str) -> Result<Self, TokenError> {
        let token = text.trim();
        if token.len() < CHARS_MIN {
            return Err(TokenError::Malformed(format!(
                "a token has at least {CHARS_MIN} characters; {TOKEN_RECIPE}"
            )));
        }
        let is_token_char = |c: char| c.is_ascii_alphanumeric() || "-._~+/=".contains(c);
        if !token.chars().all(is_token_char) {
            return Err(TokenError::Malformed(format!(
                "a token has one line of letters, digits and -._~+/=; {TOKEN_RECIPE}"
            )));
        }
        Ok(Self(Zeroizing::new(token.to_owned())))
    }
}

/// Reasons why a token file is rejected. No message repeats the content of the file.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The file cannot be used.
    #[error(transparent)]
    File(#[from] SecretFileError),
    /// The content of the file is not a token.
    #[error("{0}")]
    Malformed(String),
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::HeaderValue;
    use std::{
        io::{self, Write as _},
        os::fd::AsRawFd as _,
    };

    const TEXT: &str = "Zm9yIHRlc3Rz+-._~/==";

    fn headers(values: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, HeaderValue::from_str(value).unwrap());
        }
        headers
    }

    #[test]
    fn accepts_only_the_exact_token() {
        let token = Token::parse(&format!("{TEXT}\n")).unwrap();
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
    fn rejects_short_secrets_and_texts_of_several_words() {
        for text in [
            "",
            "\n",
            "secret",
            &TEXT[..CHARS_MIN - 1],
            "two lines of\ntext or more",
            "a b c d e f g h i",
        ] {
            let error = Token::parse(text).unwrap_err().to_string();
            assert!(
                !error.contains("secret") && error.contains("openssl"),
                "{error}"
            );
        }
    }

    #[test]
    fn reads_only_regular_files() {
        let (reader, mut writer) = io::pipe().unwrap();
        writer.write_all(TEXT.as_bytes()).unwrap();
        drop(writer);
        let path = format!("/dev/fd/{}", reader.as_raw_fd());
        let error = Token::read(Path::new(&path)).unwrap_err().to_string();
        assert!(error.contains("not a regular file"), "{error}");
    }

    #[test]
    fn omits_the_token_from_debug_output() {
        let shown = format!("{:?}", Token::parse(TEXT).unwrap());
        assert!(!shown.contains("Zm9y"), "{shown}");
    }
}
