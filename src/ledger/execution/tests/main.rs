//! Integration tests of the crate.
//!
//! They share one binary, because every test binary links the crate and all its dependencies.

mod block_limits;
mod calls;
mod conservation;
mod differences;
mod divergence;
mod execution;
mod framework_readme;
mod functions;
mod golden;
mod golden_resources;
mod interface;
mod multisig;
mod orderless;
mod programs;
mod recorded;
mod replay;
mod rotation;
mod secondary_signers;
mod signatures;
mod simulations;
mod sponsored;
mod storage_deposits;
mod system;
mod takeover;
mod unchecked_verdicts;
mod upgrades;
mod values;
mod values_declared;
mod values_printed;
mod verdict_table;
mod verdicts;
