//! Configuration of the interface: limits and switches, with their defaults.

use serde::Serialize;

/// The limits and switches of the interface; keys `api.*` of the configuration.
#[derive(Clone, Debug)]
pub struct ApiConfig {
    /// The largest body of a request, in bytes; above it the answer is 413.
    pub max_body_bytes: usize,
    /// How much memory the bodies of all requests may take, in bytes; above it the answer is 503. A
    /// single body is always taken.
    pub bodies_bytes_max: usize,
    /// How much memory answers may take that their clients have not read, in bytes; above it the
    /// answer is
    /// 503. A single answer is always given.
    pub answers_bytes_max: usize,
    /// How much memory answers may take that are kept for who asks next, in bytes; 0 keeps none.
    pub kept_answers_bytes_max: usize,
    /// How many requests may be in flight at once, over all workers; above it the answer is 503.
    /// Long polls count, and so do answers that are still being sent.
    pub max_in_flight: usize,
    /// How many of them may be of one address; above it the answer is 503.
    pub max_in_flight_per_address: usize,
    /// How many requests of one connection may be in flight at once; above it the answer is 503.
    pub max_streams_per_connection: usize,
    /// Whether answers are compressed for clients that take it.
    pub compression_enabled: bool,
    /// What is on, until the operator changes it.
    pub switches: SwitchSettings,
}

impl Default for ApiConfig {
    /// What the node has where nothing sets it.
    fn default() -> Self {
        Self {
            max_body_bytes: 8 * 1024 * 1024,
            bodies_bytes_max: 256 * 1024 * 1024,
            answers_bytes_max: 256 * 1024 * 1024,
            kept_answers_bytes_max: 32 * 1024 * 1024,
            max_in_flight: 20_000,
            max_in_flight_per_address: 19_500,
            max_streams_per_connection: 128,
            compression_enabled: true,
            switches: SwitchSettings::default(),
        }
    }
}

/// What is on; keys `api.*_enabled` of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SwitchSettings {
    /// Whether answers are given in JSON. Errors are always in JSON.
    pub json_output_enabled: bool,
    /// Whether answers are given in BCS.
    pub bcs_output_enabled: bool,
    /// Whether transactions are taken, alone and in batches.
    pub submission_enabled: bool,
    /// Whether simulations are answered.
    pub simulation_enabled: bool,
    /// Whether transactions are encoded for signing.
    pub encode_submission_enabled: bool,
}

impl Default for SwitchSettings {
    /// Everything is on.
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
