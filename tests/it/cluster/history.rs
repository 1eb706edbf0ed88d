//! The requests and responses of the clients, with their times.

use ledger_crypto::HashValue;
use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard},
    time::Instant,
};

/// A transfer that a client submitted. A client submits it again if it does not learn the outcome.
#[derive(Clone, Copy, Debug)]
pub struct Write {
    pub client: u64,
    /// The validator.
    pub node: usize,
    pub sequence_number: u64,
    pub hash: HashValue,
    pub began: Instant,
    /// Whether the validator responded that it has the transfer.
    pub is_accepted: bool,
    /// The response that the transfer is committed.
    pub committed: Option<Committed>,
}

/// The response of a validator that a transfer is committed.
#[derive(Clone, Copy, Debug)]
pub struct Committed {
    pub at: Instant,
    pub version: u64,
}

/// A read of an account.
#[derive(Clone, Copy, Debug)]
pub struct Read {
    /// The client that has the account.
    pub client: u64,
    /// The validator.
    pub node: usize,
    pub began: Instant,
    pub ended: Instant,
    /// The lowest version that the request allowed.
    pub version_min: u64,
    /// The version of the response.
    pub version: u64,
    /// The sequence number of the account.
    pub sequence_number: u64,
}

/// All requests of all clients, in the order of their begin.
#[derive(Clone, Debug, Default)]
pub struct Requests {
    pub writes: Vec<Write>,
    pub reads: Vec<Read>,
}

/// A record that the clients share.
#[derive(Debug, Default)]
pub struct History(Mutex<Requests>);

impl History {
    /// Returns the requests.
    pub fn lock(&self) -> MutexGuard<'_, Requests> {
        self.0.lock().unwrap()
    }

    /// Records that a client submits a transfer. Returns the index of the write.
    pub fn begin_write(
        &self,
        client: u64,
        node: usize,
        sequence_number: u64,
        hash: HashValue,
    ) -> usize {
        let writes = &mut self.lock().writes;
        writes.push(Write {
            client,
            node,
            sequence_number,
            hash,
            began: Instant::now(),
            is_accepted: false,
            committed: None,
        });
        writes.len() - 1
    }

    /// Records that a validator responded that it has the transfer.
    pub fn accept_write(&self, index: usize) {
        self.lock().writes[index].is_accepted = true;
    }

    /// Returns the newest transfer of each client of a validator, if it was accepted and the
    /// outcome is unknown.
    pub fn accepted(&self, node: usize) -> Vec<HashValue> {
        let mut newest = BTreeMap::new();
        for write in &self.lock().writes {
            newest.insert(write.client, *write);
        }
        let of_node = newest.into_values().filter(|write| write.node == node);
        of_node
            .filter(|write| write.is_accepted && write.committed.is_none())
            .map(|write| write.hash)
            .collect()
    }

    /// Records that a validator responded that the transfer is committed.
    pub fn end_write(&self, index: usize, version: u64) {
        let at = Instant::now();
        self.lock().writes[index].committed = Some(Committed { at, version });
    }

    /// Returns the newest committed write of a client.
    pub fn newest(&self, client: u64) -> Option<(u64, Committed)> {
        let requests = self.lock();
        let of_client = requests.writes.iter().rev();
        of_client
            .filter(|write| write.client == client)
            .find_map(|write| Some((write.sequence_number, write.committed?)))
    }

    /// Returns whether each of the validators has committed a transfer that was submitted after
    /// `since`.
    pub fn has_commits_since(&self, since: Instant, nodes: usize) -> bool {
        let requests = self.lock();
        let writes = requests.writes.iter().rev();
        let mut has_commit = vec![false; nodes];
        for write in writes.take_while(|write| write.began > since) {
            has_commit[write.node] |= write.committed.is_some();
        }
        has_commit.iter().all(|has_commit| *has_commit)
    }
}
