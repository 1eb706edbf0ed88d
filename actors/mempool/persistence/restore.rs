//! Restoration of a saved pool at the start of a node.

use super::file::{self, FILE_NAME, SavedPoolError};
use crate::{
    MempoolConfig, RemovalReason, StartError, SubmitError, mempool::pool::Pool,
    protocol::mempool::Pending, state::account_cache::read_account_snapshot,
};
use ledger_crypto::HashValue;
use ledger_store::{StoreError, StoreReader};
use ledger_types::ReplayProtector;
use ledger_vm::Chain;
use std::{
    collections::{HashMap, HashSet},
    io,
    path::{Path, PathBuf},
};

/// A pool to start with, and the file that its content is from.
#[derive(Debug)]
pub(crate) struct Restored {
    pub(crate) pool: Pool,
    pub(crate) file: Option<RestoredFile>,
}

/// The file of a saved mempool that was restored.
///
/// The file remains until [`RestoredFile::remove`], so that a failed start loses none of its
/// transactions.
#[derive(Debug)]
pub(crate) struct RestoredFile {
    directory: PathBuf,
}

impl RestoredFile {
    /// Removes the file and syncs its directory.
    ///
    /// A failure is logged as a warning. The next start then restores the transactions of the file
    /// that have neither expired nor been executed.
    pub(crate) fn remove(self) {
        match file::remove(&self.directory) {
            Ok(()) => tracing::info!("the file of the restored mempool was removed"),
            Err(error) => {
                tracing::warn!(%error, "the file of the restored mempool could not be removed");
            }
        }
    }

    /// Returns the transactions of the file in their order, followed by those of `pending` that it
    /// does not hold.
    ///
    /// A stop before the file is removed saves all of them. The next start drops the transactions
    /// that the ledger holds by then, and records a reason for those that its pool rejects.
    ///
    /// # Errors
    ///
    /// Returns [`SavedPoolError`] if the file can no longer be read. The file is unchanged.
    pub(crate) fn join(
        &self,
        chain: &Chain,
        pending: Vec<Pending>,
    ) -> Result<Vec<Pending>, SavedPoolError> {
        let saved = file::load(&self.directory, chain)?.unwrap_or_default();
        Ok(merge_pending(saved, pending))
    }
}

/// Returns `saved`, followed by the transactions of `pending` that it does not hold.
pub(crate) fn merge_pending(mut saved: Vec<Pending>, pending: Vec<Pending>) -> Vec<Pending> {
    let hash = |pending: &Pending| pending.transaction.hash();
    let saved_hashes: HashSet<HashValue> = saved.iter().map(hash).collect();
    saved.extend(
        pending
            .into_iter()
            .filter(|pending| !saved_hashes.contains(&hash(pending))),
    );
    saved
}

/// Returns a pool with these limits and the content of the saved mempool in `directory`.
///
/// `now_secs` is the ledger's time in Unix seconds. The pool records a removal reason for a
/// transaction that has expired, is invalid, or exceeds the capacity. A file whose content cannot
/// be used is renamed, with a warning. A temporary file that an earlier stop left unfinished is
/// removed.
///
/// # Errors
///
/// Returns [`StartError::Store`] if the store cannot be read, or [`StartError::SavedPool`] if the
/// operating system fails to read the file, for example without a free file descriptor. The file is
/// unchanged.
pub(crate) fn restore(
    limits: &MempoolConfig,
    directory: &Path,
    chain: &Chain,
    reader: &StoreReader,
    now_secs: u64,
) -> Result<Restored, StartError> {
    if let Err(error) = file::remove_unfinished(directory) {
        tracing::warn!(
            %error,
            "the unfinished file of an earlier save of the mempool could not be removed"
        );
    }
    let loaded = load_or_set_aside(directory, chain).map_err(|source| StartError::SavedPool {
        path: directory.join(FILE_NAME),
        source,
    })?;
    let Some(pending) = loaded else {
        let pool = Pool::new(limits.clone());
        return Ok(Restored { pool, file: None });
    };
    let pool = refill(limits, pending, chain, reader, now_secs)?;
    let file = RestoredFile {
        directory: directory.to_owned(),
    };
    Ok(Restored {
        pool,
        file: Some(file),
    })
}

