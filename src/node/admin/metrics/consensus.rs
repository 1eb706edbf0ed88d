//! Metrics of the consensus engine. A chain of one node has none.

use super::family::{Families, Family, Title};
use ledger_actors::{
    NodeHandle,
    engine::{EngineReport, ValidatorReport},
};

/// A family with one sample.
type Single = (Title, fn(&EngineReport) -> f64);

/// A family with one sample for each validator.
type OfValidator = (Title, fn(&ValidatorReport) -> f64);

/// Appends the metrics of the engine.
pub fn collect(node: &NodeHandle, families: &mut Families) {
    let Some(report) = node.engine_report() else {
        return;
    };
    for (title, read) in GAUGES {
        families.gauge(title).sample(&[], read(&report));
    }
    if report.is_validator {
        families
            .gauge(VOTING)
            .sample(&[], f64::from(u8::from(report.is_signer)));
    }
    for (title, read) in COUNTERS {
        families.counter(title).sample(&[], read(&report));
    }
    let proposals = node.meters().proposals;
    families
        .gauge(UNDECIDED)
        .sample(&[], proposals.undecided as f64);
    families
        .counter(REJECTED)
        .sample(&[], proposals.rejected as f64);
    dropped_messages(&report, families);
    validators(&report, families);
}

const GAUGES: [Single; 8] = [
    (
        (
            "ledger_consensus_height",
            "Height that the consensus engine works on, or has decided last.",
        ),
        |report| report.height as f64,
    ),
    (
        (
            "ledger_consensus_round",
            "Round of the height, from 0. Each further one had a proposer whose block was not \
             decided.",
        ),
        |report| f64::from(report.round),
    ),
    (
        (
            "ledger_consensus_height_seconds",
            "Time since the height began; 0 while no validator has anything to decide.",
        ),
        |report| match report.is_deciding {
            true => report.height_time.as_secs_f64(),
            false => 0.0,
        },
    ),
    (
        (
            "ledger_consensus_round_seconds",
            "Time since the round began; 0 while no validator has anything to decide.",
        ),
        |report| match report.is_deciding {
            true => report.round_time.as_secs_f64(),
            false => 0.0,
        },
    ),
    (
        ("ledger_consensus_peers", "Number of connected peers."),
        |report| report.peers as f64,
    ),
    (
        (
            "ledger_consensus_peers_configured",
            "Number of peers that the node is to connect to (peers.toml).",
        ),
        |report| report.peers_configured as f64,
    ),
    (
        (
            "ledger_consensus_sync_lag_blocks",
            "Number of blocks by which the others are ahead.",
        ),
        |report| report.sync_lag_blocks as f64,
    ),
    (
        (
            "ledger_consensus_queued_messages",
            "Messages for later heights that wait in the engine.",
        ),
        |report| report.queued_messages as f64,
    ),
];

const COUNTERS: [Single; 4] = [
    (
        (
            "ledger_consensus_equivocations_total",
            "Pairs of different messages that a validator signed for one step; the log names it.",
        ),
        |report| report.equivocations as f64,
    ),
    (
        (
            "ledger_consensus_missed_proposals_total",
            "Turns of this validator that passed before the node had a block.",
        ),
        |report| report.missed_proposals as f64,
    ),
    (
        (
            "ledger_consensus_late_replies_total",
            "Requests of the engine that were answered without the node, because it was late.",
        ),
        |report| report.late_replies as f64,
    ),
    (
        (
            "ledger_consensus_synced_blocks_total",
            "Decided blocks that peers sent, because the node had missed them.",
        ),
        |report| report.synced_blocks as f64,
    ),
];

const VOTING: Title = (
    "ledger_consensus_voting",
    "1 if this validator votes, 0 if it follows the others without votes.",
);

const UNDECIDED: Title = (
    "ledger_consensus_undecided_proposals",
    "Number of proposed blocks of heights that are not decided.",
);

const REJECTED: Title = (
    "ledger_consensus_rejected_blocks_total",
    "Blocks of other validators that broke a rule of the chain; the log names the rule.",
);

fn dropped_messages(report: &EngineReport, families: &mut Families) {
    let mut dropped = families.counter((
        "ledger_consensus_dropped_messages_total",
        "Messages of peers that were dropped: of unknown peers, parts of blocks that broke a rule or \
         found no room, and messages that the engine was not ready for.",
    ));
    for (reason, count) in [
        ("unknown_peer", report.stranger_messages),
        ("invalid_part", report.rejected_parts),
        ("no_room", report.dropped_parts),
        ("not_ready", report.dropped_messages),
    ] {
        dropped.sample(&[("reason", reason)], count as f64);
    }
}

const WITHOUT_VOTE: OfValidator = (
    (
        "ledger_consensus_heights_without_vote",
        "Number of decided heights since the newest one of which a vote of the validator arrived.",
    ),
    |validator| validator.heights_without_vote as f64,
);

const MISSED_TURNS: OfValidator = (
    (
        "ledger_consensus_missed_turns_total",
        "Turns of the validator in which no block was decided.",
    ),
    |validator| validator.missed_turns as f64,
);

/// Appends the families with a label whose values are the addresses of the validators, at most
/// [`ValidatorSet::LENGTH_MAX`](ledger_types::ValidatorSet::LENGTH_MAX).
fn validators(report: &EngineReport, families: &mut Families) {
    let sample = |family: &mut Family<'_>, read: fn(&ValidatorReport) -> f64| {
        for validator in &report.validators {
            let address = validator.address.to_string();
            family.sample(&[("validator", &address)], read(validator));
        }
    };
    let (title, read) = WITHOUT_VOTE;
    sample(&mut families.gauge(title), read);
    let (title, read) = MISSED_TURNS;
    sample(&mut families.counter(title), read);
}
