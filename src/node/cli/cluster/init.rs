//! `cluster init`: the files of a new chain's nodes.

use super::{
    super::{CliError, output},
    arguments::InitArguments,
    files::{Configuration, GENESIS, ListenAddresses, NODES_MAX, NewNode, write},
};
use crate::{consensus::PeerEntry, genesis::genesis_text};
use ledger_execution::development_genesis;
use ledger_types::{Genesis, Parameters, Vendor};
use std::fs;

/// Number of the node that runs the faucet.
const FAUCET_NODE: u16 = 0;

/// Creates the directory.
///
/// # Errors
///
/// Returns [`CliError::Fatal`] if there are too many nodes, the directory exists, or a file cannot
/// be written.
pub fn execute(arguments: &InitArguments) -> Result<(), CliError> {
    let &InitArguments {
        validators,
        full_nodes,
        ref dir,
        base_port,
    } = arguments;
    let count = validators.saturating_add(full_nodes);
    if count > NODES_MAX {
        return Err(CliError::Fatal(format!(
            "{count} nodes are too many: the ports are for at most {NODES_MAX}"
        )));
    }
    fs::create_dir(dir).map_err(|error| CliError::fatal(dir.display(), &error))?;
    let new_node = |number| match number < validators {
        true => NewNode::validator(),
        false => NewNode::full_node(),
    };
    let nodes = (0..count)
        .map(new_node)
        .collect::<Result<Vec<NewNode>, _>>()?;
    let genesis = genesis_text(&genesis(&nodes))
        .map_err(|error| CliError::fatal("the genesis has no TOML form", &error))?;
    write(&dir.join(GENESIS), &genesis)?;
    let entries: Vec<PeerEntry> = (0..)
        .zip(&nodes)
        .map(|(number, node)| {
            let listen = ListenAddresses::local(base_port, number);
            node.entry(listen.consensus, listen.relay)
        })
        .collect();
    for ((number, node), own) in (0..).zip(&nodes).zip(&entries) {
        let configuration = Configuration {
            genesis: "../genesis.toml",
            listen: ListenAddresses::local(base_port, number),
            has_faucet: number == FAUCET_NODE,
        };
        let node_dir = dir.join(format!("node-{number}"));
        node.create(&node_dir, peers_of(own, &entries), &configuration)?;
    }
    output::line(&format!(
        "created {validators} validators and {full_nodes} full nodes in {dir}; node-{FAUCET_NODE} \
         has the faucet; ledger-node cluster run --dir {dir}",
        dir = dir.display()
    ))?;
    Ok(())
}

/// Returns the peers of a node: all others of a validator, and the validators of a full node.
fn peers_of(own: &PeerEntry, entries: &[PeerEntry]) -> Vec<PeerEntry> {
    let is_validator = |entry: &PeerEntry| entry.validator.is_some();
    let is_peer = |other: &&PeerEntry| *other != own && (is_validator(own) || is_validator(other));
    entries.iter().filter(is_peer).cloned().collect()
}

/// Returns the genesis of a development chain of these validators.
fn genesis(nodes: &[NewNode]) -> Genesis {
    let mut genesis = development_genesis(4, Vendor::default(), Parameters::default());
    let keys = nodes.iter().filter_map(NewNode::key);
    genesis.validators = keys.map(|key| key.public_key()).collect();
    genesis
}
