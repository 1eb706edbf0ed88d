//! What a validator knows after a start: the blocks of its consensus log.

use super::BftStart;
use crate::{
    engine::ConsensusStart,
    protocol::{consensus::Turn, proposed_block::CheckedBlock},
};
use ledger_crypto::DecodedKeys;
use ledger_store::{ConsensusLog, StoreError};
use ledger_types::ChainTip;
use ledger_vm::Chain;

/// Reads the decided blocks above `tip`, and the proposals at the height above them. Also returns
/// the log.
///
/// # Errors
///
/// Returns the error of the log, and [`StoreError::Inconsistent`] if it holds a block that is not
/// one of the chain.
pub(crate) fn restore(
    consensus: ConsensusStart,
    chain: &Chain,
    tip: ChainTip,
) -> Result<(BftStart, ConsensusLog), StoreError> {
    let ConsensusStart {
        address,
        log,
        work,
        may_vote,
        relay: _,
    } = consensus;
    let mut keys = DecodedKeys::default();
    let mut check = |height, bytes: Vec<u8>| {
        CheckedBlock::check(bytes.into(), chain, &mut keys).map_err(|error| {
            StoreError::Inconsistent(format!("the logged block of height {height}: {error}"))
        })
    };
    let mut decided = Vec::new();
    for logged in log.decisions_from(tip.height.saturating_add(1))? {
        let height = logged.certificate.height;
        decided.push((logged.certificate, check(height, logged.block)?));
    }
    let next_height = tip.height.saturating_add(1 + decided.len() as u64);
    let mut proposals = Vec::new();
    for logged in log.proposals(next_height)? {
        let turn = Turn {
            height: logged.height,
            round: logged.round,
            valid_round: logged.valid_round,
            proposer: logged.proposer,
        };
        proposals.push((turn, check(logged.height, logged.block)?));
    }
    let start = BftStart {
        chain: chain.clone(),
        address,
        work,
        may_vote,
        tip,
        signed_height: log.signed_height()?,
        decided,
        proposals,
    };
    Ok((start, log))
}
