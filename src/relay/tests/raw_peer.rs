//! A peer that sends bytes of its own choice. Its TLS and its messages are written anew, so that a
//! change of the protocol fails here.

use bytes::Bytes;
use ledger_crypto::{Ed25519PrivateKey, HashValue};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::client::AlwaysResolvesClientRawPublicKeys;
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use tokio_rustls::rustls::sign::CertifiedKey;
use tokio_rustls::rustls::{
    ClientConfig, DigitallySignedStruct, Error, SignatureScheme, SupportedProtocolVersion,
    version::TLS13,
};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Message {
    Hello {
        genesis_hash: HashValue,
    },
    Transactions(Vec<Bytes>),
    Find {
        id: u64,
        hash: HashValue,
        is_passed_on: bool,
    },
    Found {
        id: u64,
        found: Found,
    },
    Ping,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Found {
    Unknown,
    Pending(Bytes),
    Committed { version: u64 },
    Unreachable,
}

/// The end of a connection: what the node did before it.
#[derive(Debug, PartialEq)]
pub struct Closed;

/// TLS of a raw peer.
pub struct Tls {
    /// The key that the peer proves, or `None` for a client without a key.
    pub key: Option<Ed25519PrivateKey>,
    /// Whether the peer asks for a raw public key of the node.
    pub asks_for_raw_key: bool,
    pub version: &'static SupportedProtocolVersion,
    pub alpn: Option<&'static [u8]>,
}

impl Tls {
    pub fn of(key: &Ed25519PrivateKey) -> Self {
        Self {
            key: Some(key.clone()),
            asks_for_raw_key: true,
            version: &TLS13,
            alpn: Some(b"ledger-relay/1"),
        }
    }

    fn connector(self) -> TlsConnector {
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[self.version])
            .unwrap()
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyKey(self.asks_for_raw_key)));
        let mut config = match self.key {
            Some(key) => builder.with_client_cert_resolver(Arc::new(
                AlwaysResolvesClientRawPublicKeys::new(Arc::new(raw_key(&key))),
            )),
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols = self.alpn.map(<[u8]>::to_vec).into_iter().collect();
        Arc::new(config).into()
    }
}

fn raw_key(key: &Ed25519PrivateKey) -> CertifiedKey {
    let private = [
        &b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20"[..],
        &key.seed(),
    ]
    .concat();
    let public = [
        &b"\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00"[..],
        &key.public_key().0,
    ]
    .concat();
    let private = ring::sign::any_eddsa_type(&PrivatePkcs8KeyDer::from(private)).unwrap();
    CertifiedKey::new(vec![public.into()], private)
}

/// Accepts any key of the node. The field states whether it has to be a raw public key.
#[derive(Debug)]
struct AnyKey(bool);

impl ServerCertVerifier for AnyKey {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        self.0
    }
}

/// A connection with a node.
pub struct RawPeer(TlsStream<TcpStream>);

impl RawPeer {
    /// Connects, and exchanges the first messages.
    pub async fn connect(
        address: SocketAddr,
        tls: Tls,
        genesis_hash: HashValue,
    ) -> Result<Self, Closed> {
        let mut peer = Self::connect_tls(address, tls).await?;
        peer.send(&Message::Hello { genesis_hash }).await;
        match peer.receive().await? {
            Message::Hello { .. } => Ok(peer),
            other => panic!("{other:?}"),
        }
    }

    /// Connects without a first message.
    pub async fn connect_tls(address: SocketAddr, tls: Tls) -> Result<Self, Closed> {
        let tcp = TcpStream::connect(address).await.unwrap();
        let name = ServerName::try_from("node").unwrap();
        let connected = tls.connector().connect(name, tcp).await;
        connected.map(Self).map_err(|_| Closed)
    }

    pub async fn send(&mut self, message: &Message) {
        let bytes = bcs::to_bytes(message).unwrap();
        let length = u32::try_from(bytes.len()).unwrap();
        self.send_bytes(&length.to_le_bytes()).await;
        self.send_bytes(&bytes).await;
    }

    pub async fn send_bytes(&mut self, bytes: &[u8]) {
        // The node may have closed the connection. The next read shows that.
        let _ = self.0.write_all(bytes).await;
        let _ = self.0.flush().await;
    }

    /// Receives a message other than [`Message::Ping`].
    pub async fn receive(&mut self) -> Result<Message, Closed> {
        loop {
            match timeout(Duration::from_secs(60), self.receive_any()).await {
                Ok(Ok(Message::Ping)) => {}
                Ok(Ok(message)) => return Ok(message),
                Ok(Err(_)) => return Err(Closed),
                Err(_) => panic!("timeout"),
            }
        }
    }

    async fn receive_any(&mut self) -> std::io::Result<Message> {
        let length = self.0.read_u32_le().await?;
        let mut bytes = vec![0; length as usize];
        self.0.read_exact(&mut bytes).await?;
        Ok(bcs::from_bytes(&bytes).unwrap())
    }
}
