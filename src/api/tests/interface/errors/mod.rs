//! docs/reference/rest-contract.md#s7: errors of every route, and each code once by its status.
//! Errors of one route are in the module of its section and in `companions`.

mod bare;
mod body;
pub mod broken_store;
mod companions;
mod diverged;
mod members;
mod pruned;
pub mod requests;
pub mod switched_off;
mod taken_by_a_block;
