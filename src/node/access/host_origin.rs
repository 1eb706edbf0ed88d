//! The `Host` and `Origin` headers that a listener accepts.
//!
//! A foreign web page can make a browser send requests to this machine, also under a host name of
//! its own that resolves to this machine (DNS rebinding). Such requests have the foreign name in
//! `Host` or `Origin`, which a page cannot change. Programs other than browsers send no `Origin`
//! and are accepted.

use super::{
    authority::{Host, authority_of, host_of, is_localhost, is_name},
    origins::Origins,
};
use actix_web::http::header::{HOST, HeaderMap, HeaderName, ORIGIN};
use std::{fmt, str::FromStr};

/// The `Host` and `Origin` headers that a listener accepts.
#[derive(Clone, Debug)]
pub struct HostOriginPolicy {
    /// Section of the settings `hosts` and `origins`, for messages.
    pub section: &'static str,
    /// Names of the listener, beside `localhost` and IP addresses.
    pub hosts: HostNames,
    /// Origins of web pages that may send requests.
    pub origins: AllowedOrigins,
}

/// Origins of web pages that may send requests to a listener.
#[derive(Clone, Debug)]
pub enum AllowedOrigins {
    /// The origin of the listener itself.
    SameOrigin,
    /// The origin of the listener, all origins of this machine on any port, and the listed ones.
    LocalhostAnd(Origins),
}

impl HostOriginPolicy {
    /// Checks the headers of a request. `authority` is that of its target, which HTTP/2 has instead
    /// of `Host`.
    ///
    /// # Errors
    ///
    /// Returns the reason for the rejection, with the setting that would accept the request.
    pub fn check(&self, authority: Option<&str>, headers: &HeaderMap) -> Result<(), String> {
        let section = self.section;
        let host = match headers.contains_key(HOST) {
            true => only(headers, &HOST),
            false => authority,
        };
        let host = host.filter(|host| self.is_own(host));
        let Some(host) = host else {
            return Err(format!(
                "the Host header is neither localhost, an IP address, nor listed in {section}.hosts"
            ));
        };
        if !headers.contains_key(ORIGIN) {
            return Ok(());
        }
        let origin = only(headers, &ORIGIN).unwrap_or_default();
        match &self.origins {
            _ if authority_of(origin).is_some_and(|own| own.eq_ignore_ascii_case(host)) => Ok(()),
            AllowedOrigins::SameOrigin => {
                Err("the Origin header is not the origin of this listener".to_owned())
            }
            AllowedOrigins::LocalhostAnd(origins)
                if is_of_this_machine(origin) || origins.allow(origin) =>
            {
                Ok(())
            }
            AllowedOrigins::LocalhostAnd(_) => Err(format!(
                "the Origin header is neither an origin of this machine nor listed in {section}.origins"
            )),
        }
    }

    /// Returns whether `HOST` or `HOST:PORT` names this listener.
    ///
    /// Every IP address does. A foreign page cannot have one as its host: its browser would load
    /// the page from that address.
    fn is_own(&self, authority: &str) -> bool {
        match host_of(authority) {
            Some(Host::Ip(_)) => true,
            Some(Host::Name(name)) => is_localhost(name) || self.hosts.contain(name),
            None => false,
        }
    }
}

/// Returns the value of a header, or `None` if the header is absent, repeated, or not ASCII.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name);
    let first = values.next()?;
    match values.next() {
        None => first.to_str().ok(),
        Some(_) => None,
    }
}

/// Returns whether `origin` is served by the machine of its browser.
fn is_of_this_machine(origin: &str) -> bool {
    match authority_of(origin).and_then(host_of) {
        Some(Host::Ip(ip)) => ip.is_loopback(),
        Some(Host::Name(name)) => is_localhost(name),
        None => false,
    }
}

/// Host names of a listener: `admin.hosts`, `faucet.hosts`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostNames(Vec<String>);

impl HostNames {
    /// Maximum number of names. Each is compared with the host of every request.
    pub const COUNT_MAX: usize = 100;

    fn contain(&self, name: &str) -> bool {
        self.0
            .iter()
            .any(|listed| listed.eq_ignore_ascii_case(name))
    }
}

/// Parses a list of names, separated by commas.
impl FromStr for HostNames {
    type Err = NoHostNames;

    fn from_str(text: &str) -> Result<Self, NoHostNames> {
        let parts = text.split(',').map(str::trim).filter(|_| !text.is_empty());
        let names: Vec<_> = parts.map(str::to_owned).collect();
        if names.len() <= Self::COUNT_MAX && names.iter().all(|name| is_name(name)) {
            Ok(Self(names))
        } else {
            Err(NoHostNames)
        }
    }
}

/// Writes the names separated by commas.
impl fmt::Display for HostNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(","))
    }
}

/// The text is not a list of host names.
#[derive(Debug, PartialEq, Eq)]
pub struct NoHostNames;

