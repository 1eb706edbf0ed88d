//! Authenticators: the public keys and signatures of a transaction.
//!
//! | file | content |
//! |---|---|
//! | `authenticators` | the authenticator of an account and that of a transaction |
//! | `keys` | wire forms of keys and signatures |
//! | `unsupported` | kinds that are decoded but not checked |
//! | `form` | limits on the number and kinds of signatures |
//! | `cost` | estimated cost of a check |

mod authenticators;
mod cost;
mod form;
mod keys;
mod unsupported;

pub use authenticators::{AccountAuthenticator, TransactionAuthenticator};
pub use form::SIGNATURES_MAX;
pub use keys::{
    AnyPublicKey, AnySignature, MultiEd25519PublicKey, MultiEd25519Signature, MultiKey,
};
pub use unsupported::{
    AbstractData, EphemeralCertificate, EphemeralPublicKey, EphemeralSignature,
    FederatedKeylessPublicKey, KeylessPublicKey, KeylessSignature, OpenIdCertificate,
    SlhDsaPublicKey, SlhDsaSignature, ZeroKnowledgeCertificate, ZeroKnowledgeProof,
};
