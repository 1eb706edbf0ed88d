//! `cluster add-full-node`: the files of a further full node, and its admission at the validators.

use super::{
    super::{
        CliError, output,
        target::{Target, TargetError},
    },
    arguments::AddFullNodeArguments,
    files::{Configuration, GENESIS, ListenAddresses, NODES_MAX, NewNode},
    targets::{configuration, nodes, target_of},
};
use crate::{
    admin::{Admitted, Peers},
    config::Settings,
    consensus::{ConsensusDirectory, PeerEntry, peers_text},
    genesis::read_genesis,
};
use ledger_client::http::TrustedRoots;
use ledger_types::AccountAddress;
use std::{
    collections::BTreeMap,
    fs,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::{Path, PathBuf},
};
use tokio::runtime::{Builder, Runtime};

/// Creates the files and admits the full node.
///
/// # Errors
///
/// Returns [`CliError::Configuration`] if the configuration of a node cannot be read, and
/// [`CliError::Fatal`] if the address of a validator is unknown, a file cannot be read or written,
/// or a validator does not admit the full node. In the last case the files are complete, and the
/// message has the entry that the operator adds there.
pub fn execute(arguments: &AddFullNodeArguments) -> Result<(), CliError> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let roots = arguments.trust.roots()?;
    match (&arguments.genesis, &arguments.address, &arguments.relay) {
        (Some(genesis), Some(address), Some(relay)) => {
            let remote = Remote {
                targets: Target::all(&arguments.admin, arguments.token_file.as_deref(), &roots)?,
                genesis,
                address,
                relay,
            };
            remote.add(&runtime, &arguments.dir)
        }
        _ => add_local(&runtime, &arguments.dir, &roots),
    }
}

/// The address of each validator of a chain, as far as it is known.
struct Validators(BTreeMap<AccountAddress, Option<PeerEntry>>);

impl Validators {
    /// Reads the validators of a genesis file.
    ///
    /// # Errors
    ///
    /// Returns [`CliError::Fatal`] if it is no genesis file.
    fn read(path: &Path) -> Result<Self, CliError> {
        let genesis =
            read_genesis(path).map_err(|error| CliError::fatal(path.display(), &error))?;
        let addresses = genesis.validators.iter();
        let unknown = addresses.map(|key| (AccountAddress::from_public_key(key), None));
        Ok(Self(unknown.collect()))
    }

    /// Adds the validators of a node's peers.
    fn add(&mut self, peers: Vec<PeerEntry>) {
        for peer in peers {
            let address = peer.validator.as_deref().and_then(|text| text.parse().ok());
            if let Some(entry) = address.and_then(|address| self.0.get_mut(&address)) {
                entry.get_or_insert(peer);
            }
        }
    }

    /// Returns the entries of all validators.
    ///
    /// # Errors
    ///
    /// Returns [`CliError::Fatal`] if one is unknown.
    fn entries(&self) -> Result<Vec<PeerEntry>, CliError> {
        let entry = |(address, entry): (&AccountAddress, &Option<PeerEntry>)| {
            entry.clone().ok_or_else(|| {
                CliError::Fatal(format!(
                    "the address of the validator {} is unknown: name the admin listener of one \
                     more validator, whose peers.toml has it",
                    address.to_long_hex()
                ))
            })
        };
        self.0.iter().map(entry).collect()
    }
}

/// Adds the next node to a directory of this machine.
fn add_local(runtime: &Runtime, dir: &Path, roots: &TrustedRoots) -> Result<(), CliError> {
    let nodes = nodes(dir)?;
    let number = next_number(&nodes)?;
    let mut validators = Validators::read(&dir.join(GENESIS))?;
    let mut admitting = Vec::new();
    for node in &nodes {
        let config = configuration(node)?;
        let unusable = |error| CliError::fatal(node.display(), &error);
        let Some(keys) = &config.settings().consensus.directory else {
            continue;
        };
        let directory = ConsensusDirectory::new(&node.join(keys));
        validators.add(
            directory
                .peers()
                .entries()
                .map_err(|error| CliError::fatal(node.display(), &error))?,
        );
        if directory.secrets().map_err(unusable)?.validator.is_some() {
            admitting.push((target_of(node, &config, roots)?, directory));
        }
    }
    let node = dir.join(format!("node-{number}"));
    let listen = addresses_above(configuration(&dir.join("node-0"))?.settings(), number)?;
    let new = NewNode::full_node()?;
    let entry = new.entry(listen.consensus.clone(), listen.relay.clone());
    create_directory(&node)?;
    new.create(
        &node,
        validators.entries()?,
        &Configuration {
            genesis: "../genesis.toml",
            listen,
            has_faucet: false,
        },
    )?;
    let mut problems = Vec::new();
    for (target, directory) in admitting {
        match runtime.block_on(admit(&target, &entry)) {
            Ok(()) => output::line(&format!("{} has admitted it", target.name))?,
            // Its next start reads the file.
            Err(TargetError::NotRunning(_)) => match directory.peers().add(&entry) {
                Ok(_) => output::line(&format!("{} admits it at its next start", target.name))?,
                Err(error) => problems.push(format!("{}: {error}", target.name)),
            },
            Err(error) => problems.push(format!("{}: {error}", target.name)),
        }
    }
    finish(&node, &entry, &problems)
}

