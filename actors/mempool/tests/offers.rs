//! Transactions of clients, and the relay to which the mempool offers them.

use super::*;
use crate::{
    mempool::offers::{Offers, TURN_TRANSACTIONS_MAX},
    relay::{OUTGOING_MAX, RelayQueues, relay_queues},
};
use ledger_crypto::HashValue;

/// A pool whose transactions are offered.
struct Offering {
    pool: Pool,
    offers: Offers,
    queues: RelayQueues,
}

impl Offering {
    fn new() -> Self {
        let (relay, queues) = relay_queues();
        let mut pool = Pool::new(MempoolConfig::default());
        let offers = Offers::new(relay, &mut pool);
        Self {
            pool,
            offers,
            queues,
        }
    }

    fn submit(&mut self, draft: Draft) -> HashValue {
        let pending = Pending {
            transaction: draft.checked(),
            inserted_at_secs: NOW,
        };
        let accepted = self.pool.submit(pending, 0, NOW).unwrap();
        self.offers.offer(&mut self.pool, &accepted);
        accepted.hash()
    }

    /// Returns the transactions that were offered since the last call.
    fn offered(&mut self) -> Vec<HashValue> {
        let queue = &mut self.queues.outgoing;
        std::iter::from_fn(|| queue.try_recv().ok())
            .map(|transaction| transaction.hash())
            .collect()
    }

    fn pass_to(&mut self, secs: u64) -> Vec<HashValue> {
        self.offers.offer_again(&self.pool, NOW + secs);
        self.offered()
    }
}

#[test]
fn offers_a_pending_transaction_again_until_it_leaves_the_pool() {
    let mut offering = Offering::new();
    offering.pass_to(0);
    let first = offering.submit(draft(1, 0));
    assert_eq!(offering.offered(), [first]);
    assert_eq!(offering.pass_to(4), []);
    // This pass ends where the pool began.
    assert_eq!(offering.pass_to(5), []);
    let second = offering.submit(draft(2, 0));
    assert_eq!(offering.offered(), [second]);
    assert_eq!(offering.pass_to(10), [first]);
    assert_eq!(offering.pass_to(11), []);
    let checked = draft(1, 0).checked();
    offering.pool.commit(&block(1, &[checked], &[]));
    assert_eq!(offering.pass_to(15), [second]);
    assert_eq!(offering.pass_to(20), [second]);
}

#[test]
fn a_repeated_submission_is_not_offered_at_once() {
    let mut offering = Offering::new();
    let hash = offering.submit(draft(1, 0));
    assert_eq!(offering.submit(draft(1, 0)), hash);
    assert_eq!(offering.offered(), [hash]);
}

#[test]
fn what_finds_no_room_is_offered_in_the_next_pass() {
    let mut offering = Offering::new();
    let hashes: Vec<_> = (0..=OUTGOING_MAX as u64)
        .map(|sender| offering.submit(draft(sender, 0)))
        .collect();
    assert_eq!(offering.offered(), hashes[..OUTGOING_MAX]);
    offering.pass_to(5);
    let mut again = Vec::new();
    for secs in 10.. {
        let turn = offering.pass_to(secs);
        assert!(turn.len() <= TURN_TRANSACTIONS_MAX);
        again.extend(turn);
        if again.len() >= hashes.len() {
            break;
        }
    }
    assert_eq!(again, hashes);
}

#[test]
fn a_full_queue_holds_the_pass() {
    let mut offering = Offering::new();
    let hashes: Vec<_> = (0..OUTGOING_MAX as u64)
        .map(|sender| offering.submit(draft(sender, 0)))
        .collect();
    offering.offers.offer_again(&offering.pool, NOW + 5);
    offering.offers.offer_again(&offering.pool, NOW + 10);
    assert_eq!(offering.offered(), hashes);
    assert_eq!(offering.pass_to(11), hashes[..TURN_TRANSACTIONS_MAX]);
}

#[test]
fn offers_what_a_restart_has_restored() {
    let mut pool = Pool::new(MempoolConfig::default());
    let pending = Pending {
        transaction: draft(1, 0).checked(),
        inserted_at_secs: NOW,
    };
    let restored = pool.submit(pending, 0, NOW).unwrap().hash();
    let (relay, queues) = relay_queues();
    let offers = Offers::new(relay, &mut pool);
    let mut offering = Offering {
        pool,
        offers,
        queues,
    };
    assert_eq!(offering.pass_to(5), [restored]);
}

#[actix::test]
async fn what_another_node_sent_is_not_offered() {
    let (relay, mut queues) = relay_queues();
    let fixture = start_mempool_of(
        HeadPublisher::unpruned(ledger_info(0)).reader(),
        Some(relay),
    );
    for (sender, is_relayed) in [(1, true), (2, false)] {
        let (reply, response) = oneshot::channel();
        let mut submit = Submit::one(draft(sender, 0).checked(), 0, reply);
        submit.submissions[0].is_relayed = is_relayed;
        fixture.mempool.try_request(submit).unwrap();
        response.await.unwrap().remove(0).unwrap();
    }
    let offered = queues.outgoing.try_recv().unwrap();
    assert_eq!(offered.hash(), draft(2, 0).checked().hash());
    assert!(queues.outgoing.try_recv().is_err());
}