/// Returns a pool with these limits and the transactions of an earlier one, as [`restore`] does.
///
/// # Errors
///
/// Returns [`StoreError`] if the store cannot be read.
pub(crate) fn refill(
    limits: &MempoolConfig,
    pending: Vec<Pending>,
    chain: &Chain,
    reader: &StoreReader,
    now_secs: u64,
) -> Result<Pool, StoreError> {
    let mut pool = Pool::new(limits.clone());
    let snapshot = reader.snapshot()?;
    let mut sequence_numbers = HashMap::new();
    let count = pending.len();
    for pending in pending {
        let sender = pending.transaction.raw().sender;
        let sequence_number = match sequence_numbers.get(&sender) {
            Some(&known) => known,
            None => {
                let read = read_account_snapshot(chain, &snapshot, &sender)?.sequence_number;
                sequence_numbers.insert(sender, read);
                read
            }
        };
        if may_be_committed(&pending, sequence_number)
            && snapshot
                .version_by_hash(&pending.transaction.hash())?
                .is_some()
        {
            continue;
        }
        readmit(&mut pool, pending, sequence_number, now_secs);
    }
    tracing::info!(
        saved = count,
        restored = pool.len(),
        "the saved mempool was restored"
    );
    Ok(pool)
}

/// Returns the saved transactions, or `None` if there is no file with usable content.
///
/// # Errors
///
/// Returns the error of the operating system if the file cannot be read. It may be readable at the
/// next start.
fn load_or_set_aside(directory: &Path, chain: &Chain) -> io::Result<Option<Vec<Pending>>> {
    let error = match file::load(directory, chain) {
        Ok(pending) => return Ok(pending),
        Err(SavedPoolError::Io(error)) => return Err(error),
        Err(error) => error,
    };
    let path = directory.join(FILE_NAME);
    match file::set_aside(directory) {
        Ok(unused_path) => tracing::warn!(
            path = %path.display(), %error, aside = %unused_path.display(),
            "the saved mempool is not used; its transactions are lost"
        ),
        Err(rename_error) => tracing::warn!(
            path = %path.display(), %error, %rename_error,
            "the saved mempool is not used, and the next stop replaces it; its transactions are \
             lost"
        ),
    }
    Ok(None)
}

/// Returns whether the ledger may hold the transaction. A block that was in flight at the stop may
/// have become durable.
fn may_be_committed(pending: &Pending, sequence_number: u64) -> bool {
    match pending.transaction.raw().replay_protector() {
        ReplayProtector::SequenceNumber(number) => number < sequence_number,
        ReplayProtector::Nonce(_) => true,
    }
}

/// Submits a saved transaction to the pool, and records the removal reason if the pool rejects it.
///
/// `sequence_number` is the number of the sender's next transaction on the ledger, `now_secs` the
/// ledger's time in Unix seconds.
pub(crate) fn readmit(pool: &mut Pool, pending: Pending, sequence_number: u64, now_secs: u64) {
    let hash = pending.transaction.hash();
    let expires_at_secs = pool.expires_at_secs(&pending);
    let reason = match pool.submit(pending, sequence_number, now_secs) {
        Ok(_) => return,
        Err(SubmitError::Invalid(_)) if expires_at_secs <= now_secs => RemovalReason::Expired {
            at_secs: expires_at_secs,
        },
        Err(SubmitError::Invalid(discard)) => RemovalReason::Rejected(discard),
        Err(other) => RemovalReason::Evicted(format!("at a restart: {other}")),
    };
    pool.record_removal(hash, reason);
}

#[cfg(test)]
mod tests {
    use super::*;
    use ledger_execution::execute_genesis;
    use ledger_test_support::{
        block::block,
        draft::{draft, orderless},
        store::open_store,
    };
    use ledger_types::ValidationStatus;
    use std::sync::Arc;

