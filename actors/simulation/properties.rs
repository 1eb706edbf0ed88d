//! Properties that must hold, each checked by a function of an observation and the model.
//!
//! The error of a check describes the observation that violates the property.

use super::{
    fixture::{ReplayProtection, wallets},
    model::{LedgerInfoFloor, Model, SentTransaction},
    oracle::RequestStart,
    pool_rules::PoolRules,
    reads::ReadResult,
};
use crate::{Pending, PrunerConfig, TransactionStatus};
use ledger_crypto::HashValue;
use ledger_store::StoreError;
use ledger_types::{CheckedTransaction, LedgerInfo};

/// Sequence numbers, nonces, expirations, fees, conservation of money, and the chain of blocks.
pub(super) const RULES_OF_THE_CHAIN: &str = "blocks follow the rules of the chain";
/// Property that [`check_head_is_newest`] checks.
pub(super) const HEAD_IS_NEWEST_VISIBLE: &str = "the head is the newest visible block";
/// Property that [`check_disk_has_head`] checks.
pub(super) const COMMITTED_IS_DURABLE: &str = "visible blocks are durable";
/// Blocks on the disk after a restart.
pub(super) const COMMITTED_IS_PERMANENT: &str = "committed blocks are permanent";
/// Property that [`check_monotonic`] checks.
pub(super) const LEDGER_INFO_IS_MONOTONIC: &str = "the ledger info of responses is monotonic";
/// Property that [`check_not_ahead`] checks.
pub(super) const RESPONSE_IS_NOT_AHEAD: &str = "no response is ahead of the visible blocks";
/// Property that [`check_window`] checks.
pub(super) const WINDOW: &str = "the newest versions of the window are readable";
/// Property that [`check_acceptance`] checks.
pub(super) const ADMISSION: &str = "only executable transactions are accepted";
/// Property that [`PoolRules::check_rejection`] checks.
pub(super) const REJECTION: &str =
    "only transactions that are invalid or exceed the capacity are rejected";
/// Property that [`PoolRules::check_content`] checks.
pub(super) const CAPACITY: &str = "the pool holds no more than its limits";
/// A block that becomes visible after the node was idle with low disk space violates this property.
pub(super) const NO_BLOCK_WITHOUT_SPACE: &str = "no block begins while disk space is low";
/// Property that [`check_status`] checks.
pub(super) const STATUS_IS_TRUE: &str = "the reported status of a transaction is true";
/// Property that [`check_read`] checks.
pub(super) const READS_ARE_CONSISTENT: &str =
    "a read returns one version, or an error outside the window";
/// Accepted transactions are committed, pending, or removed with a reason.
pub(super) const ACCEPTED_IS_ACCOUNTED_FOR: &str =
    "an accepted transaction is committed once or removed with a reason";
/// A rejection of a transaction that is committed inside the window violates this property.
pub(super) const COMMITTED_IS_ACCEPTED_AGAIN: &str =
    "a submission of a committed transaction is accepted again";
/// A `never` before a commit or after one, or any other contradiction, violates this property.
pub(super) const VERDICTS_ARE_CONSISTENT: &str = "no verdict contradicts another one or the ledger";
/// Requests and waits end.
pub(super) const EVERY_REQUEST_ENDS: &str = "every request and every wait ends";
/// Execution is deterministic.
pub(super) const REPLAY: &str = "a replay of the chain gives the same blocks";
/// Rows of the indexes and of the state agree with the blocks.
pub(super) const INDEX: &str = "index and state agree with the blocks";
/// Property that [`check_block_time`] checks.
pub(super) const BLOCK_TIME: &str =
    "no block has the time of a wrong clock, and the node continues after it";
/// A node fails only because of a disk fault.
pub(super) const NO_FAILURE: &str = "a node fails only after a disk fault";

/// Checks that the block at `height` is not later than `latest_usecs`, the latest time of a clock
/// without a fault.
///
/// Each block may add a microsecond to the time of its parent, so the bound grows by `height`.
pub(super) fn check_block_time(
    height: u64,
    block_usecs: u64,
    latest_usecs: u64,
) -> Result<(), String> {
    if block_usecs > latest_usecs + height {
        return Err(format!(
            "block {height} has time {block_usecs}, the clock has at most {latest_usecs}"
        ));
    }
    Ok(())
}

