//! The limits of a running node that run-time settings are.

use crate::{
    config::{Setting, Settings},
    telemetry,
};
use ledger_actors::NodeHandle;
use ledger_api::{ApiState, SwitchChange};
use ledger_limits::KeyedLimit;
use std::{net::IpAddr, sync::Arc};

/// The parts of a running node that run-time settings change.
#[derive(Clone, Debug)]
pub struct Targets {
    /// Actors and their queues.
    pub node: NodeHandle,
    /// The REST interface.
    pub api: ApiState,
    /// Open connections of the API listener per client address.
    pub connections: Arc<KeyedLimit<IpAddr>>,
}

impl Targets {
    /// Applies the value that a run-time setting has in `settings`.
    ///
    /// Each limit is an atomic: what holds more than a lower one continues, and nothing more is
    /// admitted until enough of it has ended.
    pub(super) fn apply(&self, setting: &Setting, settings: &Settings) {
        let Self {
            node,
            api,
            connections,
        } = self;
        match setting.key {
            "api.max_body_bytes" => api.set_body_bytes_max(settings.api.max_body_bytes),
            "api.max_in_flight" => api.set_in_flight_max(settings.api.max_in_flight),
            "api.max_in_flight_per_address" => {
                api.set_in_flight_per_address_max(settings.api.max_in_flight_per_address);
            }
            "api.denied_addresses" => {
                api.denied_addresses
                    .set(settings.api.denied_addresses.clone());
            }
            "api.max_connections_per_address" => {
                connections.set_max(settings.api_listener.max_connections_per_address);
            }
            "signatures.queue_capacity" => {
                node.set_signature_capacity(settings.node.signatures.queue_capacity);
            }
            "filter.rules" => drop(node.set_filter(settings.node.filter.clone())),
            "wait.capacity" => node.set_wait_capacity(settings.node.wait.capacity),
            "work.point_read_budget_ms" => {
                self.set_budget("point_reads", settings.node.work.point_read_budget_ms);
            }
            "work.read_budget_ms" => self.set_budget("reads", settings.node.work.read_budget_ms),
            "work.render_budget_ms" => {
                self.set_budget("renderings", settings.node.work.render_budget_ms);
            }
            "log.level" => telemetry::set_level(&settings.log.level),
            _ if is_switch(setting) => api.switches.change(&positions(settings)),
            _ => self.set_mailbox_capacity(setting, settings),
        }
    }

    fn set_budget(&self, name: &str, capacity_ms: u64) {
        let changed = self.node.set_budget(name, capacity_ms);
        changed.expect("the node has the budgets of the settings");
    }

    fn set_mailbox_capacity(&self, setting: &Setting, settings: &Settings) {
        let actor = setting.section().strip_prefix("actors.");
        if let (Some(actor), Some(capacity)) = (actor, (setting.get)(settings).as_integer()) {
            let changed = self.node.set_mailbox_capacity(actor, capacity as usize);
            changed.expect("the node has the actors of the settings");
        }
    }
}

/// Returns whether a run-time setting is a switch of the REST interface.
fn is_switch(setting: &Setting) -> bool {
    setting.key.starts_with("api.") && setting.key.ends_with("_enabled")
}

/// Returns the change that brings all switches into their positions of `settings`.
fn positions(settings: &Settings) -> SwitchChange {
    let switches = settings.api.switches;
    SwitchChange {
        json_output_enabled: Some(switches.json_output_enabled),
        bcs_output_enabled: Some(switches.bcs_output_enabled),
        submission_enabled: Some(switches.submission_enabled),
        simulation_enabled: Some(switches.simulation_enabled),
        encode_submission_enabled: Some(switches.encode_submission_enabled),
    }
}
