//! Waits for many transactions, of which each is one request of a client.
//!
//! A wait has one entry of 16 bytes for each of its hashes in the map by hash, beside the list of
//! hashes, which it shares with the handle of the node. All commits of a block for a wait are sent
//! as one event, so that a block that ends very many waits costs the committer a look-up for each
//! transaction, and a few bytes for each wait.

use crate::{
    RemovalReason,
    protocol::{
        mempool::Removed,
        notifier::{
            COMMITTED_PER_EVENT_MAX, CommitNotifier, CommitWaiter, CommittedIndex, DurableBlock,
            NotificationBatcher, send_event,
        },
        wait::{Absent, WaitEvent, WaitEvents},
    },
};
use ledger_crypto::{HashValue, map::HashMap};
use ledger_types::LedgerInfo;
use std::{mem, sync::Arc};

/// Number of entries from which the map by hash releases its memory when it becomes empty.
const RETAINED_ENTRIES_MAX: usize = 1_024;

/// The hash at an index of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    /// Number of the wait.
    wait: u64,
    /// Index of the hash in the wait.
    index: u32,
}

/// The entries of one hash. Most transactions have one waiter, which needs no list.
#[derive(Debug)]
enum Entries {
    One(Entry),
    Several(Vec<Entry>),
}

impl Entries {
    fn push(&mut self, entry: Entry) {
        match self {
            Self::One(first) => *self = Self::Several(vec![*first, entry]),
            Self::Several(entries) => entries.push(entry),
        }
    }

    fn as_slice(&self) -> &[Entry] {
        match self {
            Self::One(entry) => std::slice::from_ref(entry),
            Self::Several(entries) => entries,
        }
    }

    /// Removes the entry of a wait from a list. Returns whether there was one.
    fn remove(&mut self, wait: u64) -> bool {
        let Self::Several(entries) = self else {
            return false;
        };
        let found = entries.iter().position(|entry| entry.wait == wait);
        found.map(|at| entries.swap_remove(at)).is_some()
    }
}

/// A wait for many transactions.
#[derive(Debug)]
struct Wait {
    hashes: Arc<[HashValue]>,
    events: WaitEvents,
    /// Notifier of the HTTP worker thread on which the client waits.
    notifier: Option<Arc<CommitNotifier>>,
    /// Number of hashes in the map by hash.
    waiting: usize,
    /// Whether the mempool has checked the hashes.
    is_checked: bool,
    /// Transactions of the block that is being notified.
    committed: Vec<CommittedIndex>,
    /// Transactions of the message that is being handled.
    removed: Vec<Absent>,
}

impl Wait {
    fn send(&self, event: WaitEvent) {
        send_event(self.notifier.as_ref(), &self.events, event);
    }

    fn push_removed(&mut self, index: u32, reason: &RemovalReason) {
        self.removed.push(Absent {
            index,
            reason: Some(reason.clone()),
        });
    }

    /// Passes the transactions of a block to `batcher`, in ascending order.
    fn send_committed(&mut self, batcher: &mut NotificationBatcher<'_>) {
        let mut committed = mem::take(&mut self.committed);
        while !committed.is_empty() {
            let count = committed.len().min(COMMITTED_PER_EVENT_MAX);
            let later = committed.split_off(count);
            let waiter = CommitWaiter::Many {
                events: self.events.clone(),
                committed: mem::replace(&mut committed, later),
            };
            batcher.push(self.notifier.clone(), waiter);
        }
    }

    /// Returns whether the wait receives no more events.
    fn is_over(&self) -> bool {
        self.is_checked && self.waiting == 0
    }
}

/// Waits for many transactions, by hash and by the number of the wait.
///
/// A wait that its client cancels is removed by a message, so there are no canceled waits to sweep.
#[derive(Debug, Default)]
pub(super) struct ManyWaiters {
    by_hash: HashMap<HashValue, Entries>,
    waits: HashMap<u64, Wait>,
    /// Numbers of the waits with transactions that are not sent yet. Empty between two messages.
    unsent: Vec<u64>,
}

impl ManyWaiters {
    pub(super) fn is_empty(&self) -> bool {
        self.waits.is_empty()
    }

    /// Adds a wait with a number that no other wait has. Its hashes are distinct.
    pub(super) fn insert(
        &mut self,
        id: u64,
        hashes: Arc<[HashValue]>,
        events: WaitEvents,
        notifier: Option<Arc<CommitNotifier>>,
    ) {
        for (index, hash) in (0..).zip(hashes.iter()) {
            let entry = Entry { wait: id, index };
            self.by_hash
                .entry(*hash)
                .and_modify(|entries| entries.push(entry))
                .or_insert(Entries::One(entry));
        }
        let wait = Wait {
            waiting: hashes.len(),
            hashes,
            events,
            notifier,
            is_checked: false,
            committed: Vec::new(),
            removed: Vec::new(),
        };
        self.waits.insert(id, wait);
    }