    #[test]
    fn restores_a_saved_pool_up_to_smaller_limits_and_retains_its_file() {
        let directory = tempfile::tempdir().unwrap();
        let (chain, store) = open_store(directory.path());
        let (_writer, reader) = store.split();
        let pending: Vec<_> = (0..50u64)
            .map(|sender| Pending {
                transaction: draft(sender, 0).checked(),
                inserted_at_secs: 100,
            })
            .collect();
        file::save(directory.path(), &chain, &pending).unwrap();
        let limits = MempoolConfig {
            capacity_transactions: 1,
            capacity_bytes: pending[0].transaction.size_bytes(),
            ..MempoolConfig::default()
        };
        let restored = restore(&limits, directory.path(), &chain, &reader, 200).unwrap();
        let hashes: Vec<_> = pending
            .iter()
            .map(|pending| pending.transaction.hash())
            .collect();
        assert!(restored.pool.get(&hashes[0]).is_some());
        for hash in &hashes[1..] {
            let reason = restored.pool.removal_reason(hash);
            assert!(
                matches!(reason, Some(RemovalReason::Evicted(_))),
                "{reason:?}"
            );
        }
        let path = directory.path().join(FILE_NAME);
        assert!(path.exists(), "a failed start loses no transaction");
        restored.file.unwrap().remove();
        assert!(!path.exists());
    }

    #[test]
    fn removes_an_unfinished_file_at_the_start() {
        let directory = tempfile::tempdir().unwrap();
        let (chain, store) = open_store(directory.path());
        let (_writer, reader) = store.split();
        let unfinished = directory.path().join(format!("{FILE_NAME}.tmp"));
        std::fs::write(&unfinished, [1; 100]).unwrap();
        let limits = MempoolConfig::default();
        let restored = restore(&limits, directory.path(), &chain, &reader, 200).unwrap();
        assert!(restored.file.is_none() && !unfinished.exists());
    }

    #[test]
    fn records_why_a_saved_transaction_is_not_restored() {
        let mut pool = Pool::new(MempoolConfig {
            capacity_transactions: 1,
            ..MempoolConfig::default()
        });
        let reason_after_readmit =
            |pool: &mut Pool, draft: ledger_test_support::draft::Draft, sequence_number| {
                let pending = Pending {
                    transaction: draft.checked(),
                    inserted_at_secs: 100,
                };
                let hash = pending.transaction.hash();
                readmit(pool, pending, sequence_number, 200);
                pool.removal_reason(&hash).cloned()
            };
        assert_eq!(reason_after_readmit(&mut pool, draft(1, 5), 5), None);
        assert_eq!(
            reason_after_readmit(&mut pool, draft(2, 0).expires_at(150), 0),
            Some(RemovalReason::Expired { at_secs: 150 })
        );
        assert_eq!(
            reason_after_readmit(&mut pool, draft(3, 4), 5),
            Some(RemovalReason::Rejected(
                ValidationStatus::SequenceNumberTooOld.into()
            ))
        );
        assert!(matches!(
            reason_after_readmit(&mut pool, draft(4, 0), 0),
            Some(RemovalReason::Evicted(_))
        ));
    }

    #[test]
    fn skips_saved_transactions_that_the_ledger_has_executed() {
        let directory = tempfile::tempdir().unwrap();
        let (chain, store) = open_store(directory.path());
        let tip = execute_genesis(&store.genesis().unwrap().unwrap(), &chain).tip;
        let [executed, waiting] = [7, 8].map(|nonce| orderless(1, nonce).checked());
        let mut block = Arc::unwrap_or_clone(block(1, &[Arc::clone(&executed)], &[]));
        block.header.parent_hash = tip.block_hash;
        block.header.executed = tip.roots.delayed();
        block.first_version = tip.version + 1;
        block.tip.version = block.first_version;
        let (mut writer, reader) = store.split();
        writer.commit(&[Arc::new(block)]).unwrap();
        let pending = [&executed, &waiting].map(|transaction| Pending {
            transaction: Arc::clone(transaction),
            inserted_at_secs: 100,
        });
        file::save(directory.path(), &chain, &pending).unwrap();
        let limits = MempoolConfig::default();
        let restored = restore(&limits, directory.path(), &chain, &reader, 200).unwrap();
        assert!(restored.pool.get(&waiting.hash()).is_some());
        assert!(restored.pool.get(&executed.hash()).is_none());
        assert_eq!(restored.pool.removal_reason(&executed.hash()), None);
    }
}
