//! Settings of the engine.

use crate::peers::{NetworkKey, Peer, parse_address};
use crate::sizes;
use crate::{codec, error::StartError};
use arc_malachitebft_app_channel::app::config::{
    ConsensusConfig, P2pConfig, PubSubProtocol, ValueSyncConfig,
};
use arc_malachitebft_app_channel::app::types::core::LinearTimeouts;
use bytesize::ByteSize;
use ledger_crypto::{Ed25519PrivateKey, HashValue};
use ledger_types::{AccountAddress, ValidatorSet, Vendor};
use std::path::PathBuf;
use std::time::Duration;

/// Settings of the engine.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Key of this validator. `None` for a node that follows without votes.
    pub validator_key: Option<Ed25519PrivateKey>,
    /// Whether this node is a validator, with or without votes. Otherwise it is a full node.
    pub is_validator: bool,
    /// Key of this node's connections.
    pub network_key: NetworkKey,
    /// Validators of the chain.
    pub validators: ValidatorSet,
    /// Vendor of the chain.
    pub vendor: Vendor,
    /// Hash of the genesis block.
    pub genesis_hash: HashValue,
    /// Address to listen on, `ip:port` or a multiaddress over TCP.
    pub listen_address: String,
    /// The nodes that this one has connections with, without itself.
    pub peers: Vec<Peer>,
    /// File of the engine's log. A node without votes uses another file beside it, because the
    /// engine empties the log of such a node.
    pub log_path: PathBuf,
    /// Timeouts of the steps of a round.
    pub timeouts: Timeouts,
    /// Maximum size of an encoded block.
    pub block_bytes_max: usize,
}

/// Timeouts of the steps of a round. Each round of a height adds `step_delta` to all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Time for the proposal to arrive. A proposer that is down costs this time.
    pub propose: Duration,
    /// Time for more votes to arrive after two thirds voted, but not for one block.
    pub vote: Duration,
    /// Addition of each further round.
    pub step_delta: Duration,
    /// Time in a round after which a validator sends its votes again.
    pub rebroadcast: Duration,
    /// Maximum of each timeout, whatever the round.
    pub max: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            propose: Duration::from_millis(1000),
            vote: Duration::from_millis(500),
            step_delta: Duration::from_millis(250),
            rebroadcast: Duration::from_millis(2000),
            max: Duration::from_secs(30),
        }
    }
}

impl Timeouts {
    pub(crate) fn linear(&self) -> LinearTimeouts {
        LinearTimeouts {
            propose: self.propose,
            propose_delta: self.step_delta,
            prevote: self.vote,
            prevote_delta: self.step_delta,
            precommit: self.vote,
            precommit_delta: self.step_delta,
            rebroadcast: self.rebroadcast,
            max_timeout: self.max,
        }
    }
}

impl Settings {
    /// Returns the address that this node votes with. A node without votes gets an address that is
    /// no validator's: the engine would ask a validator without a key for signatures, and end.
    pub(crate) fn own_address(&self) -> AccountAddress {
        match &self.validator_key {
            Some(key) => AccountAddress::from_public_key(&key.public_key()),
            None => AccountAddress::new([0; 32]),
        }
    }

    /// Returns the file of the log.
    pub(crate) fn own_log_path(&self) -> PathBuf {
        let mut path = self.log_path.clone();
        if self.validator_key.is_none() {
            path.as_mut_os_string().push(".follow");
        }
        path
    }

    /// Returns the maximum length of a response with decided blocks: at least one block.
    pub(crate) fn response_bytes_max(&self) -> usize {
        let blocks = self.block_bytes_max.max(sizes::SYNC_RESPONSE_BYTES_MIN);
        blocks + sizes::SYNC_OVERHEAD_BYTES
    }

    /// Checks what the engine itself would panic on, or accept.
    pub(crate) fn check(&self) -> Result<(), StartError> {
        let length = self.validators.as_slice().len();
        if length == 0 || length > ValidatorSet::LENGTH_MAX {
            return Err(StartError::ValidatorCount(length));
        }
        let own = self.own_address();
        let is_validator = self.validators.get(&own).is_some();
        if is_validator != self.validator_key.is_some() {
            return Err(StartError::NoValidator(own));
        }
        if u32::try_from(self.block_bytes_max).is_err() || self.block_bytes_max == 0 {
            return Err(StartError::BlockLength(self.block_bytes_max));
        }
        for peer in &self.peers {
            peer.check()?;
        }
        Ok(())
    }

