//! Saving of the pool, with retries while the disk is full, so that an operator can free space.

use super::file::save;
use crate::protocol::mempool::Pending;
use ledger_vm::Chain;
use std::{
    io::{self, ErrorKind},
    path::Path,
    time::Duration,
};

/// Interval between two attempts. Each attempt writes until the disk is full.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// Maximum number of attempts: about a minute, which is shorter than service managers wait before
/// they kill a process.
const ATTEMPTS_MAX: u32 = 60;

/// Saves the pool as [`save`] does, and retries while the disk is full.
///
/// Logs the failure and the remaining attempts. The future may be dropped between two attempts,
/// because a failed attempt leaves no unfinished file.
///
/// # Errors
///
/// Returns the error of [`save`]: immediately if free disk space would not help, otherwise after
/// the last attempt.
pub(crate) async fn save_with_retry(
    directory: &Path,
    chain: &Chain,
    pending: &[Pending],
) -> io::Result<()> {
    for tries_left in (1..ATTEMPTS_MAX).rev() {
        match save(directory, chain, pending) {
            Err(error) if is_disk_full(&error) => log_retry(directory, pending, &error, tries_left),
            outcome => return outcome,
        }
        tokio::time::sleep(RETRY_INTERVAL).await;
    }
    save(directory, chain, pending)
}

/// Returns whether the error is one that free disk space resolves.
fn is_disk_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded
    )
}

/// Logs the failure and its remedy at the first attempt and then at every tenth.
fn log_retry(directory: &Path, pending: &[Pending], error: &io::Error, tries_left: u32) {
    const ATTEMPTS_PER_LOG_LINE: u32 = 10;
    if tries_left + 1 == ATTEMPTS_MAX || tries_left.is_multiple_of(ATTEMPTS_PER_LOG_LINE) {
        tracing::error!(
            directory = %directory.display(),
            transactions = pending.len(),
            %error,
            tries_left,
            "the mempool cannot be saved: free disk space now, or its transactions are lost; a \
             second signal ends the wait"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ledger_test_support::{development_chain, draft::draft};

    fn pending() -> Vec<Pending> {
        vec![Pending {
            transaction: draft(1, 0).checked(),
            inserted_at_secs: 100,
        }]
    }

    #[actix::test]
    async fn returns_other_errors_than_a_full_disk_immediately() {
        let directory = tempfile::tempdir().unwrap();
        let missing = directory.path().join("none");
        let error = save_with_retry(&missing, &development_chain(), &pending())
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
    }

    #[test]
    fn retries_only_errors_that_free_disk_space_resolves() {
        for (kind, is_retried) in [
            (ErrorKind::StorageFull, true),
            (ErrorKind::QuotaExceeded, true),
            (ErrorKind::FileTooLarge, false),
            (ErrorKind::ReadOnlyFilesystem, false),
        ] {
            assert_eq!(is_disk_full(&kind.into()), is_retried, "{kind}");
        }
    }
}
