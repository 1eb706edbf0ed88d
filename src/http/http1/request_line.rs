//! The request line of a head, from which the reason of its rejection is found.

use crate::head_error::{HeadError, TARGET_BYTES_MAX};
use actix_web::http::uri::PathAndQuery;
use memchr::memchr;

/// Number of bytes of a request line that are held. The character that makes a longer target
/// malformed may be among the others, and is not named then.
const START_BYTES_MAX: usize = 256;

/// The request line of the head that arrives.
#[derive(Debug)]
pub struct RequestLine {
    start: [u8; START_BYTES_MAX],
    /// Length of what has arrived, without the line feed.
    bytes: usize,
    last_byte: u8,
    is_complete: bool,
}

impl Default for RequestLine {
    fn default() -> Self {
        Self {
            start: [0; START_BYTES_MAX],
            bytes: 0,
            last_byte: 0,
            is_complete: false,
        }
    }
}

impl RequestLine {
    /// Records that `bytes` of the head have arrived.
    pub fn record(&mut self, mut bytes: &[u8]) {
        if self.bytes == 0 {
            // Empty lines may precede a request (RFC 9112, section 2.2).
            let is_line_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
            let empty = bytes.iter().take_while(|byte| is_line_end(byte)).count();
            bytes = &bytes[empty..];
        }
        if self.is_complete {
            return;
        }
        let end = memchr(b'\n', bytes);
        let line = &bytes[..end.unwrap_or(bytes.len())];
        if let Some(free) = self.start.get_mut(self.bytes..) {
            let copied = free.len().min(line.len());
            free[..copied].copy_from_slice(&line[..copied]);
        }
        self.bytes += line.len();
        self.last_byte = line.last().copied().unwrap_or(self.last_byte);
        self.is_complete = end.is_some();
    }

    /// Returns whether the response has no body.
    pub fn is_head(&self) -> bool {
        self.start().starts_with(b"HEAD ")
    }

    /// Returns the reason for which actix-http rejected the head, with 431 if `is_too_large`.
    pub fn error(&self, is_too_large: bool) -> HeadError {
        if self.target_bytes() > TARGET_BYTES_MAX {
            return HeadError::TargetTooLong {
                limit_bytes: TARGET_BYTES_MAX,
            };
        }
        if is_too_large {
            return HeadError::TooLarge {
                limit: "it has at most 131072 bytes and 96 headers",
            };
        }
        HeadError::Malformed(self.defect())
    }

    fn start(&self) -> &[u8] {
        &self.start[..self.bytes.min(START_BYTES_MAX)]
    }

    /// Returns the length of the target. It ends before the version, or with what has arrived.
    fn target_bytes(&self) -> usize {
        let Some(method_bytes) = memchr(b' ', self.start()) else {
            return 0;
        };
        let version_bytes = if self.is_complete {
            " HTTP/1.1".len() + usize::from(self.last_byte == b'\r')
        } else {
            0
        };
        self.bytes.saturating_sub(method_bytes + 1 + version_bytes)
    }

    /// Describes the problem of a malformed head.
    fn defect(&self) -> String {
        let line = self.start().trim_ascii_end();
        let words: Vec<_> = line.split(|byte| *byte == b' ').collect();
        if let Some(malformed) = words.get(1).and_then(|target| malformed_char(target)) {
            return format!(
                "the path or query has the character {malformed:?}, which must be percent-encoded"
            );
        }
        let is_whole = self.is_complete && self.bytes <= START_BYTES_MAX;
        match words[..] {
            _ if !is_whole => "the head of the request is malformed".to_owned(),
            [_, _, version] if version.starts_with(b"HTTP/1.") => {
                "a header of the request is malformed, or Host, Content-Length or \
                 Transfer-Encoding is missing, repeated, or contradicts another header"
                    .to_owned()
            }
            [_, _, _, .., last] if last.starts_with(b"HTTP/") => {
                "the path or query has a space, which must be percent-encoded".to_owned()
            }
            _ => "the request line is not a method, a target and HTTP/1.1".to_owned(),
        }
    }
}

/// Returns the first character that must not be in a path or a query.
fn malformed_char(target: &[u8]) -> Option<char> {
    let query = memchr(b'?', target).unwrap_or(target.len());
    let is_malformed = |(index, byte): (usize, &u8)| {
        let begin = if index > query { "/?" } else { "/" };
        let text = [begin.as_bytes(), &[*byte]].concat();
        PathAndQuery::try_from(&text[..]).is_err()
    };
    let index = target.iter().enumerate().position(is_malformed)?;
    String::from_utf8_lossy(&target[index..]).chars().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(head: &[u8], is_too_large: bool) -> String {
        let mut line = RequestLine::default();
        for piece in head.chunks(7) {
            line.record(piece);
        }
        line.error(is_too_large).to_string()
    }

    #[test]
    fn names_the_defect_of_a_request_line() {
        let rows: [(&[u8], &str); 8] = [
            (b"GET /a<b HTTP/1.1\r\n", "'<'"),
            (b"\r\nGET /a HTTP/1.1\r\nhost: <\r\n", "a header"),
            (b"GET /?a=> HTTP/1.1\r\n", "'>'"),
            (b"GET /a b HTTP/1.1\n", "a space"),
            (b"GET /a HTTP/2.0\r\n", "the request line is not"),
            (b"GET\r\n", "the request line is not"),
            (b"\x16\x03\x01", "the head of the request"),
            (b"", "the head of the request"),
        ];
        for (head, expected) in rows {
            let message = error(head, false);
            assert!(message.contains(expected), "{message}");
        }
    }

    #[test]
    fn measures_the_target_by_itself() {
        let head = |bytes: usize, end: &str| {
            let target = "a".repeat(bytes - 1);
            error(format!("GET /{target}{end}").as_bytes(), true)
        };
        for end in [" HTTP/1.1\r\n", " HTTP/1.1\n", ""] {
            let fits = head(TARGET_BYTES_MAX, end);
            assert!(fits.contains("head of the request is too large"), "{fits}");
            let exceeds = head(TARGET_BYTES_MAX + 1, end);
            assert!(exceeds.contains("at most 65534 bytes"), "{exceeds}");
        }
    }
}
