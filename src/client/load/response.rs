//! An answer of HTTP/1.1, as it lies in what was received: where its head ends, and how its body does.

use bytes::{Bytes, BytesMut};
use http::StatusCode;
use std::str::FromStr;

/// The largest answer that is read, in bytes; what the bench asks for is a few kilobytes.
pub const ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;
/// More fields in a head than any server sends.
const FIELDS_MAX: usize = 64;

/// An answer, read to its end.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub body: Bytes,
    head: Bytes,
}

/// A request that got no answer, or one that cannot be understood; the connection is made anew for the
/// next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoAnswer;

/// What the head of an answer says about its form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    status: StatusCode,
    /// How long the head is, in bytes.
    length: usize,
    end: End,
    /// Whether the server closes the connection behind it.
    pub closes: bool,
}

/// What ends a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Length(usize),
    LastChunk,
    Close,
}

impl Head {
    /// Reads the head that `received` begins with; `None` while it is not complete.
    ///
    /// # Errors
    /// When it is no head.
    pub fn parse(received: &[u8]) -> Result<Option<Self>, NoAnswer> {
        let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
        let mut response = httparse::Response::new(&mut fields);
        let length = match response.parse(received).map_err(|_| NoAnswer)? {
            httparse::Status::Complete(length) => length,
            httparse::Status::Partial => return Ok(None),
        };
        let status = response
            .code
            .and_then(|code| StatusCode::from_u16(code).ok());
        let status = status.ok_or(NoAnswer)?;
        let mut head = Self {
            status,
            length,
            end: End::Close,
            closes: response.version == Some(0),
        };
        for field in response.headers.iter() {
            head.field(field.name, field.value)?;
        }
        if status == StatusCode::NO_CONTENT || status == StatusCode::NOT_MODIFIED {
            head.end = End::Length(0);
        }
        head.closes |= head.end == End::Close;
        Ok(Some(head))
    }

    fn field(&mut self, name: &str, value: &[u8]) -> Result<(), NoAnswer> {
        if name.eq_ignore_ascii_case("content-length") {
            let length: Option<usize> = number(value);
            // Chunks decide where both are given.
            if self.end != End::LastChunk {
                self.end = End::Length(length.ok_or(NoAnswer)?);
            }
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            self.end = End::LastChunk;
        } else if name.eq_ignore_ascii_case("connection") {
            self.closes |= value.eq_ignore_ascii_case(b"close");
        }
        Ok(())
    }

    /// Takes the whole answer out of `received`; `None` while there is more to come, which there is not
    /// once the connection is `closed`.
    ///
    /// # Errors
    /// When it is too large, has no form, or the connection was closed within it.
    pub fn take(&self, received: &mut BytesMut, closed: bool) -> Result<Option<Answer>, NoAnswer> {
        let behind = received.get(self.length..).ok_or(NoAnswer)?;
        let (body, length) = match self.end {
            End::Length(length) if length > ANSWER_BYTES_MAX => return Err(NoAnswer),
            End::Length(length) if behind.len() >= length => (None, length),
            End::Close if closed => (None, behind.len()),
            End::LastChunk => match unchunked(behind)? {
                Some((body, length)) => (Some(body), length),
                None => return self.more(received, closed),
            },
            _ => return self.more(received, closed),
        };
        let head = received.split_to(self.length).freeze();
        let taken = received.split_to(length).freeze();
        Ok(Some(Answer {
            status: self.status,
            body: body.unwrap_or(taken),
            head,
        }))
    }

    fn more(&self, received: &BytesMut, closed: bool) -> Result<Option<Answer>, NoAnswer> {
        if closed || received.len() > self.length.saturating_add(ANSWER_BYTES_MAX) {
            Err(NoAnswer)
        } else {
            Ok(None)
        }
    }
}

