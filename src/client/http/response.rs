//! HTTP/1.1 responses, parsed from received bytes.

use bytes::{Buf as _, Bytes, BytesMut};
use http::StatusCode;
use std::str::FromStr;

/// Maximum size of a response body, in bytes. Responses to a load have a few kilobytes.
pub(super) const RESPONSE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Maximum size of a head, in bytes. Servers send less than one kilobyte.
const HEAD_BYTES_MAX: usize = 64 * 1024;
/// Maximum number of fields in a head, more than servers send.
const FIELDS_MAX: usize = 64;
/// Maximum number of interim responses before a response.
const INTERIM_RESPONSES_MAX: usize = 8;
/// Maximum size of all interim responses before a response, in bytes.
const INTERIM_BYTES_MAX: usize = 16 * 1024;
/// Maximum number of trailer fields after the last chunk.
const TRAILERS_MAX: usize = 16;
/// Maximum size of the trailer section with its empty line, in bytes.
const TRAILER_BYTES_MAX: usize = 8 * 1024;
/// The end of a chunk's data.
const LINE_END: &[u8] = b"\r\n";

/// A complete response.
#[derive(Debug)]
pub struct Response {
    /// The status.
    pub status: StatusCode,
    /// The body, without its chunk framing.
    pub body: Bytes,
    head: Bytes,
}

/// A response that is missing, incomplete, malformed or too large.
///
/// The connection cannot be used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidResponse;

/// The head of a response, as far as it determines how the body is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResponseHead {
    status: StatusCode,
    /// Length of the interim responses before the head, in bytes.
    interim_bytes: usize,
    /// Length of the head, in bytes.
    length: usize,
    end: BodyEnd,
    /// Whether the server closes the connection after the response.
    pub is_last: bool,
}

/// The end of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BodyEnd {
    /// The body has this many bytes.
    Length(usize),
    /// The body ends with the last chunk.
    LastChunk,
    /// The body ends where the server closes the connection.
    Close,
}

impl ResponseHead {
    /// Parses the head at the start of `received`. Returns `None` while the head is incomplete.
    ///
    /// Interim responses (status 1xx), which a server may send before the response, are skipped.
    ///
    /// # Errors
    ///
    /// Returns [`InvalidResponse`] if the bytes are not the start of a head, or if the head or the
    /// interim responses are too large. Also returns it if the server switches the protocol,
    /// because no request of this client allows that.
    pub fn parse(received: &[u8]) -> Result<Option<Self>, InvalidResponse> {
        let mut interim_bytes: usize = 0;
        for _ in 0..=INTERIM_RESPONSES_MAX {
            let rest = received.get(interim_bytes..).unwrap_or_default();
            let Some(head) = Self::parse_one(rest)? else {
                return Ok(None);
            };
            if head.status == StatusCode::SWITCHING_PROTOCOLS {
                return Err(InvalidResponse);
            }
            if !head.status.is_informational() {
                return Ok(Some(Self {
                    interim_bytes,
                    ..head
                }));
            }
            interim_bytes += head.length;
            if interim_bytes > INTERIM_BYTES_MAX {
                return Err(InvalidResponse);
            }
        }
        Err(InvalidResponse)
    }

    /// Parses one head, which may be that of an interim response, at the start of `received`.
    fn parse_one(received: &[u8]) -> Result<Option<Self>, InvalidResponse> {
        let is_cut = received.len() > HEAD_BYTES_MAX;
        let received = received.get(..HEAD_BYTES_MAX).unwrap_or(received);
        let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
        let mut response = httparse::Response::new(&mut fields);
        let length = match response.parse(received).map_err(|_| InvalidResponse)? {
            httparse::Status::Complete(length) => length,
            httparse::Status::Partial if is_cut => return Err(InvalidResponse),
            httparse::Status::Partial => return Ok(None),
        };
        let status = response
            .code
            .and_then(|code| StatusCode::from_u16(code).ok());
        let status = status.ok_or(InvalidResponse)?;
        let mut head = Self {
            status,
            interim_bytes: 0,
            length,
            end: BodyEnd::Close,
            is_last: response.version == Some(0),
        };
        for field in response.headers.iter() {
            head.read_field(field.name, field.value)?;
        }
        if status == StatusCode::NO_CONTENT || status == StatusCode::NOT_MODIFIED {
            head.end = BodyEnd::Length(0);
        }
        head.is_last |= head.end == BodyEnd::Close;
        Ok(Some(head))
    }

