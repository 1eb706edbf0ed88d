//! `run`: start a node, say where it answers, and stop it when asked to.

use super::Failure;
use crate::{
    config::Config,
    guard::configured_token,
    output,
    signals::{StopSignals, log_hangups},
    signing::private_key_text,
    telemetry,
    wiring::{
        OpenLedger, Service, configured_genesis, configured_tls, open_ledger, schedule, tell_of_damage,
    },
};
use ledger::Genesis;

/// Runs a node until a signal stops it; a second signal ends it at once.
///
/// # Errors
/// A configuration that cannot be used, or what ended the node.
pub fn execute(config: &Config) -> Result<(), Failure> {
    let configured = configured_genesis(config)?;
    let settings = config.settings();
    telemetry::start(settings);
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        chain_id = configured.genesis.chain_id,
        vendor = %configured.genesis.vendor,
        sequencer = %settings.sequencer.mode,
        "starting"
    );
    // Before there are threads, which take it over.
    schedule(&settings.process.scheduling);
    let tls = configured_tls(settings)?;
    let admin_token = configured_token(settings)?;
    tell_of_damage(&settings.storage.data_dir);
    let system = actix_web::rt::System::new();
    // Before the ledger is opened, so that a terminal that is closed meanwhile does not end the process.
    system.block_on(async { log_hangups() })?;
    let OpenLedger {
        store,
        genesis,
        chain,
    } = open_ledger(settings, configured)?;
    system.block_on(async {
        // Before the ready line, so that who reads it may signal at once.
        let mut signals = StopSignals::new()?;
        let mut service = Service::start(settings, &genesis, chain, store, tls, admin_token).await?;
        if genesis.development {
            output::line(&development_words(&genesis))?;
        }
        let ready = service.ready_line();
        tracing::info!("{ready}");
        // The last word of the start: who reads it finds the whole start in the log.
        output::line(&ready)?;
        // After a failure the process ends as it is: the next start continues from what is durable.
        service.serve(signals.next()).await?;
        tokio::select! {
            stopped = service.stop() => stopped?,
            signal = signals.next() => {
                return Err(Failure::Fatal(format!("a second signal, {signal}, ended the stop")));
            }
        }
        tracing::info!("stopped");
        Ok(())
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
            *private_key_text(&account.private_key)
        );
    }
    text
}
