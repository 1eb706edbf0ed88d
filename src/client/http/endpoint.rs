//! The address of a service, parsed from its URL.

use super::tls::{TlsHost, TrustedRoots};
use crate::ClientError;
use http::{Method, Uri, header::HOST, request};
use tokio_rustls::rustls::pki_types::ServerName;

/// The address of a service, and how its connections are secured.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// `HOST:PORT` of the connections.
    authority: String,
    /// `HOST` or `HOST:PORT`, as in the URL.
    host: String,
    /// The path of the URL without trailing slashes.
    path: String,
    /// The host to verify, or `None` for plain HTTP.
    pub(super) tls: Option<TlsHost>,
}

impl Endpoint {
    /// Parses a URL of the form `http://HOST:PORT` or `https://HOST:PORT`, which may have a path.
    ///
    /// The default ports are 80 and 443. Servers of `https://` URLs are verified with `roots`.
    ///
    /// # Errors
    ///
    /// Returns [`ClientError::InvalidUrl`] if `url` has another form, and [`ClientError::NoRoots`]
    /// if no root certificate is known for an `https://` URL.
    pub fn parse(url: &str, roots: &TrustedRoots) -> Result<Self, ClientError> {
        let invalid = |reason: String| ClientError::InvalidUrl {
            url: url.to_owned(),
            reason,
        };
        let uri: Uri = url
            .parse()
            .map_err(|error: http::uri::InvalidUri| invalid(error.to_string()))?;
        let (host, default_port, is_tls) = match (uri.scheme_str(), uri.host()) {
            (Some("http"), Some(host)) => (host, 80, false),
            (Some("https"), Some(host)) => (host, 443, true),
            _ => {
                return Err(invalid(
                    "expected http://HOST:PORT or https://HOST:PORT".to_owned(),
                ));
            }
        };
        let authority = uri.authority().map_or("", |authority| authority.as_str());
        if authority.contains('@') {
            return Err(invalid(
                "a user name or password is not supported".to_owned(),
            ));
        }
        // `Uri` accepts any text as a port.
        let port = match authority.strip_prefix(host) {
            Some("") => default_port,
            _ => uri
                .port_u16()
                .ok_or_else(|| invalid("the port is not a number up to 65535".to_owned()))?,
        };
        let tls = if is_tls {
            // An IPv6 address is in brackets.
            let name = host.trim_start_matches('[').trim_end_matches(']');
            let name = ServerName::try_from(name.to_owned())
                .map_err(|_| invalid(format!("{host} is not a host name")))?;
            Some(roots.host(name)?)
        } else {
            None
        };
        Ok(Self {
            authority: format!("{host}:{port}"),
            host: authority.to_owned(),
            path: uri.path().trim_end_matches('/').to_owned(),
            tls,
        })
    }

    /// Returns the address of a service without TLS at `authority`, which is `HOST:PORT`.
    pub fn plain(authority: String) -> Self {
        Self {
            host: authority.clone(),
            authority,
            path: String::new(),
            tls: None,
        }
    }

    /// Returns the `HOST:PORT` that connections are opened to.
    pub(super) fn authority(&self) -> &str {
        &self.authority
    }

    /// Returns the value of the `Host` header.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Begins a request for `path` at this service.
    pub fn request(&self, method: Method, path: &str) -> request::Builder {
        request::Builder::new()
            .method(method)
            .uri(path)
            .header(HOST, &self.host)
    }

    /// Returns the path of the URL, without trailing slashes.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Returns the URL of a path at this service.
    pub(super) fn url(&self, path: &str) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}{path}", self.host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Result<Endpoint, ClientError> {
        Endpoint::parse(url, &TrustedRoots::new(None).unwrap())
    }

    #[test]
    fn parses_host_port_and_path() {
        for (url, authority, host, path) in [
            ("http://a", "a:80", "a", ""),
            ("http://a:1", "a:1", "a:1", ""),
            ("HTTP://a/", "a:80", "a", ""),
            (
                "http://[::1]:8080/b/v1/",
                "[::1]:8080",
                "[::1]:8080",
                "/b/v1",
            ),
        ] {
            let endpoint = parse(url).unwrap();
            assert_eq!(endpoint.authority(), authority, "{url}");
            assert_eq!(endpoint.host(), host, "{url}");
            assert_eq!(endpoint.path(), path, "{url}");
            assert!(endpoint.tls.is_none(), "{url}");
        }
    }

    #[test]
    fn rejects_other_urls() {
        for url in [
            "",
            "a:1",
            "/v1",
            "ftp://a",
            "http://",
            "http://u:p@a",
            "http://a:x",
            "http://a:65536",
        ] {
            let error = parse(url).unwrap_err();
            assert!(
                matches!(error, ClientError::InvalidUrl { .. }),
                "{url}: {error}"
            );
        }
    }
}
