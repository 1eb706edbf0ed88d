//! Names of the parts of the interface that an operator can disable.

/// A part of the interface that an operator can disable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// Responses in JSON. Errors are always in JSON and are not affected.
    JsonOutput,
    /// Responses in BCS.
    BcsOutput,
    /// Submissions, alone and in batches.
    Submission,
    /// Simulations.
    Simulation,
    /// Encoding of signing messages.
    EncodeSubmission,
}

impl Switch {
    /// Returns the key of the setting that enables the part at the start of the node.
    pub fn setting(self) -> &'static str {
        match self {
            Self::JsonOutput => "api.json_output_enabled",
            Self::BcsOutput => "api.bcs_output_enabled",
            Self::Submission => "api.submission_enabled",
            Self::Simulation => "api.simulation_enabled",
            Self::EncodeSubmission => "api.encode_submission_enabled",
        }
    }
}
