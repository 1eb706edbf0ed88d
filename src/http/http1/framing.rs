//! Where a request ends, by the grammar of httparse and actix-http.
//!
//! [`Framing`] accepts any input. actix-http rejects a malformed request and decodes nothing after
//! it, so the end that is found in such a request has no meaning.

use memchr::memchr;

/// A header that decides where a request ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Header {
    ContentLength,
    TransferEncoding,
}

impl Header {
    /// Returns the name with its colon.
    fn name(self) -> &'static [u8] {
        match self {
            Self::ContentLength => b"content-length:",
            Self::TransferEncoding => b"transfer-encoding:",
        }
    }
}

/// The end of a request that arrives in pieces.
#[derive(Debug, Default)]
pub struct Framing {
    position: Position,
    /// Value of `Content-Length`.
    content_length: u64,
    /// Whether there is a `Transfer-Encoding`. actix-http rejects all but `chunked`.
    is_chunked: bool,
}

/// The part of a request to which the next byte belongs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Position {
    /// Empty lines, or the first byte of the request line.
    #[default]
    Start,
    /// The rest of a line of the head that says nothing about the body.
    Line,
    /// The first byte of a header line, or the empty line that ends the head.
    LineStart,
    /// The name of a header, which equals that of `header` up to `matched` bytes.
    Name { header: Header, matched: u8 },
    /// The value of `Content-Length`.
    ContentLength,
    /// A body without chunks, with its number of missing bytes.
    Body(u64),
    /// A chunk and its line end, with their number of missing bytes.
    Chunk(u64),
    /// The digits of the size of a chunk.
    ChunkSize(u64),
    /// The rest of the line with the size of a chunk.
    ChunkExtension(u64),
    /// The first byte of a trailer line, or the empty line that ends the body.
    TrailerStart,
    /// A trailer line. A line feed without a carriage return does not end it.
    Trailer,
    /// The line feed of a trailer line.
    TrailerLineFeed,
    /// The line feed of the last line.
    LastLineFeed,
    /// The end of the request.
    End,
}

impl Framing {
    /// Returns whether the head has begun to arrive and is incomplete.
    pub fn is_in_head(&self) -> bool {
        use Position::{ContentLength, Line, LineStart, Name};
        matches!(
            self.position,
            Line | LineStart | Name { .. } | ContentLength
        )
    }

    /// Returns whether the head has arrived.
    pub fn has_head(&self) -> bool {
        self.position != Position::Start && !self.is_in_head()
    }

    /// Returns whether the request has arrived whole.
    pub fn is_at_end(&self) -> bool {
        self.position == Position::End
    }

    /// Follows `bytes` to the end of the head, or to the end of the request if the head has
    /// arrived. Returns how many of them come before it.
    pub fn advance(&mut self, bytes: &[u8]) -> usize {
        let had_head = self.has_head();
        let mut rest = bytes;
        while let Some(first) = rest.first()
            && !self.is_at_end()
            && self.has_head() == had_head
        {
            let (next, taken) = self.step(*first, rest);
            self.position = next;
            rest = rest.get(taken..).unwrap_or_default();
        }
        bytes.len() - rest.len()
    }

