//! What the parts of the adapter share: requests to the node, and their replies.

use crate::context::{Address, BlockHash, Height, Ledger, Validators};
use crate::observed::Observed;
use crate::peers::AllowedPeers;
use crate::signer::Domain;
use crate::sizes;
use crate::status::{Counters, StopReason, Stopper};
use arc_malachitebft_app_channel::app::engine::consensus::ConsensusRef;
use arc_malachitebft_app_channel::app::engine::network::NetworkRef;
use arc_malachitebft_app_channel::app::types::ProposedValue;
use arc_malachitebft_app_channel::app::types::core::{
    HeightParams, LinearTimeouts, Round, Validity,
};
use ledger_actors::engine::{EngineRequest, ProposedBlock};
use ledger_crypto::Ed25519PrivateKey;
use ledger_types::AccountAddress;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::timeout;

/// Receives the engine's requests. It returns at once: the reply follows through the request.
pub type NodeSender = Arc<dyn Fn(EngineRequest) + Send + Sync>;

/// The number of turns of each validator that ended without a decision.
pub(crate) type MissedTurns = Arc<Mutex<BTreeMap<AccountAddress, u64>>>;

/// What the adapter needs of the engine.
pub(crate) struct AdapterContext {
    pub node: NodeSender,
    pub validators: Validators,
    pub own_address: AccountAddress,
    pub key: Option<Ed25519PrivateKey>,
    pub domain: Domain,
    pub timeouts: LinearTimeouts,
    pub block_bytes_max: usize,
    pub network: NetworkRef<Ledger>,
    pub consensus: ConsensusRef<Ledger>,
    pub allowed: Arc<AllowedPeers>,
    pub observed: Arc<Observed>,
    pub counters: Arc<Counters>,
    pub missed_turns: MissedTurns,
    pub stopper: Stopper,
}

/// What became of a request.
pub(super) enum Outcome<T> {
    Reply(T),
    Late,
    Dropped,
}

/// Waits for the node's reply.
pub(super) async fn reply_within<T>(limit: Duration, reply: oneshot::Receiver<T>) -> Outcome<T> {
    match timeout(limit, reply).await {
        Ok(Ok(value)) => Outcome::Reply(value),
        Ok(Err(_)) => Outcome::Dropped,
        Err(_) => Outcome::Late,
    }
}

impl AdapterContext {
    /// Sends a request to the node, and returns the receiver of its reply.
    pub(super) fn request<T>(
        &self,
        request: impl FnOnce(oneshot::Sender<T>) -> EngineRequest,
    ) -> oneshot::Receiver<T> {
        let (sender, receiver) = oneshot::channel();
        (self.node)(request(sender));
        receiver
    }

    /// Waits for a reply that has a safe substitute.
    pub(super) async fn reply_or_none<T>(&self, reply: oneshot::Receiver<T>) -> Option<T> {
        match reply_within(sizes::REPLY_TIMEOUT, reply).await {
            Outcome::Reply(value) => Some(value),
            Outcome::Late | Outcome::Dropped => {
                self.counters.late_replies.fetch_add(1, Ordering::Relaxed);
                None
            }
        }
    }

    /// Waits for a reply that has none. Stops the engine if it does not come.
    pub(super) async fn reply_or_stop<T>(
        &self,
        name: &'static str,
        limit: Duration,
        reply: oneshot::Receiver<T>,
    ) -> Option<T> {
        let reason = match reply_within(limit, reply).await {
            Outcome::Reply(value) => return Some(value),
            Outcome::Late => "it is late",
            Outcome::Dropped => "it dropped the request",
        };
        self.no_reply(name, reason);
        None
    }

    /// Stops the engine because the node did not reply.
    pub(super) fn no_reply(&self, request: &'static str, reason: &'static str) {
        self.stopper.stop(StopReason::NoReply { request, reason });
    }
}

impl AdapterContext {
    pub(super) fn height_params(&self) -> HeightParams<Ledger> {
        HeightParams::new(self.validators.clone(), self.timeouts, None)
    }
}

/// Sends a reply to the engine. An error means that the engine has stopped.
pub(super) fn answer<T>(reply: oneshot::Sender<T>, value: T) {
    let _ = reply.send(value);
}

/// Returns the number of a round that is defined.
pub(super) fn round_number(round: Round) -> u32 {
    round.as_u32().unwrap_or_default()
}

/// Returns the engine's form of a block.
pub(super) fn proposed_value(block: &ProposedBlock) -> ProposedValue<Ledger> {
    ProposedValue {
        height: Height(block.height),
        round: Round::new(block.round),
        valid_round: block.valid_round.into(),
        proposer: Address(block.proposer),
        value: BlockHash(block.hash),
        validity: Validity::from_bool(block.is_valid),
    }
}
