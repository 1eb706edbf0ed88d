//! The gate of the admin listener, as configured.

use super::error::RunError;
use crate::{
    access::{AllowedOrigins, Gate, GateOptions, HostOriginPolicy, LoginTransport, Token},
    config::Settings,
};
use ledger_limits::Networks;

/// Creates the gate of the admin listener.
///
/// # Errors
///
/// Returns [`RunError::Fatal`] if the system has no random numbers.
pub fn admin_gate(settings: &Settings, token: Option<Token>) -> Result<Gate, RunError> {
    let admin = &settings.admin;
    let trusted_proxies = match admin.behind_proxy {
        true => settings.api.trusted_proxies.clone(),
        false => Networks::default(),
    };
    let options = GateOptions {
        policy: HostOriginPolicy {
            section: "admin",
            hosts: admin.hosts.clone(),
            origins: AllowedOrigins::SameOrigin,
        },
        token,
        transport: login_transport(settings),
        port: admin.listen.port(),
        trusted_proxies,
    };
    Gate::new(options).map_err(|error| RunError::Fatal(format!("no random numbers: {error}")))
}

/// Returns the connections over which a browser logs in.
fn login_transport(settings: &Settings) -> LoginTransport {
    let admin = &settings.admin;
    if admin.behind_proxy || admin.tls_certificate.is_some() {
        LoginTransport::Secure
    } else if admin.listen.ip().is_loopback() {
        LoginTransport::Loopback
    } else {
        LoginTransport::Exposed
    }
}