/// The body that `chunks` make, and how long they are; `None` while the last is missing.
fn unchunked(chunks: &[u8]) -> Result<Option<(Bytes, usize)>, NoAnswer> {
    const LINE_END: usize = 2;
    let mut body = Vec::new();
    let mut at = 0;
    loop {
        let rest = chunks.get(at..).unwrap_or_default();
        let (line, size) = match httparse::parse_chunk_size(rest).map_err(|_| NoAnswer)? {
            httparse::Status::Complete(found) => found,
            httparse::Status::Partial => return Ok(None),
        };
        let size = usize::try_from(size)
            .ok()
            .filter(|size| *size <= ANSWER_BYTES_MAX);
        let size = size.ok_or(NoAnswer)?;
        let Some(chunk) = rest.get(line..line + size + LINE_END) else {
            return Ok(None);
        };
        at += line + chunk.len();
        if size == 0 {
            return Ok(Some((body.into(), at)));
        }
        body.extend_from_slice(&chunk[..size]);
    }
}

fn number<T: FromStr>(value: &[u8]) -> Option<T> {
    std::str::from_utf8(value).ok()?.trim().parse().ok()
}

impl Answer {
    /// The number in the field `name` of the head.
    pub fn number(&self, name: &str) -> Option<u64> {
        let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
        let mut response = httparse::Response::new(&mut fields);
        response.parse(&self.head).ok()?;
        let mut fields = response.headers.iter();
        number(
            fields
                .find(|field| field.name.eq_ignore_ascii_case(name))?
                .value,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answers that a server's bytes are, given to the reader in pieces of every size.
    fn read(bytes: &[u8], piece: usize) -> Result<Vec<(u16, String)>, NoAnswer> {
        let mut received = BytesMut::new();
        let mut answers = Vec::new();
        let mut pieces = bytes.chunks(piece);
        loop {
            let head = Head::parse(&received)?;
            let closed = pieces.len() == 0;
            let answer = head
                .map(|head| head.take(&mut received, closed))
                .transpose()?;
            if let Some(answer) = answer.flatten() {
                let body = String::from_utf8(answer.body.to_vec()).unwrap();
                answers.push((answer.status.as_u16(), body));
            } else if let Some(piece) = pieces.next() {
                received.extend_from_slice(piece);
            } else {
                return if received.is_empty() {
                    Ok(answers)
                } else {
                    Err(NoAnswer)
                };
            }
        }
    }

    #[test]
    fn answers_are_read_whatever_ends_them_and_however_they_come() {
        let bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello\
            HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n\
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
                "in pieces of {piece}"
            );
        }
    }

    #[test]
    fn what_is_no_answer_is_told() {
        for bytes in [
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
            "HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\nhello",
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffff\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
            "HTTP/1.1 2000 OK\r\n\r\n",
            "SSH-2.0\r\n\r\n",
        ] {
            assert_eq!(read(bytes.as_bytes(), 7), Err(NoAnswer), "{bytes}");
        }
    }

    #[test]
    fn an_answer_says_whether_it_is_the_connections_last() {
        for (head, closes) in [
            ("HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n", false),
            (
                "HTTP/1.1 200 OK\r\ncontent-length: 1\r\nConnection: Close\r\n\r\n",
                true,
            ),
            ("HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\n", true),
            ("HTTP/1.1 200 OK\r\n\r\n", true),
        ] {
            let parsed = Head::parse(head.as_bytes()).unwrap().unwrap();
            assert_eq!(parsed.closes, closes, "{head}");
        }
    }

    #[test]
    fn numbers_of_the_head_are_found() {
        let mut received =
            BytesMut::from(&b"HTTP/1.1 200 OK\r\nX-Version: 17\r\ncontent-length: 0\r\n\r\n"[..]);
        let head = Head::parse(&received).unwrap().unwrap();
        let answer = head.take(&mut received, false).unwrap().unwrap();
        assert_eq!(answer.number("x-version"), Some(17));
        assert_eq!(answer.number("x-other"), None);
    }
}
