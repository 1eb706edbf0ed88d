//! Where the node is.

use crate::commands::Failure;
use http::Uri;

/// Where the node is.
#[derive(Debug, Clone)]
pub struct Target {
    /// `HOST:PORT`, to connect to and for the `Host` header.
    authority: String,
}

impl Target {
    /// Reads `http://HOST:PORT`.
    ///
    /// # Errors
    /// When it is something else.
    pub fn parse(url: &str) -> Result<Self, Failure> {
        let uri: Uri = url
            .parse()
            .map_err(|error| Failure::fatal(format!("--url {url}"), &error))?;
        match (uri.scheme_str(), uri.host()) {
            (Some("http"), Some(host)) => Ok(Self {
                authority: format!("{host}:{}", uri.port_u16().unwrap_or(80)),
            }),
            _ => Err(Failure::Fatal(format!(
                "--url {url}: expected http://HOST:PORT"
            ))),
        }
    }

    /// `HOST:PORT`.
    pub fn authority(&self) -> &str {
        &self.authority
    }
}
