//! Who may ask through a browser.
//!
//! A page from elsewhere can make its visitor's browser send requests to this machine, also under a host
//! name that it points here (DNS rebinding). Such requests carry the foreign name in `Host` or `Origin`,
//! which no page can change. Programs send no `Origin`, and need no leave.

use super::origins::{Origins, authority_of};
use actix_web::http::header::{HOST, HeaderMap, HeaderName, ORIGIN};
use std::{
    fmt,
    net::{IpAddr, Ipv6Addr},
    str::FromStr,
};

/// The longest name that the DNS has, in bytes (RFC 1035).
const NAME_BYTES_MAX: usize = 253;

/// Which requests a listener takes.
#[derive(Clone, Debug)]
pub struct Visitors {
    /// The section of the settings whose `hosts` and `origins` these are.
    pub section: &'static str,
    /// The names under which the listener is asked for, beside those of this machine.
    pub hosts: HostNames,
    /// The pages that may ask.
    pub pages: Pages,
}

/// The pages that may ask.
#[derive(Clone, Debug)]
pub enum Pages {
    /// Those of the listener itself.
    Own,
    /// Those that this machine serves, on any port, and these.
    OfThisMachineAnd(Origins),
}

impl Visitors {
    /// Looks at the headers of a request.
    ///
    /// # Errors
    /// Why it is refused and what would let it in.
    pub fn check(&self, headers: &HeaderMap) -> Result<(), String> {
        let section = self.section;
        let host = only(headers, &HOST).filter(|host| self.is_own(host));
        let Some(host) = host else {
            return Err(format!(
                "the Host header is neither localhost nor an IP address; other names of this listener are \
                 to be listed in {section}.hosts"
            ));
        };
        if !headers.contains_key(ORIGIN) {
            return Ok(());
        }
        let origin = only(headers, &ORIGIN).unwrap_or_default();
        match &self.pages {
            _ if authority_of(origin).is_some_and(|own| own.eq_ignore_ascii_case(host)) => Ok(()),
            Pages::Own => Err("the Origin header is not of a page of this listener".to_owned()),
            Pages::OfThisMachineAnd(origins)
                if is_of_this_machine(origin) || origins.allow(origin) =>
            {
                Ok(())
            }
            Pages::OfThisMachineAnd(_) => Err(format!(
                "the Origin header is of a page of elsewhere; those that may ask are to be listed in \
                 {section}.origins"
            )),
        }
    }

    /// Whether `HOST` or `HOST:PORT` is a name of this listener. Under an IP address no page of elsewhere
    /// can be: a browser asks there for nothing but what is served there.
    fn is_own(&self, authority: &str) -> bool {
        match host_of(authority) {
            Some(Host::Ip(_)) => true,
            Some(Host::Name(name)) => is_localhost(name) || self.hosts.contain(name),
            None => false,
        }
    }
}

/// The only value of a header; none when it is absent, repeated, or no text.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name);
    let first = values.next()?;
    match values.next() {
        None => first.to_str().ok(),
        Some(_) => None,
    }
}

/// Whether pages of `origin` are served by the machine on which they are looked at.
fn is_of_this_machine(origin: &str) -> bool {
    match authority_of(origin).and_then(host_of) {
        Some(Host::Ip(ip)) => ip.is_loopback(),
        Some(Host::Name(name)) => is_localhost(name),
        None => false,
    }
}

/// `localhost`, and the names below it, which mean this machine and can be nobody's (RFC 6761).
fn is_localhost(name: &str) -> bool {
    let last = name.rsplit_once('.').map_or(name, |(_, last)| last);
    last.eq_ignore_ascii_case("localhost")
}

/// A host, without its port.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Host<'a> {
    Ip(IpAddr),
    Name(&'a str),
}

