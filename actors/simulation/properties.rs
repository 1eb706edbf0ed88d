//! Properties that must hold, each checked by a function of an observation and the model.
//!
//! The error of a check describes the observation that violates the property.

use super::{
    fixture::{Once, wallets},
    model::{Floor, Model, Sent},
    oracle::Asked,
    pool_rules::PoolRules,
    reads::Page,
};
use crate::{Pending, TransactionStatus};
use ledger_crypto::HashValue;
use ledger_store::StoreError;
use ledger_types::{CheckedTransaction, LedgerInfo};

/// Sequence numbers, nonces, expirations, fees, conservation of money, and the chain of blocks.
pub(super) const RULES_OF_THE_CHAIN: &str = "blocks follow the rules of the chain";
/// Property that [`head_is_the_newest_block`] checks.
pub(super) const HEAD_IS_SHOWN: &str = "the head is the newest block that was shown";
/// Property that [`disk_has_the_head`] checks.
pub(super) const COMMITTED_IS_DURABLE: &str = "what is shown is durable at that moment";
/// Blocks on the disk after a restart.
pub(super) const COMMITTED_STAYS: &str = "what was said to be committed stays";
/// Property that [`never_goes_back`] checks.
pub(super) const NEVER_BACK: &str = "the ledger info of answers never goes back";
/// Property that [`is_not_ahead`] checks.
pub(super) const NEVER_AHEAD: &str = "no answer is ahead of what is shown";
/// Property that [`window_is_kept`] checks.
pub(super) const WINDOW: &str = "the newest versions of the window stay";
/// Property that [`may_be_accepted`] checks.
pub(super) const ADMISSION: &str = "what cannot be executed is not accepted";
/// Property that [`PoolRules::may_refuse`] checks.
pub(super) const REFUSAL: &str = "what is refused cannot be executed, or has no room";
/// A block that becomes visible after the node was idle with low disk space violates this property.
pub(super) const PAUSE: &str = "no block is begun while the disk has no room";
/// Property that [`lookup_is_true`] checks.
pub(super) const NO_FALSE_ANSWER: &str = "what is said of a transaction is true";
/// Property that [`page_is_true`] checks.
pub(super) const PAGES: &str = "a page is one moment of the chain, or refused below the window";
/// Accepted transactions are committed, pending, or removed with a reason.
pub(super) const NOTHING_VANISHES: &str =
    "an accepted transaction is committed once or dropped with a reason";
/// Requests and waits end.
pub(super) const EVERY_QUESTION_ENDS: &str = "every question is answered and every wait ends";
/// The subscription delivers all blocks in order.
pub(super) const FEED: &str = "the feed tells every block once, in order";
/// Execution is deterministic.
pub(super) const REPLAY: &str = "replaying the chain gives the same blocks";
/// Rows of the indexes and of the state agree with the blocks.
pub(super) const INDEX: &str = "index and state agree with the blocks";
/// Property that [`time_is_believable`] checks.
pub(super) const BLOCK_TIME: &str =
    "a wrong clock enters no block, and the node continues after it";
/// A node fails only because of a disk fault.
pub(super) const NO_FAILURE: &str = "a node does not fail by itself";

/// Checks that the block at `height` is not later than `latest_usecs`, the latest time of a clock
/// without a fault.
///
/// Each block may add a microsecond to the time of its parent, so the bound grows by `height`.
pub(super) fn time_is_believable(
    height: u64,
    block_usecs: u64,
    latest_usecs: u64,
) -> Result<(), String> {
    if block_usecs > latest_usecs + height {
        return Err(format!(
            "block {height} has the time {block_usecs}, the clock shows at most {latest_usecs}"
        ));
    }
    Ok(())
}

/// Checks that the head's ledger info is that of the newest block of the model.
pub(super) fn head_is_the_newest_block(model: &Model, info: &LedgerInfo) -> Result<(), String> {
    let newest = (model.height(), model.newest_version());
    if (info.block_height, info.version) != newest {
        return Err(format!("{info:?}, the newest block is {newest:?}"));
    }
    Ok(())
}

/// Checks that the blocks that survive a power failure include the newest block of the head.
pub(super) fn disk_has_the_head(
    durable: Result<Option<u64>, StoreError>,
    head: &LedgerInfo,
) -> Result<(), String> {
    match durable {
        Ok(Some(height)) if height >= head.block_height => Ok(()),
        other => Err(format!(
            "height {} is shown, the synced disk has {other:?}",
            head.block_height
        )),
    }
}

