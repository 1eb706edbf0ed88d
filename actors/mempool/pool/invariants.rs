//! Invariants of the pool.

use super::{
    Pool,
    entry::{Amount, Entry},
    groups::Groups,
};
use crate::protocol::mempool::PoolKey;
use ledger_types::ReplayProtector::{Nonce, SequenceNumber};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Recomputes every index of the pool from its accounts and compares it with the pool's own.
pub(super) fn check_indices(pool: &Pool) {
    let mut total = Amount::default();
    let mut parked = Amount::default();
    let mut ready = BTreeSet::new();
    let mut expiries = BTreeSet::new();
    let mut accounts_with_parked = BTreeSet::new();
    let mut hashes = HashSet::new();
    let mut groups = Groups::default();
    for (&address, account) in &pool.accounts {
        assert!(!account.is_empty());
        let mut account_waiting_by_price = BTreeMap::<u64, usize>::new();
        for entry in account.entries() {
            assert_eq!(PoolKey::of(entry.transaction.raw()).sender, address);
            hashes.insert(entry.transaction.hash());
            assert!(entry.cost_usecs > 0);
            total.add(Amount::of(entry));
            groups.add(entry);
            if !entry.is_taken {
                *account_waiting_by_price.entry(entry.price()).or_default() += 1;
                expiries.insert(entry.expiry_key());
                match PoolKey::of(entry.transaction.raw()).protector {
                    Nonce(_) => drop(ready.insert(entry.ready_key())),
                    SequenceNumber(number) if number > account.sequence().first_gap() => {
                        parked.add(Amount::of(entry));
                        accounts_with_parked.insert(address);
                    }
                    SequenceNumber(_) => {}
                }
            }
        }
        assert_eq!(account.waiting_counts(), account_waiting_by_price);
        ready.extend(account.sequence().head().map(Entry::ready_key));
    }
    assert_eq!(hashes, pool.by_hash.keys().copied().collect());
    assert_eq!((total, parked), (pool.total, pool.parked));
    assert_eq!(groups, pool.groups);
    assert_eq!(ready, pool.account_queue.keys());
    assert_eq!(expiries, pool.expiries.keys().copied().collect());
    assert_eq!(accounts_with_parked, pool.accounts_with_parked);
    for (insertion, tracked) in &pool.from_clients {
        let PoolKey { sender, protector } = PoolKey::of(tracked.raw());
        let entry = pool.accounts[&sender].get(protector).unwrap();
        assert_eq!((entry.insertion, &entry.transaction), (*insertion, tracked));
    }
    let limits = &pool.limits;
    assert_eq!(pool.len(), total.count);
    assert!(total.count <= limits.capacity_transactions && total.bytes <= limits.capacity_bytes);
    assert!(total.usecs <= limits.capacity_time_ms * 1_000);
    for account in pool.accounts.values() {
        assert!(account.sequence().len() <= limits.capacity_per_account);
        assert!(account.orderless_len() <= limits.capacity_per_account_orderless);
    }
}
