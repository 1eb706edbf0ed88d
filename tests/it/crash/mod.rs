//! What survives the end of the process: `kill -9` at any moment of its life, and a graceful stop.
//!
//! | to find | look in |
//! |---|---|
//! | the cycles of `kill -9`, and how to run more of them | `cycles.rs` |
//! | which cycle does what and when, from a seed | `plan.rs` |
//! | the load, and what its clients are told | `load.rs`, `told.rs` |
//! | what must hold after each start | `check.rs` |
//! | graceful stops and full disks, one by one | `stops.rs` |

mod check;
mod cycles;
mod load;
mod plan;
mod stops;
mod told;