    /// Applies a field of the head.
    fn read_field(&mut self, name: &str, value: &[u8]) -> Result<(), InvalidResponse> {
        if name.eq_ignore_ascii_case("content-length") {
            let length: Option<usize> = number(value);
            // Chunks take precedence if a response has both fields.
            if self.end != BodyEnd::LastChunk {
                self.end = BodyEnd::Length(length.ok_or(InvalidResponse)?);
            }
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            self.end = BodyEnd::LastChunk;
        } else if name.eq_ignore_ascii_case("connection") {
            self.is_last |= value.eq_ignore_ascii_case(b"close");
        }
        Ok(())
    }

    /// Removes the response from `received` and returns it. Returns `None` while it is incomplete.
    ///
    /// No further bytes are expected if the connection `is_closed`.
    ///
    /// # Errors
    ///
    /// Returns [`InvalidResponse`] if the response is too large or malformed, or if the connection
    /// is closed before its end.
    pub fn take_response(
        &self,
        received: &mut BytesMut,
        is_closed: bool,
    ) -> Result<Option<Response>, InvalidResponse> {
        let body_start = self.interim_bytes + self.length;
        let behind = received.get(body_start..).ok_or(InvalidResponse)?;
        let (body, length) = match self.end {
            BodyEnd::Length(length) if length > RESPONSE_BYTES_MAX => return Err(InvalidResponse),
            BodyEnd::Length(length) if behind.len() >= length => (None, length),
            BodyEnd::Close if is_closed => (None, behind.len()),
            BodyEnd::LastChunk => match decode_chunks(behind)? {
                Some(decoded) => (Some(decoded.body), decoded.encoded_bytes),
                None => return self.need_more(received, is_closed),
            },
            _ => return self.need_more(received, is_closed),
        };
        received.advance(self.interim_bytes);
        let head = received.split_to(self.length).freeze();
        let taken = received.split_to(length).freeze();
        Ok(Some(Response {
            status: self.status,
            body: body.unwrap_or(taken),
            head,
        }))
    }

    /// Returns `None` if more bytes of the response may arrive.
    fn need_more(
        &self,
        received: &BytesMut,
        is_closed: bool,
    ) -> Result<Option<Response>, InvalidResponse> {
        let head_bytes = self.interim_bytes + self.length;
        if is_closed || received.len() > head_bytes + RESPONSE_BYTES_MAX {
            Err(InvalidResponse)
        } else {
            Ok(None)
        }
    }
}

/// A body that was decoded from chunks.
struct DecodedBody {
    body: Bytes,
    /// Length of the chunks with their framing and the trailer section, in bytes.
    encoded_bytes: usize,
}

/// Decodes the body in `chunks`. Returns `None` while a chunk or the trailer section is incomplete.
fn decode_chunks(chunks: &[u8]) -> Result<Option<DecodedBody>, InvalidResponse> {
    let mut body = Vec::new();
    let mut at = 0;
    loop {
        let rest = chunks.get(at..).unwrap_or_default();
        let (line, size) = match httparse::parse_chunk_size(rest).map_err(|_| InvalidResponse)? {
            httparse::Status::Complete(found) => found,
            httparse::Status::Partial => return Ok(None),
        };
        let size = usize::try_from(size)
            .ok()
            .filter(|size| *size <= RESPONSE_BYTES_MAX);
        let size = size.ok_or(InvalidResponse)?;
        let behind = rest.get(line..).unwrap_or_default();
        if size == 0 {
            let trailer_bytes = trailer_section_bytes(behind)?;
            return Ok(trailer_bytes.map(|trailer_bytes| DecodedBody {
                body: body.into(),
                encoded_bytes: at + line + trailer_bytes,
            }));
        }
        let Some((data, behind)) = behind.split_at_checked(size) else {
            return Ok(None);
        };
        let Some(line_end) = behind.get(..LINE_END.len()) else {
            return Ok(None);
        };
        if line_end != LINE_END {
            return Err(InvalidResponse);
        }
        body.extend_from_slice(data);
        at += line + size + LINE_END.len();
    }
}