/// Returns the number above those of all nodes.
///
/// # Errors
///
/// Returns [`CliError::Fatal`] if it has no ports.
fn next_number(nodes: &[PathBuf]) -> Result<u16, CliError> {
    let number = |node: &PathBuf| {
        let name = node.file_name()?.to_str()?;
        name.strip_prefix("node-")?.parse::<u16>().ok()
    };
    let last = nodes.iter().filter_map(number).max();
    let next = last.map_or(0, |last| last.saturating_add(1));
    if next >= NODES_MAX {
        return Err(CliError::Fatal(format!(
            "the ports of a directory are for at most {NODES_MAX} nodes"
        )));
    }
    Ok(next)
}

/// Returns the addresses of a node, whose ports are `number` above those of the first node.
///
/// # Errors
///
/// Returns [`CliError::Fatal`] if a port is too high.
fn addresses_above(first: &Settings, number: u16) -> Result<ListenAddresses, CliError> {
    let above = |first: SocketAddr| {
        let port = first
            .port()
            .checked_add(number)
            .ok_or_else(|| CliError::Fatal(format!("no port is {number} above that of {first}")))?;
        Ok::<_, CliError>(SocketAddr::new(first.ip(), port).to_string())
    };
    Ok(ListenAddresses {
        consensus: above(first.consensus.listen)?,
        relay: above(first.consensus.relay_listen)?,
        api: above(first.api_listener.listen)?,
        admin: above(first.admin.listen)?,
        faucet: above(first.faucet.listen)?,
    })
}

/// A full node for a machine of its own.
struct Remote<'a> {
    targets: Vec<Target>,
    genesis: &'a Path,
    address: &'a str,
    relay: &'a str,
}

impl Remote<'_> {
    /// Creates the directory `node` and admits the full node at the targets.
    fn add(&self, runtime: &Runtime, node: &Path) -> Result<(), CliError> {
        let mut validators = Validators::read(self.genesis)?;
        for target in &self.targets {
            let Peers { peers } = runtime
                .block_on(target.get("/peers"))
                .map_err(|error| CliError::Fatal(format!("{}: {error}", target.name)))?;
            validators.add(peers);
        }
        let defaults = Settings::default();
        let configuration = Configuration {
            genesis: GENESIS,
            listen: ListenAddresses {
                consensus: listen_address(self.address)?,
                relay: listen_address(self.relay)?,
                api: defaults.api_listener.listen.to_string(),
                admin: defaults.admin.listen.to_string(),
                faucet: defaults.faucet.listen.to_string(),
            },
            has_faucet: false,
        };
        let peers = validators.entries()?;
        let new = NewNode::full_node()?;
        let entry = new.entry(self.address.to_owned(), self.relay.to_owned());
        create_directory(node)?;
        fs::copy(self.genesis, node.join(GENESIS))
            .map_err(|error| CliError::fatal(node.join(GENESIS).display(), &error))?;
        new.create(node, peers, &configuration)?;
        let mut problems = Vec::new();
        for target in &self.targets {
            match runtime.block_on(admit(target, &entry)) {
                Ok(()) => output::line(&format!("{} has admitted it", target.name))?,
                Err(error) => problems.push(format!("{}: {error}", target.name)),
            }
        }
        let unnamed = validators.0.len().saturating_sub(self.targets.len());
        if unnamed > 0 {
            problems.push(format!("{unnamed} validators were not named"));
        }
        finish(node, &entry, &problems)
    }
}

/// Returns the address to listen on for a node that others reach at `address`: all addresses of the
/// machine, because it may be behind a translation of addresses, or the loopback address itself.
///
/// # Errors
///
/// Returns [`CliError::Fatal`] if the text is not `HOST:PORT`.
fn listen_address(address: &str) -> Result<String, CliError> {
    let malformed = || CliError::Fatal(format!("{address:?} is no address, HOST:PORT"));
    let (host, port) = address.rsplit_once(':').ok_or_else(malformed)?;
    let port: u16 = port.parse().map_err(|_| malformed())?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let ip = match host.parse() {
        Ok(ip @ (IpAddr::V4(_) | IpAddr::V6(_))) if ip.is_loopback() => ip,
        Ok(IpAddr::V6(_)) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        Ok(IpAddr::V4(_)) | Err(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
    };
    Ok(SocketAddr::new(ip, port).to_string())
}

/// Creates the directory of the node, which must not exist.
fn create_directory(node: &Path) -> Result<(), CliError> {
    fs::create_dir(node).map_err(|error| CliError::fatal(node.display(), &error))
}

/// Requests the admission of the full node.
async fn admit(target: &Target, entry: &PeerEntry) -> Result<(), TargetError> {
    target.post::<Admitted>("/peers", entry).await.map(drop)
}

/// Prints how the node is started.
///
/// # Errors
///
/// Returns [`CliError::Fatal`] with the problems and the entry of the node if there are problems.
fn finish(node: &Path, entry: &PeerEntry, problems: &[String]) -> Result<(), CliError> {
    output::line(&format!(
        "created a full node in {}; start it there with ledger-node run --config node.toml",
        node.display()
    ))?;
    if problems.is_empty() {
        return Ok(());
    }
    let entry = peers_text(vec![entry.clone()])
        .map_err(|error| CliError::Fatal(format!("the entry has no TOML form: {error}")))?;
    Err(CliError::Fatal(format!(
        "{}\nadd this to the peers.toml of each validator that has not admitted it, and restart \
         the validator:\n{entry}",
        problems.join("\n")
    )))
}
