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

/// Returns the listeners of a development chain that other machines reach.
pub fn exposed_development_listeners(
    settings: &Settings,
    genesis: &Genesis,
) -> impl Iterator<Item = (&'static str, SocketAddr)> {
    let is_development = genesis.development;
    let listeners = listener_addresses(settings, genesis);
    // The admin listener spends no coins, and demands a token of its own.
    listeners.filter(move |(name, address)| {
        is_development && *name != "admin" && !address.ip().is_loopback()
    })
}

/// Returns the key of the faucet, if it is served.
pub fn faucet_key(settings: &Settings, genesis: &Genesis) -> Option<Ed25519PrivateKey> {
    genesis.faucet_key().filter(|_| settings.faucet.enabled)
}

/// Returns an error for each address that cannot be bound, so that a start without it creates no
/// directory and does not open a ledger first.
pub fn address_errors(settings: &Settings, genesis: &Genesis) -> impl Iterator<Item = RunError> {
    let addresses = listener_addresses(settings, genesis);
    addresses.filter_map(|(name, address)| {
        let error = TcpListener::bind(address).err()?;
        Some(bind_error(name, address, &error))
    })
}

/// Returns the error of a listener whose address cannot be bound.
pub fn bind_error(name: &str, address: SocketAddr, error: &io::Error) -> RunError {
    let setting = format!("{name}.listen = \"{address}\"");
    let remedy = match error.kind() {
        ErrorKind::AddrInUse => format!(
            "stop the program that listens there, or choose another port, such as a free one with \
             --set {name}.listen={}",
            SocketAddr::new(address.ip(), 0)
        ),
        ErrorKind::AddrNotAvailable => {
            "choose an address of this machine, or 0.0.0.0 for all of them".to_owned()
        }
        ErrorKind::PermissionDenied => {
            "choose a port from 1024 on, or give the node the capability CAP_NET_BIND_SERVICE"
                .to_owned()
        }
        _ => return RunError::fatal(setting, error),
    };
    RunError::Fatal(format!("{setting}: {error}; {remedy}"))
}
