//! `cluster`: several nodes of one chain, for a test on one machine or as the files of several
//! machines.

#[cfg(feature = "bft")]
mod add_full_node;
mod arguments;
#[cfg(feature = "bft")]
mod confirm;
#[cfg(feature = "bft")]
mod files;
#[cfg(feature = "bft")]
mod init;
#[cfg(feature = "bft")]
mod run;
#[cfg(feature = "bft")]
mod status;
#[cfg(feature = "bft")]
mod targets;

use super::CliError;
use arguments::{
    AddFullNodeArguments, ConfirmArguments, InitArguments, RunArguments, StatusArguments,
};
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Create the keys, the genesis and the configuration of a new chain's nodes
    Init(InitArguments),
    /// Run all nodes of a directory on this machine, until a signal
    Run(RunArguments),
    /// Create the files of a further full node, and admit it at the validators
    ///
    /// In a directory of this machine, it becomes the next node, and validators that run admit it
    /// at once. With --admin, it is created for a machine of its own: the named validators state
    /// the addresses of each other and admit it. Name all of them, or at least two.
    AddFullNode(AddFullNodeArguments),
    /// Show how far each node is, and the validators that miss their turns
    ///
    /// Ends with exit code 1 if a node does not respond, or can neither commit nor follow.
    Status(StatusArguments),
    /// State that a stopped validator voted for no height above this one, so that it votes again
    ///
    /// A validator whose files were lost or restored follows without votes until others have
    /// decided every height that it may have voted for. If too many were lost at once, no height
    /// is decided: the operator confirms the height of the newest block for each of them. A height
    /// that is too low can make the validator contradict its own vote.
    Confirm(ConfirmArguments),
}

/// Executes the command.
///
/// # Errors
///
/// Returns the error of the command, and [`CliError::Fatal`] if this program has no engine.
#[cfg(feature = "bft")]
pub fn execute(command: Command) -> Result<(), CliError> {
    match command {
        Command::Init(arguments) => init::execute(&arguments),
        Command::Run(arguments) => run::execute(&arguments),
        Command::AddFullNode(arguments) => add_full_node::execute(&arguments),
        Command::Status(arguments) => status::execute(&arguments),
        Command::Confirm(arguments) => confirm::execute(&arguments),
    }
}

/// Returns the error of a program without an engine.
///
/// # Errors
///
/// Returns [`CliError::Fatal`].
#[cfg(not(feature = "bft"))]
pub fn execute(_: Command) -> Result<(), CliError> {
    Err(CliError::Fatal(
        "this program was built without the feature bft; build it with cargo build --release \
         --features bft"
            .to_owned(),
    ))
}
