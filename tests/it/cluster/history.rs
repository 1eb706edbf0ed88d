//! The requests and responses of the clients, with their times.

use ledger_crypto::HashValue;
use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard},
    time::Instant,
};

/// Number of newest acceptances of which clients look up one.
const KNOWN_MAX: usize = 200;

/// A transfer that a client submitted. A client submits it again if it does not learn the outcome.
#[derive(Clone, Copy, Debug)]
pub struct Write {
    pub client: u64,
    /// The newest node that responded that it has the transfer, or the one that is asked.
    pub node: Option<usize>,
    pub sequence_number: u64,
    pub hash: HashValue,
    pub began: Instant,
    /// Whether a node responded that it has the transfer.
    pub is_accepted: bool,
    /// Whether a node responded that the transfer, or another one with its sequence number, is
    /// known.
    pub is_rejected: bool,
    /// The response that the transfer is committed.
    pub committed: Option<Committed>,
}

/// The response that a transfer is committed.
#[derive(Clone, Copy, Debug)]
pub struct Committed {
    /// The node that responded.
    pub node: Option<usize>,
    pub at: Instant,
    pub version: u64,
}

/// A read of an account.
#[derive(Clone, Copy, Debug)]
pub struct Read {
    /// The client that has the account.
    pub client: u64,
    /// The node that responded.
    pub node: Option<usize>,
    pub began: Instant,
    pub ended: Instant,
    /// The lowest version that the request allowed.
    pub version_min: u64,
    /// The version of the response.
    pub version: u64,
    /// The sequence number of the account.
    pub sequence_number: u64,
}

/// A response that a node holds a transfer.
#[derive(Clone, Copy, Debug)]
pub struct Acceptance {
    pub hash: HashValue,
    pub node: usize,
    pub at: Instant,
}

/// A response that a transfer is unknown.
#[derive(Clone, Copy, Debug)]
pub struct Unknown {
    pub hash: HashValue,
    /// The node that responded.
    pub node: Option<usize>,
    pub began: Instant,
    pub ended: Instant,
}

/// A kill of a node, which forgets what it has not committed.
#[derive(Clone, Copy, Debug)]
pub struct Kill {
    pub node: usize,
    pub began: Instant,
    /// Time at which the clients had recorded all responses of the killed node.
    pub ended: Instant,
}

/// All requests of all clients, in the order of their begin, and the kills among them.
#[derive(Clone, Debug, Default)]
pub struct Requests {
    pub writes: Vec<Write>,
    pub reads: Vec<Read>,
    pub acceptances: Vec<Acceptance>,
    pub unknown: Vec<Unknown>,
    /// Number of look-ups with another response.
    pub found: usize,
    pub kills: Vec<Kill>,
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
        node: Option<usize>,
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
            is_rejected: false,
            committed: None,
        });
        writes.len() - 1
    }

    /// Records that a node responded that it has the transfer.
    pub fn accept_write(&self, index: usize, node: Option<usize>) {
        let at = Instant::now();
        let mut requests = self.lock();
        let write = &mut requests.writes[index];
        write.is_accepted = true;
        write.node = node;
        let hash = write.hash;
        let acceptance = node.map(|node| Acceptance { hash, node, at });
        requests.acceptances.extend(acceptance);
    }

    /// Records that a node responded that the sequence number of the transfer is used.
    pub fn reject_write(&self, index: usize) {
        self.lock().writes[index].is_rejected = true;
    }

    /// Records the response to a look-up, which began at `began`.
    pub fn record_look_up(
        &self,
        hash: HashValue,
        node: Option<usize>,
        began: Instant,
        status: u16,
    ) {
        let mut requests = self.lock();
        if status == 404 {
            requests.unknown.push(Unknown {
                hash,
                node,
                began,
                ended: Instant::now(),
            });
        } else {
            requests.found += 1;
        }
    }

    /// Records that a node was killed, by a kill that began at `began`. The clients have recorded
    /// all of its responses.
    pub fn record_kill(&self, node: usize, began: Instant) {
        let ended = Instant::now();
        self.lock().kills.push(Kill { node, began, ended });
    }

    /// Returns the hash of a transfer that was accepted or committed, which `random` chooses among
    /// the newest ones.
    pub fn known(&self, random: usize) -> Option<HashValue> {
        let requests = self.lock();
        let newest = requests.acceptances.iter().rev().take(KNOWN_MAX);
        newest
            .clone()
            .nth(random % newest.len().max(1))
            .map(|one| one.hash)
    }

    /// Returns the newest transfer of each client of a validator, if it was accepted and the
    /// outcome is unknown.
    pub fn accepted(&self, node: usize) -> Vec<HashValue> {
        let mut newest = BTreeMap::new();
        for write in &self.lock().writes {
            newest.insert(write.client, *write);
        }
        let of_node = newest
            .into_values()
            .filter(|write| write.node == Some(node));
        of_node
            .filter(|write| write.is_accepted && write.committed.is_none())
            .map(|write| write.hash)
            .collect()
    }

    /// Records that a node responded that the transfer is committed.
    pub fn end_write(&self, index: usize, node: Option<usize>, version: u64) {
        let at = Instant::now();
        self.lock().writes[index].committed = Some(Committed { node, at, version });
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
            if let Some(node) = write.committed.and_then(|committed| committed.node) {
                has_commit[node] = true;
            }
        }
        has_commit.iter().all(|has_commit| *has_commit)
    }
}
