//! A list of submissions in one message, compared with as many messages of one.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A mempool that a test calls without a mailbox, and the removals that it sends.
struct Called {
    mempool: Mempool,
    removals: mpsc::UnboundedReceiver<TransactionsRemoved>,
    clock: HandClock,
}

impl Called {
    /// Creates a mempool whose limits the submissions of a test reach.
    fn new() -> Self {
        let (send_removals, removals) = mpsc::unbounded_channel();
        let clock = HandClock::at_secs(NOW);
        let limits = MempoolConfig {
            capacity_transactions: 12,
            capacity_per_account: 5,
            capacity_per_account_orderless: 2,
            ..MempoolConfig::default()
        };
        let mempool = Mempool::new(
            Pool::new(limits),
            GasHistory::new(100, 10),
            ledger_clock(&clock),
            HeadPublisher::unpruned(ledger_info(0)).reader(),
            MempoolPeers {
                removals: Recipient::new(move |removals| send_removals.send(removals).unwrap()),
                not_pending: Recipient::new(|_| ()),
                relay: None,
            },
            DirectorySize::default(),
            Arc::default(),
        );
        Self {
            mempool,
            removals,
            clock,
        }
    }

    /// Sends the submissions in one message. Returns the outcomes, each as text.
    fn submit(&mut self, transactions: &[Arc<CheckedTransaction>]) -> Vec<String> {
        let (reply, mut response) = oneshot::channel();
        let submissions = transactions.iter().map(|transaction| Submission {
            transaction: Arc::clone(transaction),
            sequence_number: 1,
            is_relayed: false,
        });
        let submissions = submissions.collect();
        self.mempool.handle(Submit { submissions, reply });
        let outcomes = response.try_recv().unwrap().into_iter();
        outcomes
            .map(|outcome| match outcome {
                Ok(accepted) => format!("accepted {}", accepted.hash()),
                Err(error) => error.to_string(),
            })
            .collect()
    }

    /// Returns the pending transactions in the order of their insertion, and the removals.
    fn state(&mut self) -> (Vec<String>, BTreeMap<String, String>) {
        let pending = self.mempool.pool.contents().into_iter();
        let pending = pending.map(|pending| {
            let hash = pending.transaction.hash();
            format!("{hash} since {}", pending.inserted_at_secs)
        });
        let mut removed = BTreeMap::new();
        while let Ok(TransactionsRemoved(of_message)) = self.removals.try_recv() {
            for Removed { hash, reason } in of_message {
                removed.insert(hash.to_string(), reason.to_string());
            }
        }
        (pending.collect(), removed)
    }
}

/// Returns a transaction of one of few accounts, often one that replaces another one, is too old,
/// fills a gap, expires, or repeats the bytes of another one.
fn any_transaction() -> impl Strategy<Value = Arc<CheckedTransaction>> {
    (0u64..4, 0u64..8, 0u64..3, 0u64..3, any::<bool>()).prop_map(
        |(sender, number, price, expires, has_nonce)| {
            let draft = match has_nonce {
                true => orderless(sender, number % 4),
                false => draft(sender, number),
            };
            let draft = draft.price(100 + price);
            match expires {
                0 => draft.expires_at(NOW + number % 3).checked(),
                _ => draft.checked(),
            }
        },
    )
}

proptest! {
    #[test]
    fn list_has_the_outcomes_and_the_state_of_single_submissions(
        lists in prop::collection::vec(prop::collection::vec(any_transaction(), 1..20), 1..6),
    ) {
        let (mut by_list, mut one_by_one) = (Called::new(), Called::new());
        for list in lists {
            let outcomes = by_list.submit(&list);
            let expected: Vec<_> = list
                .chunks(1)
                .flat_map(|single| one_by_one.submit(single))
                .collect();
            prop_assert_eq!(outcomes, expected);
            prop_assert_eq!(by_list.state(), one_by_one.state());
            by_list.clock.pass_secs(1);
            one_by_one.clock.pass_secs(1);
        }
    }
}

#[test]
fn pull_that_waits_receives_the_whole_list() {
    let mut called = Called::new();
    let (send_batch, mut batches) = mpsc::unbounded_channel();
    called.mempool.handle(PullBatch {
        limits: BatchLimits {
            transactions_max: 10,
            bytes_max: usize::MAX,
            usecs_max: u64::MAX,
        },
        is_immediate: false,
        reply_to: Recipient::new(move |batch: Batch| send_batch.send(batch.0.len()).unwrap()),
    });
    let list: Vec<_> = (1..5).map(|number| draft(1, number).checked()).collect();
    called.submit(&list);
    assert_eq!(batches.try_recv(), Ok(4));
}

#[test]
fn list_counts_against_the_mailbox_as_its_submissions() {
    let (reply, _response) = oneshot::channel();
    let submission = || Submission {
        transaction: draft(1, 0).checked(),
        sequence_number: 0,
        is_relayed: false,
    };
    let submissions = (0..7).map(|_| submission()).collect();
    assert_eq!(Submit { submissions, reply }.request_count(), 7);
}
