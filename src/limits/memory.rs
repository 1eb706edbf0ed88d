//! Memory that many requests share, counted in bytes.
//!
//! A lease counts the bytes that are held, never the bytes that a client announces: otherwise a few
//! headers could take the whole budget.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

/// Maximum size of a lease that may use all of a budget: a transaction of the largest size that
/// chains accept by default, or a page of a list.
pub const SMALL_LEASE_BYTES_MAX: usize = 64 * 1024;

/// The fraction of a budget, as a divisor, that larger leases leave free. A few clients with large
/// bodies then do not shut out the many that submit a transaction.
const RESERVED_FOR_SMALL: usize = 4;

/// A limit on the bytes that all [`MemoryLease`]s hold together. Clones share the budget.
///
/// Its counts order no other memory, so they are relaxed.
#[derive(Clone, Debug)]
pub struct MemoryBudget(Arc<ThreadHandle>);

/// The handle of one thread. Its reference count is that of the thread's own leases, so that
/// threads do not contend for it.
#[derive(Debug)]
struct ThreadHandle(Arc<Usage>);

/// The limit and the use of a budget.
#[derive(Debug)]
struct Usage {
    limit_bytes: usize,
    held_bytes: AtomicUsize,
}

impl MemoryBudget {
    /// Creates a budget of `limit_bytes`, none of which are held.
    pub fn new(limit_bytes: usize) -> Self {
        let usage = Usage {
            limit_bytes,
            held_bytes: AtomicUsize::new(0),
        };
        Self(Arc::new(ThreadHandle(Arc::new(usage))))
    }

    /// Returns a handle to the same budget with a reference count of its own, for the leases of one
    /// thread.
    pub fn for_thread(&self) -> Self {
        Self(Arc::new(ThreadHandle(Arc::clone(&self.0.0))))
    }

    fn usage(&self) -> &Usage {
        &self.0.0
    }

    /// Returns the size of the budget.
    pub fn limit_bytes(&self) -> usize {
        self.usage().limit_bytes
    }

    /// Returns the bytes that leases hold. They exceed the budget if one lease alone does.
    pub fn held_bytes(&self) -> usize {
        self.usage().held_bytes.load(Relaxed)
    }

    /// Creates an empty lease.
    pub fn lease(&self) -> MemoryLease {
        MemoryLease {
            budget: self.clone(),
            bytes: AtomicUsize::new(0),
        }
    }

    /// Returns whether a new lease could hold this many bytes now. It always can if no other lease
    /// holds any, so that what a single request may be is never rejected by the budget.
    pub fn has_capacity(&self, lease_bytes: usize) -> bool {
        self.allows(self.held_bytes(), 0, lease_bytes)
    }

    /// Returns whether a lease may grow to `lease_bytes` while all leases hold `held`, of which
    /// `own` are its own.
    fn allows(&self, held: usize, own: usize, lease_bytes: usize) -> bool {
        let others = held.saturating_sub(own);
        let limit = match lease_bytes {
            0..=SMALL_LEASE_BYTES_MAX => self.limit_bytes(),
            _ => self.limit_bytes() - self.limit_bytes() / RESERVED_FOR_SMALL,
        };
        others == 0 || others.saturating_add(lease_bytes) <= limit
    }
}

/// Bytes of a [`MemoryBudget`] that one request holds, released when it is dropped.
#[derive(Debug)]
pub struct MemoryLease {
    budget: MemoryBudget,
    bytes: AtomicUsize,
}

impl MemoryLease {
    /// Returns the bytes of the lease.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Relaxed)
    }

    /// Adds bytes to the lease and returns true, or returns false and changes nothing if the budget
    /// has no capacity for them.
    pub fn try_grow(&self, added_bytes: usize) -> bool {
        let own = self.bytes();
        let wanted = own.saturating_add(added_bytes);
        let grown = |held: usize| {
            let is_allowed = self.budget.allows(held, own, wanted);
            is_allowed.then(|| held.saturating_add(added_bytes))
        };
        let usage = self.budget.usage();
        let is_grown = usage
            .held_bytes
            .fetch_update(Relaxed, Relaxed, grown)
            .is_ok();
        if is_grown {
            self.bytes.store(wanted, Relaxed);
        }
        is_grown
    }

    /// Releases the bytes of the lease above `bytes`.
    pub fn shrink_to(&mut self, bytes: usize) {
        let own = self.bytes.get_mut();
        let released_bytes = own.saturating_sub(bytes);
        *own -= released_bytes;
        let usage = self.budget.usage();
        usage.held_bytes.fetch_sub(released_bytes, Relaxed);
    }
}

impl Drop for MemoryLease {
    fn drop(&mut self) {
        let bytes = *self.bytes.get_mut();
        self.budget.usage().held_bytes.fetch_sub(bytes, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGE_BYTES: usize = SMALL_LEASE_BYTES_MAX + 1;

    #[test]
    fn leases_grow_to_the_limit_and_release_their_bytes() {
        let budget = MemoryBudget::new(1_000);
        let (one, other) = (budget.lease(), budget.for_thread().lease());
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
        drop(other);
        assert_eq!(budget.held_bytes(), 0);
    }

    #[test]
    fn a_single_lease_may_have_any_size() {
        let budget = MemoryBudget::new(10);
        assert!(budget.has_capacity(11));
        let single = budget.lease();
        assert!(single.try_grow(6) && single.try_grow(6));
        assert!(!budget.has_capacity(1) && !budget.lease().try_grow(1));
        drop(single);
        assert!(budget.lease().try_grow(1));
    }

    #[test]
    fn reserves_a_part_for_small_leases() {
        let budget = MemoryBudget::new(4 * LARGE_BYTES);
        let large: Vec<_> = (0..4).map(|_| budget.lease()).collect();
        let granted = large
            .iter()
            .filter(|lease| lease.try_grow(LARGE_BYTES))
            .count();
        assert_eq!(granted, 3);
        assert!(!budget.has_capacity(LARGE_BYTES) && budget.has_capacity(SMALL_LEASE_BYTES_MAX));
        let small = budget.lease();
        assert!(small.try_grow(SMALL_LEASE_BYTES_MAX));
        assert!(!small.try_grow(1), "the lease would no longer be small");
    }
}
