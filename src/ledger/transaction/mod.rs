//! Transactions: what clients sign (`raw`, `payload`, `authenticator`) and what the ledger keeps
//! (`committed`). BCS forms and variant indices are the reference's (rest-behaviour section 5).

mod authenticator;
mod committed;
mod payload;
mod raw;

pub use authenticator::{
    AbstractData, AccountAuthenticator, AnyPublicKey, AnySignature, EphemeralCertificate, EphemeralPublicKey,
    EphemeralSignature, FederatedKeylessPublicKey, FunctionInfo, KeylessPublicKey, KeylessSignature,
    MultiEd25519PublicKey, MultiEd25519Signature, MultiKey, OpenIdCertificate, SIGNATURES_MAX, Scheme,
    SlhDsaPublicKey, SlhDsaSignature, TransactionAuthenticator, ZeroKnowledgeCertificate, ZeroKnowledgeProof,
    authentication_key,
};
pub use committed::{
    AbortInfo, AbortLocation, BlockEndInfo, BlockEpilogue, BlockMetadata, ExecutionStatus, GenesisPayload,
    Transaction, TransactionInfo, TransactionInfoV0,
};
pub use payload::{
    EntryFunction, Executable, ExtraConfig, InnerPayload, Multisig, MultisigPayload, Script, ScriptArgument,
    TransactionExecutable, TransactionPayload,
};
pub use raw::{
    CheckedTransaction, RawTransaction, ReplayProtector, SIGNED_TRANSACTION_DEPTH_MAX, SignedTransaction,
    decode_signed_transaction,
};
