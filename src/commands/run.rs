//! `run`: start a node, say where it answers, and stop it when asked to.

use super::Failure;
use crate::{
    config::Config,
    output,
    signing::private_key_text,
    telemetry,
    wiring::{Service, configured_genesis, open_ledger},
};
use ledger::Genesis;
use std::future::Future;
use tokio::signal::unix::{SignalKind, signal};

/// Runs a node until a signal stops it.
///
/// # Errors
/// A configuration that cannot be used, or what ended the node.
pub fn execute(config: &Config) -> Result<(), Failure> {
    let (genesis, chain) = configured_genesis(config)?;
    let settings = config.settings();
    telemetry::start(settings);
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        chain_id = chain.id(),
        vendor = %chain.vendor(),
        sequencer = %settings.sequencer.mode,
        "starting"
    );
    let store = open_ledger(settings, &genesis, &chain)?;
    actix_web::rt::System::new().block_on(async {
        // Before the ready line, so that who reads it may signal at once.
        let stop = stop_signal()?;
        let mut service = Service::start(settings, &genesis, chain, store).await?;
        if genesis.development {
            output::line(&development_words(&genesis))?;
        }
        let ready = service.ready_line();
        output::line(&ready)?;
        tracing::info!("{ready}");
        // After a failure the process ends as it is: the next start continues from what is durable.
        service.serve(stop).await?;
        service.stop().await?;
        tracing::info!("stopped");
        Ok(())
    })
}

/// Ends with the name of the signal when SIGINT or SIGTERM comes.
fn stop_signal() -> Result<impl Future<Output = &'static str>, Failure> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => "SIGINT",
            _ = terminate.recv() => "SIGTERM",
        }
    })
}

/// The funded accounts of a development chain, for people to use at once.
fn development_words(genesis: &Genesis) -> String {
    let mut text = format!(
        "Development chain {} ({}). Everyone knows the keys of these funded accounts: use them for development only.",
        genesis.chain_id, genesis.vendor
    );
    // Only those that this genesis funds: a genesis file may leave them out.
    let funded = Genesis::development_accounts().into_iter().filter(|account| {
        genesis
            .accounts
            .iter()
            .any(|in_genesis| in_genesis.address == account.address)
    });
    for account in funded {
        text += &format!(
            "\n  account {}\n  private key {}",
            account.address.to_long_hex(),
            private_key_text(&account.private_key)
        );
    }
    text
}
