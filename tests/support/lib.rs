//! What the tests of several crates share.
//!
//! The crate names no type of the store or of the actors, so that their unit tests can use it.

mod disk;
mod image;

pub use disk::{Disk, Fault, LogFile, Traffic};
pub use image::Image;
