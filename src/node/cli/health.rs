//! `health`: requests the readiness probe of a node, for containers without an HTTP client.

use super::{
    CliError, output,
    target::{ADMIN_URL, Target},
    trust::TrustOptions,
};
use clap::Args;

/// The command line of `health`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// URL of the node's admin listener
    #[arg(long, value_name = "URL", default_value = ADMIN_URL)]
    url: String,
    #[command(flatten)]
    trust: TrustOptions,
}

/// Prints `ok` if the node is ready.
///
/// # Errors
///
/// Returns [`CliError::Fatal`] if URL or certificates cannot be used, if the node does not respond,
/// or with the names of the checks that fail.
pub fn execute(arguments: &Arguments) -> Result<(), CliError> {
    let roots = arguments.trust.roots()?;
    let target = Target::new(&arguments.url, None, &roots)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let probed = runtime.block_on(target.probe("/readyz"));
    probed.map_err(|error| CliError::Fatal(error.to_string()))?;
    Ok(output::line("ok")?)
}
