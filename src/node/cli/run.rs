//! `run`: starts a node, prints where it answers, and stops it at a signal.

use super::{CliError, output};
use crate::{
    compose::{
        OpenLedger, ServeError, Service, configured_genesis, configured_tls, configured_token,
        install_panic_hook, open_ledger, raise_descriptor_limit, set_scheduling_policy,
        side_listeners,
    },
    config::Config,
    signals::{StopSignals, log_hangups},
    telemetry,
};
use ledger_client::signer::private_key_text;
use ledger_execution::development_accounts;
use ledger_types::Genesis;

/// Runs a node until a signal stops it; a second signal ends it at once.
///
/// # Errors
///
/// Returns [`CliError::Configuration`] for a configuration that cannot be used, and [`CliError::Fatal`] for what
/// ended the node. Unless the node itself has failed, its mempool is saved.
pub fn execute(config: &Config) -> Result<(), CliError> {
    let configured = configured_genesis(config)?;
    let settings = config.settings();
    // Before there are threads, which inherit it.
    let scheduled = set_scheduling_policy(&settings.process.scheduling);
    telemetry::start(&settings.log.level, &settings.log.format)?;
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        chain_id = configured.genesis.chain_id,
        vendor = %configured.genesis.vendor,
        sequencer = %settings.sequencer.mode,
        "starting"
    );
    if let Err(error) = scheduled {
        tracing::warn!(
            %error,
            "the system does not let the node's threads wait their turns, which costs throughput; \
             process.scheduling = inherit does not ask"
        );
    }
    let tls = configured_tls(settings)?;
    let admin_token = configured_token(settings)?;
    let connections =
        raise_descriptor_limit(settings, side_listeners(settings, &configured.genesis))?;
    install_panic_hook(&settings.storage.data_dir, |message| {
        CliError::Fatal(message).exit()
    });
    let system = actix_web::rt::System::new();
    // Before the ledger is opened, so that a terminal that is closed meanwhile does not end the process.
    system.block_on(async { log_hangups() })?;
    let OpenLedger {
        store,
        genesis,
        chain,
    } = open_ledger(settings, configured)?;
    system.block_on(async {
        // Before the ready line, because its reader may signal at once.
        let mut signals = StopSignals::new()?;
        let mut service = Service::start(
            settings,
            connections,
            &genesis,
            chain,
            store,
            tls,
            admin_token,
        )
        .await?;
        let failure = match announce(&service, &genesis) {
            Ok(()) => {
                // The start is complete: from here on every regular end of the process saves the mempool again.
                service.discard_saved_pool();
                match service.serve(signals.next()).await {
                    Ok(()) => None,
                    Err(ServeError::Listener(failure)) => Some(failure.into()),
                    Err(ServeError::Node(failure)) => return Err(failure.into()),
                }
            }
            Err(failure) => Some(failure),
        };
        let stopped = tokio::select! {
            stopped = service.stop() => stopped.map_err(CliError::from),
            signal = signals.next() => {
                Err(CliError::Fatal(format!("a second signal, {signal}, ended the stop")))
            }
        };
        match (failure, stopped) {
            (None, Ok(())) => {
                tracing::info!("stopped");
                Ok(())
            }
            (None, Err(failure)) | (Some(failure), Ok(())) => Err(failure),
            (Some(failure), Err(of_stop)) => {
                of_stop.report();
                Err(failure)
            }
        }
    })
}

/// Prints the keys of a development chain and then the ready line. The start is complete afterwards.
///
/// # Errors
///
/// Returns [`CliError::Fatal`] if standard output cannot be written. A reader that closed it is no error.
fn announce(service: &Service, genesis: &Genesis) -> Result<(), CliError> {
    let ready = service.ready_line();
    // Before the line is printed, because its reader may expect the whole start in the log.
    tracing::info!("{ready}");
    let keys = genesis.development.then(|| development_words(genesis));
    telemetry::flush();
    for text in keys.iter().chain([&ready]) {
        output::line(text)
            .map_err(|error| CliError::fatal("standard output cannot be written", &error))?;
    }
    Ok(())
}

/// The funded accounts of a development chain, for people to use at once.
fn development_words(genesis: &Genesis) -> String {
    let mut text = format!(
        "Development chain {} ({}). Everyone knows the keys of these funded accounts: use them for development only.",
        genesis.chain_id, genesis.vendor
    );
    // Only those that this genesis funds: a genesis file may leave them out.
    let funded = development_accounts().into_iter().filter(|account| {
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