/// Returns the length of the trailer section at the start of `received`, with its empty line.
///
/// Returns `None` while the section is incomplete. The fields are ignored.
fn trailer_section_bytes(received: &[u8]) -> Result<Option<usize>, InvalidResponse> {
    let is_cut = received.len() > TRAILER_BYTES_MAX;
    let received = received.get(..TRAILER_BYTES_MAX).unwrap_or(received);
    let mut trailers = [httparse::EMPTY_HEADER; TRAILERS_MAX];
    match httparse::parse_headers(received, &mut trailers).map_err(|_| InvalidResponse)? {
        httparse::Status::Complete((length, _)) => Ok(Some(length)),
        httparse::Status::Partial if is_cut => Err(InvalidResponse),
        httparse::Status::Partial => Ok(None),
    }
}

/// Parses the number that a field has as its value.
fn number<T: FromStr>(value: &[u8]) -> Option<T> {
    std::str::from_utf8(value).ok()?.trim().parse().ok()
}

impl Response {
    /// Returns the number in the field `name` of the head, or `None` if there is no such field.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.find_field(|field, value| field.eq_ignore_ascii_case(name).then(|| number(value))?)
    }

    /// Returns the text in the field `name` of the head, or `None` if there is no such field.
    pub(crate) fn field(&self, name: &str) -> Option<String> {
        self.find_field(|field, value| {
            let text = String::from_utf8_lossy(value);
            field.eq_ignore_ascii_case(name).then(|| text.into_owned())
        })
    }

    /// Returns the first result of `find` for the name and the value of a field of the head.
    pub(crate) fn find_field<T>(
        &self,
        mut find: impl FnMut(&str, &[u8]) -> Option<T>,
    ) -> Option<T> {
        let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
        let mut response = httparse::Response::new(&mut fields);
        response.parse(&self.head).ok()?;
        let mut fields = response.headers.iter();
        fields.find_map(|field| find(field.name, field.value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns status and body of each response in `bytes`, received in pieces of this size.
    fn read(bytes: &[u8], piece: usize) -> Result<Vec<(u16, String)>, InvalidResponse> {
        let mut received = BytesMut::new();
        let mut responses = Vec::new();
        let mut pieces = bytes.chunks(piece);
        loop {
            let head = ResponseHead::parse(&received)?;
            let is_closed = pieces.len() == 0;
            let response = head
                .map(|head| head.take_response(&mut received, is_closed))
                .transpose()?;
            if let Some(response) = response.flatten() {
                let body = String::from_utf8(response.body.to_vec()).unwrap();
                responses.push((response.status.as_u16(), body));
            } else if let Some(piece) = pieces.next() {
                received.extend_from_slice(piece);
            } else {
                return if received.is_empty() {
                    Ok(responses)
                } else {
                    Err(InvalidResponse)
                };
            }
        }
    }

    #[test]
    fn reads_bodies_with_every_kind_of_end_in_pieces_of_every_size() {
        let bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello\
            HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\n\
            3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n\
            HTTP/1.1 204 No Content\r\n\r\n\
            HTTP/1.1 404 Not Found\r\n\r\nto the end";
        let expected = [
            (200, "hello"),
            (202, "abcde"),
            (204, ""),
            (404, "to the end"),
        ];
        let expected: Vec<_> = expected
            .map(|(status, body)| (status, body.to_owned()))
            .into();
        for piece in 1..bytes.len() {
            assert_eq!(
                read(bytes, piece).unwrap(),
                expected,
                "responses received in pieces of {piece} bytes"
            );
        }
    }

    #[test]
    fn rejects_incomplete_and_malformed_responses() {
        for bytes in [
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
            "HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\nhello",
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffff\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcde0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nx: y\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nno field\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\n",
            "HTTP/1.1 101 Switching Protocols\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
            "HTTP/1.1 2000 OK\r\n\r\n",
            "SSH-2.0\r\n\r\n",
        ] {
            assert_eq!(read(bytes.as_bytes(), 7), Err(InvalidResponse), "{bytes}");
        }
    }

    #[test]
    fn skips_interim_responses_and_trailers_in_pieces_of_every_size() {
        let bytes = b"HTTP/1.1 100 Continue\r\n\r\n\
            HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nContent-Length: 7\r\n\r\n\
            HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
            3\r\nabc\r\n0;x=y\r\nDigest: a\r\nX-Status: b\r\n\r\n\
            HTTP/1.1 102 Processing\r\n\r\n\
            HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nde";
        let expected = [(200, "abc".to_owned()), (200, "de".to_owned())];
        for piece in 1..bytes.len() {
            assert_eq!(
                read(bytes, piece).unwrap(),
                expected,
                "responses received in pieces of {piece} bytes"
            );
        }
    }

    #[test]
    fn bounds_interim_responses_by_number_and_size() {
        const RESPONSE: &str = "HTTP/1.1 204 No Content\r\n\r\n";
        let after_interim = |number, field_bytes| {
            let field = "a".repeat(field_bytes);
            let interim = format!("HTTP/1.1 102 Processing\r\nx: {field}\r\n\r\n");
            read((interim.repeat(number) + RESPONSE).as_bytes(), 1000)
        };
        let received = Ok(vec![(204, String::new())]);
        assert_eq!(after_interim(INTERIM_RESPONSES_MAX, 1), received);
        assert_eq!(
            after_interim(INTERIM_RESPONSES_MAX + 1, 1),
            Err(InvalidResponse)
        );
        assert_eq!(after_interim(2, INTERIM_BYTES_MAX / 2 - 100), received);
        assert_eq!(
            after_interim(2, INTERIM_BYTES_MAX / 2),
            Err(InvalidResponse)
        );
    }

    #[test]
    fn bounds_trailers_by_number_and_size() {
        let with_trailers = |number, field_bytes| {
            let field = "a".repeat(field_bytes);
            let trailers = format!("x: {field}\r\n").repeat(number);
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
            read(format!("{head}0\r\n{trailers}\r\n").as_bytes(), 1000)
        };
        let received = Ok(vec![(200, String::new())]);
        assert_eq!(with_trailers(TRAILERS_MAX, 1), received);
        assert_eq!(with_trailers(TRAILERS_MAX + 1, 1), Err(InvalidResponse));
        assert_eq!(with_trailers(2, TRAILER_BYTES_MAX / 2 - 100), received);
        assert_eq!(
            with_trailers(2, TRAILER_BYTES_MAX / 2),
            Err(InvalidResponse)
        );
    }

    #[test]
    fn rejects_heads_over_the_maximum_size_before_their_end() {
        let field = "a".repeat(HEAD_BYTES_MAX);
        let head = format!("HTTP/1.1 200 OK\r\nx: {field}");
        assert_eq!(ResponseHead::parse(head.as_bytes()), Err(InvalidResponse));
    }

    #[test]
    fn parses_responses_with_any_changed_byte_without_a_panic() {
        let bytes = b"HTTP/1.1 103 Early Hints\r\n\r\n\
            HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
            3\r\nabc\r\n0\r\nDigest: a\r\n\r\n";
        for at in 0..bytes.len() {
            for changed in 0..=u8::MAX {
                let mut bytes = *bytes;
                bytes[at] = changed;
                let mut received = BytesMut::from(&bytes[..]);
                if let Ok(Some(head)) = ResponseHead::parse(&received) {
                    let response = head.take_response(&mut received, true);
                    // Whether a changed response is valid is not the subject of this test.
                    drop(response);
                }
            }
        }
    }

    #[test]
    fn recognizes_the_last_response_of_a_connection() {
        for (head, is_last) in [
            ("HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n", false),
            (
                "HTTP/1.1 200 OK\r\ncontent-length: 1\r\nConnection: Close\r\n\r\n",
                true,
            ),
            ("HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\n", true),
            ("HTTP/1.1 200 OK\r\n\r\n", true),
        ] {
            let parsed = ResponseHead::parse(head.as_bytes()).unwrap().unwrap();
            assert_eq!(parsed.is_last, is_last, "{head}");
        }
    }

    #[test]
    fn finds_numbers_in_the_head() {
        let mut received =
            BytesMut::from(&b"HTTP/1.1 200 OK\r\nX-Version: 17\r\ncontent-length: 0\r\n\r\n"[..]);
        let head = ResponseHead::parse(&received).unwrap().unwrap();
        let response = head.take_response(&mut received, false).unwrap().unwrap();
        assert_eq!(response.number("x-version"), Some(17));
        assert_eq!(response.number("x-other"), None);
        assert_eq!(response.field("x-version").as_deref(), Some("17"));
    }
}
