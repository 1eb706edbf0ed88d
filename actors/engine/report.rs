//! The state of a consensus engine, for health, metrics and the stall monitor.

use crate::runtime::progress::QueueProgress;
use ledger_types::AccountAddress;
use std::{fmt, sync::Weak, time::Duration};

/// Name of the sequence of heights in stalls: the engine runs, and no height is decided.
pub const HEIGHTS: &str = "consensus";

/// Name of the engine's actors in stalls: they do not answer for their state.
pub const ACTORS: &str = "consensus-engine";

/// Name of the engine's network in stalls: it does not answer for its state.
pub const NETWORK: &str = "consensus-network";

/// The state and the counters of an engine at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EngineReport {
    /// Whether the engine has not stopped.
    pub is_running: bool,
    /// Whether the node's key is one of the validators'.
    pub is_validator: bool,
    /// Whether the engine signs. A validator that does not sign follows the others.
    pub is_signer: bool,
    /// Height that the engine works on.
    pub height: u64,
    /// Round of the height.
    pub round: u32,
    /// Whether the height is in progress: it is not decided, and this validator or a connected peer
    /// works on it. Otherwise the chain has nothing to decide.
    pub is_deciding: bool,
    /// Time since the height began.
    pub height_time: Duration,
    /// Time since the round began.
    pub round_time: Duration,
    /// Number of connected peers.
    pub peers: usize,
    /// Number of peers that the node is to connect to.
    pub peers_configured: usize,
    /// Number of blocks by which the others are ahead, as more of them stated than may lie.
    pub sync_lag_blocks: u64,
    /// Height of the next block, if peers are ahead and none of them has that block any more.
    pub pruned_height: Option<u64>,
    /// The validators of the chain, in the order of their turns.
    pub validators: Vec<ValidatorReport>,
    /// Number of validators whose votes decide a block.
    pub quorum: usize,
    /// Messages of unknown peers that were dropped.
    pub stranger_messages: u64,
    /// Parts of blocks that broke a rule.
    pub rejected_parts: u64,
    /// Parts or blocks that found no room.
    pub dropped_parts: u64,
    /// Turns of this validator that passed before the node had a block.
    pub missed_proposals: u64,
    /// Requests that were answered without the node, because it was late.
    pub late_replies: u64,
    /// Contradictory messages of validators.
    pub equivocations: u64,
    /// Decided blocks that peers sent.
    pub synced_blocks: u64,
    /// Messages for later heights that wait in the engine.
    pub queued_messages: u64,
    /// Messages that the engine dropped because it was not ready for them.
    pub dropped_messages: u64,
    /// Number of times that the engine's actors answered for their state.
    pub actor_answers: u64,
    /// Number of times that the engine's network answered for its state.
    pub network_answers: u64,
}

/// The part of a validator in the decisions, as this node observes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValidatorReport {
    /// The validator.
    pub address: AccountAddress,
    /// Whether it is this node, whose own votes are not observed.
    pub is_self: bool,
    /// Whether the validator stated its height within the last seconds, or is this node and votes.
    pub is_in_contact: bool,
    /// Newest height of which a vote arrived, or `None` if none did.
    pub last_vote: Option<u64>,
    /// Number of decided heights since that vote, or since the start of the engine.
    pub heights_without_vote: u64,
    /// Turns that ended without a decision.
    pub missed_turns: u64,
}

impl EngineReport {
    /// Returns what is observed of a validator, or `None` if it is none of the chain.
    pub fn validator(&self, address: &AccountAddress) -> Option<&ValidatorReport> {
        self.validators
            .iter()
            .find(|validator| validator.address == *address)
    }
}

/// Number of blocks by which a healthy node may be behind. Peers state their height every two
/// seconds, and four validators of one machine decide some tens of blocks in that time.
const HEALTHY_LAG_BLOCKS_MAX: u64 = 100;

impl EngineReport {
    /// Returns the number of validators that are in contact, this node included if it votes.
    pub fn validators_in_contact(&self) -> usize {
        let in_contact = |validator: &&ValidatorReport| validator.is_in_contact;
        self.validators.iter().filter(in_contact).count()
    }

