//! The response to a wait for many in BCS, read as it arrives: chunks of HTTP/1.1 with frames of a
//! length and a value.

use bytes::{Buf as _, BytesMut};
use std::io::{self, ErrorKind};
use tokio::{io::AsyncReadExt as _, net::TcpStream};

/// Length of a frame's head, in bytes.
const LENGTH_BYTES: usize = size_of::<u32>();
/// Index of the status of an outcome in its value, behind the variant and the hash.
const STATUS_AT: usize = 1 + 32;
/// Index of the success of a committed transaction in its value, behind the version.
const SUCCESS_AT: usize = STATUS_AT + 1 + 8;

/// A frame of the response, as far as it is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frame {
    /// A committed transaction.
    Committed { success: bool },
    /// Another outcome.
    Other,
    /// The last frame.
    Summary,
}

/// A reader of the frames of one response.
#[derive(Debug)]
pub struct FrameReader {
    /// Received bytes with their chunks.
    received: BytesMut,
    /// Number of bytes of the current chunk that are not decoded yet.
    chunk_bytes: usize,
    /// Bytes of frames that are incomplete.
    decoded: BytesMut,
    is_complete: bool,
}

impl FrameReader {
    /// Reads the head of a response, which must have status 200 and a chunked body.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::InvalidData`] with the head if it is another one, and the error of the
    /// socket.
    pub async fn after_head(stream: &mut TcpStream) -> io::Result<Self> {
        let mut received = BytesMut::new();
        let end = loop {
            let mut windows = received.windows(4);
            if let Some(end) = windows.position(|window| window == b"\r\n\r\n") {
                break end;
            }
            if stream.read_buf(&mut received).await? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        };
        let head = String::from_utf8_lossy(&received[..end]).into_owned();
        if !head.starts_with("HTTP/1.1 200") || !head.contains("chunked") {
            return Err(io::Error::new(ErrorKind::InvalidData, head));
        }
        received.advance(end + 4);
        Ok(Self::new(received))
    }

    fn new(received: BytesMut) -> Self {
        Self {
            received,
            chunk_bytes: 0,
            decoded: BytesMut::new(),
            is_complete: false,
        }
    }

    /// Returns the buffer to which received bytes are appended.
    pub fn buffer(&mut self) -> &mut BytesMut {
        &mut self.received
    }

    /// Reserves space in the buffer.
    pub fn reserve(&mut self, size_bytes: usize) {
        self.received.reserve(size_bytes);
    }

    /// Returns whether the last chunk has arrived.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Returns the next complete frame.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::InvalidData`] if the bytes are not those of a response.
    pub fn next(&mut self) -> io::Result<Option<Frame>> {
        loop {
            if let Some(frame) = self.take_frame()? {
                return Ok(Some(frame));
            }
            if !self.decode_chunk()? {
                return Ok(None);
            }
        }
    }

    /// Takes a frame from the decoded bytes.
    fn take_frame(&mut self) -> io::Result<Option<Frame>> {
        let Some((length, rest)) = self.decoded.split_first_chunk::<LENGTH_BYTES>() else {
            return Ok(None);
        };
        let length = u32::from_le_bytes(*length) as usize;
        let Some(value) = rest.get(..length) else {
            return Ok(None);
        };
        let byte = |at: usize| value.get(at).copied().ok_or(ErrorKind::InvalidData);
        let frame = match byte(0)? {
            1 => Frame::Summary,
            _ if byte(STATUS_AT)? == 0 => Frame::Committed {
                success: byte(SUCCESS_AT)? == 1,
            },
            _ => Frame::Other,
        };
        self.decoded.advance(LENGTH_BYTES + length);
        Ok(Some(frame))
    }

    /// Decodes received bytes of a chunk. Returns false if there are none.
    fn decode_chunk(&mut self) -> io::Result<bool> {
        if self.chunk_bytes == 0 {
            let Some(end) = self.received.windows(2).position(|two| two == b"\r\n") else {
                return Ok(false);
            };
            if end == 0 {
                // The end of the chunk before, or of the body.
                self.received.advance(2);
                return Ok(!self.is_complete);
            }
            let size = std::str::from_utf8(&self.received[..end]).unwrap_or_default();
            let size = usize::from_str_radix(size, 16).map_err(|_| ErrorKind::InvalidData)?;
            self.received.advance(end + 2);
            self.chunk_bytes = size;
            self.is_complete = size == 0;
            return Ok(true);
        }
        let count = self.chunk_bytes.min(self.received.len());
        self.decoded.extend_from_slice(&self.received[..count]);
        self.received.advance(count);
        self.chunk_bytes -= count;
        Ok(count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the frame of an outcome.
    fn outcome(status: &[u8]) -> Vec<u8> {
        let value = [&[0; STATUS_AT][..], status].concat();
        [&(value.len() as u32).to_le_bytes()[..], &value].concat()
    }

    #[test]
    fn reads_frames_that_chunks_and_reads_divide_anywhere() {
        let frames = [
            outcome(&[0, 7, 0, 0, 0, 0, 0, 0, 0, 1, 1, b'a']),
            outcome(&[4]),
            outcome(&[0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 1, b'b']),
            vec![1, 0, 0, 0, 1],
        ];
        let expected = [
            Frame::Committed { success: true },
            Frame::Other,
            Frame::Committed { success: false },
            Frame::Summary,
        ];
        let frames = frames.concat();
        for chunk in 1..frames.len() {
            let mut body = Vec::new();
            for part in frames.chunks(chunk) {
                body.extend(format!("{:x}\r\n", part.len()).as_bytes());
                body.extend(part);
                body.extend(b"\r\n");
            }
            body.extend(b"0\r\n\r\n");
            for piece in [1, 2, 3, 7, body.len()] {
                let mut reader = FrameReader::new(BytesMut::new());
                let mut found = Vec::new();
                for part in body.chunks(piece) {
                    reader.buffer().extend_from_slice(part);
                    found.extend(std::iter::from_fn(|| reader.next().unwrap()));
                }
                assert_eq!((&found[..], reader.is_complete()), (&expected[..], true));
            }
        }
    }

    #[test]
    fn rejects_bytes_that_are_no_chunk() {
        let mut reader = FrameReader::new(BytesMut::from(&b"xyz\r\n"[..]));
        assert!(reader.next().is_err());
    }
}
