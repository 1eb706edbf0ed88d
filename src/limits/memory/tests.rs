//! Tests of the parts of clients, of waiting leases, and of the bytes that are held.

use super::*;
use crate::ReachedLimit;
use futures::poll;
use std::{iter, task::Poll};

const LARGE_BYTES: usize = SMALL_LEASE_BYTES_MAX + 1;

#[test]
fn leases_grow_to_the_limit_and_release_their_bytes() {
    let budget = MemoryBudget::new(1_000);
    let (one, other) = (
        budget.lease(ClientKey::NODE),
        budget.for_thread().lease(ClientKey::NODE),
    );
    assert!(one.try_grow(600) && other.try_grow(300) && other.try_grow(100));
    assert_eq!(budget.held_bytes(), 1_000);
    assert!(!other.try_grow(1) && !one.try_grow(1));
    assert_eq!(
        budget.held_bytes(),
        1_000,
        "a rejected growth holds nothing"
    );
    drop(one);
    assert_eq!(budget.held_bytes(), 400);
    assert!(other.try_grow(1));
    let mut other = other;
    other.shrink_to(150);
    assert_eq!((other.bytes(), budget.held_bytes()), (150, 150));
    other.shrink_to(151);
    assert_eq!(other.bytes(), 150, "a lease does not grow");
    other.release();
    assert_eq!((other.bytes(), budget.held_bytes()), (0, 0));
    assert!(other.try_grow(1_000), "a released lease grows again");
    drop(other);
    assert_eq!(budget.held_bytes(), 0);
}

#[test]
fn a_single_lease_may_have_any_size() {
    let budget = MemoryBudget::new(10);
    assert!(budget.has_capacity(11));
    let single = budget.lease(ClientKey::NODE);
    assert!(single.try_grow(6) && single.try_grow(6));
    assert!(!budget.has_capacity(1) && !budget.lease(ClientKey::NODE).try_grow(1));
    drop(single);
    assert!(budget.lease(ClientKey::NODE).try_grow(1));
}

#[test]
fn reserves_a_part_for_small_leases() {
    let budget = MemoryBudget::new(4 * LARGE_BYTES);
    let large: Vec<_> = (0..4).map(|_| budget.lease(ClientKey::NODE)).collect();
    let granted = large
        .iter()
        .filter(|lease| lease.try_grow(LARGE_BYTES))
        .count();
    assert_eq!(granted, 3);
    assert!(!budget.has_capacity(LARGE_BYTES) && budget.has_capacity(SMALL_LEASE_BYTES_MAX));
    let small = budget.lease(ClientKey::NODE);
    assert!(small.try_grow(SMALL_LEASE_BYTES_MAX));
    assert!(!small.try_grow(1), "the lease would no longer be small");
}

fn client(number: u16) -> ClientKey {
    ClientKey(number)
}

/// Returns leases of `bytes` each until the client gets no more.
fn take_all(budget: &MemoryBudget, number: u16, bytes: usize) -> Vec<MemoryLease> {
    let lease = || {
        let lease = budget.lease(client(number));
        lease.try_grow(bytes).then_some(lease)
    };
    iter::from_fn(lease).collect()
}

#[test]
fn a_client_leaves_memory_to_the_next_one() {
    let budget = MemoryBudget::new(1_024 * 1_024);
    let held: Vec<_> = (1..=4)
        .map(|number| take_all(&budget, number, 1_024))
        .collect();
    let counts: Vec<_> = held.iter().map(Vec::len).collect();
    assert_eq!(counts, [512, 256, 128, 64]);
    let large = MemoryBudget::new(64 * LARGE_BYTES);
    let held = take_all(&large, 1, LARGE_BYTES).len();
    assert_eq!(held, 24, "half of three quarters");
}

/// Returns a lease that has waited for `bytes`.
async fn reserved(budget: &MemoryBudget, number: u16, bytes: usize) -> MemoryLease {
    let mut lease = budget.lease(client(number));
    lease.reserve(bytes).await.unwrap();
    lease
}

#[tokio::test]
async fn waiting_leases_are_granted_when_bytes_are_released() {
    let budget = MemoryBudget::new(16 * LARGE_BYTES);
    let mut held = vec![
        reserved(&budget, 1, 8 * LARGE_BYTES).await,
        reserved(&budget, 2, 3 * LARGE_BYTES).await,
    ];
    let mut waiting: Vec<_> = [1, 1, 2]
        .map(|number| Box::pin(reserved(&budget, number, 3 * LARGE_BYTES)))
        .into();
    for waiting in &mut waiting {
        assert!(poll!(waiting).is_pending());
    }
    // A canceled request gets nothing.
    drop(waiting.remove(0));
    held.remove(0);
    for waiting in &mut waiting {
        assert!(poll!(waiting).is_ready());
    }
    drop((held, waiting));
    assert_eq!(budget.held_bytes(), 0);
    assert_eq!(budget.usage().waiting.load(SeqCst), 0);
}