/// Checks that the head's ledger info is that of the newest block of the model.
pub(super) fn check_head_is_newest(model: &Model, info: &LedgerInfo) -> Result<(), String> {
    let newest = (model.height(), model.newest_version());
    if (info.block_height, info.version) != newest {
        return Err(format!("{info:?}, the newest block is {newest:?}"));
    }
    Ok(())
}

/// Checks that the blocks that survive a power failure include the newest block of the head.
pub(super) fn check_disk_has_head(
    durable: Result<Option<u64>, StoreError>,
    head: &LedgerInfo,
) -> Result<(), String> {
    match durable {
        Ok(Some(height)) if height >= head.block_height => Ok(()),
        other => Err(format!(
            "height {} is visible, the synced disk has {other:?}",
            head.block_height
        )),
    }
}

/// Checks that a response is not older than any response that was sent before its request.
pub(super) fn check_monotonic(floor: &LedgerInfoFloor, info: &LedgerInfo) -> Result<(), String> {
    let now = LedgerInfoFloor::of(info);
    let pairs = [
        (floor.version, now.version),
        (floor.block_height, now.block_height),
        (floor.oldest_version, now.oldest_version),
        (floor.oldest_block_height, now.oldest_block_height),
        (floor.timestamp_usecs, now.timestamp_usecs),
    ];
    if pairs.iter().any(|(before, after)| after < before) {
        return Err(format!("{now:?} after {floor:?}"));
    }
    Ok(())
}

/// Checks that a response is not newer than the newest visible block.
pub(super) fn check_not_ahead(model: &Model, info: &LedgerInfo) -> Result<(), String> {
    if info.version > model.newest_version() || info.oldest_version > info.version {
        return Err(format!(
            "{info:?}, the newest version is {}",
            model.newest_version()
        ));
    }
    Ok(())
}

/// Checks that no version in the window is pruned, and that the oldest version is the first of a
/// block.
///
/// `pruner` has the configured minimums of the window.
pub(super) fn check_window(
    model: &Model,
    info: &LedgerInfo,
    pruner: &PrunerConfig,
) -> Result<(), String> {
    let window = pruner.enabled.then_some(pruner.window_versions);
    // A response may be older than the newest block and include a newer prune horizon, so the bound
    // comes from the newest block.
    let newest = model.newest_version();
    let oldest_max = window.map_or(0, |window| (newest + 1).saturating_sub(window));
    let is_window_readable =
        info.oldest_version == 0 || info.oldest_version <= oldest_max.min(newest);
    let is_first_of_block =
        model.first_version(info.oldest_block_height) == Some(info.oldest_version);
    // Height 1 is the first element.
    let newest_pruned = info.oldest_block_height.checked_sub(2);
    let newest_pruned = newest_pruned.and_then(|index| model.blocks.get(index as usize));
    let is_time_readable = match (newest_pruned, model.blocks.last()) {
        (Some(pruned), Some(newest)) if pruner.window_secs > 0 => {
            let age_usecs = newest.header.timestamp_usecs - pruned.header.timestamp_usecs;
            age_usecs > pruner.window_secs * 1_000_000
        }
        _ => true,
    };
    if !is_window_readable || !is_time_readable || !is_first_of_block {
        return Err(format!("{info:?} in a window of {pruner:?}"));
    }
    Ok(())
}

/// Checks that an accepted transaction is committed inside the window, or was not known to be
/// invalid when its submission began.
pub(super) fn check_acceptance(
    model: &Model,
    start: RequestStart,
    info: &LedgerInfo,
    transaction: &CheckedTransaction,
) -> Result<(), String> {
    let Some(sent) = model.sent.get(&transaction.hash()) else {
        return Err(format!("{} was not sent", transaction.hash()));
    };
    if is_committed_at(sent, info) {
        return Ok(());
    }
    if sent.draft.expiration_secs <= info.timestamp_usecs / 1_000_000 {
        return Err(format!("{:?} had expired at {info:?}", sent.draft));
    }
    if sent
        .reported_committed_at
        .is_some_and(|step| step <= start.step)
    {
        return Err(format!("{} is committed already", transaction.hash()));
    }
    if start.is_unwritable {
        return Err(format!(
            "{} was accepted after a write failure",
            transaction.hash()
        ));
    }
    let reported = model.version(start.floor.version);
    match (sent.draft.replay_protection, reported) {
        (ReplayProtection::SequenceNumber(given), Some(reported))
            if given < reported.sequence_numbers[sent.draft.sender] =>
        {
            Err(format!(
                "number {given} was accepted, {} was next at version {}",
                reported.sequence_numbers[sent.draft.sender], start.floor.version
            ))
        }
        _ => Ok(()),
    }
}

