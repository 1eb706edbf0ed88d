//! The text of one hop in the headers `Forwarded` and `X-Forwarded-For`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Splits `text` at the last `separator` outside of quoted strings. Returns the part before it, or
/// `None` if there is none, and the part after it.
///
/// It reads from the end: text before the last element may be forged, and a quotation mark there
/// must not change the last element.
pub(super) fn split_last(text: &[u8], separator: u8) -> (Option<&[u8]>, &[u8]) {
    let mut is_quoted = false;
    for (index, byte) in text.iter().enumerate().rev() {
        if *byte == b'"' {
            let escapes = text[..index]
                .iter()
                .rev()
                .take_while(|byte| **byte == b'\\');
            // The mark after an odd number of them is a part of the quoted string.
            is_quoted ^= escapes.count().is_multiple_of(2);
        } else if *byte == separator && !is_quoted {
            return (Some(&text[..index]), &text[index + 1..]);
        }
    }
    (None, text)
}

/// Returns the address of the parameter `for` in an element of `Forwarded`. Returns `None` if the
/// element is malformed, has none or two, or if the parameter has no address.
pub(super) fn forwarded_for(element: &str) -> Option<IpAddr> {
    let mut node = None;
    let mut rest = Some(element.as_bytes());
    while let Some(text) = rest {
        let (before, pair) = split_last(text, b';');
        rest = before;
        let pair = str::from_utf8(pair).ok()?.trim();
        if pair.is_empty() {
            continue;
        }
        let (name, value) = pair.split_once('=')?;
        let value = unquoted(value.trim())?;
        if name.trim().eq_ignore_ascii_case("for") && node.replace(value).is_some() {
            return None;
        }
    }
    address_of(&node?)
}

/// Returns the content of a token or of a quoted string, or `None` for any other text.
///
/// A token may have the characters of an address with a port, which the standard requires to be
/// quoted: some proxies leave the quotation marks out.
fn unquoted(value: &str) -> Option<String> {
    let Some(quoted) = value.strip_prefix('"') else {
        let is_token = value
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\'));
        return is_token.then(|| value.to_owned());
    };
    let mut content = String::with_capacity(quoted.len());
    let mut characters = quoted.strip_suffix('"')?.chars();
    while let Some(character) = characters.next() {
        content.push(match character {
            '"' => return None,
            '\\' => characters.next()?,
            character => character,
        });
    }
    Some(content)
}

/// Returns the address of a hop: of an IPv4 address, of an IPv6 address in brackets, each with or
/// without a port, or of an IPv6 address alone.
///
/// Returns `None` for `unknown`, for an obfuscated identifier, and for any other text.
pub(super) fn address_of(node: &str) -> Option<IpAddr> {
    let (address, rest) = if let Some(bracketed) = node.strip_prefix('[') {
        let (address, rest) = bracketed.split_once(']')?;
        (address.parse::<Ipv6Addr>().ok()?.into(), rest)
    } else if let Ok(address) = node.parse::<Ipv6Addr>() {
        (IpAddr::V6(address), "")
    } else {
        let (address, rest) = node.split_at(node.find(':').unwrap_or(node.len()));
        (address.parse::<Ipv4Addr>().ok()?.into(), rest)
    };
    let is_whole = rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port);
    is_whole.then(|| address.to_canonical())
}

/// Returns whether `text` is a port or the obfuscated identifier of one.
fn is_port(text: &str) -> bool {
    match text.strip_prefix('_') {
        Some(obfuscated) => {
            let is_part =
                |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
            !obfuscated.is_empty() && obfuscated.bytes().all(is_part)
        }
        None => (1..=5).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit()),
    }
}
