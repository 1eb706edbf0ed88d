//! Memory that many requests share, counted in bytes: of the bodies that clients send, and of the answers
//! that they have not read yet.
//!
//! What is taken is what is held, and never what a client says that it will send: else a few headers would
//! take all of it. A part stays free for small ones, so that a few clients with large bodies do not shut
//! out the many that submit a transaction.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

/// What is no larger than this may use all of a budget: a transaction of the largest size that chains
/// take by default, or a page of a listing.
pub(crate) const SMALL_BYTES_MAX: usize = 64 * 1024;

/// The part of a budget that larger ones leave free.
const KEPT_FOR_SMALL: usize = 4;

/// A number of bytes, of which [`Share`]s are taken. Clones are the same budget.
///
/// Its count orders no other memory, hence relaxed.
#[derive(Clone, Debug)]
pub(crate) struct Budget(Arc<OfThread>);

/// A thread's way to what all count in common: how many shares have it is counted by each thread for itself.
#[derive(Debug)]
struct OfThread(Arc<Count>);

#[derive(Debug)]
struct Count {
    limit_bytes: usize,
    taken_bytes: AtomicUsize,
}

impl Budget {
    /// Nothing of it is taken.
    pub fn new(limit_bytes: usize) -> Self {
        let count = Count {
            limit_bytes,
            taken_bytes: AtomicUsize::new(0),
        };
        Self(Arc::new(OfThread(Arc::new(count))))
    }

    /// The same budget, for the requests of one thread.
    pub fn for_thread(&self) -> Self {
        Self(Arc::new(OfThread(Arc::clone(&self.0.0))))
    }

    fn count(&self) -> &Count {
        &self.0.0
    }

    /// How much there is.
    pub fn limit_bytes(&self) -> usize {
        self.count().limit_bytes
    }

    /// How much is taken; more than there is where one share alone is larger, or was not asked whether it
    /// fits.
    pub fn taken_bytes(&self) -> usize {
        self.count().taken_bytes.load(Relaxed)
    }

    /// A share without anything.
    pub fn share(&self) -> Share {
        Share {
            budget: self.clone(),
            bytes: AtomicUsize::new(0),
        }
    }

    /// Whether a share of so many bytes would have room now. A single one always has, so that what is
    /// allowed for one request can always be sent.
    pub fn has_room(&self, share_bytes: usize) -> bool {
        self.allows(self.taken_bytes(), 0, share_bytes)
    }

    /// Whether a share may grow from `held` to `share_bytes` while `taken` are taken, `held` included.
    fn allows(&self, taken: usize, held: usize, share_bytes: usize) -> bool {
        let others = taken.saturating_sub(held);
        let limit = match share_bytes {
            0..=SMALL_BYTES_MAX => self.limit_bytes(),
            _ => self.limit_bytes() - self.limit_bytes() / KEPT_FOR_SMALL,
        };
        others == 0 || others.saturating_add(share_bytes) <= limit
    }
}

/// What one request holds of a budget; given back when dropped.
#[derive(Debug)]
pub(crate) struct Share {
    budget: Budget,
    bytes: AtomicUsize,
}

impl Share {
    /// How much it is.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Relaxed)
    }

    /// Takes more; false where there is no room.
    pub fn grow(&self, by_bytes: usize) -> bool {
        let held = self.bytes.load(Relaxed);
        let wanted = held.saturating_add(by_bytes);
        let budget = &self.budget;
        let grown = budget
            .count()
            .taken_bytes
            .fetch_update(Relaxed, Relaxed, |taken| {
                budget
                    .allows(taken, held, wanted)
                    .then(|| taken.saturating_add(by_bytes))
            });
        if grown.is_ok() {
            self.bytes.store(wanted, Relaxed);
        }
        grown.is_ok()
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.budget
            .count()
            .taken_bytes
            .fetch_sub(*self.bytes.get_mut(), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGE: usize = SMALL_BYTES_MAX + 1;

    #[test]
    fn shares_grow_to_the_limit_and_give_back_what_they_had() {
        let budget = Budget::new(1_000);
        let (one, other) = (budget.share(), budget.for_thread().share());
        assert!(one.grow(600) && other.grow(300) && other.grow(100));
        assert_eq!(budget.taken_bytes(), 1_000);
        assert!(!other.grow(1) && !one.grow(1));
        assert_eq!(
            budget.taken_bytes(),
            1_000,
            "what has no room takes nothing"
        );
        drop(one);
        assert_eq!(budget.taken_bytes(), 400);
        assert!(other.grow(1));
        drop(other);
        assert_eq!(budget.taken_bytes(), 0);
    }

    #[test]
    fn a_single_share_has_room_whatever_its_size() {
        let budget = Budget::new(10);
        assert!(budget.has_room(11));
        let single = budget.share();
        assert!(single.grow(6) && single.grow(6), "alone");
        assert!(!budget.has_room(1) && !budget.share().grow(1));
        drop(single);
        assert!(budget.share().grow(1));
    }

    #[test]
    fn a_part_is_kept_for_small_ones() {
        let budget = Budget::new(4 * LARGE);
        let large: Vec<_> = (0..4).map(|_| budget.share()).collect();
        let taken = large.iter().filter(|share| share.grow(LARGE)).count();
        assert_eq!(taken, 3, "the fourth part is kept");
        assert!(!budget.has_room(LARGE) && budget.has_room(SMALL_BYTES_MAX));
        let small = budget.share();
        assert!(small.grow(SMALL_BYTES_MAX));
        assert!(!small.grow(1), "it grows beyond what is small");
    }
}
