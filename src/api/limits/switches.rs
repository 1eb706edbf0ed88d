//! Switches of the interface: which parts an operator has enabled, at the start of the node or
//! while it runs (`api_disabled`, docs/reference/rest-contract.md#s7).

use crate::{
    config::SwitchSettings,
    error::{ErrorKind, Switch},
};
use serde::Deserialize;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// New positions of switches. A switch without one stays.
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

/// The switches of a running interface.
///
/// A request that is served while a switch changes may see either position, so the switches are
/// independent of each other and relaxed.
#[derive(Debug)]
pub struct Switches {
    json_output: AtomicBool,
    bcs_output: AtomicBool,
    submission: AtomicBool,
    simulation: AtomicBool,
    encode_submission: AtomicBool,
}

impl Switches {
    /// Creates switches in the positions of `settings`.
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

    /// Checks that a switch is on.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::ApiDisabled`] if it is off.
    pub(crate) fn require(&self, switch: Switch) -> Result<(), ErrorKind> {
        if self.of(switch).load(Relaxed) {
            Ok(())
        } else {
            Err(ErrorKind::ApiDisabled(switch))
        }
    }

    /// Returns the positions of all switches.
    pub fn settings(&self) -> SwitchSettings {
        let is_on = |switch| self.of(switch).load(Relaxed);
        SwitchSettings {
            json_output_enabled: is_on(Switch::JsonOutput),
            bcs_output_enabled: is_on(Switch::BcsOutput),
            submission_enabled: is_on(Switch::Submission),
            simulation_enabled: is_on(Switch::Simulation),
            encode_submission_enabled: is_on(Switch::EncodeSubmission),
        }
    }

    /// Changes switches for requests that begin from now on. The next start of the node begins with
    /// the configured positions again.
    pub fn change(&self, change: &SwitchChange) {
        let positions = [
            (Switch::JsonOutput, change.json_output_enabled),
            (Switch::BcsOutput, change.bcs_output_enabled),
            (Switch::Submission, change.submission_enabled),
            (Switch::Simulation, change.simulation_enabled),
            (Switch::EncodeSubmission, change.encode_submission_enabled),
        ];
        for (switch, position) in positions {
            if let Some(is_on) = position {
                self.of(switch).store(is_on, Relaxed);
            }
        }
    }
}