    /// Returns whether this node dials the peer: a full node dials the validators, and of two
    /// validators the one with the smaller identity dials. Full nodes have no connection.
    ///
    /// The broadcast announces what a node receives on the first connection of a pair only. If both
    /// dialed at once, each could take another connection for the first one, and with the other
    /// closed, one of them would never receive a vote of the other.
    fn dials(&self, peer: &Peer) -> bool {
        let own = self.network_key.identity();
        peer.validator.is_some() && (!self.is_validator || own < peer.identity)
    }

    pub(crate) fn consensus_config(&self) -> Result<ConsensusConfig, StartError> {
        let dialed = self.peers.iter().filter(|peer| self.dials(peer));
        let mut p2p = P2pConfig {
            listen_addr: parse_address(&self.listen_address)?,
            persistent_peers: dialed.map(Peer::multiaddr).collect::<Result<_, _>>()?,
            // The peers that dial this node are not in the list. The gate disconnects all others.
            persistent_peers_only: false,
            // Gossip would forward messages of peers that are not known yet, or that are not known
            // at all. With broadcast each node sends to its peers, and nothing is forwarded.
            protocol: PubSubProtocol::Broadcast,
            pubsub_max_size: ByteSize::b(codec::PART_BYTES_MAX as u64),
            rpc_max_size: ByteSize::b(self.response_bytes_max() as u64),
            ..P2pConfig::default()
        };
        p2p.protocol_names.consensus = format!("/ledger/{}", self.genesis_hash);
        p2p.discovery.enabled = false;
        p2p.discovery.max_connections_per_ip = sizes::CONNECTIONS_PER_IP_MAX;
        p2p.discovery.max_connections_per_peer = sizes::CONNECTIONS_PER_PEER_MAX;
        p2p.discovery.ip_throttle_duration = sizes::RECONNECT_INTERVAL;
        // The engine's limit of the transport is four times this number.
        let peers_max = self.peers.len() + sizes::ADMITTED_PEERS_MAX;
        p2p.discovery.num_inbound_peers = peers_max;
        p2p.discovery.num_outbound_peers = peers_max;
        Ok(ConsensusConfig {
            p2p,
            queue_capacity: sizes::QUEUED_HEIGHTS_MAX,
            queue_per_height_capacity: sizes::QUEUED_MESSAGES_PER_HEIGHT_MAX,
            ..ConsensusConfig::default()
        })
    }

    pub(crate) fn sync_config(&self) -> ValueSyncConfig {
        ValueSyncConfig {
            status_update_interval: sizes::STATUS_INTERVAL,
            request_timeout: sizes::SYNC_REQUEST_TIMEOUT,
            max_request_size: ByteSize::b(sizes::SYNC_REQUEST_BYTES_MAX as u64),
            max_response_size: ByteSize::b(self.response_bytes_max() as u64),
            parallel_requests: sizes::SYNC_PARALLEL_REQUESTS,
            batch_size: sizes::SYNC_BATCH_BLOCKS,
            inbound_request_rate_limit_window: sizes::SYNC_WINDOW,
            max_inbound_requests_per_window: sizes::SYNC_REQUESTS_PER_WINDOW,
            max_concurrent_inbound_requests: sizes::SYNC_CONCURRENT_REQUESTS,
            max_pending_inbound_requests: sizes::SYNC_PENDING_REQUESTS,
            ..ValueSyncConfig::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(index: u8, is_validator: bool) -> Peer {
        Peer {
            identity: NetworkKey::from_seed([index; 32]).identity(),
            address: format!("192.0.2.{index}:7000"),
            validator: is_validator.then(|| AccountAddress::new([index; 32])),
        }
    }

    fn settings(index: u8, is_validator: bool) -> Settings {
        Settings {
            validator_key: None,
            is_validator,
            network_key: NetworkKey::from_seed([index; 32]),
            validators: ValidatorSet::default(),
            vendor: Vendor::default(),
            genesis_hash: HashValue::new([0; 32]),
            listen_address: "127.0.0.1:0".to_owned(),
            peers: Vec::new(),
            log_path: PathBuf::new(),
            timeouts: Timeouts::default(),
            block_bytes_max: 1,
        }
    }

    #[test]
    fn one_of_two_nodes_dials_unless_both_are_full_nodes() {
        for (one, other) in [(1, 2), (2, 1), (3, 9)] {
            for (is_first, is_second) in
                [(true, true), (true, false), (false, true), (false, false)]
            {
                let first = settings(one, is_first).dials(&peer(other, is_second));
                let second = settings(other, is_second).dials(&peer(one, is_first));
                let dialers = usize::from(first) + usize::from(second);
                assert_eq!(dialers, usize::from(is_first || is_second));
                assert!(
                    is_first == is_second || first == is_second,
                    "a full node dials"
                );
            }
        }
    }
}
