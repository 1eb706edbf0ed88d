//! The outcome of a committed transfer, as commands print it.

use super::CliError;
use crate::cli::output;
use ledger_client::TransactionOutcome;

/// Prints the outcome of the committed transfer.
///
/// # Errors
///
/// Returns [`CliError::Fatal`] if the transfer failed.
pub fn report(committed: &TransactionOutcome) -> Result<(), CliError> {
    output::line(&format!(
        "committed at version {}: {} (gas used {})",
        committed.version, committed.vm_status, committed.gas_used
    ))?;
    if committed.success {
        Ok(())
    } else {
        Err(CliError::Fatal(
            "the transfer failed; its fee was charged".to_owned(),
        ))
    }
}