/// The host of `HOST` or `HOST:PORT`; none where it is neither.
pub(super) fn host_of(authority: &str) -> Option<Host<'_>> {
    let (host, rest) = match authority.strip_prefix('[') {
        Some(bracketed) => {
            let (ip, rest) = bracketed.split_once(']')?;
            (Host::Ip(ip.parse::<Ipv6Addr>().ok()?.into()), rest)
        }
        None => {
            let end = authority.find(':').unwrap_or(authority.len());
            let (name, rest) = authority.split_at(end);
            let host = match name.parse::<IpAddr>() {
                Ok(ip) => Host::Ip(ip),
                Err(_) if is_name(name) => Host::Name(name),
                Err(_) => return None,
            };
            (host, rest)
        }
    };
    let is_port =
        |text: &str| text.starts_with(|c: char| c.is_ascii_digit()) && text.parse::<u16>().is_ok();
    let is_whole = rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port);
    is_whole.then_some(host)
}

/// Whether `text` can be the name of a host. The underscore stands in names of containers.
fn is_name(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (1..=NAME_BYTES_MAX).contains(&text.len()) && text.chars().all(is_part)
}

/// Names under which a listener is asked for: `admin.hosts`, `faucet.hosts`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostNames(Vec<String>);

impl HostNames {
    /// How many there may be; each is compared with that of every request.
    pub const COUNT_MAX: usize = 100;

    fn contain(&self, name: &str) -> bool {
        self.0
            .iter()
            .any(|listed| listed.eq_ignore_ascii_case(name))
    }
}

/// Reads names with commas between.
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

/// Writes the names with commas between.
impl fmt::Display for HostNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(","))
    }
}

/// A text that is no list of host names.
#[derive(Debug, PartialEq, Eq)]
pub struct NoHostNames;

/// What is allowed, in words.
impl fmt::Display for NoHostNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "up to {} host names without ports, with commas between, or \"\" for none",
            HostNames::COUNT_MAX
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::HeaderValue;
    use proptest::prelude::*;

    fn visitors(hosts: &str, pages: Pages) -> Visitors {
        Visitors {
            section: "admin",
            hosts: hosts.parse().unwrap(),
            pages,
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
    fn only_names_of_this_machine_and_listed_ones_are_own() {
        let visitors = visitors("node.example, ledger_node", Pages::Own);
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
            assert!(visitors.is_own(own), "{own}");
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
            assert!(!visitors.is_own(foreign), "{foreign}");
        }
    }

    #[test]
    fn the_listeners_own_pages_are_of_exactly_its_host() {
        let visitors = visitors("", Pages::Own);
        let check = |origin: &str| {
            let pairs = [(HOST, "localhost:9101"), (ORIGIN, origin)];
            visitors.check(&headers(&pairs)).is_ok()
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
    fn pages_of_this_machine_are_of_any_port() {
        let visitors = visitors(
            "",
            Pages::OfThisMachineAnd("https://wallet.example".parse().unwrap()),
        );
        let check = |origin: &str| {
            let pairs = [(HOST, "127.0.0.1:8081"), (ORIGIN, origin)];
            visitors.check(&headers(&pairs)).is_ok()
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
    fn a_header_that_stands_twice_is_refused() {
        let visitors = visitors("", Pages::OfThisMachineAnd("*".parse().unwrap()));
        for pairs in [
            &[(HOST, "localhost"), (HOST, "localhost")][..],
            &[(ORIGIN, "http://localhost")],
            &[],
        ] {
            assert!(visitors.check(&headers(pairs)).is_err(), "{pairs:?}");
        }
        let strict = Visitors {
            pages: Pages::Own,
            ..visitors
        };
        let twice = [
            (HOST, "localhost"),
            (ORIGIN, "http://localhost"),
            (ORIGIN, "http://localhost"),
        ];
        assert!(strict.check(&headers(&twice)).is_err());
    }

    #[test]
    fn what_is_no_name_is_no_setting() {
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
        /// Reading is total, and what is no IP address, no localhost and not listed is never own.
        #[test]
        fn any_text_may_be_asked_under(host in "[a-z0-9.:@\\[\\]]{0,24}") {
            let own = visitors("", Pages::Own).is_own(&host);
            let has_own_form = host.contains("localhost") || host.starts_with(|c: char| c.is_ascii_digit() || c == '[');
            prop_assert!(!own || has_own_form);
        }
    }
}
