//! A node of this repository as a child process, with a directory of its own and free ports.

use crate::Result;
use std::{
    env, fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{self, Child, Command, Stdio},
};

/// Root of the repository.
pub const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A running node with `config/sdk.toml`. It is killed when this value is dropped.
pub struct Node {
    process: Child,
    directory: PathBuf,
    /// Address of the REST API.
    pub api: String,
    /// Address of the GraphQL route.
    pub graphql: String,
    /// Address of the faucet.
    pub faucet: String,
}

impl Node {
    /// Starts the program of `LEDGER_NODE_BIN`, by default the debug build, and waits until it is
    /// ready.
    ///
    /// # Errors
    ///
    /// Returns an error if the node cannot be started.
    pub fn start() -> Result<Self> {
        let built = Path::new(REPOSITORY).join("target/debug/ledger-node");
        let program = env::var_os("LEDGER_NODE_BIN").map_or(built, PathBuf::from);
        let directory = env::temp_dir().join(format!("ledger-node-rust-sdk-{}", process::id()));
        let mut command = Command::new(program);
        command
            .arg("run")
            .arg("--config")
            .arg(format!("{REPOSITORY}/config/sdk.toml"));
        for listener in ["api", "graphql", "faucet", "admin"] {
            command
                .arg("--set")
                .arg(format!("{listener}.listen=127.0.0.1:0"));
        }
        command.arg("--data-dir").arg(directory.join("data"));
        let mut process = command
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let output = process.stdout.take().ok_or("no output")?;
        let mut node = Self {
            process,
            directory,
            api: String::new(),
            graphql: String::new(),
            faucet: String::new(),
        };
        // ready api=http://127.0.0.1:1234 faucet=http://...
        let mut lines = BufReader::new(output).lines().map_while(|line| line.ok());
        let ready = lines.find(|line| line.starts_with("ready "));
        for part in ready
            .ok_or("the node ended before it was ready")?
            .split(' ')
        {
            match part.split_once('=') {
                Some(("api", url)) => node.api = url.to_owned(),
                Some(("graphql", url)) => node.graphql = url.to_owned(),
                Some(("faucet", url)) => node.faucet = url.to_owned(),
                _ => {}
            }
        }
        Ok(node)
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // A process that has ended, or a directory that does not exist, needs nothing.
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.directory);
    }
}
