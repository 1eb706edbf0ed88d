//! The parts of the interface that an operator can turn off, when the node starts or while it runs
//! (`api_disabled`, docs/reference/rest-contract.md#s7).

use crate::{config::SwitchSettings, error::ErrorKind, model::format::Format};
use serde::Deserialize;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A part of the interface that can be turned off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// Answers in JSON; those that say what went wrong are always in JSON and go on.
    JsonOutput,
    /// Answers in BCS.
    BcsOutput,
    /// Submissions, alone and in batches.
    Submission,
    /// Simulations.
    Simulation,
    /// Encoding what is to be signed.
    EncodeSubmission,
}

impl Switch {
    /// What answers in this form need.
    pub(crate) fn of_output(format: Format) -> Self {
        match format {
            Format::Json => Self::JsonOutput,
            Format::Bcs => Self::BcsOutput,
        }
    }

    /// The setting that turns it on and off.
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

/// What is to be turned on and off; what is not named stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields are those of SwitchSettings")]
pub struct SwitchChange {
    pub json_output_enabled: Option<bool>,
    pub bcs_output_enabled: Option<bool>,
    pub submission_enabled: Option<bool>,
    pub simulation_enabled: Option<bool>,
    pub encode_submission_enabled: Option<bool>,
}

/// The switches of a running interface. Each stands for itself, and a request that is under way while one
/// is turned may see either position, hence relaxed.
#[derive(Debug)]
pub(crate) struct Switches {
    json_output: AtomicBool,
    bcs_output: AtomicBool,
    submission: AtomicBool,
    simulation: AtomicBool,
    encode_submission: AtomicBool,
}

impl Switches {
    pub(crate) fn new(settings: SwitchSettings) -> Self {
        Self {
            json_output: settings.json_output_enabled.into(),
            bcs_output: settings.bcs_output_enabled.into(),
            submission: settings.submission_enabled.into(),
            simulation: settings.simulation_enabled.into(),
            encode_submission: settings.encode_submission_enabled.into(),
        }
    }

    fn of(&self, switch: Switch) -> &AtomicBool {
        match switch {
            Switch::JsonOutput => &self.json_output,
            Switch::BcsOutput => &self.bcs_output,
            Switch::Submission => &self.submission,
            Switch::Simulation => &self.simulation,
            Switch::EncodeSubmission => &self.encode_submission,
        }
    }

    /// Goes on only where the switch is on.
    ///
    /// # Errors
    /// 403, which names the setting.
    pub(crate) fn require(&self, switch: Switch) -> Result<(), ErrorKind> {
        if self.of(switch).load(Relaxed) {
            Ok(())
        } else {
            Err(ErrorKind::ApiDisabled(switch))
        }
    }

    /// What is on.
    pub(crate) fn settings(&self) -> SwitchSettings {
        let is_on = |switch| self.of(switch).load(Relaxed);
        SwitchSettings {
            json_output_enabled: is_on(Switch::JsonOutput),
            bcs_output_enabled: is_on(Switch::BcsOutput),
            submission_enabled: is_on(Switch::Submission),
            simulation_enabled: is_on(Switch::Simulation),
            encode_submission_enabled: is_on(Switch::EncodeSubmission),
        }
    }

    /// Turns what is named, with effect on requests that begin from now on.
    pub(crate) fn change(&self, change: &SwitchChange) {
        let turns = [
            (Switch::JsonOutput, change.json_output_enabled),
            (Switch::BcsOutput, change.bcs_output_enabled),
            (Switch::Submission, change.submission_enabled),
            (Switch::Simulation, change.simulation_enabled),
            (Switch::EncodeSubmission, change.encode_submission_enabled),
        ];
        for (switch, to) in turns {
            if let Some(on) = to {
                self.of(switch).store(on, Relaxed);
            }
        }
    }
}