    /// Returns the reason for which this node could neither commit a transaction nor follow the
    /// others: too few are in contact, they are far ahead, or none has the next block any more.
    pub fn isolation(&self) -> Option<String> {
        let (in_contact, count) = (self.validators_in_contact(), self.validators.len());
        if in_contact < self.quorum {
            let quorum = self.quorum;
            return Some(format!(
                "{in_contact} of {count} validators are in contact, and {quorum} decide a block"
            ));
        }
        if let Some(height) = self.pruned_height {
            return Some(format!(
                "no peer has block {height} any more; copy the ledger of another node \
                 (docs/operate/cluster.md#full-nodes)"
            ));
        }
        let lag = self.sync_lag_blocks;
        (lag > HEALTHY_LAG_BLOCKS_MAX).then(|| format!("this node is {lag} blocks behind"))
    }
}

/// Writes what an operator needs to find out why no height is decided.
impl fmt::Display for EngineReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            height,
            round,
            peers,
            peers_configured,
            ..
        } = self;
        write!(
            f,
            "height {height}, round {round}, {peers} of {peers_configured} peers are connected"
        )
    }
}

/// Returns a report.
type Report = dyn Fn() -> EngineReport + Send + Sync;

/// The reports of a node's engine.
pub(crate) struct EngineSource(Box<Report>);

impl fmt::Debug for EngineSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EngineSource")
    }
}

impl EngineSource {
    pub(crate) fn new(report: impl Fn() -> EngineReport + Send + Sync + 'static) -> Self {
        Self(Box::new(report))
    }

    /// Returns the present report.
    pub(crate) fn report(&self) -> EngineReport {
        (self.0)()
    }
}

/// The progress of a part of the engine that the stall monitor watches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WatchedPart {
    /// Name of the part.
    pub(crate) name: &'static str,
    /// Returns a number that changes with each progress.
    pub(crate) done: fn(&EngineReport) -> u64,
    /// Returns whether the part has work.
    pub(crate) has_work: fn(&EngineReport) -> bool,
}

/// The parts of an engine without which no block is committed. The heights are last: if a part
/// hangs, no height is decided, and the health check gives the first stall.
pub(crate) const WATCHED_PARTS: [WatchedPart; 3] = [
    WatchedPart {
        name: ACTORS,
        done: |report| report.actor_answers,
        has_work: |report| report.is_running,
    },
    WatchedPart {
        name: NETWORK,
        done: |report| report.network_answers,
        has_work: |report| report.is_running,
    },
    WatchedPart {
        name: HEIGHTS,
        done: |report| report.height,
        has_work: |report| report.is_running && report.is_deciding,
    },
];

impl WatchedPart {
    /// Returns the progress of the part, or `None` if another engine has replaced this one.
    pub(crate) fn sample(&self, engine: &Weak<EngineSource>) -> Option<QueueProgress> {
        let report = engine.upgrade()?.report();
        Some(QueueProgress {
            done: (self.done)(&report),
            has_work: (self.has_work)(&report),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{EngineReport, HEALTHY_LAG_BLOCKS_MAX, ValidatorReport};
    use ledger_types::AccountAddress;

    /// Returns the report of one of four validators that is in contact with `count` of them.
    fn in_contact(count: usize, sync_lag_blocks: u64) -> EngineReport {
        let validator = |index| ValidatorReport {
            address: AccountAddress::ZERO,
            is_self: index == 0,
            is_in_contact: index < count,
            last_vote: None,
            heights_without_vote: 0,
            missed_turns: 0,
        };
        EngineReport {
            validators: (0..4).map(validator).collect(),
            quorum: 3,
            sync_lag_blocks,
            ..EngineReport::default()
        }
    }

    #[test]
    fn a_node_is_isolated_without_a_quorum_or_far_behind() {
        assert_eq!(in_contact(3, HEALTHY_LAG_BLOCKS_MAX).isolation(), None);
        let behind = in_contact(4, HEALTHY_LAG_BLOCKS_MAX + 1).isolation();
        assert_eq!(behind.unwrap(), "this node is 101 blocks behind");
        let cut_off = in_contact(2, 0).isolation().unwrap();
        assert!(
            cut_off.starts_with("2 of 4 validators are in contact"),
            "{cut_off}"
        );
        let pruned = EngineReport {
            pruned_height: Some(8),
            ..in_contact(4, 1)
        };
        let pruned = pruned.isolation().unwrap();
        assert!(
            pruned.starts_with("no peer has block 8 any more"),
            "{pruned}"
        );
        assert_eq!(EngineReport::default().isolation(), None, "no engine yet");
    }
}
