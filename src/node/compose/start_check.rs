//! The checks of a start, without the start: `ledger-node config --check`.

use super::{
    addresses::{address_errors, exposed_development_listeners, listener_addresses},
    checked_config::ConfigCheck,
    consensus::check_consensus,
    descriptors::raise_descriptor_limit,
    error::RunError,
    ledger::inspect_ledger,
    listeners::{check_threads, side_listeners},
    tls::TlsSettings,
};
use crate::{
    config::{Config, Settings},
    genesis::describe_chain,
};
use ledger_types::Genesis;

/// The results of the checks of a start.
#[derive(Debug, Default)]
pub struct StartCheck {
    /// What the node would serve, in words.
    pub lines: Vec<String>,
    /// The errors that would end the start, in its order.
    pub errors: Vec<RunError>,
}

/// Checks what a start checks: settings, files, addresses, limits of the process, and the ledger.
/// Writes nothing.
///
/// A start ends with its first error, and this returns all of them. Without a genesis that can be
/// used, only settings and files are checked.
pub fn check_start(config: &Config) -> StartCheck {
    let settings = config.settings();
    let ConfigCheck {
        genesis, errors, ..
    } = ConfigCheck::new(config);
    let mut check = StartCheck {
        lines: Vec::new(),
        errors: errors.into_iter().map(RunError::from).collect(),
    };
    let Some(configured) = genesis else {
        return check;
    };
    let genesis = &configured.genesis;
    let source = match &settings.chain.genesis {
        Some(path) => path.display().to_string(),
        None => "a development chain".to_owned(),
    };
    check.lines.push(format!("genesis: {source}"));
    // An error would be one of the genesis, which was checked.
    check.lines.extend(describe_chain(genesis));
    check.lines.push(listeners(settings, genesis));
    for (name, address) in exposed_development_listeners(settings, genesis) {
        check.lines.push(format!(
            "warning: other machines reach {name} at {address}, and the keys of this development \
             chain are public"
        ));
    }
    check.errors.extend(address_errors(settings, genesis));
    check.add(descriptors(settings, genesis));
    check.errors.extend(check_threads(settings, genesis).err());
    if !genesis.validators.is_empty() {
        check.errors.extend(check_consensus(settings).err());
    }
    check.add(inspect_ledger(settings, configured).map(Some));
    check
}

impl StartCheck {
    /// Adds the result of one check.
    fn add(&mut self, result: Result<Option<String>, RunError>) {
        match result {
            Ok(line) => self.lines.extend(line),
            Err(error) => self.errors.push(error),
        }
    }
}

/// Returns the addresses of the listeners as the ready line names them.
fn listeners(settings: &Settings, genesis: &Genesis) -> String {
    let words = listener_addresses(settings, genesis).map(|(name, address)| {
        let tls = match name {
            "api" => Some(TlsSettings::API),
            "admin" => Some(TlsSettings::ADMIN),
            _ => None,
        };
        let is_tls = tls.is_some_and(|tls| tls.is_served(settings));
        let scheme = if is_tls { "https" } else { "http" };
        format!(" {name}={scheme}://{address}")
    });
    format!("listeners:{}", words.collect::<String>())
}

/// Returns a line if the limit on open files lowers the number of connections.
///
/// # Errors
///
/// Returns [`RunError::Fatal`] if the limit is too low for a start.
fn descriptors(settings: &Settings, genesis: &Genesis) -> Result<Option<String>, RunError> {
    let limits = raise_descriptor_limit(settings, side_listeners(settings, genesis))?;
    let configured = settings.api_listener.max_connections;
    let is_lowered = limits.api < configured;
    Ok(is_lowered.then(|| {
        format!(
            "warning: api.max_connections is {configured}, and the hard limit on open files \
             (RLIMIT_NOFILE) allows {}",
            limits.api
        )
    }))
}
