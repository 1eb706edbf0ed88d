//! What survives the end of the process: `kill -9` at any moment of its life, and a graceful stop.
//!
//! | to find | look in |
//! |---|---|
//! | the cycles of `kill -9`, and how to run more of them | `cycles.rs` |
//! | which cycle does what and when, from a seed | `plan.rs` |
//! | the load, and what its clients are told | `load.rs`, `told.rs` |
//! | what must hold after each start | `check.rs` |
//! | directories of this and earlier formats | `formats.rs` |
//! | power loss, image by image | `powerloss/` |
//! | graceful stops and full disks, one by one | `stops.rs` |

mod check;
mod cycles;
pub(crate) mod formats;
mod load;
mod plan;
#[cfg(target_os = "linux")]
mod powerloss;
mod stops;
mod told;
