//! HAProxy with the configuration of the documents, in a namespace of its own.

use super::network::{Network, Process};
use ledger_test_support::{http::NodeClient, node::skip};
use std::{
    fs::{self, File},
    process::Command,
    sync::Arc,
};
use tempfile::TempDir;

/// The configuration that operators begin with.
const CONFIGURATION: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/config/haproxy.cfg");

/// Port of the balancer.
const PORT: u16 = 8080;

/// A load balancer in front of the nodes.
pub struct Balancer {
    network: Arc<Network>,
    host: String,
    _process: Process,
    _directory: TempDir,
}

impl Balancer {
    /// Starts HAProxy in the namespace `place`, in front of `servers` (`HOST:PORT`).
    ///
    /// Prints that the test is skipped, and returns `None`, without HAProxy.
    ///
    /// # Panics
    ///
    /// Panics instead of returning `None` if the environment variable `CI` is set.
    pub fn start(network: &Arc<Network>, place: usize, servers: &[String]) -> Option<Self> {
        if Command::new("haproxy").arg("-v").output().is_err() {
            return skip("needs HAProxy");
        }
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("haproxy.cfg");
        fs::write(&file, configuration(network.host(place), servers)).unwrap();
        let mut inner = Command::new("haproxy");
        inner.args(["-db", "-f"]).arg(&file);
        let log = File::create(directory.path().join("log")).unwrap();
        let mut command = network.wrap(place, &inner);
        command.stdout(log.try_clone().unwrap()).stderr(log);
        Some(Self {
            network: Arc::clone(network),
            host: network.host(place).to_owned(),
            _process: Process::spawn(&mut command),
            _directory: directory,
        })
    }

    /// Returns a client of the balancer, which has an address of its own.
    pub fn client(&self, number: usize) -> NodeClient {
        NodeClient {
            api: format!("http://{}:{PORT}", self.host),
            graphql: None,
            faucet: None,
            admin: String::new(),
            http: self.network.client(number),
        }
    }
}

/// Returns the configuration with these addresses instead of those of the example.
fn configuration(host: &str, servers: &[String]) -> String {
    let example = fs::read_to_string(CONFIGURATION).unwrap();
    let (before, list) = example.split_once("    server node-0").unwrap();
    assert!(
        list.lines()
            .skip(1)
            .all(|line| line.trim().starts_with("server "))
    );
    let mut text = before.replace("bind :80", &format!("bind {host}:{PORT}"));
    for (index, server) in servers.iter().enumerate() {
        text += &format!("    server node-{index} {server}\n");
    }
    text
}
