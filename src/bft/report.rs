//! The engine's state and counters in the form of the node.

use crate::start::Shared;
use crate::status::EngineState;
use arc_malachitebft_app_channel::app::metrics::{DropReason, DropReasonLabel};
use ledger_actors::engine::{EngineReport, ValidatorReport};
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};

impl Shared {
    /// Returns the state and the counters of the engine.
    pub(crate) fn report(&self) -> EngineReport {
        let status = self.stopper.subscribe().borrow().clone();
        let counters = &self.counters;
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let decided_height = match status.is_waiting {
            true => status.height,
            false => status.height.saturating_sub(1),
        };
        let next_height = decided_height.saturating_add(1);
        let is_begun = status.state == EngineState::Running && !status.is_waiting;
        let is_deciding = is_begun && (self.is_signer || self.observed.has_begun(status.height));
        EngineReport {
            is_running: !matches!(status.state, EngineState::Stopped(_)),
            is_validator: self.is_signer,
            is_signer: self.is_signer,
            height: status.height,
            round: status.round,
            is_deciding,
            height_time: status.height_started.elapsed(),
            round_time: status.round_started.elapsed(),
            peers: self.observed.peer_count(),
            peers_configured: self.allowed.len(),
            sync_lag_blocks: self.observed.credible_tip().saturating_sub(decided_height),
            pruned_height: Some(next_height)
                .filter(|height| self.observed.is_pruned_everywhere(*height)),
            validators: self.validator_reports(decided_height),
            quorum: self.observed.validators().quorum(),
            stranger_messages: count(&counters.stranger_messages),
            rejected_parts: count(&counters.rejected_parts),
            dropped_parts: count(&counters.dropped_parts),
            missed_proposals: count(&counters.missed_proposals),
            late_replies: count(&counters.late_replies),
            equivocations: count(&counters.equivocations),
            synced_blocks: count(&counters.synced_blocks),
            queued_messages: self.metrics.queue_size.get().try_into().unwrap_or_default(),
            dropped_messages: self.dropped_messages(),
            actor_answers: count(&counters.actor_answers),
            network_answers: count(&counters.network_answers),
        }
    }

    fn validator_reports(&self, decided_height: u64) -> Vec<ValidatorReport> {
        // Valid even if the holder panicked: each change is complete.
        let missed_turns = self.missed_turns.lock();
        let missed_turns = missed_turns.unwrap_or_else(PoisonError::into_inner).clone();
        let last_votes = self.observed.last_votes();
        let begun_after = self.observed.begun_after();
        let validators = self.observed.validators().as_slice().iter();
        let report = |address| {
            let last_vote = last_votes.get(&address).copied();
            let is_self = address == self.own_address;
            let voted = last_vote.unwrap_or_default().max(begun_after);
            ValidatorReport {
                address,
                is_self,
                is_in_contact: match is_self {
                    true => self.is_signer,
                    false => self.observed.is_in_contact(&address),
                },
                last_vote,
                heights_without_vote: match is_self {
                    true => 0,
                    false => decided_height.saturating_sub(voted),
                },
                missed_turns: missed_turns.get(&address).copied().unwrap_or_default(),
            }
        };
        validators
            .map(|validator| report(validator.address))
            .collect()
    }

    /// Returns the number of messages that the engine dropped because it was not ready for them.
    fn dropped_messages(&self) -> u64 {
        let metrics = &self.metrics;
        let buffered = [DropReason::BufferFull, DropReason::Restart].map(|reason| {
            let label = DropReasonLabel::new(reason);
            metrics
                .dropped_buffered_messages
                .get_or_create(&label)
                .get()
        });
        buffered.iter().sum::<u64>()
            + metrics.dropped_future_round_votes.get()
            + metrics.dropped_future_round_proposals.get()
            + metrics.dropped_capped_proposals.get()
            + metrics.dropped_capped_proposed_values.get()
    }
}
