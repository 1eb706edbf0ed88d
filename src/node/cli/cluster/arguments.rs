//! Arguments of the commands of `cluster`, which are the same in a program without an engine.

use crate::cli::trust::TrustOptions;
use clap::Args;
use ledger_types::ValidatorSet;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct InitArguments {
    /// Number of validators: 3f + 1 of them tolerate f that fail or lie
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=ValidatorSet::LENGTH_MAX as i64))]
    pub(super) validators: u16,
    /// Number of full nodes, which follow the validators and serve clients
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub(super) full_nodes: u16,
    /// Directory to create, with a directory for each node
    #[arg(long, value_name = "DIRECTORY")]
    pub(super) dir: PathBuf,
    /// First of the ports between nodes. The listeners of clients, operators, the faucet and the
    /// relay have the ports 100, 200, 300 and 400 above
    #[arg(long, value_name = "PORT", default_value_t = 7000, value_parser = clap::value_parser!(u16).range(1..=65_000))]
    pub(super) base_port: u16,
}

#[derive(Debug, Args)]
pub struct ConfirmArguments {
    /// Directory of the validator (`consensus.directory`)
    #[arg(long, value_name = "DIRECTORY")]
    pub(super) dir: PathBuf,
    /// Highest height that this validator can have voted for, from any machine
    #[arg(long, value_name = "HEIGHT")]
    pub(super) height: u64,
}

#[derive(Debug, Args)]
pub struct StatusArguments {
    /// Directory that `cluster init` created, on this machine
    #[arg(long, value_name = "DIRECTORY", required_unless_present = "admin", conflicts_with_all = ["admin", "token_file"])]
    pub(super) dir: Option<PathBuf>,
    /// URL of a node's admin listener, such as http://192.0.2.1:9101; once for each node
    #[arg(long, value_name = "URL")]
    pub(super) admin: Vec<String>,
    /// File with the token of these listeners (`admin.token_file`)
    #[arg(long, value_name = "FILE")]
    pub(super) token_file: Option<PathBuf>,
    #[command(flatten)]
    pub(super) trust: TrustOptions,
}

#[derive(Debug, Args)]
pub struct RunArguments {
    /// Directory that `cluster init` created
    #[arg(long, value_name = "DIRECTORY")]
    pub(super) dir: PathBuf,
}

#[derive(Debug, Args)]
pub struct AddFullNodeArguments {
    /// Directory that `cluster init` created on this machine. With --admin, the directory to create
    #[arg(long, value_name = "DIRECTORY")]
    pub(super) dir: PathBuf,
    /// URL of a validator's admin listener, such as http://192.0.2.1:9101; once for each validator
    #[arg(long, value_name = "URL", requires_all = ["genesis", "address", "relay"])]
    pub(super) admin: Vec<String>,
    /// File with the token of these listeners (`admin.token_file`)
    #[arg(long, value_name = "FILE", requires = "admin")]
    pub(super) token_file: Option<PathBuf>,
    /// The chain's genesis file, which is copied
    #[arg(long, value_name = "FILE", requires = "admin")]
    pub(super) genesis: Option<PathBuf>,
    /// Address at which the validators reach the full node (`consensus.listen`)
    #[arg(long, value_name = "HOST:PORT", requires = "admin")]
    pub(super) address: Option<String>,
    /// Address at which they reach its relay (`consensus.relay_listen`)
    #[arg(long, value_name = "HOST:PORT", requires = "admin")]
    pub(super) relay: Option<String>,
    #[command(flatten)]
    pub(super) trust: TrustOptions,
}
