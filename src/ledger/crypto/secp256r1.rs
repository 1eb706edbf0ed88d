//! ECDSA on secp256r1 (P-256) under the rules of [`super::ecdsa`]. Nothing signs with it directly: it is
//! the curve of passkeys ([`super::webauthn`]).

super::ecdsa::curve!(p256);
