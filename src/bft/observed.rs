//! Observations of the network: which peers are connected, and how far they are.

use crate::context::Ledger;
use crate::parts::Part;
use arc_malachitebft_app_channel::app::engine::network::NetworkEvent;
use arc_malachitebft_app_channel::app::types::PeerId;
use ledger_types::{AccountAddress, ValidatorSet};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// The state of a connected peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct PeerProgress {
    /// Highest height that the peer sent a message for.
    height: u64,
    /// Newest decided height that the peer stated.
    tip: u64,
}

#[derive(Debug, Default)]
struct State {
    peers: BTreeMap<PeerId, PeerProgress>,
    last_votes: BTreeMap<AccountAddress, u64>,
    /// Height before the first one that the engine began, or `None` before that.
    begun_after: Option<u64>,
    listen_address: Option<String>,
}

/// Observations of the network. Only known peers are counted, so the maps are bounded.
#[derive(Debug)]
pub struct Observed {
    validators: ValidatorSet,
    state: Mutex<State>,
    // Notified when a peer is further than it was, or the node listens.
    progress: Notify,
}

impl Observed {
    pub fn new(validators: ValidatorSet) -> Self {
        Self {
            validators,
            state: Mutex::default(),
            progress: Notify::new(),
        }
    }

    // Valid even if the holder panicked: each change is complete.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a peer is further than it was, or the node listens.
    pub async fn progress(&self) {
        self.progress.notified().await;
    }

    /// Returns the number of connected peers.
    pub fn peer_count(&self) -> usize {
        self.state().peers.len()
    }

    /// Returns the address that the node listens on.
    pub fn listen_address(&self) -> Option<String> {
        self.state().listen_address.clone()
    }

    /// Returns the highest decided height that a connected peer stated.
    pub fn highest_tip(&self) -> u64 {
        let state = self.state();
        state.peers.values().map(|peer| peer.tip).max().unwrap_or(0)
    }

    /// Returns whether a connected peer works on this height or a later one.
    pub fn has_begun(&self, height: u64) -> bool {
        let state = self.state();
        let mut peers = state.peers.values();
        peers.any(|peer| peer.height >= height || peer.tip >= height)
    }

    /// Returns the validators of the chain.
    pub fn validators(&self) -> &ValidatorSet {
        &self.validators
    }

    /// Records that the engine begins a height. Only votes for it and later ones are expected.
    pub fn begin(&self, height: u64) {
        let mut state = self.state();
        state.begun_after.get_or_insert(height.saturating_sub(1));
    }

    /// Returns the height before the first one that the engine began, or 0 before that.
    pub fn begun_after(&self) -> u64 {
        self.state().begun_after.unwrap_or_default()
    }

    /// Returns the newest height of which a vote of each validator arrived. The votes are not
    /// verified here: a peer could state another validator's, which would hide that it is down.
    pub fn last_votes(&self) -> BTreeMap<AccountAddress, u64> {
        self.state().last_votes.clone()
    }

    fn saw_height(&self, peer: PeerId, height: u64) {
        let mut state = self.state();
        let Some(progress) = state.peers.get_mut(&peer) else {
            return;
        };
        if progress.height < height {
            progress.height = height;
            drop(state);
            self.progress.notify_one();
        }
    }

    /// Records an event of a known peer.
    pub fn record(&self, event: &NetworkEvent<Ledger>) {
        match event {
            NetworkEvent::Listening(address) => {
                self.state().listen_address = Some(address.to_string());
                self.progress.notify_one();
            }
            NetworkEvent::PeerConnected(peer) => {
                self.state().peers.entry(*peer).or_default();
            }
            NetworkEvent::PeerDisconnected(peer) => {
                self.state().peers.remove(peer);
            }
            NetworkEvent::Vote(peer, vote) => {
                let validator = vote.validator.0;
                if self.validators.get(&validator).is_some() {
                    let mut state = self.state();
                    let last = state.last_votes.entry(validator).or_default();
                    *last = vote.height.0.max(*last);
                }
                self.saw_height(*peer, vote.height.0);
            }
            NetworkEvent::Proposal(peer, proposal) => self.saw_height(*peer, proposal.height.0),
            NetworkEvent::PolkaCertificate(peer, polka) => self.saw_height(*peer, polka.height.0),
            NetworkEvent::RoundCertificate(peer, round) => self.saw_height(*peer, round.height.0),
            NetworkEvent::ProposalPart(peer, _, message) => match message.content.as_data() {
                Some(Part::Chunk { signed, .. }) => self.saw_height(*peer, signed.header.height),
                Some(Part::Work { height }) => self.saw_height(*peer, *height),
                None => {}
            },
            NetworkEvent::Status(peer, status) => {
                let mut state = self.state();
                let Some(progress) = state.peers.get_mut(peer) else {
                    return;
                };
                let is_further = progress.tip < status.tip_height.0;
                progress.tip = status.tip_height.0;
                drop(state);
                if is_further {
                    self.progress.notify_one();
                }
            }
            _ => {}
        }
    }
}
