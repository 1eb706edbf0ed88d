//! Transactions of clients, offered to the other nodes by the relay.
//!
//! A transaction is offered when it is accepted. It may be lost on the way, or find the mempools of
//! all validators full, so each one that is still pending is offered again, in passes over the pool.

use super::Pool;
use crate::relay::RelaySender;
use ledger_types::CheckedTransaction;
use std::sync::Arc;

/// Time between the begins of two passes, in seconds. A pass offers what was accepted before the
/// begin of the last one, so a transaction is offered again after 5 to 10 s. Nearly all are
/// committed by then.
const PASS_INTERVAL_SECS: u64 = 5;

/// Maximum number of transactions that a turn of a pass offers. There is a turn each second, so a
/// full pool takes a small part of the connections: some 300 KB per second and peer.
pub(super) const TURN_TRANSACTIONS_MAX: usize = 1_000;

/// The offers of a mempool.
#[derive(Debug)]
pub(super) struct Offers {
    relay: RelaySender,
    /// Insertion number at which the pass continues.
    next: u64,
    /// Insertion number at which the pass ends.
    end: u64,
    /// Insertion number at which the following pass ends.
    next_end: u64,
    /// Begin of the pass, in Unix seconds.
    begun_secs: u64,
}

impl Offers {
    /// Creates the offers of the mempool of `pool`, whose transactions were restored. All of them
    /// count as transactions of clients of this node.
    pub(super) fn new(relay: RelaySender, pool: &mut Pool) -> Self {
        for restored in pool.contents() {
            pool.track_client(&restored.transaction);
        }
        Self {
            relay,
            next: 0,
            end: 0,
            next_end: pool.next_insertion(),
            begun_secs: 0,
        }
    }

    /// Offers a transaction that a client submitted, unless it was offered before.
    pub(super) fn offer(&self, pool: &mut Pool, transaction: &Arc<CheckedTransaction>) {
        if pool.track_client(transaction) {
            // One that finds no room is offered again.
            self.relay.send(Arc::clone(transaction));
        }
    }

    /// Takes a turn of the present pass, or of the next one if it is due. `now_secs` is the Unix
    /// time in seconds.
    pub(super) fn offer_again(&mut self, pool: &Pool, now_secs: u64) {
        if self.next >= self.end {
            if now_secs.saturating_sub(self.begun_secs) < PASS_INTERVAL_SECS {
                return;
            }
            self.begun_secs = now_secs;
            self.next = 0;
            self.end = self.next_end;
            self.next_end = pool.next_insertion();
        }
        let pending = pool.of_clients(self.next, self.end);
        for (insertion, transaction) in pending.take(TURN_TRANSACTIONS_MAX) {
            self.next = insertion;
            if !self.relay.send(Arc::clone(transaction)) {
                return;
            }
            self.next += 1;
        }
        if pool.of_clients(self.next, self.end).next().is_none() {
            self.next = self.end;
        }
    }
}