/// Returns whether the transaction is committed inside the window of `info`.
pub(super) fn is_committed_at(sent: &SentTransaction, info: &LedgerInfo) -> bool {
    let window = info.oldest_version..=info.version;
    sent.version
        .is_some_and(|version| window.contains(&version))
}

/// Checks that a submission is accepted under its own hash, the only one that its client knows.
pub(super) fn check_accepted_hash(
    submitted: &HashValue,
    accepted: &CheckedTransaction,
) -> Result<(), String> {
    if accepted.hash() != *submitted {
        return Err(format!("{submitted} was accepted as {}", accepted.hash()));
    }
    Ok(())
}

/// Response to a look-up of a transaction.
pub(super) struct LookupResponse<'a> {
    pub(super) start: RequestStart,
    pub(super) hash: HashValue,
    pub(super) info: LedgerInfo,
    pub(super) status: &'a TransactionStatus,
}

/// Checks that the status of a transaction contradicts neither the blocks nor earlier responses.
pub(super) fn check_status(
    model: &Model,
    pool: &PoolRules,
    response: &LookupResponse<'_>,
) -> Result<(), String> {
    let LookupResponse {
        start,
        hash,
        info,
        status,
    } = response;
    let Some(sent) = model.sent.get(hash) else {
        return match status {
            TransactionStatus::Unknown => Ok(()),
            other => Err(format!("{hash} was never sent: {other:?}")),
        };
    };
    let was_reported = |step: Option<u64>| step.is_some_and(|step| step <= start.step);
    let was_committed = was_reported(sent.reported_committed_at);
    let is_pruned = sent
        .version
        .is_some_and(|version| version < info.oldest_version);
    let is_known_removed = sent.is_known_removed(start.step);
    match status {
        TransactionStatus::Committed(_) | TransactionStatus::Pruned { .. } if is_known_removed => {
            return Err(format!(
                "{hash} was removed, then committed at {:?}",
                sent.version
            ));
        }
        TransactionStatus::Committed(committed) => {
            let transaction = committed.content().map_err(|error| error.to_string())?;
            let is_expected = sent.version == Some(committed.version) && transaction.hash == *hash;
            let is_in_window = (info.oldest_version..=info.version).contains(&committed.version);
            let height = model
                .version(committed.version)
                .map(|version| version.height as usize);
            let time = height.and_then(|height| model.blocks.get(height.checked_sub(1)?));
            let time = time.map(|block| block.header.timestamp_usecs);
            if !is_expected || !is_in_window || time != Some(committed.block_timestamp_usecs) {
                return Err(format!(
                    "{hash} at {} by {info:?}, it is at {:?}",
                    committed.version, sent.version
                ));
            }
        }
        TransactionStatus::Pruned { version } => {
            if sent.version != Some(*version) || *version >= info.oldest_version {
                return Err(format!(
                    "{hash} pruned at {version} by {info:?}, it is at {:?}",
                    sent.version
                ));
            }
        }
        TransactionStatus::Pending(_) if was_committed => {
            return Err(format!(
                "{hash} was committed at {:?}, then pending",
                sent.version
            ));
        }
        TransactionStatus::Pending(_) if is_known_removed => {
            return Err(format!("{hash} was removed, then pending"));
        }
        TransactionStatus::Pending(pending) if pending.hash() != *hash => {
            return Err(format!("{hash} is another transaction: {}", pending.hash()));
        }
        TransactionStatus::Pending(_) => {}
        TransactionStatus::Removed(reason) if was_committed && !is_pruned => {
            return Err(format!(
                "{hash} was committed at {:?}, then {reason}",
                sent.version
            ));
        }
        TransactionStatus::Removed(removal) => {
            let verdict = pool.check_removal(model, sent, removal);
            return verdict.map_err(|reason| {
                format!("{hash} was removed with {removal:?}: {reason}: {sent:?}")
            });
        }
        TransactionStatus::Unknown => {
            let is_visible = sent
                .version
                .is_some_and(|version| version <= start.floor.version);
            if (was_committed || is_visible || was_accepted_before(sent, start)) && !is_pruned {
                return Err(format!("{hash} is unknown at {info:?}: {sent:?}"));
            }
        }
    }
    Ok(())
}

