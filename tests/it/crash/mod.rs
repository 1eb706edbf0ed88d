//! Tests of what survives the end of the process: `kill -9` at any point of its life, and a
//! graceful stop.
//!
//! | subject | file |
//! |---|---|
//! | cycles of `kill -9`, and how to run more of them | `cycles.rs` |
//! | the plan of the cycles, drawn from a seed | `plan.rs` |
//! | the load, and what the node acknowledged to its clients | `load.rs`, `acknowledged.rs` |
//! | the checks after each start | `check.rs` |
//! | directories of this and earlier formats | `formats.rs` |
//! | power loss, image by image | `powerloss/` |
//! | single cases: `kill -9` under load, a graceful stop | `stops.rs` |

pub(crate) mod acknowledged;
pub(crate) mod check;
mod cycles;
pub(crate) mod formats;
pub(crate) mod load;
mod plan;
#[cfg(target_os = "linux")]
mod powerloss;
mod stops;
