//! The node as the relay uses it: transactions and look-ups of other nodes.

use super::handle::{NodeHandle, request};
use crate::{
    Candidate, Lane, NodeError, SubmitError, TransactionStatus,
    protocol::mempool::{ArePending, MESSAGE_TRANSACTIONS_MAX},
    relay::{Admission, FoundHere, RelayNode},
};
use ledger_crypto::HashValue;
use ledger_limits::ClientKey;
use ledger_types::SignedTransaction;

impl RelayNode for NodeHandle {
    async fn admit(&self, transactions: Vec<SignedTransaction>, peer: ClientKey) -> Admission {
        let mut admission = Admission::default();
        let mut transactions = transactions.into_iter();
        loop {
            let part: Vec<_> = transactions
                .by_ref()
                .take(MESSAGE_TRANSACTIONS_MAX)
                .collect();
            if part.is_empty() {
                return admission;
            }
            self.admit_part(part, peer, &mut admission).await;
        }
    }

    async fn find_here(&self, hash: HashValue, peer: ClientKey) -> Result<FoundHere, NodeError> {
        let (_, status) = self.transaction_here(hash, peer).await?;
        Ok(match status {
            TransactionStatus::Pending(transaction) => FoundHere::Pending(transaction),
            TransactionStatus::Committed(committed) => FoundHere::Committed {
                version: committed.version,
            },
            TransactionStatus::Pruned { version } => FoundHere::Committed { version },
            TransactionStatus::Removed(_) | TransactionStatus::Unknown => FoundHere::Unknown,
        })
    }
}

impl NodeHandle {
    /// Admits at most [`MESSAGE_TRANSACTIONS_MAX`] transactions. What the node has already needs no
    /// check of its signatures.
    async fn admit_part(
        &self,
        transactions: Vec<SignedTransaction>,
        peer: ClientKey,
        admission: &mut Admission,
    ) {
        let (unknown, known) = self.split_pending(transactions).await;
        admission.known += known;
        let (unknown, denied): (Vec<_>, Vec<_>) = unknown
            .into_iter()
            .partition(|transaction| self.check_filter(transaction).is_ok());
        admission.rejected += denied.len();
        let candidates: Vec<_> = unknown
            .iter()
            .map(|transaction| Candidate {
                transaction,
                hash: self
                    .may_be_committed(transaction)
                    .then(|| transaction.hash(self.chain().vendor())),
            })
            .collect();
        let committed = self.accept_all_unchecked(&candidates, peer).await;
        let mut unchecked = Vec::with_capacity(unknown.len());
        for (transaction, outcome) in unknown.into_iter().zip(committed) {
            match outcome {
                Ok(true) => admission.known += 1,
                Ok(false) => unchecked.push(transaction),
                Err(error) => count_failure(admission, &error),
            }
        }
        let mut checked = Vec::with_capacity(unchecked.len());
        let verdicts = self.check_all_signatures(unchecked, Lane::Trusted, peer);
        for verdict in verdicts.await {
            match verdict {
                Ok(transaction) => checked.push(transaction),
                Err(error) => count_failure(admission, &error),
            }
        }
        for outcome in self.submit_all_from(checked, peer, true).await {
            match outcome {
                Ok(_) => admission.added += 1,
                Err(error) => count_failure(admission, &error),
            }
        }
    }

    /// Returns the transactions that the mempool does not hold, and the number of the others. All
    /// are returned if the mempool has too many requests.
    async fn split_pending(
        &self,
        transactions: Vec<SignedTransaction>,
    ) -> (Vec<SignedTransaction>, usize) {
        let vendor = self.chain().vendor();
        let hashes = transactions.iter().map(|one| one.hash(vendor)).collect();
        let mempool = &self.node().mailboxes.mempool;
        let reply = request(mempool, |reply| ArePending { hashes, reply }).await;
        let Ok(are_pending) = reply else {
            return (transactions, 0);
        };
        let count = transactions.len();
        let unknown: Vec<_> = transactions
            .into_iter()
            .zip(are_pending)
            .filter_map(|(transaction, is_pending)| (!is_pending).then_some(transaction))
            .collect();
        let known = count - unknown.len();
        (unknown, known)
    }
}

/// Counts a transaction that was not added.
fn count_failure(admission: &mut Admission, error: &SubmitError) {
    match error {
        SubmitError::Full { .. } | SubmitError::AccountFull { .. } | SubmitError::Node(_) => {
            admission.refused += 1;
        }
        SubmitError::Invalid(_)
        | SubmitError::SequenceNumberTooOld { .. }
        | SubmitError::InvalidUpdate(_)
        | SubmitError::OtherSignature { .. } => admission.rejected += 1,
    }
}