/// Checks that a response is not older than any response that was sent before its request.
pub(super) fn never_goes_back(floor: &Floor, info: &LedgerInfo) -> Result<(), String> {
    let now = Floor::of(info);
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
pub(super) fn is_not_ahead(model: &Model, info: &LedgerInfo) -> Result<(), String> {
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
/// `window` is the configured number of versions, or `None` if the node does not prune.
pub(super) fn window_is_kept(
    model: &Model,
    info: &LedgerInfo,
    window: Option<u64>,
) -> Result<(), String> {
    // A response may be older than the newest block and include a newer prune horizon, so the bound
    // comes from the newest block.
    let newest = model.newest_version();
    let below = window.map_or(0, |window| (newest + 1).saturating_sub(window));
    let is_kept = info.oldest_version == 0 || info.oldest_version <= below.min(newest);
    let begins_block = model.first_version(info.oldest_block_height) == Some(info.oldest_version);
    if !is_kept || !begins_block {
        return Err(format!("{info:?} in a window of {window:?}"));
    }
    Ok(())
}

/// Checks that an accepted transaction was not known to be invalid when its submission began.
pub(super) fn may_be_accepted(
    model: &Model,
    asked: Asked,
    info: &LedgerInfo,
    transaction: &CheckedTransaction,
) -> Result<(), String> {
    let Some(sent) = model.sent.get(&transaction.hash()) else {
        return Err(format!("{} was not sent", transaction.hash()));
    };
    if sent.draft.expiration_secs <= info.timestamp_usecs / 1_000_000 {
        return Err(format!("{:?} had expired at {info:?}", sent.draft));
    }
    if sent.told_committed.is_some_and(|told| told <= asked.at) {
        return Err(format!("{} is committed already", transaction.hash()));
    }
    if asked.is_unwritable {
        return Err(format!(
            "{} was accepted while nothing is written",
            transaction.hash()
        ));
    }
    let known = model.version(asked.floor.version);
    match (sent.draft.once, known) {
        (Once::Number(given), Some(known)) if given < known.numbers[sent.draft.sender] => {
            Err(format!(
                "number {given} was accepted, {} was next at version {}",
                known.numbers[sent.draft.sender], asked.floor.version
            ))
        }
        _ => Ok(()),
    }
}

/// Checks that a submission is accepted under its own hash, the only one that its client knows.
pub(super) fn accepts_what_was_submitted(
    submitted: &HashValue,
    accepted: &CheckedTransaction,
) -> Result<(), String> {
    if accepted.hash() != *submitted {
        return Err(format!("{submitted} was accepted as {}", accepted.hash()));
    }
    Ok(())
}

/// Response to a look-up of a transaction.
pub(super) struct Answer<'a> {
    pub(super) asked: Asked,
    pub(super) hash: HashValue,
    pub(super) info: LedgerInfo,
    pub(super) lookup: &'a TransactionStatus,
}

/// Checks that the status of a transaction contradicts neither the blocks nor earlier responses.
pub(super) fn lookup_is_true(
    model: &Model,
    pool: &PoolRules,
    answer: &Answer<'_>,
) -> Result<(), String> {
    let Answer {
        asked,
        hash,
        info,
        lookup,
    } = answer;
    let Some(sent) = model.sent.get(hash) else {
        return match lookup {
            TransactionStatus::Unknown => Ok(()),
            other => Err(format!("{hash} was never sent: {other:?}")),
        };
    };
    let was_told = |when: Option<u64>| when.is_some_and(|when| when <= asked.at);
    let was_committed = was_told(sent.told_committed);
    let is_pruned = sent
        .version
        .is_some_and(|version| version < info.oldest_version);
    let has_left = sent.has_left(asked.at);
    match lookup {
        TransactionStatus::Committed(_) | TransactionStatus::Pruned { .. } if has_left => {
            return Err(format!("{hash} had left, then it is at {:?}", sent.version));
        }
        TransactionStatus::Committed(found) => {
            let transaction = found.content().map_err(|error| error.to_string())?;
            let is_right = sent.version == Some(found.version) && transaction.hash == *hash;
            let is_inside = (info.oldest_version..=info.version).contains(&found.version);
            let height = model
                .version(found.version)
                .map(|version| version.height as usize);
            let time = height.and_then(|height| model.blocks.get(height.checked_sub(1)?));
            let time = time.map(|block| block.header.timestamp_usecs);
            if !is_right || !is_inside || time != Some(found.block_timestamp_usecs) {
                return Err(format!(
                    "{hash} at {} by {info:?}, it is at {:?}",
                    found.version, sent.version
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
        TransactionStatus::Pending(_) if has_left => {
            return Err(format!("{hash} had left, then it is pending"));
        }
        TransactionStatus::Pending(found) if found.hash() != *hash => {
            return Err(format!("{hash} is another transaction: {}", found.hash()));
        }
        TransactionStatus::Pending(_) => {}
        TransactionStatus::Removed(reason) if was_committed && !is_pruned => {
            return Err(format!(
                "{hash} was committed at {:?}, then {reason}",
                sent.version
            ));
        }
        TransactionStatus::Removed(reason) => {
            let verdict = pool.may_leave(model, sent, reason);
            return verdict.map_err(|why| format!("{hash} left with {reason:?}: {why}: {sent:?}"));
        }
        TransactionStatus::Unknown => {
            let is_shown = sent
                .version
                .is_some_and(|version| version <= asked.floor.version);
            if (was_committed || is_shown || is_held_since(sent, asked)) && !is_pruned {
                return Err(format!("{hash} is unknown at {info:?}: {sent:?}"));
            }
        }
    }
    Ok(())
}

/// Returns whether the transaction was accepted before the request began.
fn is_held_since(sent: &Sent, asked: &Asked) -> bool {
    sent.is_held && sent.submitted <= asked.at && sent.open_submits == 0
}

/// Checks that a page equals the model at its version, and that a read fails exactly below the
/// window or above the head.
pub(super) fn page_is_true(
    model: &Model,
    info: &LedgerInfo,
    wallet: usize,
    version: u64,
    page: &Page,
) -> Result<(), String> {
    let wrong = |what: &str| Err(format!("{what} at version {version}, {info:?}: {page:?}"));
    match page {
        Page::Gone if version >= info.oldest_version => wrong("refused inside the window"),
        Page::Ahead if version <= info.version => wrong("refused below the head"),
        Page::Gone | Page::Ahead => Ok(()),
        Page::Inside { .. } if !(info.oldest_version..=info.version).contains(&version) => {
            wrong("answered outside the window")
        }
        Page::Inside {
            balance,
            sequence_number,
            hash,
            height,
            account_transactions,
            stream_events,
            version_by_hash,
        } => {
            let Some(known) = model.version(version) else {
                return wrong("answered before it was shown");
            };
            if (*balance, *sequence_number) != (known.balances[wallet], known.numbers[wallet]) {
                let address = wallets()[wallet].address;
                return wrong(&format!("{address} has {} instead", known.balances[wallet]));
            }
            if (*hash, *height) != (known.hash, known.height) || *version_by_hash != Some(version) {
                return wrong("another transaction");
            }
            let numbered = model.numbered_versions(wallet, info.oldest_version, info.version);
            if *account_transactions != numbered {
                return wrong(&format!("the account has {numbered:?}"));
            }
            let events = model.stream_events(wallet, info.oldest_version, info.version);
            if *stream_events != events {
                return wrong(&format!("its streams have {events:?}"));
            }
            Ok(())
        }
    }
}

/// Checks that a saved transaction is not committed, and that no committed transaction has its
/// sequence number.
///
/// If the node has been idle long enough for other transactions to be executed or to expire, the
/// transaction must wait for an earlier one. `quiet_until_secs` is the end of that idle time, in
/// Unix seconds.
pub(super) fn may_be_pending(
    model: &Model,
    pending: &Pending,
    ttl_secs: u64,
    quiet_until_secs: Option<u64>,
) -> Result<(), String> {
    let hash = pending.transaction.hash();
    let Some(sent) = model.sent.get(&hash) else {
        return Err(format!("{hash} is pending and was never sent"));
    };
    let next = model.accounts[sent.draft.sender].sequence_number;
    let had_time = quiet_until_secs.is_some();
    let may_be = match sent.draft.once {
        Once::Number(number) if had_time => number > next,
        Once::Number(number) => number >= next,
        Once::Nonce(_) => !had_time,
    };
    if sent.version.is_some() || !may_be {
        return Err(format!("it is still pending, {next} is next: {sent:?}"));
    }
    let expires_secs = sent
        .draft
        .expiration_secs
        .min(pending.inserted_at_secs + ttl_secs);
    if quiet_until_secs.is_some_and(|now_secs| now_secs >= expires_secs) {
        return Err(format!(
            "it is still pending and had expired at {expires_secs}: {sent:?}"
        ));
    }
    Ok(())
}
