//! Configuration of the interface: limits and switches, with their defaults.

use ledger_limits::Networks;
use serde::Serialize;

/// Limits and switches of the interface: keys `api.*` of the configuration.
#[derive(Clone, Debug)]
pub struct ApiConfig {
    /// Maximum size of a request body, in bytes. A larger one gets 413.
    pub max_body_bytes: usize,
    /// Maximum number of transactions in a batch of submissions. A larger batch gets 400.
    pub batch_transactions_max: usize,
    /// Memory for the bodies of all requests, in bytes. A request beyond it gets 503. A single body
    /// is always accepted.
    pub bodies_bytes_max: usize,
    /// Memory for responses that clients have not read yet, in bytes. A request beyond it gets 503.
    /// A single response is always sent.
    pub answers_bytes_max: usize,
    /// Memory of the response cache, in bytes; 0 turns the cache off.
    pub response_cache_bytes_max: usize,
    /// Maximum number of requests in flight, over all workers. Long polls and responses that are
    /// still being sent count. A request beyond it gets 503.
    pub max_in_flight: usize,
    /// Maximum number of requests in flight per client address. A request beyond it gets 503.
    pub max_in_flight_per_address: usize,
    /// Proxies whose header `Forwarded` or `X-Forwarded-For` names the client of a request.
    pub trusted_proxies: Networks,
    /// Networks whose requests are rejected at the start of the node. The operator can change them
    /// while it runs. A request from one of them gets 403.
    pub denied_addresses: Networks,
    /// Maximum number of requests in flight per connection. A request beyond it gets 503.
    pub max_streams_per_connection: usize,
    /// Whether responses are compressed for clients that accept it.
    pub compression_enabled: bool,
    /// Initial switches. The operator can change them while the node runs.
    pub switches: SwitchSettings,
}

impl Default for ApiConfig {
    fn default() -> Self {
        Self {
            max_body_bytes: 8 * 1024 * 1024,
            batch_transactions_max: 1_000,
            bodies_bytes_max: 256 * 1024 * 1024,
            answers_bytes_max: 256 * 1024 * 1024,
            response_cache_bytes_max: 32 * 1024 * 1024,
            max_in_flight: 20_000,
            max_in_flight_per_address: 19_500,
            trusted_proxies: Networks::default(),
            denied_addresses: Networks::default(),
            max_streams_per_connection: 128,
            compression_enabled: true,
            switches: SwitchSettings::default(),
        }
    }
}

/// Parts of the interface that can be turned off: keys `api.*_enabled` of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SwitchSettings {
    /// Whether JSON responses are enabled. Errors are always in JSON.
    pub json_output_enabled: bool,
    /// Whether BCS responses are enabled.
    pub bcs_output_enabled: bool,
    /// Whether transactions are accepted, alone and in batches.
    pub submission_enabled: bool,
    /// Whether simulation is enabled.
    pub simulation_enabled: bool,
    /// Whether the encoding of signing messages is enabled.
    pub encode_submission_enabled: bool,
}

impl Default for SwitchSettings {
    /// Enables all parts.
    fn default() -> Self {
        Self {
            json_output_enabled: true,
            bcs_output_enabled: true,
            submission_enabled: true,
            simulation_enabled: true,
            encode_submission_enabled: true,
        }
    }
}
