//! Observations of the network: which peers are connected, and how far they are.

use crate::context::Ledger;
use crate::parts::Part;
use crate::peers::AllowedPeers;
use crate::sizes::{CONTACT_AGE_MAX, STATUS_AGE_MAX};
use arc_malachitebft_app_channel::app::engine::network::NetworkEvent;
use arc_malachitebft_app_channel::app::types::PeerId;
use ledger_types::{AccountAddress, ValidatorSet};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio::time::Instant;

/// The state of a connected peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct PeerProgress {
    /// Highest height that the peer sent a message for.
    height: u64,
    /// Newest decided height that the peer stated.
    tip: u64,
    /// Lowest height whose block the peer has, as it stated.
    oldest: u64,
}

/// A validator's newest decided height, as it stated it last.
#[derive(Clone, Copy, Debug)]
struct Statement {
    tip: u64,
    at: Instant,
}

#[derive(Debug, Default)]
struct State {
    peers: BTreeMap<PeerId, PeerProgress>,
    last_votes: BTreeMap<AccountAddress, u64>,
    /// The last statement of each validator other than this node's.
    statements: BTreeMap<AccountAddress, Statement>,
    /// Height before the first one that the engine began, or `None` before that.
    begun_after: Option<u64>,
    listen_address: Option<String>,
}

/// Observations of the network. Only known peers are counted, so the maps are bounded.
#[derive(Debug)]
pub struct Observed {
    validators: ValidatorSet,
    allowed: Arc<AllowedPeers>,
    /// Whether this node's engine signs.
    is_signer: bool,
    started: Instant,
    state: Mutex<State>,
    // Notified when a peer may be further than it was, or the node listens.
    progress: Notify,
}

impl Observed {
    pub fn new(validators: ValidatorSet, allowed: Arc<AllowedPeers>, is_signer: bool) -> Self {
        Self {
            validators,
            allowed,
            is_signer,
            started: Instant::now(),
            state: Mutex::default(),
            progress: Notify::new(),
        }
    }

    // Valid even if the holder panicked: each change is complete.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a peer may be further than it was, or the node listens.
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

    /// Returns the highest decided height that so many validators stated that one of them is
    /// honest, or 0 if fewer stated any.
    pub fn credible_tip(&self) -> u64 {
        let state = self.state();
        let mut tips: Vec<_> = state.statements.values().map(|one| one.tip).collect();
        tips.sort_unstable_by(|one, other| other.cmp(one));
        let faulty_max = self.validators.as_slice().len() - self.validators.quorum();
        tips.get(faulty_max).copied().unwrap_or(0)
    }

    /// Returns whether the validator stated its height within [`CONTACT_AGE_MAX`].
    pub fn is_in_contact(&self, validator: &AccountAddress) -> bool {
        let state = self.state();
        let last = state.statements.get(validator);
        last.is_some_and(|one| one.at.elapsed() <= CONTACT_AGE_MAX)
    }

    /// Returns the highest decided height that another validator stated after the engine started,
    /// or `None` until those that did are a quorum with this node. On a chain of one validator no
    /// other one states a height, so it stays `None`.
    pub fn quorum_tip(&self) -> Option<u64> {
        let state = self.state();
        let statements = state.statements.values();
        let fresh = statements.filter(|one| one.at - self.started >= STATUS_AGE_MAX);
        let tips: Vec<_> = fresh.map(|one| one.tip).collect();
        let is_quorum = tips.len() + 1 >= self.validators.quorum();
        tips.into_iter().max().filter(|_| is_quorum)
    }

    /// Returns whether a connected peer works on this height or a later one, so that this node
    /// begins it too. To a node that signs only validators count: what a full node has more than
    /// this one are decided blocks of heights that a quorum signed, and this node began them then.
    pub fn has_begun(&self, height: u64) -> bool {
        let state = self.state();
        state.peers.iter().any(|(peer, progress)| {
            (progress.height >= height || progress.tip >= height)
                && (!self.is_signer || self.validator(peer).is_some())
        })
    }

    /// Returns the validator of the chain that runs on a peer.
    fn validator(&self, peer: &PeerId) -> Option<AccountAddress> {
        let validator = self.allowed.validator(peer)?;
        self.validators.get(&validator).map(|one| one.address)
    }

