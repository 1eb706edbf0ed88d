//! The gate between the network and the rest of the engine: only messages of known peers pass.
//!
//! The engine's own `persistent_peers_only` is off, because it knows the peers that this node dials
//! only. It would also act no earlier than when a peer has identified itself. So each subscription
//! to the network goes through a [`Tap`], which drops events of unknown peers. The connection
//! itself proves the identity of a peer.

use crate::context::Ledger;
use crate::observed::Observed;
use crate::peers::AllowedPeers;
use crate::status::Counters;
use crate::supervisor::Family;
use arc_malachitebft_app_channel::app::engine::network::{
    NetworkEvent, NetworkMsg, NetworkRef, Subscriber,
};
use arc_malachitebft_app_channel::app::types::PeerId;
use arc_malachitebft_network::validator_proof::ProofVerificationResult;
use ractor::{Actor, ActorProcessingErr, ActorRef, async_trait};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What taps share.
#[derive(Clone)]
pub struct GateContext {
    /// The engine's network.
    pub network: NetworkRef<Ledger>,
    /// Peers whose events pass.
    pub allowed: Arc<AllowedPeers>,
    /// Receives the events that pass.
    pub observed: Arc<Observed>,
    /// Counts those that do not.
    pub counters: Arc<Counters>,
    /// The actors of the engine.
    pub family: Family,
}

/// The network as the rest of the engine has it.
struct Gate;

#[async_trait]
impl Actor for Gate {
    type Msg = NetworkMsg<Ledger>;
    type State = GateContext;
    type Arguments = GateContext;

    async fn pre_start(
        &self,
        _: ActorRef<Self::Msg>,
        context: GateContext,
    ) -> Result<GateContext, ActorProcessingErr> {
        subscribe(&context, None).await?;
        Ok(context)
    }

    async fn handle(
        &self,
        _: ActorRef<Self::Msg>,
        message: Self::Msg,
        context: &mut GateContext,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            NetworkMsg::Subscribe(subscriber) => subscribe(context, Some(subscriber)).await?,
            other => context.network.cast(other)?,
        }
        Ok(())
    }
}

/// Starts the gate.
///
/// # Errors
///
/// Fails if the network has ended.
pub async fn spawn_gate(context: GateContext) -> Result<NetworkRef<Ledger>, ractor::SpawnErr> {
    let family = context.family.clone();
    let (gate, _) = Actor::spawn(None, Gate, context).await?;
    family.adopt("gate", &gate);
    Ok(gate)
}

/// An event of the network.
struct TapMessage(NetworkEvent<Ledger>);

impl From<NetworkEvent<Ledger>> for TapMessage {
    fn from(event: NetworkEvent<Ledger>) -> Self {
        Self(event)
    }
}

/// A subscription to the network: of an actor of the engine, or without one of the observations.
struct Tap {
    context: GateContext,
    subscriber: Option<Box<dyn Subscriber<NetworkEvent<Ledger>>>>,
}

async fn subscribe(
    context: &GateContext,
    subscriber: Option<Box<dyn Subscriber<NetworkEvent<Ledger>>>>,
) -> Result<(), ActorProcessingErr> {
    let tap = Tap {
        context: context.clone(),
        subscriber,
    };
    // The subscriber is shared by reference only, so it moves into the state.
    let (tap_ref, _) = Actor::spawn(None, TapActor, tap).await?;
    context.family.adopt("tap", &tap_ref);
    context
        .network
        .cast(NetworkMsg::Subscribe(Box::new(tap_ref)))?;
    Ok(())
}

struct TapActor;

#[async_trait]
impl Actor for TapActor {
    type Msg = TapMessage;
    type State = Tap;
    type Arguments = Tap;

    async fn pre_start(
        &self,
        _: ActorRef<TapMessage>,
        tap: Tap,
    ) -> Result<Tap, ActorProcessingErr> {
        Ok(tap)
    }

    async fn handle(
        &self,
        _: ActorRef<TapMessage>,
        TapMessage(event): TapMessage,
        tap: &mut Tap,
    ) -> Result<(), ActorProcessingErr> {
        tap.receive(event)
    }
}

impl Tap {
    fn receive(&self, event: NetworkEvent<Ledger>) -> Result<(), ActorProcessingErr> {
        match sender(&event) {
            Some(peer) if !self.context.allowed.contains(&peer) => self.reject(&event, peer)?,
            _ if is_relayed(&event) => self.count_rejection(),
            // No node sends proofs, and the engine would disconnect a peer with one it cannot
            // verify.
            _ if matches!(event, NetworkEvent::ValidatorProofReceived { .. }) => {}
            _ => match &self.subscriber {
                Some(subscriber) => subscriber.send(event),
                None => self.context.observed.record(&event),
            },
        }
        Ok(())
    }

    fn count_rejection(&self) {
        // Each event passes all taps, but one of them counts.
        if self.subscriber.is_none() {
            let counter = &self.context.counters.stranger_messages;
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn reject(&self, event: &NetworkEvent<Ledger>, peer: PeerId) -> Result<(), ActorProcessingErr> {
        if self.subscriber.is_some() || matches!(event, NetworkEvent::PeerDisconnected(_)) {
            return Ok(());
        }
        self.count_rejection();
        let network = &self.context.network;
        if let NetworkEvent::SyncRequest(request, ..) = event {
            network.cast(NetworkMsg::CancelInboundRequest(request.clone()))?;
        }
        // An invalid proof is the one verdict for which the engine disconnects a peer.
        network.cast(NetworkMsg::ValidatorProofVerified {
            peer_id: peer,
            result: ProofVerificationResult::Invalid,
            public_key: None,
        })?;
        Ok(())
    }
}

/// Returns the peer that sent the message of an event, or that the event is about.
fn sender(event: &NetworkEvent<Ledger>) -> Option<PeerId> {
    Some(match event {
        NetworkEvent::Listening(_) => return None,
        NetworkEvent::PeerConnected(peer)
        | NetworkEvent::PeerDisconnected(peer)
        | NetworkEvent::PeerSubscribed(peer, _)
        | NetworkEvent::Vote(peer, _)
        | NetworkEvent::Proposal(peer, _)
        | NetworkEvent::ProposalPart(peer, ..)
        | NetworkEvent::PolkaCertificate(peer, _)
        | NetworkEvent::RoundCertificate(peer, _)
        | NetworkEvent::ValidatorProofReceived { peer_id: peer, .. }
        | NetworkEvent::Status(peer, _)
        | NetworkEvent::SyncRequest(_, peer, _)
        | NetworkEvent::SyncResponse(_, peer, _)
        | NetworkEvent::SyncRequestFailed(_, peer, _)
        | NetworkEvent::SyncInboundRequestFailed(_, peer) => *peer,
    })
}

/// Returns whether a part was published by another peer than the one that delivered it.
fn is_relayed(event: &NetworkEvent<Ledger>) -> bool {
    matches!(event, NetworkEvent::ProposalPart(from, publisher, _) if *publisher != Some(*from))
}
