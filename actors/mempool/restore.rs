//! Putting a saved pool into a new one at the start of a node.

use super::{FILE_NAME, Pending, Pool, saved};
use crate::{Clock, LeaveReason, MempoolConfig, SubmitError};
use ledger::{AccountAddress, AccountFacts, Chain};
use ledger_store::{Snapshot, StoreError, StoreReader};
use std::{collections::HashMap, path::Path};

/// A pool with these limits and what `directory` keeps of an earlier one. Who no longer fits leaves
/// with its reason. A file that cannot be used is left alone, with a warning.
///
/// # Errors
/// When the store cannot be read.
pub(crate) fn restore(
    limits: &MempoolConfig,
    directory: &Path,
    chain: &Chain,
    reader: &StoreReader,
    clock: &Clock,
) -> Result<Pool, StoreError> {
    let mut pool = Pool::new(limits.clone());
    let pending = match saved::load(
        directory,
        chain,
        limits.capacity_bytes,
        limits.capacity_transactions,
    ) {
        Ok(pending) => pending,
        Err(error) => {
            let path = directory.join(FILE_NAME);
            tracing::warn!(path = %path.display(), %error, "the saved pool is not used; pending transactions are lost");
            return Ok(pool);
        }
    };
    if pending.is_empty() {
        return Ok(pool);
    }
    let snapshot = reader.snapshot()?;
    let mut sequence_numbers = HashMap::new();
    let count = pending.len();
    for pending in pending {
        let sender = pending.transaction.raw().sender;
        let sequence_number = match sequence_numbers.get(&sender) {
            Some(&known) => known,
            None => {
                let read = sequence_number(chain, &snapshot, &sender)?;
                sequence_numbers.insert(sender, read);
                read
            }
        };
        readmit(&mut pool, pending, sequence_number, clock.now_secs());
    }
    tracing::info!(saved = count, restored = pool.len(), "the saved pool is restored");
    if let Err(error) = saved::remove(directory) {
        tracing::warn!(%error, "the saved pool could not be removed after it was restored");
    }
    Ok(pool)
}

fn readmit(pool: &mut Pool, pending: Pending, sequence_number: u64, now_secs: u64) {
    let hash = pending.transaction.hash();
    let expires_at_secs = pool.expires_at_secs(&pending);
    let reason = match pool.submit(pending, sequence_number, now_secs) {
        Ok(_) => return,
        Err(SubmitError::Invalid(_)) if expires_at_secs <= now_secs => LeaveReason::Expired {
            at_secs: expires_at_secs,
        },
        Err(SubmitError::Invalid(discard)) => LeaveReason::Rejected(discard),
        Err(other) => LeaveReason::Evicted(format!("at a restart: {other}")),
    };
    pool.note_left(hash, reason);
}

fn sequence_number(chain: &Chain, snapshot: &Snapshot, address: &AccountAddress) -> Result<u64, StoreError> {
    let state = snapshot.state_at(snapshot.ledger_info().version);
    let facts =
        AccountFacts::read(chain, &state, address).map_err(|error| StoreError::Inconsistent(error.0))?;
    Ok(facts.sequence_number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::draft;
    use ledger::ValidationStatus;

    #[test]
    fn who_no_longer_fits_leaves_with_its_reason() {
        let mut pool = Pool::new(MempoolConfig {
            capacity_transactions: 1,
            ..MempoolConfig::default()
        });
        let readmitted = |pool: &mut Pool, draft: crate::testing::Draft, sequence_number| {
            let pending = Pending {
                transaction: draft.checked(),
                inserted_at_secs: 100,
            };
            let hash = pending.transaction.hash();
            readmit(pool, pending, sequence_number, 200);
            pool.left_reason(&hash).cloned()
        };
        assert_eq!(readmitted(&mut pool, draft(1, 5), 5), None);
        assert_eq!(
            readmitted(&mut pool, draft(2, 0).expires_at(150), 0),
            Some(LeaveReason::Expired { at_secs: 150 })
        );
        assert_eq!(
            readmitted(&mut pool, draft(3, 4), 5),
            Some(LeaveReason::Rejected(
                ValidationStatus::SequenceNumberTooOld.into()
            ))
        );
        assert!(matches!(
            readmitted(&mut pool, draft(4, 0), 0),
            Some(LeaveReason::Evicted(_))
        ));
    }
}