    /// Returns the next position, and how many of `bytes` come before it.
    fn step(&mut self, first: u8, bytes: &[u8]) -> (Position, usize) {
        use Position::*;
        match (self.position, first) {
            (Start, b'\r' | b'\n') => (Start, 1),
            (Start | Line, _) => past(b'\n', bytes, Line, LineStart),
            (LineStart, b'\n') => (self.body(), 1),
            (LineStart, b'\r') => (LineStart, 1),
            (LineStart, b'c' | b'C') => self.header(Header::ContentLength, bytes),
            (LineStart, b't' | b'T') => self.header(Header::TransferEncoding, bytes),
            (LineStart, _) => past(b'\n', bytes, Line, LineStart),
            (Name { header, matched }, _) => match header.name().get(matched.into()..) {
                Some([expected, rest @ ..]) if first.eq_ignore_ascii_case(expected) => {
                    let matched = matched + 1;
                    match rest {
                        [] => (self.named(header), 1),
                        _ => (Name { header, matched }, 1),
                    }
                }
                _ => (Line, 0),
            },
            (ContentLength, b'0'..=b'9') => (ContentLength, self.content_length_digits(bytes)),
            (ContentLength, b' ' | b'\t') => (ContentLength, 1),
            (ContentLength, _) => (Line, 0),
            (Body(missing), _) => skip(missing, bytes, Body, End),
            (Chunk(missing), _) => skip(missing, bytes, Chunk, ChunkSize(0)),
            (ChunkSize(size), b'0'..=b'9') => (ChunkSize(with_digit(size, 16, first - b'0')), 1),
            (ChunkSize(size), b'a'..=b'f' | b'A'..=b'F') => {
                let value = first.to_ascii_lowercase() - b'a' + 10;
                (ChunkSize(with_digit(size, 16, value)), 1)
            }
            (ChunkSize(size), _) => (ChunkExtension(size), 0),
            (ChunkExtension(0), _) => past(b'\n', bytes, ChunkExtension(0), TrailerStart),
            (ChunkExtension(size), _) => {
                let chunk = Chunk(size.saturating_add(2));
                past(b'\n', bytes, ChunkExtension(size), chunk)
            }
            (TrailerStart, b'\r') => (LastLineFeed, 1),
            (TrailerStart, _) => (Trailer, 0),
            (Trailer, _) => past(b'\r', bytes, Trailer, TrailerLineFeed),
            (TrailerLineFeed, _) => (TrailerStart, 1),
            (LastLineFeed, _) => (End, 1),
            (End, _) => (End, 0),
        }
    }

    /// Moves past the name of `header`, or past the line if it has another name.
    ///
    /// Most lines arrive whole, and a comparison of the name costs less than a step for each byte.
    fn header(&mut self, header: Header, bytes: &[u8]) -> (Position, usize) {
        let name = header.name();
        match bytes.get(..name.len()) {
            Some(start) if start.eq_ignore_ascii_case(name) => (self.named(header), name.len()),
            Some(_) => past(b'\n', bytes, Position::Line, Position::LineStart),
            None => (Position::Name { header, matched: 1 }, 1),
        }
    }

    /// Adds the digits at the start of `bytes` to `Content-Length`. Returns their number.
    fn content_length_digits(&mut self, bytes: &[u8]) -> usize {
        let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit());
        let count = digits.clone().count();
        for digit in digits {
            self.content_length = with_digit(self.content_length, 10, digit - b'0');
        }
        count
    }

    /// Returns the position after the name of `header`.
    fn named(&mut self, header: Header) -> Position {
        match header {
            Header::ContentLength => Position::ContentLength,
            Header::TransferEncoding => {
                self.is_chunked = true;
                Position::Line
            }
        }
    }

    /// Returns the position after the head.
    fn body(&self) -> Position {
        match self.content_length {
            _ if self.is_chunked => Position::ChunkSize(0),
            0 => Position::End,
            length => Position::Body(length),
        }
    }
}

/// Returns `number` with one digit more. actix-http rejects a number above the maximum.
fn with_digit(number: u64, radix: u64, digit: u8) -> u64 {
    number.saturating_mul(radix).saturating_add(digit.into())
}

/// Moves past the first `end` in `bytes`, to `next`. Without one, `within` continues.
fn past(end: u8, bytes: &[u8], within: Position, next: Position) -> (Position, usize) {
    match memchr(end, bytes) {
        Some(index) => (next, index + 1),
        None => (within, bytes.len()),
    }
}