/// Returns whether the transaction was accepted before the request began.
fn was_accepted_before(sent: &SentTransaction, start: &RequestStart) -> bool {
    sent.is_accepted && sent.last_submit_step <= start.step && sent.open_submits == 0
}

/// Checks that the result of a read equals the model at its version, and that a read fails exactly
/// below the window or above the head.
pub(super) fn check_read(
    model: &Model,
    info: &LedgerInfo,
    wallet: usize,
    version: u64,
    result: &ReadResult,
) -> Result<(), String> {
    let violation = |message: &str| {
        Err(format!(
            "{message} at version {version}, {info:?}: {result:?}"
        ))
    };
    match result {
        ReadResult::Pruned if version >= info.oldest_version => {
            violation("pruned inside the window")
        }
        ReadResult::TooNew if version <= info.version => violation("too new below the head"),
        ReadResult::Pruned | ReadResult::TooNew => Ok(()),
        ReadResult::InWindow { .. } if !(info.oldest_version..=info.version).contains(&version) => {
            violation("read outside the window")
        }
        ReadResult::InWindow {
            balance,
            sequence_number,
            hash,
            height,
            account_transactions,
            stream_events,
            version_by_hash,
        } => {
            let Some(expected) = model.version(version) else {
                return violation("read before it was visible");
            };
            if (*balance, *sequence_number)
                != (expected.balances[wallet], expected.sequence_numbers[wallet])
            {
                let address = wallets()[wallet].address;
                return violation(&format!(
                    "{address} has balance {}",
                    expected.balances[wallet]
                ));
            }
            if (*hash, *height) != (expected.hash, expected.height)
                || *version_by_hash != Some(version)
            {
                return violation("another transaction");
            }
            let expected_versions =
                model.sequenced_versions(wallet, info.oldest_version, info.version);
            if *account_transactions != expected_versions {
                return violation(&format!("the account has {expected_versions:?}"));
            }
            let events = model.stream_events(wallet, info.oldest_version, info.version);
            if *stream_events != events {
                return violation(&format!("its streams have {events:?}"));
            }
            Ok(())
        }
    }
}

/// Checks that a saved transaction is not committed, and that no committed transaction has its
/// sequence number.
///
/// If the node has been idle long enough for other transactions to be executed or to expire, the
/// transaction must wait for an earlier one. `idle_until_secs` is the end of that idle time, in
/// Unix seconds.
pub(super) fn check_saved_pending(
    model: &Model,
    pending: &Pending,
    ttl_secs: u64,
    idle_until_secs: Option<u64>,
) -> Result<(), String> {
    let hash = pending.transaction.hash();
    let Some(sent) = model.sent.get(&hash) else {
        return Err(format!("{hash} is pending and was never sent"));
    };
    let next = model.accounts[sent.draft.sender].sequence_number;
    let was_idle = idle_until_secs.is_some();
    let is_permitted = match sent.draft.replay_protection {
        ReplayProtection::SequenceNumber(number) if was_idle => number > next,
        ReplayProtection::SequenceNumber(number) => number >= next,
        ReplayProtection::Nonce(_) => !was_idle,
    };
    if sent.version.is_some() || !is_permitted {
        return Err(format!("it is still pending, {next} is next: {sent:?}"));
    }
    let expires_secs = sent
        .draft
        .expiration_secs
        .min(pending.inserted_at_secs + ttl_secs);
    if idle_until_secs.is_some_and(|now_secs| now_secs >= expires_secs) {
        return Err(format!(
            "it is still pending and had expired at {expires_secs}: {sent:?}"
        ));
    }
    Ok(())
}
