//! The addresses of the listeners.

use super::error::RunError;
use crate::config::Settings;
use ledger_crypto::Ed25519PrivateKey;
use ledger_types::Genesis;
use std::{
    io::{self, ErrorKind},
    net::{SocketAddr, TcpListener},
};

/// Returns the name and the address of each listener of a node.
pub fn listener_addresses(
    settings: &Settings,
    genesis: &Genesis,
) -> impl Iterator<Item = (&'static str, SocketAddr)> {
    let faucet = faucet_key(settings, genesis).map(|_| settings.faucet.listen);
    let listeners = [
        ("api", Some(settings.api_listener.listen)),
        ("graphql", settings.graphql.listen),
        ("faucet", faucet),
        ("admin", Some(settings.admin.listen)),
    ];
    let named = listeners.into_iter();
    named.filter_map(|(name, address)| Some((name, address?)))
}

/// Returns the key of the faucet, if it is served.
pub fn faucet_key(settings: &Settings, genesis: &Genesis) -> Option<Ed25519PrivateKey> {
    genesis.faucet_key().filter(|_| settings.faucet.enabled)
}

/// Checks that no other program uses the addresses, so that a start without them creates no
/// directory and does not open a ledger first. The listeners report other errors.
///
/// # Errors
///
/// Returns [`RunError::Fatal`] with the setting of the first address that is in use.
pub fn check_addresses(settings: &Settings, genesis: &Genesis) -> Result<(), RunError> {
    for (name, address) in listener_addresses(settings, genesis) {
        if let Err(error) = TcpListener::bind(address)
            && error.kind() == ErrorKind::AddrInUse
        {
            return Err(bind_error(name, address, &error));
        }
    }
    Ok(())
}

/// Returns the error of a listener whose address cannot be bound.
pub fn bind_error(name: &str, address: SocketAddr, error: &io::Error) -> RunError {
    let setting = format!("{name}.listen = \"{address}\"");
    if error.kind() != ErrorKind::AddrInUse {
        return RunError::fatal(setting, error);
    }
    let free = SocketAddr::new(address.ip(), 0);
    RunError::Fatal(format!(
        "{setting}: {error}; stop the program that listens there, or choose another port, such as \
         a free one with --set {name}.listen={free}"
    ))
}
