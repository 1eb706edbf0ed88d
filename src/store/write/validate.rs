//! Checks of blocks before any of their rows is written.

use crate::StoreError;
use ledger_types::{ChainTip, ExecutedBlock};
use std::sync::Arc;

/// Checks that `blocks` follow `tip` and each other without a gap.
///
/// # Errors
///
/// Returns [`StoreError::Gap`] for the first block whose height, first version, parent, or
/// result of an earlier block differs from the expected one.
pub(super) fn check_follows(
    tip: &ChainTip,
    blocks: &[Arc<ExecutedBlock>],
) -> Result<(), StoreError> {
    let mut tip = tip;
    for block in blocks {
        let height = block.height();
        let gap = |part: &str, expected: String, found: String| {
            Err(StoreError::Gap(format!(
                "block {height} has {part} {found}, expected {expected}"
            )))
        };
        if Some(height) != tip.height.checked_add(1) {
            return gap(
                "height",
                format!("one above {}", tip.height),
                height.to_string(),
            );
        }
        if Some(block.first_version) != tip.version.checked_add(1) {
            let expected = format!("one above {}", tip.version);
            return gap("first version", expected, block.first_version.to_string());
        }
        if block.header.parent_hash != tip.block_hash {
            let found = block.header.parent_hash.to_string();
            return gap("parent", tip.block_hash.to_string(), found);
        }
        let (expected, found) = (tip.roots.delayed(), block.header.executed);
        if found != expected {
            return gap(
                "result in the header",
                expected.to_string(),
                found.to_string(),
            );
        }
        tip = &block.tip;
    }
    Ok(())
}

/// Checks that the redundant parts of a block agree, because the store writes one of each.
///
/// # Errors
///
/// Returns [`StoreError::Inconsistent`] if the block has no transaction, if its tip does not match
/// its header and its last transaction, or if a transaction's info has another hash.
pub(super) fn check_consistent(block: &ExecutedBlock) -> Result<(), StoreError> {
    let height = block.height();
    let contradiction = |what: &str| {
        Err(StoreError::Inconsistent(format!(
            "block {height}, not written: {what}"
        )))
    };
    if block.transactions.is_empty() {
        return contradiction("it has no transaction");
    }
    let end = block
        .first_version
        .checked_add(block.transactions.len() as u64);
    if end != block.tip.version.checked_add(1) {
        return contradiction("its tip is not at its last transaction");
    }
    if block.tip.height != height
        || block.tip.epoch < block.header.epoch
        || block.tip.timestamp_usecs != block.header.timestamp_usecs
    {
        return contradiction("header and tip differ");
    }
    let mut transactions = block.transactions.iter();
    if transactions.any(|executed| executed.info.v0().transaction_hash != executed.hash) {
        return contradiction("the info of a transaction has another hash");
    }
    Ok(())
}
