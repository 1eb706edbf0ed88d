//! Clients that submit the same bytes again until a response decides about them.

use super::{
    fixture::Draft,
    oracle::{Oracle, RequestStart},
    properties,
};
use crate::{NodeHandle, SubmitError};
use fastrand::Rng;
use ledger_crypto::HashValue;
use ledger_types::{ReplayProtector, ValidationStatus};
use std::{cell::RefCell, rc::Rc};

/// Maximum number of transactions that wait for their next attempt.
const WAITING_MAX: usize = 32;

/// Transactions whose clients submit them again. Clones share the list.
#[derive(Clone, Default)]
pub(super) struct Retries(Rc<RefCell<Vec<Draft>>>);

impl Retries {
    /// Takes a random transaction for its next attempt.
    pub(super) fn take(&self, random: &mut Rng) -> Option<Draft> {
        let mut waiting = self.0.borrow_mut();
        let count = waiting.len();
        (count > 0).then(|| waiting.swap_remove(random.usize(..count)))
    }

    /// Returns a random transaction that waits for its next attempt.
    pub(super) fn peek(&self, random: &mut Rng) -> Option<Draft> {
        random.choice(self.0.borrow().iter()).copied()
    }

    /// Begins an attempt. The transaction is submitted again unless [`Attempt::decide`] is called:
    /// also if the client canceled the request, or the node was killed.
    pub(super) fn begin(&self, draft: Draft) -> Attempt {
        Attempt {
            retries: self.clone(),
            draft: Some(draft),
        }
    }
}

/// An attempt to submit a transaction.
pub(super) struct Attempt {
    retries: Retries,
    /// The transaction, until a response has decided about it.
    draft: Option<Draft>,
}

impl Attempt {
    /// Ends the attempts of the transaction.
    pub(super) fn decide(mut self) {
        self.draft = None;
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        let mut waiting = self.retries.0.borrow_mut();
        if let Some(draft) = self.draft.take()
            && waiting.len() < WAITING_MAX
        {
            waiting.push(draft);
        }
    }
}

/// Returns whether the error decides about a transaction. Its client submits it again otherwise.
pub(super) fn is_decisive(error: &SubmitError) -> bool {
    !matches!(
        error,
        SubmitError::Node(_) | SubmitError::Full { .. } | SubmitError::AccountFull { .. }
    )
}

impl Oracle {
    /// Checks that no transaction inside the window is rejected if it was committed before the
    /// submission began, and none with its own sequence number as the reason.
    pub(super) fn check_not_committed(
        &self,
        handle: &NodeHandle,
        start: &RequestStart,
        hash: HashValue,
        error: &SubmitError,
    ) {
        if matches!(error, SubmitError::Node(_)) || self.scheduler.is_halted() {
            return;
        }
        self.add_visible_blocks();
        let oldest = handle.head().ledger_info().oldest_version;
        let model = self.model();
        let Some(sent) = model.sent.get(&hash) else {
            return;
        };
        let Some(version) = sent.version.filter(|version| *version >= oldest) else {
            return;
        };
        let is_own_number = matches!(
            (error, sent.transaction.raw().replay_protector()),
            (SubmitError::Invalid(discard), ReplayProtector::SequenceNumber(_))
                if discard.status == ValidationStatus::SequenceNumberTooOld
        );
        if version <= start.version || is_own_number {
            let verdict = Err(format!(
                "{hash} is committed at {version}, and rejected with {error}"
            ));
            self.report(properties::COMMITTED_IS_ACCEPTED_AGAIN, verdict);
        }
    }
}
