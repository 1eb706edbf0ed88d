//! Verdicts about transactions, which contradict neither each other nor the ledger.

use super::{
    clients::Clients,
    fixture::ReplayProtection,
    model::{Model, SentTransaction},
    oracle::{Oracle, RequestStart},
    properties,
    scheduler::Scheduler,
};
use crate::{NodeError, NodeHandle, TransactionVerdict};
use ledger_crypto::HashValue;
use ledger_execution::{BlockCause, NeverReason, Verdict, WaitsFor};
use ledger_limits::ClientKey;
use ledger_types::LedgerInfo;
use std::rc::Rc;

/// The response to a request for a verdict.
type Response = Result<(LedgerInfo, TransactionVerdict), NodeError>;

impl Clients {
    /// Begins a request for the verdict about a transaction that was sent before, in most cases one
    /// whose client is without a response.
    pub(super) fn begin_verdict(&self, scheduler: &Scheduler, handle: &NodeHandle) {
        let Some(hash) = self.choose_sent() else {
            return;
        };
        // A request that was canceled before it began has sent nothing.
        let sent = self.oracle.model().sent.get(&hash).cloned();
        let Some(SentTransaction { transaction, .. }) = sent else {
            return;
        };
        let (oracle, handle) = (Rc::clone(&self.oracle), handle.clone());
        let description = format!("verdict about {hash}");
        self.start(scheduler, description, None, async move {
            let start = oracle.begin_request();
            let of_committed = if handle.may_be_committed(transaction.transaction()) {
                handle.verdict_of_committed(hash, ClientKey::NODE).await
            } else {
                Ok(None)
            };
            let response = match of_committed {
                Ok(Some(found)) => Ok(found),
                Ok(None) => {
                    let checked = handle.verdict_of_checked(transaction, ClientKey::NODE);
                    checked.await
                }
                Err(error) => Err(error),
            };
            oracle.check_verdict(start, hash, response);
        });
    }
}

impl Oracle {
    /// Checks the verdict about a transaction that was sent.
    fn check_verdict(&self, start: RequestStart, hash: HashValue, response: Response) {
        let (info, verdict) = match response {
            Ok(response) => response,
            Err(error) => return self.check_error(start, &error),
        };
        let counter = counter(&verdict);
        self.scheduler
            .trace(format_args!("{hash} at {}: {counter}", info.version));
        if !self.check_ledger_info(start, &info) {
            return;
        }
        self.count(counter);
        let outcome = check(&self.model(), &start, &info, &hash, &verdict);
        let outcome =
            outcome.map_err(|reason| format!("{hash}: {verdict:?} at {info:?}: {reason}"));
        self.report(properties::VERDICTS_ARE_CONSISTENT, outcome);
        let now = self.scheduler.now_steps();
        if let Some(sent) = self.model().sent.get_mut(&hash) {
            match verdict {
                TransactionVerdict::Committed { .. }
                | TransactionVerdict::Pruned { version: Some(_) } => {
                    sent.reported_committed_at.get_or_insert(now);
                }
                TransactionVerdict::Uncommitted(Verdict::Never(_)) => {
                    sent.reported_never_at.get_or_insert(now);
                }
                // The mempool did not hold it, so only a further submission can commit it.
                TransactionVerdict::Uncommitted(_) => {
                    sent.reported_removed = Some((start.step, now));
                }
                TransactionVerdict::Pending | TransactionVerdict::Pruned { version: None } => {}
            }
        }
    }
}

/// Returns the counter of a verdict.
fn counter(verdict: &TransactionVerdict) -> &'static str {
    match verdict {
        TransactionVerdict::Committed { .. } => "verdict: committed",
        TransactionVerdict::Pending => "verdict: pending",
        TransactionVerdict::Pruned { version: Some(_) } => "verdict: pruned",
        TransactionVerdict::Pruned { version: None } => "verdict: perhaps pruned",
        TransactionVerdict::Uncommitted(Verdict::CanCommit(can_commit)) => {
            match can_commit.waits_for.first() {
                None => "verdict: can commit",
                Some(WaitsFor::SequenceNumber { .. }) => "verdict: waits for a sequence number",
                Some(WaitsFor::Funds { .. }) => "verdict: waits for funds",
            }
        }
        TransactionVerdict::Uncommitted(Verdict::Blocked(_)) => "verdict: blocked",
        TransactionVerdict::Uncommitted(Verdict::Never(never)) => match never.reason {
            NeverReason::Expired => "verdict: never, expired",
            NeverReason::SequenceNumberUsed => "verdict: never, sequence number used",
            NeverReason::NonceUsed => "verdict: never, nonce used",
            NeverReason::OtherChain | NeverReason::InvalidSignature => "verdict: never, other",
        },
    }
}

