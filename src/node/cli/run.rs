//! `run`: starts a node, prints its addresses, and stops it on a signal.

use super::{CliError, output};
use crate::{
    compose::{FundedAccount, Greeting, RunFailure, RunHooks, run},
    config::{Config, ConfigOptions},
    telemetry,
};
use ledger_client::signer::private_key_text;
use ledger_types::Genesis;
use rustix::process::{Signal, getpid, kill_process};
use std::{io, process, thread};

/// Name of the thread that waits for the end of standard input.
const THREAD: &str = "stdin-watch";

/// The options of the command.
#[derive(Debug, Default, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    options: ConfigOptions,
    /// Stop when standard input is closed, as it is when the process that holds it ends
    #[arg(long)]
    until_stdin_closes: bool,
}

/// Runs a node until a signal stops it. A second signal ends the process without a clean stop.
/// `before` are the options before the name of the command.
///
/// # Errors
///
/// Returns [`CliError::Configuration`] if the configuration cannot be used, and
/// [`CliError::Fatal`] for any other error that ended the node.
pub fn execute(before: ConfigOptions, arguments: Arguments) -> Result<(), CliError> {
    let options = &before.followed_by(arguments.options);
    let config = Config::load(options, std::env::vars_os())?;
    let hooks = RunHooks {
        on_threads: if arguments.until_stdin_closes {
            stop_when_stdin_closes
        } else {
            || Ok(())
        },
        on_ready: print_ready,
        on_abort: |message| CliError::Fatal(message).exit(),
        on_early_stop: || {
            telemetry::flush();
            process::exit(0)
        },
    };
    let Err(RunFailure { error, stop_error }) = run(&config, options, hooks) else {
        tracing::info!("stopped");
        return Ok(());
    };
    if let Some(error) = stop_error {
        CliError::from(*error).report();
    }
    Err(error.into())
}

/// Starts a thread that sends `SIGTERM` to this process at the end of standard input, whose content
/// it discards.
///
/// # Errors
///
/// Returns the error of the operating system if it refuses the thread.
fn stop_when_stdin_closes() -> io::Result<()> {
    let named = thread::Builder::new().name(THREAD.to_owned());
    let spawned = named.spawn(|| {
        // An input that cannot be read has no end to wait for, so it counts as closed.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        // A process may send a signal to itself.
        let _ = kill_process(getpid(), Signal::TERM);
    });
    spawned.map(drop)
}

/// Prints the accounts of a development chain, then the ledger, then the ready line.
fn print_ready(greeting: &Greeting) -> io::Result<()> {
    if greeting.genesis.development {
        output::line(&development_text(greeting))?;
    }
    output::line(&format!("ledger {}", greeting.ledger))?;
    output::line(&greeting.ready)
}

/// Returns the text about the funded accounts of a development chain, with their private keys.
fn development_text(greeting: &Greeting) -> String {
    let Genesis {
        chain_id, vendor, ..
    } = &greeting.genesis;
    let mut text = format!(
        "Development chain {chain_id} ({vendor}). The keys of these funded accounts are public: use them for development only."
    );
    for FundedAccount { account, balance } in &greeting.accounts {
        text += &format!(
            "\n  account {} holds {balance}\n  private key {}",
            account.address.to_long_hex(),
            *private_key_text(&account.private_key)
        );
    }
    text
}
