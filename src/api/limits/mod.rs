//! Limits on requests: addresses of clients and those that are denied, permits, sizes of parts, and
//! the switches of the operator.
//!
//! The module also has the counters of routes and the heaviest clients, because the shared state
//! holds them.

mod client_address;
mod compressors;
pub(crate) mod connection;
mod denied_addresses;
mod in_flight;
pub(crate) mod large_responses;
mod route_meters;
mod sampling;
mod switches;
mod traffic;

pub use client_address::client_address;
pub(crate) use compressors::Compressors;
pub use connection::Connection;
pub(crate) use connection::WaitEnd;
pub use denied_addresses::DeniedAddresses;
pub(crate) use in_flight::{FurtherPermit, InFlightLimits, RequestPermits, ThreadLimits};
pub(crate) use route_meters::RouteMeterId;
pub use route_meters::{RouteMeters, RouteStatus};
pub use switches::{SwitchChange, Switches};
pub use traffic::{Execution, FunctionName, TrafficMeter, TrafficReport};
pub(crate) use traffic::{RequestWork, Subject, TrafficRecorder, measured};
