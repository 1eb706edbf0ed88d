//! Transactions as clients sign them (`raw`, `payload`, `authenticator`), with checked signatures
//! (`check`, `checked`, `message`), and as the ledger stores them (`committed`). BCS forms and
//! variant indices are those of the reference node (docs/reference/reference-node.md#r26).

mod authenticator;
mod check;
mod checked;
mod committed;
mod message;
mod payload;
mod raw;

pub use authenticator::{
    AbstractData, AccountAuthenticator, AnyPublicKey, AnySignature, EphemeralCertificate,
    EphemeralPublicKey, EphemeralSignature, FederatedKeylessPublicKey, KeylessPublicKey,
    KeylessSignature, MultiEd25519PublicKey, MultiEd25519Signature, MultiKey, OpenIdCertificate,
    SIGNATURES_MAX, SlhDsaPublicKey, SlhDsaSignature, TransactionAuthenticator,
    ZeroKnowledgeCertificate, ZeroKnowledgeProof,
};
pub use checked::CheckedTransaction;
pub use committed::{
    AbortInfo, AbortLocation, BlockEndInfo, BlockEpilogue, BlockMetadata, BlockMetadataExt,
    ExecutionStatus, GenesisPayload, Transaction, TransactionInfo, TransactionInfoV0,
};
pub use payload::{
    EntryFunction, Executable, ExtraConfig, InnerPayload, Multisig, MultisigPayload, Script,
    ScriptArgument, TransactionExecutable, TransactionPayload,
};
pub use raw::{
    RawTransaction, ReplayProtector, SIGNED_TRANSACTION_DEPTH_MAX, SignedTransaction,
    decode_signed_transaction,
};