#[tokio::test]
async fn canceled_leases_do_not_delay_the_others_of_their_client() {
    let budget = MemoryBudget::new(16 * LARGE_BYTES);
    let _held = reserved(&budget, 1, 8 * LARGE_BYTES).await;
    let released = reserved(&budget, 2, LARGE_BYTES).await;
    let mut too_large = Box::pin(reserved(&budget, 1, 12 * LARGE_BYTES));
    assert!(poll!(&mut too_large).is_pending());
    let mut small = Box::pin(reserved(&budget, 1, LARGE_BYTES));
    assert!(
        poll!(&mut small).is_pending(),
        "the first one is not overtaken"
    );
    drop(too_large);
    drop(released);
    assert!(poll!(&mut small).is_ready());
}

#[tokio::test]
async fn leases_that_hold_the_part_of_their_client_are_completed_one_by_one() {
    let budget = MemoryBudget::new(64 * LARGE_BYTES);
    let begun = take_all(&budget, 1, LARGE_BYTES);
    let count = begun.len();
    let mut waiting: Vec<_> = begun
        .into_iter()
        .map(|mut lease| {
            Box::pin(async move {
                lease.reserve(18 * LARGE_BYTES).await.unwrap();
                assert!(lease.try_grow(18 * LARGE_BYTES), "reserved bytes fit");
            })
        })
        .collect();
    for _ in 0..=count {
        let mut still_waiting = Vec::new();
        for mut next in waiting {
            if poll!(&mut next).is_pending() {
                still_waiting.push(next);
            }
        }
        waiting = still_waiting;
    }
    assert_eq!((waiting.len(), budget.held_bytes()), (0, 0));
}

#[tokio::test]
async fn a_client_alone_holds_half_of_the_waiting_leases() {
    let budget = MemoryBudget::new(LARGE_BYTES);
    let _held = reserved(&budget, 1, LARGE_BYTES).await;
    let mut leases: Vec<_> = (0..100).map(|_| budget.lease(client(1))).collect();
    let mut waiting = Vec::new();
    let mut rejected = None;
    for lease in &mut leases {
        let mut next = Box::pin(lease.reserve(LARGE_BYTES));
        match poll!(&mut next) {
            Poll::Pending => waiting.push(next),
            Poll::Ready(full) => rejected = full.err(),
        }
    }
    assert_eq!(waiting.len() as u64, WAITING_PER_LIMIT / 2);
    let limit = ReachedLimit::Cost(WAITING_PER_LIMIT * LARGE_BYTES as u64);
    assert_eq!(rejected.map(|full| full.reached), Some(limit));
    let mut other = budget.lease(client(2));
    assert!(poll!(Box::pin(other.reserve(LARGE_BYTES))).is_pending());
}

#[test]
fn no_waiting_lease_misses_a_release_of_another_thread() {
    const LEASES: usize = 2_000;
    let budget = MemoryBudget::new(4 * LARGE_BYTES);
    let threads: Vec<_> = (1..=4)
        .map(|number| {
            let budget = budget.for_thread();
            let runtime = tokio::runtime::Builder::new_current_thread()
                .build()
                .unwrap();
            std::thread::spawn(move || {
                for _ in 0..LEASES {
                    drop(runtime.block_on(reserved(&budget, number, LARGE_BYTES)));
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(budget.held_bytes(), 0);
}

#[tokio::test]
async fn reserved_bytes_are_held_until_they_are_released() {
    let budget = MemoryBudget::new(1_000);
    let mut lease = budget.lease(client(1));
    assert!(lease.try_grow(100));
    lease.reserve(400).await.unwrap();
    assert_eq!((lease.bytes(), budget.held_bytes()), (100, 500));
    assert!(lease.try_grow(300));
    lease.shrink_to(200);
    assert_eq!((lease.bytes(), budget.held_bytes()), (200, 500));
    lease.release_reserve();
    assert_eq!((lease.bytes(), budget.held_bytes()), (200, 200));
    assert!(lease.try_grow(100));
    drop(lease);
    assert_eq!(budget.held_bytes(), 0);
}
