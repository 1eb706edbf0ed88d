//! `cluster confirm`: the operator's word for the heights that a validator voted for.

use super::{
    super::{CliError, output},
    arguments::ConfirmArguments,
};
use crate::consensus::ConsensusDirectory;

/// Records the height.
///
/// # Errors
///
/// Returns [`CliError::Fatal`] if the directory has no keys, its validator runs, or the record
/// cannot be written.
pub fn execute(arguments: &ConfirmArguments) -> Result<(), CliError> {
    let &ConfirmArguments { ref dir, height } = arguments;
    let before = ConsensusDirectory::new(dir)
        .confirm_height(height)
        .map_err(|error| CliError::fatal("the height is not recorded", &error))?;
    let before = match before {
        Some(before) => format!("the record was {before}"),
        None => "there was no record".to_owned(),
    };
    output::line(&format!(
        "the validator votes for heights above {height}; {before}"
    ))?;
    Ok(())
}
