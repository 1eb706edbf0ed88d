//! Clients that submit several transactions in one request.

use super::{clients::Clients, scheduler::Scheduler};
use crate::NodeHandle;
use ledger_limits::ClientKey;
use std::rc::Rc;

/// Maximum number of transactions in a batch of the simulation. More than a few begin to fill the
/// pool of a simulated node.
const TRANSACTIONS_MAX: usize = 6;

impl Clients {
    /// Begins the submission of a batch. Each of its transactions must have an outcome that it
    /// could have alone, in the order of the batch.
    pub(super) fn begin_batch(&self, scheduler: &Scheduler, handle: &NodeHandle, now_secs: u64) {
        let count = self.random.borrow_mut().usize(2..=TRANSACTIONS_MAX);
        let drafts: Vec<_> = (0..count).map(|_| self.choose_draft(now_secs)).collect();
        let description = format!("submit batch {drafts:?}");
        let (oracle, handle) = (Rc::clone(&self.oracle), handle.clone());
        self.start(scheduler, description, None, async move {
            let mut started = Vec::with_capacity(drafts.len());
            let mut transactions = Vec::with_capacity(drafts.len());
            for draft in drafts {
                let transaction = draft.build_checked(&oracle.fixture.chain);
                let start = oracle.begin_submission(draft, &transaction);
                started.push((start, transaction.hash()));
                transactions.push((*transaction).clone());
            }
            let outcomes = handle.submit_all(transactions, ClientKey::NODE).await;
            assert_eq!(outcomes.len(), started.len(), "an outcome for each");
            for ((start, hash), outcome) in started.into_iter().zip(outcomes) {
                oracle.count("transactions sent in batches");
                if outcome.is_ok() {
                    oracle.count("transactions accepted in batches");
                }
                if let Err(error) = &outcome {
                    oracle.check_not_committed(&handle, &start, hash, error);
                }
                oracle.check_submission(start, hash, outcome);
            }
        });
    }
}
