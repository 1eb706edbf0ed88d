//! Tests of chains in the process of a test.

mod clock;
mod many;
mod sender;