/// Describes the accepted texts.
impl fmt::Display for NoHostNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "up to {} host names without ports, separated by commas, or \"\" for none",
            HostNames::COUNT_MAX
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{super::authority::NAME_BYTES_MAX, *};
    use actix_web::http::header::HeaderValue;
    use proptest::prelude::*;

    fn policy(hosts: &str, origins: AllowedOrigins) -> HostOriginPolicy {
        HostOriginPolicy {
            section: "admin",
            hosts: hosts.parse().unwrap(),
            origins,
        }
    }

    fn headers(pairs: &[(HeaderName, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(name.clone(), HeaderValue::from_str(value).unwrap());
        }
        headers
    }

    #[test]
    fn accepts_only_names_of_this_machine_and_listed_hosts() {
        let policy = policy("node.example, ledger_node", AllowedOrigins::SameOrigin);
        for own in [
            "localhost",
            "LOCALHOST:9101",
            "a.localhost",
            "127.0.0.1",
            "127.0.0.1:1",
            "[::1]",
            "[::1]:9101",
            "10.0.0.7:80",
            "NODE.example:443",
            "ledger_node:9101",
        ] {
            assert!(policy.is_own(own), "{own}");
        }
        for foreign in [
            "",
            ":9101",
            "example.org",
            "localhost.example.org",
            "notlocalhost",
            "127.0.0.1.example.org",
            "10.0.0.7.example.org:9101",
            "a.node.example",
            "localhost@example.org",
            "localhost:",
            "localhost:+1",
            "localhost:65536",
            "[::1",
            "[::1]9101",
            "::1",
        ] {
            assert!(!policy.is_own(foreign), "{foreign}");
        }
    }

    #[test]
    fn accepts_the_origin_of_exactly_the_listeners_host() {
        let policy = policy("", AllowedOrigins::SameOrigin);
        let check = |origin: &str| {
            let pairs = [(HOST, "localhost:9101"), (ORIGIN, origin)];
            policy.check(None, &headers(&pairs)).is_ok()
        };
        for own in ["http://localhost:9101", "https://LOCALHOST:9101"] {
            assert!(check(own), "{own}");
        }
        for foreign in [
            "",
            "null",
            "localhost:9101",
            "://localhost:9101",
            "ftp://localhost:9101",
            "http://localhost",
            "http://localhost:3000",
            "http://localhost:9101/",
            "http://127.0.0.1:9101",
        ] {
            assert!(!check(foreign), "{foreign}");
        }
    }

    #[test]
    fn accepts_origins_of_this_machine_on_any_port() {
        let policy = policy(
            "",
            AllowedOrigins::LocalhostAnd("https://wallet.example".parse().unwrap()),
        );
        let check = |origin: &str| {
            let pairs = [(HOST, "127.0.0.1:8081"), (ORIGIN, origin)];
            policy.check(None, &headers(&pairs)).is_ok()
        };
        for near in [
            "http://localhost:5173",
            "https://app.localhost",
            "http://127.0.0.1:3000",
            "http://[::1]:3000",
            "https://wallet.example",
        ] {
            assert!(check(near), "{near}");
        }
        for far in [
            "null",
            "https://example.org",
            "http://10.0.0.7:3000",
            "http://localhost.example.org",
            "file://",
        ] {
            assert!(!check(far), "{far}");
        }
    }

    #[test]
    fn takes_the_authority_of_the_target_for_a_missing_host() {
        let policy = policy("", AllowedOrigins::SameOrigin);
        let own = [(ORIGIN, "https://localhost:9101")];
        for (authority, pairs, is_accepted) in [
            ("localhost:9101", &own[..], true),
            ("localhost:9102", &own, false),
            ("example.org", &[], false),
            ("localhost:9101", &[(HOST, "example.org")], false),
        ] {
            let checked = policy.check(Some(authority), &headers(pairs));
            assert_eq!(checked.is_ok(), is_accepted, "{authority} {pairs:?}");
        }
    }

    #[test]
    fn rejects_repeated_headers() {
        let policy = policy("", AllowedOrigins::LocalhostAnd("*".parse().unwrap()));
        for pairs in [
            &[(HOST, "localhost"), (HOST, "localhost")][..],
            &[(ORIGIN, "http://localhost")],
            &[],
        ] {
            assert!(policy.check(None, &headers(pairs)).is_err(), "{pairs:?}");
        }
        let strict = HostOriginPolicy {
            origins: AllowedOrigins::SameOrigin,
            ..policy
        };
        let twice = [
            (HOST, "localhost"),
            (ORIGIN, "http://localhost"),
            (ORIGIN, "http://localhost"),
        ];
        assert!(strict.check(None, &headers(&twice)).is_err());
    }

    #[test]
    fn rejects_texts_that_are_not_host_names() {
        for text in [
            "localhost:9101",
            "a,,b",
            "a b",
            "http://a",
            "*",
            &"a".repeat(NAME_BYTES_MAX + 1),
        ] {
            assert_eq!(text.parse::<HostNames>(), Err(NoHostNames), "{text}");
        }
    }

    proptest! {
        #[test]
        fn rejects_any_text_without_localhost_or_an_ip_address(host in "[a-z0-9.:@\\[\\]]{0,24}") {
            let own = policy("", AllowedOrigins::SameOrigin).is_own(&host);
            let has_own_form = host.contains("localhost") || host.starts_with(|c: char| c.is_ascii_digit() || c == '[');
            prop_assert!(!own || has_own_form);
        }
    }
}
