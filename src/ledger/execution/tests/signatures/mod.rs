//! Signatures of all kinds: published edge cases with their verdicts under the rule of this ledger.
//! A signature has the same verdict in each authenticator and in each batch.

mod batch;
mod kinds;
mod kit;
mod speccheck;
mod unsupported;
mod webauthn;
mod wycheproof;
mod zebra;
mod zip215;
