//! TLS of a connection: version 1.3, with the network keys of both nodes as raw public keys
//! (RFC 7250) instead of certificates.

use crate::peers::Peers;
use crate::settings::Role;
use ledger_crypto::{Ed25519PrivateKey, Ed25519PublicKey};
use std::sync::Arc;
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::client::{AlwaysResolvesClientRawPublicKeys, Resumption};
use tokio_rustls::rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, ring, verify_tls13_signature_with_raw_key,
};
use tokio_rustls::rustls::pki_types::{
    CertificateDer, PrivatePkcs8KeyDer, ServerName, SubjectPublicKeyInfoDer, UnixTime,
};
use tokio_rustls::rustls::server::AlwaysResolvesServerRawPublicKeys;
use tokio_rustls::rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use tokio_rustls::rustls::sign::CertifiedKey;
use tokio_rustls::rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, DistinguishedName, Error,
    PeerIncompatible, ServerConfig, SignatureScheme, version::TLS13,
};
use tokio_rustls::{TlsAcceptor, TlsConnector, TlsStream};

/// ALPN name of the protocol. Another version of the messages has another name.
pub(crate) const ALPN: &[u8] = b"ledger-relay/1";

/// DER of an Ed25519 public key before its 32 bytes (RFC 8410, section 4).
const PUBLIC_KEY_PREFIX: [u8; 12] = [
    0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
];

/// DER of an Ed25519 private key before the 32 bytes of its seed (RFC 8410, section 7).
const PRIVATE_KEY_PREFIX: [u8; 16] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];

/// The keys that a node accepts at the other end of a connection.
#[derive(Clone, Debug)]
enum Accepted {
    /// That of the dialed peer.
    Dialed(Ed25519PublicKey),
    /// Those of the peers that dial this node.
    Dialers { peers: Arc<Peers>, role: Role },
}

impl Accepted {
    fn accepts(&self, key: &Ed25519PublicKey) -> bool {
        match self {
            Self::Dialed(expected) => expected == key,
            Self::Dialers { peers, role } => peers
                .get(key)
                .is_some_and(|state| state.read(|peer| role.is_dialed_by(peer))),
        }
    }
}

/// The verifier of the key at the other end.
#[derive(Debug)]
struct KeyVerifier {
    accepted: Accepted,
    algorithms: WebPkiSupportedAlgorithms,
}

impl KeyVerifier {
    fn check(&self, raw_key: &CertificateDer<'_>) -> Result<(), Error> {
        let key = public_key(raw_key).ok_or(CertificateError::BadEncoding)?;
        match self.accepted.accepts(&key) {
            true => Ok(()),
            false => Err(CertificateError::ApplicationVerificationFailure.into()),
        }
    }

    fn verify(
        &self,
        message: &[u8],
        raw_key: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let key = SubjectPublicKeyInfoDer::from(raw_key.as_ref());
        verify_tls13_signature_with_raw_key(message, &key, signature, &self.algorithms)
    }
}

impl ServerCertVerifier for KeyVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.check(end_entity)
            .map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _raw_key: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(PeerIncompatible::Tls12NotOfferedOrEnabled.into())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        raw_key: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verify(message, raw_key, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

impl ClientCertVerifier for KeyVerifier {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check(end_entity)
            .map(|()| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _raw_key: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(PeerIncompatible::Tls12NotOfferedOrEnabled.into())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        raw_key: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verify(message, raw_key, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

/// The two ends of TLS with this node's key.
pub(crate) struct Tls {
    provider: Arc<CryptoProvider>,
    own_key: Arc<CertifiedKey>,
    acceptor: TlsAcceptor,
}

impl Tls {
    /// Creates both ends. Connections of `peers` that dial this node are accepted, as they are in
    /// the table at the time.
    ///
    /// # Errors
    ///
    /// Returns the error of rustls if the library does not accept the key.
    pub fn new(key: &Ed25519PrivateKey, peers: Arc<Peers>, role: Role) -> Result<Self, Error> {
        let provider = Arc::new(ring::default_provider());
        let own_key = Arc::new(certified_key(key)?);
        let verifier = verifier(&provider, Accepted::Dialers { peers, role });
        let mut config = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&TLS13])?
            .with_client_cert_verifier(verifier)
            .with_cert_resolver(Arc::new(AlwaysResolvesServerRawPublicKeys::new(
                Arc::clone(&own_key),
            )));
        config.alpn_protocols = vec![ALPN.to_vec()];
        // Each connection proves both keys.
        config.send_tls13_tickets = 0;
        Ok(Self {
            provider,
            own_key,
            acceptor: Arc::new(config).into(),
        })
    }

    /// Returns the end that accepts connections.
    pub fn acceptor(&self) -> &TlsAcceptor {
        &self.acceptor
    }

    /// Returns the end that dials the peer with this key.
    ///
    /// # Errors
    ///
    /// Returns the error of rustls if TLS 1.3 is not available.
    pub fn connector(&self, key: Ed25519PublicKey) -> Result<TlsConnector, Error> {
        let verifier = verifier(&self.provider, Accepted::Dialed(key));
        let own_key = AlwaysResolvesClientRawPublicKeys::new(Arc::clone(&self.own_key));
        let mut config = ClientConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_protocol_versions(&[&TLS13])?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_client_cert_resolver(Arc::new(own_key));
        config.alpn_protocols = vec![ALPN.to_vec()];
        config.enable_sni = false;
        config.resumption = Resumption::disabled();
        Ok(Arc::new(config).into())
    }
}

fn verifier(provider: &CryptoProvider, accepted: Accepted) -> Arc<KeyVerifier> {
    Arc::new(KeyVerifier {
        accepted,
        algorithms: provider.signature_verification_algorithms,
    })
}

fn certified_key(key: &Ed25519PrivateKey) -> Result<CertifiedKey, Error> {
    let private_key = [&PRIVATE_KEY_PREFIX[..], &key.seed()].concat();
    let public_key = [&PUBLIC_KEY_PREFIX[..], &key.public_key().0].concat();
    let signing_key = ring::sign::any_eddsa_type(&PrivatePkcs8KeyDer::from(private_key))?;
    Ok(CertifiedKey::new(vec![public_key.into()], signing_key))
}

/// Returns the Ed25519 key of a raw public key, or `None` if it is another kind of key.
fn public_key(raw_key: &[u8]) -> Option<Ed25519PublicKey> {
    let bytes = raw_key.strip_prefix(&PUBLIC_KEY_PREFIX)?;
    bytes.try_into().ok().map(Ed25519PublicKey)
}

/// Returns whether both ends agreed on [`ALPN`]. rustls accepts a client that names no protocol.
pub(crate) fn has_protocol<S>(stream: &TlsStream<S>) -> bool {
    stream.get_ref().1.alpn_protocol() == Some(ALPN)
}

/// Returns the key that the other end proved.
pub(crate) fn peer_key<S>(stream: &TlsStream<S>) -> Option<Ed25519PublicKey> {
    let (_, connection) = stream.get_ref();
    public_key(connection.peer_certificates()?.first()?)
}
