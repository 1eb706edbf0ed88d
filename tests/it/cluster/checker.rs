//! The comparison of the chains of all validators with the requests of all clients.
//!
//! | promise | check |
//! |---|---|
//! | P1, P2 | no response of a validator has an older version than an earlier response of it, also if the validator was killed between them; a read shows its account at its version |
//! | P3 | all validators have the same blocks, with the same hashes of state and events |
//! | P4, P5 | a transfer that was accepted is committed, unless its validator was killed: the clients insist on it |
//! | P4 | a transfer that a node holds is nowhere unknown, and no verdict on it is wrong |
//! | P8 | each sequence number of an account is executed once, in order, and only as submitted |
//!
//! Beyond the promises of one node: a committed transfer has its version at every validator, and a
//! transfer that begins after another one was acknowledged, by any validator, has a higher version.
//! `faults.rs` reads the sum of balances (P9) from each validator. Costs (P6) and limits (P7) leave
//! no trace in a history.

use super::history::{Acceptance, Committed, Requests, Write};
use ledger_crypto::HashValue;
use ledger_test_support::http::number;
use ledger_types::AccountAddress;
use serde_json::Value;
use std::{
    collections::{BTreeMap, HashMap, hash_map::Entry},
    time::Instant,
};

/// A transaction of the chain that has a sender.
#[derive(Clone, Debug)]
struct Executed {
    version: u64,
    hash: HashValue,
    sender: AccountAddress,
    sequence_number: u64,
}

/// The chain of one validator: its blocks from genesis on, with their transactions.
pub type Blocks = Vec<Value>;

/// Figures of what was compared.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compared {
    pub blocks: usize,
    pub executed: usize,
    pub acknowledged: usize,
    pub reads: usize,
    pub look_ups: usize,
}

/// Compares the chains with each other and with the requests. `account` returns the account of a
/// client.
///
/// # Errors
///
/// Returns the first contradiction.
pub fn check(
    chains: &[Blocks],
    requests: &Requests,
    account: impl Fn(u64) -> AccountAddress,
) -> Result<Compared, String> {
    check_same(chains)?;
    let executed = executed(&chains[0]);
    let by_hash = index(&executed)?;
    check_sequence_numbers(&executed)?;
    check_submitted(&executed, requests, &account)?;
    let acknowledged = check_acknowledged(&by_hash, requests)?;
    check_order(&by_hash, requests)?;
    check_versions_of_each_validator(requests)?;
    check_reads(&executed, requests, &account)?;
    check_rejected(&by_hash, requests)?;
    check_unknown(requests)?;
    Ok(Compared {
        blocks: chains[0].len(),
        executed: executed.len(),
        acknowledged,
        reads: requests.reads.len(),
        look_ups: requests.found + requests.unknown.len(),
    })
}

/// Checks that no two validators have different blocks at a height.
fn check_same(chains: &[Blocks]) -> Result<(), String> {
    for (index, chain) in chains.iter().enumerate() {
        if chain.len() != chains[0].len() {
            let (own, first) = (chain.len(), chains[0].len());
            return Err(format!("validator {index} has {own} blocks, not {first}"));
        }
        for (block, first) in chain.iter().zip(&chains[0]) {
            if block != first {
                return Err(format!("fork at validator {index}: {block}, not {first}"));
            }
        }
    }
    Ok(())
}

/// Returns the transactions of a chain that have a sender, in the order of their versions.
fn executed(blocks: &Blocks) -> Vec<Executed> {
    let transactions = blocks
        .iter()
        .flat_map(|block| block["transactions"].as_array().unwrap());
    transactions
        .filter(|transaction| transaction["type"] == "user_transaction")
        .map(|transaction| Executed {
            version: number(&transaction["version"]),
            hash: transaction["hash"].as_str().unwrap().parse().unwrap(),
            sender: transaction["sender"].as_str().unwrap().parse().unwrap(),
            sequence_number: number(&transaction["sequence_number"]),
        })
        .collect()
}

