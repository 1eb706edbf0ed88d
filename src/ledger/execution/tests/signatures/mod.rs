//! Signatures of every kind: published edge cases with the verdict under this ledger's rule, and what the
//! rule promises: one verdict, whatever a signature stands in and whatever it is checked with.

mod batch;
mod kinds;
mod kit;
mod speccheck;
mod unsupported;
mod webauthn;
mod wycheproof;
mod zebra;
mod zip215;
