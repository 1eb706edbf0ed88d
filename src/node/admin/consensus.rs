//! `/consensus`: the consensus engine of a node, and the validators as it observes them.

use super::context::Admin;
use actix_web::{HttpResponse, web::Data};
use ledger_actors::engine::{EngineReport, ValidatorReport};
use serde::{Deserialize, Serialize};

/// What a node is to the other validators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It is a validator and votes.
    Votes,
    /// It executes what the others decide, without votes.
    Follows,
    /// Its engine has stopped.
    Stopped,
}

/// The state of a node's consensus engine.
#[derive(Debug, Serialize, Deserialize)]
pub struct ConsensusStatus {
    /// What the node is to the others.
    pub role: Role,
    /// Whether the node's key is one of the validators'.
    pub is_validator: bool,
    /// Newest version of the ledger.
    pub ledger_version: u64,
    /// Height that the engine works on, or has decided last.
    pub height: u64,
    /// Round of the height.
    pub round: u32,
    /// Whether the height is in progress.
    pub is_deciding: bool,
    /// Time since the height began, in milliseconds.
    pub height_ms: u64,
    /// Number of blocks by which the others are ahead.
    pub lag_blocks: u64,
    /// Number of connected peers.
    pub peers: usize,
    /// Number of peers that the node is to connect to.
    pub peers_configured: usize,
    /// Number of validators whose votes decide a block.
    pub quorum: usize,
    /// The reason for which the node can neither commit nor follow. Null if it can.
    pub isolation: Option<String>,
    /// The validators, in the order of their turns.
    pub validators: Vec<ValidatorStatus>,
}

/// A validator as a node observes it.
#[derive(Debug, Serialize, Deserialize)]
pub struct ValidatorStatus {
    /// Address of its key.
    pub address: String,
    /// Whether it is the node that responds.
    pub is_self: bool,
    /// Whether it stated its height within the last 10 seconds, or is the node that responds and
    /// votes.
    pub is_in_contact: bool,
    /// Newest height of which a vote arrived. Null if none did.
    pub last_vote: Option<u64>,
    /// Number of decided heights since that vote.
    pub heights_without_vote: u64,
    /// Turns that ended without a decision since the start of the node.
    pub missed_turns: u64,
}

impl ConsensusStatus {
    fn new(report: &EngineReport, ledger_version: u64) -> Self {
        Self {
            role: match report {
                EngineReport {
                    is_running: false, ..
                } => Role::Stopped,
                EngineReport {
                    is_signer: true, ..
                } => Role::Votes,
                _ => Role::Follows,
            },
            is_validator: report.is_validator,
            ledger_version,
            height: report.height,
            round: report.round,
            is_deciding: report.is_deciding,
            height_ms: report
                .height_time
                .as_millis()
                .try_into()
                .unwrap_or(u64::MAX),
            lag_blocks: report.sync_lag_blocks,
            peers: report.peers,
            peers_configured: report.peers_configured,
            quorum: report.quorum,
            isolation: report.isolation(),
            validators: report.validators.iter().map(ValidatorStatus::new).collect(),
        }
    }
}

impl ValidatorStatus {
    fn new(report: &ValidatorReport) -> Self {
        Self {
            address: report.address.to_long_hex().to_string(),
            is_self: report.is_self,
            is_in_contact: report.is_in_contact,
            last_vote: report.last_vote,
            heights_without_vote: report.heights_without_vote,
            missed_turns: report.missed_turns,
        }
    }
}

/// `GET /consensus`: responds with the state of the engine, or with null if there is none.
pub async fn show(admin: Data<Admin>) -> HttpResponse {
    let version = admin.node.head().ledger_info().version;
    let report = admin.node.engine_report();
    HttpResponse::Ok().json(report.map(|report| ConsensusStatus::new(&report, version)))
}