/// Returns the version of each transaction. No transaction may be executed twice.
fn index(executed: &[Executed]) -> Result<HashMap<HashValue, u64>, String> {
    let mut by_hash = HashMap::new();
    for Executed { hash, version, .. } in executed {
        match by_hash.entry(*hash) {
            Entry::Vacant(entry) => _ = entry.insert(*version),
            Entry::Occupied(entry) => {
                let first = entry.get();
                return Err(format!(
                    "{hash} was executed twice, at {first} and {version}"
                ));
            }
        }
    }
    Ok(by_hash)
}

/// Checks that the sequence numbers of each account ascend from 0 without gaps.
fn check_sequence_numbers(executed: &[Executed]) -> Result<(), String> {
    let mut next: HashMap<AccountAddress, u64> = HashMap::new();
    for transaction in executed {
        let next = next.entry(transaction.sender).or_default();
        if transaction.sequence_number != *next {
            return Err(format!(
                "{transaction:?} has not the sequence number {next}"
            ));
        }
        *next += 1;
    }
    Ok(())
}

/// Checks that the chain has no transaction of a client that the client did not submit.
fn check_submitted(
    executed: &[Executed],
    requests: &Requests,
    account: &impl Fn(u64) -> AccountAddress,
) -> Result<(), String> {
    let mut submitted = HashMap::new();
    for write in &requests.writes {
        submitted.insert(write.hash, account(write.client));
    }
    let clients: BTreeMap<_, _> = submitted.values().map(|client| (*client, ())).collect();
    let of_clients = executed
        .iter()
        .filter(|transaction| clients.contains_key(&transaction.sender));
    for transaction in of_clients {
        if submitted.get(&transaction.hash) != Some(&transaction.sender) {
            return Err(format!("{transaction:?} was not submitted"));
        }
    }
    Ok(())
}

/// Checks that each acknowledged transfer has its version. Returns their number.
fn check_acknowledged(
    by_hash: &HashMap<HashValue, u64>,
    requests: &Requests,
) -> Result<usize, String> {
    let mut acknowledged = 0;
    for write in &requests.writes {
        let Some(committed) = write.committed else {
            continue;
        };
        acknowledged += 1;
        let version = by_hash.get(&write.hash);
        if version != Some(&committed.version) {
            return Err(format!("lost: {write:?} is at version {version:?}"));
        }
    }
    Ok(acknowledged)
}

/// Checks the order of versions: a transfer has a higher version than every transfer that was
/// acknowledged before its first submission.
fn check_order(by_hash: &HashMap<HashValue, u64>, requests: &Requests) -> Result<(), String> {
    let mut ends: Vec<_> = requests
        .writes
        .iter()
        .filter_map(|write| write.committed)
        .collect();
    ends.sort_by_key(|committed| committed.at);
    let mut ends = ends.into_iter().peekable();
    let mut newest = 0;
    let mut known = HashMap::new();
    for write in &requests.writes {
        while let Some(committed) = ends.next_if(|committed| committed.at < write.began) {
            newest = newest.max(committed.version);
        }
        let is_first = known.insert(write.hash, ()).is_none();
        let version = by_hash.get(&write.hash);
        if is_first && version.is_some_and(|&version| version <= newest) {
            return Err(format!(
                "{write:?} has version {version:?} and began after {newest} was acknowledged"
            ));
        }
    }
    Ok(())
}

/// A response of a validator: when it was requested and received, and its version.
struct Seen {
    began: Instant,
    ended: Instant,
    version: u64,
}

