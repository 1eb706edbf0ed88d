//! The files of a node: its keys and peers, and its configuration.

use super::super::CliError;
use crate::consensus::{ConsensusDirectory, PeerEntry};
use ledger_bft::NetworkKey;
use ledger_crypto::Ed25519PrivateKey;
use ledger_types::{AccountAddress, ValidatorSet};
use std::{fs, path::Path};
use zeroize::Zeroizing;

/// Maximum number of nodes that `cluster init` numbers, and of ports that each listener has.
pub const NODES_MAX: u16 = ValidatorSet::LENGTH_MAX as u16;

/// Name of the file of the genesis.
pub const GENESIS: &str = "genesis.toml";

/// Name of the file of a node's configuration.
pub const CONFIGURATION: &str = "node.toml";

/// The secrets of a node that is created.
pub struct NewNode {
    /// Seed of the key that signs votes. `None` for a full node.
    validator: Option<Zeroizing<[u8; 32]>>,
    network: Zeroizing<[u8; 32]>,
}

impl NewNode {
    /// Creates the secrets of a validator.
    ///
    /// # Errors
    ///
    /// Returns [`CliError::Fatal`] if the system has no random bytes.
    pub fn validator() -> Result<Self, CliError> {
        Ok(Self {
            validator: Some(random_seed()?),
            network: random_seed()?,
        })
    }

    /// Creates the secrets of a full node.
    ///
    /// # Errors
    ///
    /// Returns [`CliError::Fatal`] if the system has no random bytes.
    pub fn full_node() -> Result<Self, CliError> {
        Ok(Self {
            validator: None,
            network: random_seed()?,
        })
    }

    /// Returns the key that signs votes. `None` for a full node.
    pub fn key(&self) -> Option<Ed25519PrivateKey> {
        let seed = self.validator.as_ref()?;
        Some(Ed25519PrivateKey::from_seed(seed))
    }

    /// Returns the entry of this node in the `peers.toml` of others.
    pub fn entry(&self, address: String, relay: String) -> PeerEntry {
        let validator = self.key().map(|key| {
            let address = AccountAddress::from_public_key(&key.public_key());
            address.to_long_hex().to_string()
        });
        PeerEntry {
            identity: NetworkKey::from_seed(*self.network).identity().to_string(),
            address,
            relay: Some(relay),
            validator,
        }
    }

    /// Writes the keys, the peers and the configuration into a node's directory.
    ///
    /// # Errors
    ///
    /// Returns [`CliError::Fatal`] if a file exists already or cannot be written.
    pub fn create(
        &self,
        node: &Path,
        peers: Vec<PeerEntry>,
        configuration: &Configuration,
    ) -> Result<(), CliError> {
        let directory = match self.validator {
            Some(_) => "validator",
            None => "full-node",
        };
        ConsensusDirectory::new(&node.join(directory))
            .create(self.validator.as_deref(), &self.network, peers)
            .map_err(|error| CliError::fatal("creating a node", &error))?;
        write(&node.join(CONFIGURATION), &configuration.text(directory))
    }
}

/// The settings of a node that differ from those of others. Paths are relative to its directory.
pub struct Configuration {
    /// Path of the genesis file.
    pub genesis: &'static str,
    /// Address of each listener.
    pub listen: ListenAddresses,
    /// Whether the node runs the faucet of a development chain.
    pub has_faucet: bool,
}

/// The address of each listener, `IP:PORT`.
pub struct ListenAddresses {
    /// Connections of the engine.
    pub consensus: String,
    /// Connections of the relay.
    pub relay: String,
    /// Clients.
    pub api: String,
    /// Operators.
    pub admin: String,
    /// Clients of the faucet.
    pub faucet: String,
}

impl ListenAddresses {
    /// Returns the addresses on this machine of the node with this number.
    pub fn local(base_port: u16, number: u16) -> Self {
        let address = |listener| format!("127.0.0.1:{}", base_port + listener * NODES_MAX + number);
        Self {
            consensus: address(0),
            api: address(1),
            admin: address(2),
            faucet: address(3),
            relay: address(4),
        }
    }
}

impl Configuration {
    /// Returns the text of the configuration of a node with this directory of keys.
    fn text(&self, directory: &str) -> String {
        let Self {
            genesis,
            listen,
            has_faucet,
        } = self;
        format!(
            "[chain]\n\
             genesis = \"{genesis}\"\n\n\
             [storage]\n\
             data_dir = \"ledger\"\n\n\
             [sequencer]\n\
             mode = \"bft\"\n\n\
             [consensus]\n\
             directory = \"{directory}\"\n\
             listen = \"{}\"\n\
             relay_listen = \"{}\"\n\n\
             [api]\n\
             listen = \"{}\"\n\n\
             [admin]\n\
             listen = \"{}\"\n\n\
             [faucet]\n\
             enabled = {has_faucet}\n\
             listen = \"{}\"\n",
            listen.consensus, listen.relay, listen.api, listen.admin, listen.faucet,
        )
    }
}

/// Writes a file.
///
/// # Errors
///
/// Returns [`CliError::Fatal`] if it cannot be written.
pub fn write(path: &Path, text: &str) -> Result<(), CliError> {
    fs::write(path, text).map_err(|error| CliError::fatal(path.display(), &error))
}

fn random_seed() -> Result<Zeroizing<[u8; 32]>, CliError> {
    let mut seed = Zeroizing::new([0; 32]);
    getrandom::fill(&mut *seed)
        .map_err(|error| CliError::fatal("the system returned no random bytes", &error))?;
    Ok(seed)
}
