//! How connections are served, so that none of them can hurt the others:
//!
//! | to find | look in |
//! |---|---|
//! | what happens to a connection, in order | `pipeline.rs` |
//! | how fast a client must take what is sent to it | `pace.rs`, `guarded.rs` |
//! | plain or encrypted | `transport.rs` |
//! | HTTP/1.1: what the library's dispatcher leaves open | `http1.rs`, `watched.rs`, `idle.rs` |
//! | HTTP/2 | `http2/` |
//! | answers in pieces | `slices.rs` |
//! | what was refused, closed or cut | `metrics.rs` |

mod date;
mod guarded;
mod http1;
mod http2;
mod idle;
mod metrics;
mod pace;
mod pipeline;
mod slices;
mod transport;
mod watched;

pub use http2::Http2Limits;
pub use metrics::{ConnectionStatus, ListenerMetrics, ListenerRegistry};
pub use pipeline::{ConnectionOptions, PipelineOptions, pipeline};
