//! The address of the client that sent a request, also through trusted proxies.
//!
//! A trusted proxy (`api.trusted_proxies`) appends the address of its own peer to the header
//! `Forwarded` (RFC 7239) or `X-Forwarded-For`. The hops before that may be forged by the client,
//! so the list is read from its end: the first hop that is no trusted proxy is the client.
//!
//! # Rules
//!
//! * The headers of any other peer are ignored.
//! * The list may have gaps: a hop without an address (`unknown`, an obfuscated identifier, or text
//!   that cannot be read) ends the search. The hop after it, a trusted proxy, then counts as the
//!   client. So does the first hop if all are trusted proxies.
//! * Header lines with the same name form one list, in their order.
//! * If a request has both headers, they must name the same client. Otherwise the peer counts as
//!   the client: a proxy that sets one of them may pass on the other one as the client has made it.
//! * At most [`HOPS_MAX`] elements of at most [`HOP_BYTES_MAX`] bytes are read, whatever the length
//!   of the headers.

mod forwarded;

use actix_web::http::header::{FORWARDED, HeaderMap, HeaderName, HeaderValue, X_FORWARDED_FOR};
use forwarded::{address_of, forwarded_for, split_last};
use ledger_limits::Networks;
use std::{iter, net::IpAddr};

/// Maximum number of elements that are read of a list. Real chains have two or three proxies.
const HOPS_MAX: usize = 16;

/// Maximum size of an element of a list, in bytes. An element of `Forwarded` may also have the name
/// of the requested host, of up to 253 bytes.
const HOP_BYTES_MAX: usize = 512;

/// Returns the address of the client that sent a request with these headers over a connection of
/// `peer`. An IPv4 address that is mapped to IPv6 is returned as the IPv4 address.
pub fn client_address(peer: IpAddr, headers: &HeaderMap, proxies: &Networks) -> IpAddr {
    let peer = peer.to_canonical();
    if !proxies.contain(peer) {
        return peer;
    }
    let client_of = |name: &HeaderName, address_of: fn(&str) -> Option<IpAddr>| {
        let is_present = headers.contains_key(name);
        is_present.then(|| last_untrusted(peer, hops(headers, name, address_of), proxies))
    };
    let by_standard = client_of(&FORWARDED, forwarded_for);
    let by_convention = client_of(&X_FORWARDED_FOR, address_of);
    match (by_standard, by_convention) {
        (Some(one), Some(other)) if one != other => peer,
        (one, other) => one.or(other).unwrap_or(peer),
    }
}

/// Returns the first of `hops` that is no trusted proxy, or the last address before the end of the
/// list or a hop without an address.
fn last_untrusted(
    peer: IpAddr,
    hops: impl Iterator<Item = Option<IpAddr>>,
    proxies: &Networks,
) -> IpAddr {
    let mut client = peer;
    for address in hops.map_while(|hop| hop) {
        client = address;
        if !proxies.contain(address) {
            break;
        }
    }
    client
}

/// Returns the hops of a list from its last to its first: the address that `address_of` reads in
/// each element, or `None` if it has none. Empty elements are skipped (RFC 9110, section 5.6.1).
fn hops(
    headers: &HeaderMap,
    name: &HeaderName,
    address_of: fn(&str) -> Option<IpAddr>,
) -> impl Iterator<Item = Option<IpAddr>> {
    let lines: Vec<&[u8]> = headers.get_all(name).map(HeaderValue::as_bytes).collect();
    let elements = lines.into_iter().rev().flat_map(elements).take(HOPS_MAX);
    elements.filter_map(move |element| {
        if element.len() > HOP_BYTES_MAX {
            return Some(None);
        }
        let Ok(text) = str::from_utf8(element) else {
            return Some(None);
        };
        let text = text.trim();
        (!text.is_empty()).then(|| address_of(text))
    })
}

/// Returns the elements of a header line from its last to its first. An element that is longer than
/// [`HOP_BYTES_MAX`] is the last one that is returned, and may be cut off.
fn elements(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(line);
    iter::from_fn(move || {
        let text = rest?;
        // A separator before this window would leave an element that is too long.
        let window_start = text.len().saturating_sub(HOP_BYTES_MAX + 1);
        let (before, element) = split_last(&text[window_start..], b',');
        rest = before.map(|before| &text[..window_start + before.len()]);
        Some(element)
    })
}

#[cfg(test)]
mod tests;
