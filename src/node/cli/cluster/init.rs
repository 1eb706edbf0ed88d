//! `cluster init`: the files of a new chain's validators.

use super::{
    super::{CliError, output},
    arguments::InitArguments,
};
use crate::consensus::{ConsensusDirectory, PeerEntry};
use ledger_bft::NetworkKey;
use ledger_crypto::Ed25519PrivateKey;
use ledger_execution::development_genesis;
use ledger_types::{AccountAddress, Genesis, Parameters, ValidatorSet, Vendor};
use std::{fs, path::Path};
use zeroize::Zeroizing;

/// Number of ports that each listener of a cluster has: as many as validators.
const PORTS_PER_LISTENER: u16 = ValidatorSet::LENGTH_MAX as u16;

/// A listener of a node, in the order of their ports.
#[derive(Clone, Copy)]
enum Listener {
    Consensus,
    Api,
    Admin,
    Faucet,
    Relay,
}

/// Returns the port of a listener of the node with this index.
fn port(base_port: u16, listener: Listener, index: u16) -> u16 {
    base_port + listener as u16 * PORTS_PER_LISTENER + index
}

/// The secrets of a validator that is created.
struct NewValidator {
    validator: Zeroizing<[u8; 32]>,
    network: Zeroizing<[u8; 32]>,
}

impl NewValidator {
    fn random() -> Result<Self, CliError> {
        Ok(Self {
            validator: random_seed()?,
            network: random_seed()?,
        })
    }

    fn key(&self) -> Ed25519PrivateKey {
        Ed25519PrivateKey::from_seed(&self.validator)
    }

    fn peer(&self, base_port: u16, index: u16) -> PeerEntry {
        let address = |listener| format!("127.0.0.1:{}", port(base_port, listener, index));
        let validator = AccountAddress::from_public_key(&self.key().public_key());
        PeerEntry {
            identity: NetworkKey::from_seed(*self.network).identity().to_string(),
            address: address(Listener::Consensus),
            relay: Some(address(Listener::Relay)),
            validator: Some(validator.to_long_hex().to_string()),
        }
    }
}

/// Creates the directory.
///
/// # Errors
///
/// Returns [`CliError::Fatal`] if the directory exists, or a file cannot be written.
pub fn execute(arguments: &InitArguments) -> Result<(), CliError> {
    let dir = &arguments.dir;
    fs::create_dir(dir).map_err(|error| CliError::fatal(dir.display(), &error))?;
    let validators = (0..arguments.validators)
        .map(|_| NewValidator::random())
        .collect::<Result<Vec<_>, _>>()?;
    let peers: Vec<PeerEntry> = (0u16..)
        .zip(&validators)
        .map(|(index, validator)| validator.peer(arguments.base_port, index))
        .collect();
    let genesis = genesis(&validators);
    let genesis_path = dir.join("genesis.toml");
    let text = toml::to_string(&genesis)
        .map_err(|error| CliError::fatal("the genesis has no TOML form", &error))?;
    write(&genesis_path, &text)?;
    for (index, validator) in (0u16..).zip(&validators) {
        let node = dir.join(format!("node-{index}"));
        let mut others = peers.clone();
        others.remove(index.into());
        ConsensusDirectory::new(&node.join("validator"))
            .create(&validator.validator, &validator.network, others)
            .map_err(|error| CliError::fatal("creating a validator", &error))?;
        write(
            &node.join("node.toml"),
            &configuration(arguments.base_port, index),
        )?;
    }
    output::line(&format!(
        "created {} validators in {}; ledger-node cluster run --dir {}",
        validators.len(),
        dir.display(),
        dir.display()
    ))?;
    Ok(())
}

/// Returns the genesis of a development chain of these validators.
fn genesis(validators: &[NewValidator]) -> Genesis {
    let mut genesis = development_genesis(4, Vendor::default(), Parameters::default());
    genesis.validators = validators
        .iter()
        .map(|validator| validator.key().public_key())
        .collect();
    genesis
}

/// Returns the configuration of a validator. Paths are relative to its directory.
fn configuration(base_port: u16, index: u16) -> String {
    let port = |listener| port(base_port, listener, index);
    format!(
        "[chain]\n\
         genesis = \"../genesis.toml\"\n\n\
         [storage]\n\
         data_dir = \"ledger\"\n\n\
         [sequencer]\n\
         mode = \"bft\"\n\n\
         [consensus]\n\
         directory = \"validator\"\n\
         listen = \"127.0.0.1:{}\"\n\
         relay_listen = \"127.0.0.1:{}\"\n\n\
         [api]\n\
         listen = \"127.0.0.1:{}\"\n\n\
         [admin]\n\
         listen = \"127.0.0.1:{}\"\n\n\
         [faucet]\n\
         enabled = {}\n\
         listen = \"127.0.0.1:{}\"\n",
        port(Listener::Consensus),
        port(Listener::Relay),
        port(Listener::Api),
        port(Listener::Admin),
        index == 0,
        port(Listener::Faucet),
    )
}

fn write(path: &Path, text: &str) -> Result<(), CliError> {
    fs::write(path, text).map_err(|error| CliError::fatal(path.display(), &error))
}

fn random_seed() -> Result<Zeroizing<[u8; 32]>, CliError> {
    let mut seed = Zeroizing::new([0; 32]);
    getrandom::fill(&mut *seed)
        .map_err(|error| CliError::fatal("the system returned no random bytes", &error))?;
    Ok(seed)
}