/// Checks that a verdict contradicts neither the blocks nor earlier verdicts.
///
/// # Errors
///
/// Returns the contradiction.
fn check(
    model: &Model,
    start: &RequestStart,
    info: &LedgerInfo,
    hash: &HashValue,
    verdict: &TransactionVerdict,
) -> Result<(), String> {
    let Some(sent) = model.sent.get(hash) else {
        return Err("it was never sent".to_owned());
    };
    let is_before = |step: Option<u64>| step.is_some_and(|step| step <= start.step);
    let was_never = is_before(sent.reported_never_at);
    let committed_at = sent.version.filter(|version| *version <= info.version);
    match verdict {
        TransactionVerdict::Committed { version, status } => {
            let is_readable = *version >= info.oldest_version;
            let expected = model.execution_status(*version);
            if committed_at != Some(*version) || !is_readable || expected != Some(status) {
                return Err(format!("it is at {:?} with {expected:?}", sent.version));
            }
        }
        TransactionVerdict::Pruned { version } => {
            let is_expected = version.is_none_or(|version| sent.version == Some(version));
            let is_pruned = version.unwrap_or_default() < info.oldest_version;
            if !is_expected || !is_pruned {
                return Err(format!("it is at {:?}", sent.version));
            }
        }
        _ if committed_at.is_some() => {
            return Err(format!("it is committed at {committed_at:?}"));
        }
        TransactionVerdict::Pending if is_before(sent.reported_committed_at) => {
            return Err("it was committed".to_owned());
        }
        TransactionVerdict::Pending if sent.is_known_removed(start.step) => {
            return Err("it was removed".to_owned());
        }
        TransactionVerdict::Uncommitted(Verdict::Never(never)) => {
            return check_never(model, sent, info, never.reason, never.used_by);
        }
        _ if was_never => return Err("it was never to be committed".to_owned()),
        TransactionVerdict::Pending => {}
        TransactionVerdict::Uncommitted(Verdict::Blocked(blocked)) => {
            let is_known = matches!(
                blocked.cause,
                BlockCause::ExpiredByClock
                    | BlockCause::ChainLimit
                    | BlockCause::ExpirationTooFar
                    | BlockCause::NonceRemembered
            );
            if !is_known {
                return Err("no client causes it".to_owned());
            }
        }
        TransactionVerdict::Uncommitted(Verdict::CanCommit(can_commit)) => {
            let mut waits = can_commit.waits_for.iter();
            let next = waits.find_map(|waits_for| match waits_for {
                WaitsFor::SequenceNumber { next } => Some(*next),
                WaitsFor::Funds { .. } => None,
            });
            return check_can_commit(model, sent, info, next);
        }
    }
    Ok(())
}

/// Checks that a transaction can never be committed for this reason.
fn check_never(
    model: &Model,
    sent: &SentTransaction,
    info: &LedgerInfo,
    reason: NeverReason,
    used_by: Option<HashValue>,
) -> Result<(), String> {
    let is_true = match (reason, sent.draft.replay_protection) {
        (NeverReason::Expired, _) => sent.draft.expiration_secs <= info.timestamp_usecs / 1_000_000,
        (NeverReason::SequenceNumberUsed, ReplayProtection::SequenceNumber(number)) => {
            number
                < model
                    .version(info.version)
                    .map_or(0, |version| version.sequence_numbers[sent.draft.sender])
                && used_by.is_some()
        }
        (NeverReason::NonceUsed, ReplayProtection::Nonce(nonce)) => {
            model.is_nonce_used(sent.draft.sender, nonce)
        }
        _ => false,
    };
    let user = used_by.map(|user| model.sent.get(&user));
    let is_user = user.is_none_or(|user| {
        user.is_some_and(|user| user.competes_with(sent) && user.version.is_some())
    });
    if !is_true || !is_user {
        return Err(format!("it is not true: {sent:?}"));
    }
    Ok(())
}

/// Checks that a transaction can be committed, and waits for earlier ones only if it must.
fn check_can_commit(
    model: &Model,
    sent: &SentTransaction,
    info: &LedgerInfo,
    next: Option<u64>,
) -> Result<(), String> {
    if sent.draft.expiration_secs <= info.timestamp_usecs / 1_000_000 {
        return Err("it has expired".to_owned());
    }
    let ReplayProtection::SequenceNumber(number) = sent.draft.replay_protection else {
        return Ok(());
    };
    let version = model
        .version(info.version)
        .ok_or("the version is unknown")?;
    let expected = version.sequence_numbers[sent.draft.sender];
    let waits_for = (number > expected).then_some(expected);
    if number < expected || next != waits_for {
        return Err(format!("sequence number {expected} is next"));
    }
    Ok(())
}
