//! What bounds requests: permits, large responses, and the switches of the operator.

pub(crate) mod connection;
pub(crate) mod large_responses;
pub(crate) mod route_meters;
mod switches;

pub use connection::Connection;
pub use route_meters::RouteStatus;
pub(crate) use switches::Switches;
pub use switches::{Switch, SwitchChange};