/// Checks that no response of a validator has an older version than one that was received before
/// the request.
fn check_versions_of_each_validator(requests: &Requests) -> Result<(), String> {
    let mut seen: BTreeMap<usize, Vec<Seen>> = BTreeMap::new();
    for read in &requests.reads {
        // A response of the balancer is of no node.
        if let Some(node) = read.node {
            seen.entry(node).or_default().push(Seen {
                began: read.began,
                ended: read.ended,
                version: read.version,
            });
        }
    }
    for (node, mut seen) in seen {
        let mut acknowledged: Vec<_> = requests
            .writes
            .iter()
            .filter_map(|write: &Write| write.committed)
            .filter(|committed| committed.node == Some(node))
            .map(|committed| (committed.at, committed.version))
            .chain(seen.iter().map(|read| (read.ended, read.version)))
            .collect();
        acknowledged.sort_unstable();
        seen.sort_by_key(|read| read.began);
        let mut acknowledged = acknowledged.into_iter().peekable();
        let mut newest = 0;
        for Seen { began, version, .. } in seen {
            while let Some((_, version)) = acknowledged.next_if(|(at, _)| *at < began) {
                newest = newest.max(version);
            }
            if version < newest {
                return Err(format!(
                    "validator {node} went back from version {newest} to {version}"
                ));
            }
        }
    }
    Ok(())
}

/// Checks that each read has at least its lowest version, and shows its account at its version.
fn check_reads(
    executed: &[Executed],
    requests: &Requests,
    account: &impl Fn(u64) -> AccountAddress,
) -> Result<(), String> {
    let mut versions: HashMap<AccountAddress, Vec<u64>> = HashMap::new();
    for transaction in executed {
        let versions = versions.entry(transaction.sender).or_default();
        versions.push(transaction.version);
    }
    for read in &requests.reads {
        let of_account = versions.get(&account(read.client));
        let expected = of_account.map_or(0, |versions| {
            versions.partition_point(|version| *version <= read.version) as u64
        });
        if read.version < read.version_min || read.sequence_number != expected {
            return Err(format!(
                "{read:?}, and the account has sequence number {expected}"
            ));
        }
    }
    Ok(())
}

/// Checks that each transfer whose sequence number was used, as a node stated, is executed. Each
/// client submits one transfer with a number.
fn check_rejected(by_hash: &HashMap<HashValue, u64>, requests: &Requests) -> Result<(), String> {
    let mut rejected = requests.writes.iter().filter(|write| write.is_rejected);
    match rejected.find(|write| !by_hash.contains_key(&write.hash)) {
        Some(write) => Err(format!("wrong verdict: {write:?} is not executed")),
        None => Ok(()),
    }
}

/// Checks that no node stated that a transfer is unknown while a node had it: one that committed
/// it, or one that accepted it and was not killed since. No fault is longer than the time for which
/// nodes count that are unreachable.
fn check_unknown(requests: &Requests) -> Result<(), String> {
    let mut committed = HashMap::new();
    for write in &requests.writes {
        if let Some(Committed { at, .. }) = write.committed {
            let first = committed.entry(write.hash).or_insert(at);
            *first = at.min(*first);
        }
    }
    let mut accepted: HashMap<HashValue, Vec<Acceptance>> = HashMap::new();
    for &acceptance in &requests.acceptances {
        accepted
            .entry(acceptance.hash)
            .or_default()
            .push(acceptance);
    }
    for unknown in &requests.unknown {
        let is_committed = committed
            .get(&unknown.hash)
            .is_some_and(|at| *at < unknown.began);
        let holds = |acceptance: &&Acceptance| {
            // A client may record the acceptance of a node that is dead already.
            let is_killed = requests.kills.iter().any(|kill| {
                kill.node == acceptance.node
                    && acceptance.at <= kill.ended
                    && kill.began <= unknown.ended
            });
            acceptance.at < unknown.began && !is_killed
        };
        let holder = accepted
            .get(&unknown.hash)
            .and_then(|accepted| accepted.iter().find(holds));
        if is_committed || holder.is_some() {
            return Err(format!(
                "false 404 of {} at {:?}; committed: {is_committed}, held by {holder:?}",
                unknown.hash, unknown.node
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
