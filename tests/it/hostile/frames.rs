//! An HTTP/2 client that follows no rules: it writes any frames, and reads only when a test does.

use ledger_test_support::{
    http::{H2, TestCertificate},
    node::TestNode,
};
use std::io;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use tokio_rustls::client::TlsStream;

// Types of frames (RFC 9113, section 6).

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PING: u8 = 6;
pub const GOAWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;
pub const CONTINUATION: u8 = 9;

// Flags of `HEADERS` and `CONTINUATION` frames.

pub const END_STREAM: u8 = 1;
pub const END_HEADERS: u8 = 4;

/// The flag of a [`SETTINGS`] frame that acknowledges the settings of the peer, and of a [`PING`]
/// response.
pub const ACK: u8 = 1;

/// The maximum size of a window.
pub const WINDOW_MAX: u32 = (1 << 31) - 1;

/// A connection that sends and receives single frames.
pub struct Frames(TlsStream<TcpStream>);

/// A received frame.
#[derive(Debug)]
pub struct Frame {
    pub kind: u8,
    pub payload: Vec<u8>,
}

/// Encodes a frame.
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = u32::try_from(payload.len()).unwrap().to_be_bytes()[1..].to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// Encodes the head of a GET in HPACK (RFC 7541), without the dynamic table.
pub fn get_head(path: &str) -> Vec<u8> {
    // Static entries 2 and 7 are GET and https; 4 and 1 are the names :path and :authority.
    let mut head = vec![0x82, 0x87, 0x04, u8::try_from(path.len()).unwrap()];
    head.extend(path.as_bytes());
    head.extend([0x01, 4]);
    head.extend(b"node");
    head
}

/// Encodes a GET as one frame.
pub fn get(stream: u32, path: &str) -> Vec<u8> {
    frame(HEADERS, END_STREAM | END_HEADERS, stream, &get_head(path))
}

/// Returns the identifiers of a client's first `count` streams.
pub fn streams(count: u32) -> impl Iterator<Item = u32> {
    (0..count).map(|index| 2 * index + 1)
}

impl Frames {
    /// Connects, and announces `window` as the initial window of each stream.
    pub async fn connect(node: &TestNode, certificate: &TestCertificate, window: u32) -> Self {
        let mut stream = certificate.connect(node.authority(), &[H2]).await;
        stream
            .write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
            .await
            .unwrap();
        // SETTINGS_INITIAL_WINDOW_SIZE is 4.
        let mut setting = vec![0, 4];
        setting.extend(window.to_be_bytes());
        stream
            .write_all(&frame(SETTINGS, 0, 0, &setting))
            .await
            .unwrap();
        let mut frames = Self(stream);
        if window == WINDOW_MAX {
            frames.open_window(0, WINDOW_MAX - 65_535).await;
        }
        frames
    }

    /// Allows `bytes` more bytes of a stream, or of the connection for stream 0. Returns whether
    /// the connection is open.
    pub async fn open_window(&mut self, stream: u32, bytes: u32) -> bool {
        self.send(&frame(WINDOW_UPDATE, 0, stream, &bytes.to_be_bytes()))
            .await
    }

    /// Sends bytes. Returns whether the connection is open.
    pub async fn send(&mut self, bytes: &[u8]) -> bool {
        self.0.write_all(bytes).await.is_ok() && self.0.flush().await.is_ok()
    }

    /// Reads the next frame. Returns `None` at the end of the connection.
    pub async fn read(&mut self) -> Option<Frame> {
        let mut head = [0; 9];
        self.0.read_exact(&mut head).await.ok()?;
        self.read_payload(head).await.ok()
    }

    /// Acknowledges pings until the node closes the connection, and returns the reasons of its
    /// GOAWAY frames.
    ///
    /// Sends nothing after the last acknowledgment: bytes that arrive after the close would reset
    /// the connection.
    ///
    /// # Errors
    ///
    /// Returns the error of the read if the connection ends within a frame or without a TLS alert.
    pub async fn acknowledge_to_close(&mut self) -> io::Result<Vec<u32>> {
        let mut reasons = Vec::new();
        let mut head = [0; 9];
        while self.0.read(&mut head[..1]).await? > 0 {
            self.0.read_exact(&mut head[1..]).await?;
            let frame = self.read_payload(head).await?;
            match frame.kind {
                PING => {
                    self.send(&self::frame(PING, ACK, 0, &frame.payload)).await;
                }
                GOAWAY => reasons.push(u32::from_be_bytes(
                    frame.payload[4..8].try_into().unwrap_or_default(),
                )),
                _ => {}
            }
        }
        Ok(reasons)
    }

    /// Reads the rest of the frame that begins with `head`.
    async fn read_payload(&mut self, head: [u8; 9]) -> io::Result<Frame> {
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; length as usize];
        self.0.read_exact(&mut payload).await?;
        Ok(Frame {
            kind: head[3],
            payload,
        })
    }

    /// Waits until the node has processed everything sent so far. Discards its responses. Returns
    /// whether the connection is open.
    pub async fn until_processed(&mut self) -> bool {
        if !self.send(&frame(PING, 0, 0, &[0; 8])).await {
            return false;
        }
        while let Some(frame) = self.read().await {
            match frame.kind {
                PING => return true,
                GOAWAY => return false,
                _ => {}
            }
        }
        false
    }

    /// Reads to the end of the connection. Returns whether the node named a reason for closing it.
    pub async fn read_to_close(&mut self) -> bool {
        let mut has_reason = false;
        while let Some(frame) = self.read().await {
            // The reason follows the last stream's identifier; 0 is NO_ERROR.
            has_reason |= frame.kind == GOAWAY && frame.payload[4..8] != [0; 4];
        }
        has_reason
    }
}