    /// Returns whether peers have decided this height, and none of them has its block any more.
    pub fn is_pruned_everywhere(&self, height: u64) -> bool {
        let state = self.state();
        let mut ahead = state.peers.values().filter(|peer| peer.tip >= height);
        let Some(first) = ahead.next() else {
            return false;
        };
        first.oldest > height && ahead.all(|peer| peer.oldest > height)
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
                let tip = status.tip_height.0;
                progress.tip = tip;
                progress.oldest = status.history_min_height.0;
                if let Some(validator) = self.validator(peer) {
                    let at = Instant::now();
                    state.statements.insert(validator, Statement { tip, at });
                }
                drop(state);
                self.progress.notify_one();
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Height;
    use crate::peers::{NetworkKey, Peer};
    use arc_malachitebft_app_channel::app::engine::network::Status;
    use ledger_crypto::Ed25519PrivateKey;
    use std::time::Duration;

    /// Returns the peer with this index: validators 0 to 3, and a node without votes.
    fn peer(index: u8) -> Peer {
        let key = Ed25519PrivateKey::from_seed(&[index; 32]).public_key();
        Peer {
            identity: NetworkKey::from_seed([100 + index; 32]).identity(),
            address: "192.0.2.1:7000".into(),
            validator: (index < 4).then(|| AccountAddress::from_public_key(&key)),
        }
    }

    fn observed(validators: u8) -> Observed {
        observed_by(validators, true)
    }

    fn observed_by(validators: u8, is_signer: bool) -> Observed {
        let keys =
            (0..validators).map(|index| Ed25519PrivateKey::from_seed(&[index; 32]).public_key());
        let peers: Vec<_> = (1..=4).map(peer).collect();
        let allowed = Arc::new(AllowedPeers::new(&peers));
        let observed = Observed::new(ValidatorSet::new(keys), allowed, is_signer);
        for peer in &peers {
            observed.record(&NetworkEvent::PeerConnected(peer.identity.0));
        }
        observed
    }

    fn state_tip(observed: &Observed, index: u8, tip: u64) {
        state_blocks(observed, index, 1, tip);
    }

    fn state_blocks(observed: &Observed, index: u8, oldest: u64, tip: u64) {
        let status = Status::new(Height(tip), Height(oldest));
        observed.record(&NetworkEvent::Status(peer(index).identity.0, status));
    }

    #[tokio::test(start_paused = true)]
    async fn a_quorum_is_reached_when_two_of_three_others_stated_their_height_after_the_start() {
        let observed = observed(4);
        for index in 1..=4 {
            state_tip(&observed, index, 90);
        }
        tokio::time::advance(STATUS_AGE_MAX - Duration::from_millis(1)).await;
        state_tip(&observed, 1, 95);
        state_tip(&observed, 2, 95);
        assert_eq!(
            observed.quorum_tip(),
            None,
            "these may be of before the start"
        );

        tokio::time::advance(Duration::from_millis(1)).await;
        state_tip(&observed, 1, 97);
        state_tip(&observed, 1, 98);
        state_tip(&observed, 4, 98);
        assert_eq!(observed.quorum_tip(), None, "one validator");
        state_tip(&observed, 2, 96);
        assert_eq!(observed.quorum_tip(), Some(98));
    }

    #[tokio::test(start_paused = true)]
    async fn a_tip_is_credible_if_one_of_those_that_stated_it_is_honest() {
        let observed = observed(4);
        state_tip(&observed, 1, u64::MAX);
        assert_eq!(observed.credible_tip(), 0);
        state_tip(&observed, 2, 40);
        state_tip(&observed, 3, 41);
        assert_eq!(observed.credible_tip(), 41);
    }

    #[tokio::test(start_paused = true)]
    async fn a_validator_is_in_contact_while_it_states_its_height() {
        let observed = observed(4);
        let validator = peer(1).validator.unwrap();
        assert!(!observed.is_in_contact(&validator));
        state_tip(&observed, 1, 7);
        tokio::time::advance(CONTACT_AGE_MAX).await;
        assert!(observed.is_in_contact(&validator));
        tokio::time::advance(Duration::from_millis(1)).await;
        assert!(!observed.is_in_contact(&validator));
    }

    #[test]
    fn a_full_node_makes_no_signer_begin_a_height() {
        let begun_by = |index, is_signer| {
            let observed = observed_by(4, is_signer);
            state_tip(&observed, index, 7);
            observed.has_begun(7)
        };
        assert!(begun_by(1, true) && begun_by(1, false));
        assert!(!begun_by(4, true), "a full node");
        assert!(begun_by(4, false), "it may have what the validators lost");
    }

    #[test]
    fn a_block_is_pruned_everywhere_if_each_peer_ahead_is_without_it() {
        let observed = observed(4);
        assert!(!observed.is_pruned_everywhere(1), "no peer is ahead");
        state_blocks(&observed, 1, 5, 9);
        state_blocks(&observed, 2, 1, 3);
        assert!(observed.is_pruned_everywhere(4));
        assert!(!observed.is_pruned_everywhere(5), "the first peer has it");
        assert!(!observed.is_pruned_everywhere(3), "the second peer has it");
        assert!(!observed.is_pruned_everywhere(10), "no peer is ahead");
    }

    #[tokio::test(start_paused = true)]
    async fn the_only_validator_has_no_other_one_that_states_its_height() {
        let observed = observed(1);
        tokio::time::advance(STATUS_AGE_MAX).await;
        state_tip(&observed, 1, 98);
        assert_eq!(observed.quorum_tip(), None);
    }
}