/// Moves past `missing` bytes, to `next`. With fewer `bytes`, `within` the rest continues.
fn skip(
    missing: u64,
    bytes: &[u8],
    within: fn(u64) -> Position,
    next: Position,
) -> (Position, usize) {
    match missing - missing.min(bytes.len() as u64) {
        0 => (next, missing as usize),
        missing => (within(missing), bytes.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_codec::Decoder as _;
    use actix_http::{
        ServiceConfig,
        h1::{Codec, Message, MessageType},
    };
    use bytes::BytesMut;
    use proptest::{collection::vec, prelude::*, sample::select, test_runner::TestRunner};

    /// Pieces of requests, which a test puts together in any order.
    const PIECES: [&str; 52] = [
        "GET / HTTP/1.1\r\nhost: a\r\n",
        "GET / HTTP/1.1\nhost: a\n",
        "POST / HTTP/1.0\r\n",
        "HEAD /content-length:5 HTTP/1.1\r\nHost:\r\n",
        "GET / HTTP/1.1\r\nhost: a\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\nabc",
        "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n",
        "3\r\nabc\r\n0\r\n\r\n",
        "Content-Length: 5\r\n",
        "content-length:5\n",
        "CONTENT-LENGTH: \t 05 \t\r\n",
        "content-length: 0\r\n",
        "content-length:\r\n",
        "content-length: +1\r\n",
        "content-length: 1 2\r\n",
        "content-length: 99999999999999999999\r\n",
        "content-length : 4\r\n",
        "content-lengthy: 4\r\n",
        "content-type: application/json\r\n",
        "Transfer-Encoding: chunked\r\n",
        "transfer-encoding:CHUNKED\n",
        "transfer-encoding: identity\r\n",
        "transfer-encoding: gzip, chunked\r\n",
        "x-transfer-encoding: chunked\r\n",
        "te: trailers\r\n",
        "c: d\r\n",
        "t:\r\n",
        "x: content-length: 7\r\n",
        " content-length: 7\r\n",
        "connection: close\r\n",
        "expect: 100-continue\r\n",
        "x",
        ":",
        "5",
        "00a",
        "F",
        "\r",
        "\n",
        "\r\n",
        "\r\n\r\n",
        "\n\n",
        " ",
        "\t",
        ";x=\"y\"\r\n",
        "5\r\n12345\r\n",
        "a \r\n0123456789\r\n",
        "00\r\n",
        "0\r\n\r\n",
        "0;x\r\n",
        "trailer: x\r\n",
        "trailer\n: x\r\n",
        "abcde",
    ];

    /// Returns the positions at which requests end, until the first one that actix-http rejects.
    fn decoded_ends(config: &ServiceConfig, bytes: &[u8]) -> Vec<usize> {
        let mut codec = Codec::new(config.clone());
        let mut rest = BytesMut::from(bytes);
        let mut ends = Vec::new();
        while let Ok(Some(message)) = codec.decode(&mut rest) {
            let is_end = match (message, codec.message_type()) {
                // Its body ends with the connection, which serves no other request.
                (_, MessageType::Stream) => break,
                (Message::Item(_), of) => of == MessageType::None,
                (Message::Chunk(chunk), _) => chunk.is_none(),
            };
            if is_end {
                ends.push(bytes.len() - rest.len());
            }
        }
        ends
    }

    /// Returns the positions at which requests end, if they arrive in parts of these lengths.
    fn found_ends(bytes: &[u8], part_lengths: &[usize]) -> Vec<usize> {
        let mut framing = Framing::default();
        let mut ends = Vec::new();
        let mut position = 0_usize;
        for length in part_lengths.iter().copied().chain([usize::MAX]) {
            let part_end = position.saturating_add(length).min(bytes.len());
            while position < part_end {
                position += framing.advance(&bytes[position..part_end]);
                if framing.is_at_end() {
                    ends.push(position);
                    framing = Framing::default();
                }
            }
        }
        ends
    }

    /// actix-http needs a runtime for its clock.
    #[actix_web::test]
    async fn finds_the_ends_of_the_requests_that_actix_http_decodes() {
        let service = ServiceConfig::default();
        let strategy = (
            vec(select(PIECES.as_slice()), 0..24),
            vec(1_usize..40, 0..24),
        );
        let mut runner = TestRunner::new(ProptestConfig::with_cases(20_000));
        let result = runner.run(&strategy, |(pieces, part_lengths)| {
            let bytes = pieces.concat().into_bytes();
            let expected = decoded_ends(&service, &bytes);
            let found = found_ends(&bytes, &part_lengths);
            prop_assert!(found.starts_with(&expected), "{found:?}, but {expected:?}");
            Ok(())
        });
        assert!(result.is_ok(), "{result:?}");
    }

    #[test]
    fn stops_at_the_end_of_a_head_and_of_a_body() {
        let bytes = b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\nabGET";
        let mut framing = Framing::default();
        let head = framing.advance(bytes);
        assert_eq!(&bytes[head..], b"abGET");
        assert!(framing.has_head() && !framing.is_at_end());
        let body = framing.advance(&bytes[head..]);
        assert_eq!(&bytes[head + body..], b"GET");
        assert!(framing.is_at_end());
        assert_eq!(framing.advance(b"GET"), 0);
    }

    #[test]
    fn is_in_a_head_after_the_empty_lines_before_it() {
        let mut framing = Framing::default();
        assert_eq!(framing.advance(b"\r\n\n"), 3);
        assert!(!framing.is_in_head());
        assert_eq!(framing.advance(b"G"), 1);
        assert!(framing.is_in_head() && !framing.has_head());
    }
}
