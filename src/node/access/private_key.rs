//! A warning about a private key of TLS that other users can use.

use ledger_http::LoadedCertificate;

/// Logs a warning if every user of the machine can use the private key of a certificate, which this
/// setting names.
pub fn warn_if_key_is_exposed(setting: &str, certificate: &LoadedCertificate) {
    if let Some(mode) = certificate.exposed_key_mode() {
        tracing::warn!(
            setting,
            path = %certificate.files().private_key.display(),
            mode = %format_args!("{mode:o}"),
            "everyone on this machine may use the private key; chmod 600 it"
        );
    }
}
