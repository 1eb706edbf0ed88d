//! Hosts of `Host` headers and of origins.

use std::net::{IpAddr, Ipv6Addr};

/// Maximum length of a DNS name, in bytes (RFC 1035).
pub(super) const NAME_BYTES_MAX: usize = 253;

/// Returns whether `name` is `localhost` or below it. These names always mean this machine
/// (RFC 6761).
pub(super) fn is_localhost(name: &str) -> bool {
    let last = name.rsplit_once('.').map_or(name, |(_, last)| last);
    last.eq_ignore_ascii_case("localhost")
}

/// A host without a port.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Host<'a> {
    Ip(IpAddr),
    Name(&'a str),
}

/// Returns the host of `HOST` or `HOST:PORT`, or `None` for any other text.
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

/// Returns whether `text` can be the name of a host. Names of containers may have underscores.
pub(super) fn is_name(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (1..=NAME_BYTES_MAX).contains(&text.len()) && text.chars().all(is_part)
}

/// Returns `HOST` or `HOST:PORT` of an origin of HTTP or HTTPS, or `None` for any other text.
pub(super) fn authority_of(origin: &str) -> Option<&str> {
    let (scheme, authority) = origin.split_once("://")?;
    let is_origin = matches!(scheme, "http" | "https") && host_of(authority).is_some();
    is_origin.then_some(authority)
}