    /// Sends the reply of the mempool to a wait, and forgets the hashes that the mempool does not
    /// hold. `version` is that of the Head.
    ///
    /// A hash whose removal was sent before is left out.
    pub(super) fn end_check(&mut self, id: u64, mut absent: Vec<Absent>, version: u64) {
        let Some(wait) = self.waits.get_mut(&id) else {
            return;
        };
        absent.retain(|absent| {
            let hash = wait.hashes.get(absent.index as usize);
            let is_removed = hash.is_some_and(|hash| remove_entry(&mut self.by_hash, hash, id));
            wait.waiting -= usize::from(is_removed);
            is_removed
        });
        wait.is_checked = true;
        wait.send(WaitEvent::Checked { absent, version });
        if wait.is_over() {
            self.waits.remove(&id);
        }
        self.release_memory();
    }

    /// Sends transactions that the mempool has removed to the waits for them.
    pub(super) fn remove_all(&mut self, removed: &[Removed]) {
        if self.is_empty() {
            return;
        }
        for Removed { hash, reason } in removed {
            self.take_entries(hash, |wait, index| wait.push_removed(index, reason));
        }
        for id in mem::take(&mut self.unsent) {
            if let Some(wait) = self.waits.get_mut(&id) {
                let removed = mem::take(&mut wait.removed);
                wait.send(WaitEvent::Removed(removed));
            }
            self.forget_if_over(id);
        }
        self.release_memory();
    }

    /// Notifies the waits for transactions of a durable block, in batches per HTTP worker thread.
    /// The transactions of one wait are sent together.
    pub(super) fn notify_block(&mut self, durable: &DurableBlock) {
        if self.is_empty() {
            return;
        }
        for (in_block, executed) in (0..).zip(&durable.block.block.transactions) {
            self.take_entries(&executed.hash, |wait, in_wait| {
                wait.committed.push(CommittedIndex { in_wait, in_block });
            });
        }
        let mut batcher = NotificationBatcher::new(durable);
        for id in mem::take(&mut self.unsent) {
            if let Some(wait) = self.waits.get_mut(&id) {
                wait.send_committed(&mut batcher);
            }
            self.forget_if_over(id);
        }
        batcher.flush();
        self.release_memory();
    }

    /// Forgets a wait, and sends it [`WaitEvent::Ended`] with the ledger info of the Head.
    pub(super) fn end(&mut self, id: u64, ledger_info: LedgerInfo) {
        let Some(wait) = self.waits.remove(&id) else {
            return;
        };
        for hash in &*wait.hashes {
            remove_entry(&mut self.by_hash, hash, id);
        }
        wait.send(WaitEvent::Ended(ledger_info));
        self.release_memory();
    }

    /// Forgets all waits that the mempool has checked, as [`Self::end`] does.
    ///
    /// [`Self::end_check`] and a further [`Self::end`] must follow for the others.
    pub(super) fn end_all(&mut self, ledger_info: LedgerInfo) {
        let checked = self.waits.iter().filter(|(_, wait)| wait.is_checked);
        let checked: Vec<_> = checked.map(|(id, _)| *id).collect();
        for id in checked {
            self.end(id, ledger_info);
        }
    }

    /// Removes the entries of a hash, and calls `take` with the wait and the index of each.
    fn take_entries(&mut self, hash: &HashValue, mut take: impl FnMut(&mut Wait, u32)) {
        let Some(entries) = self.by_hash.remove(hash) else {
            return;
        };
        for entry in entries.as_slice() {
            if let Some(wait) = self.waits.get_mut(&entry.wait) {
                if wait.committed.is_empty() && wait.removed.is_empty() {
                    self.unsent.push(entry.wait);
                }
                wait.waiting -= 1;
                take(wait, entry.index);
            }
        }
    }

    fn forget_if_over(&mut self, id: u64) {
        if self.waits.get(&id).is_some_and(Wait::is_over) {
            self.waits.remove(&id);
        }
    }

    /// Releases the memory of the map by hash if it is empty.
    fn release_memory(&mut self) {
        if self.by_hash.is_empty() && self.by_hash.capacity() > RETAINED_ENTRIES_MAX {
            self.by_hash = HashMap::default();
        }
    }
}

/// Removes the entry of a wait for a hash. Returns whether there was one.
fn remove_entry(by_hash: &mut HashMap<HashValue, Entries>, hash: &HashValue, wait: u64) -> bool {
    let Some(entries) = by_hash.get_mut(hash) else {
        return false;
    };
    match entries.as_slice() {
        [entry] if entry.wait == wait => {
            by_hash.remove(hash);
            true
        }
        _ => entries.remove(wait),
    }
}

#[cfg(test)]
mod tests;
