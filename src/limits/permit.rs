//! Counting permits.

use std::{
    ops::Deref,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

/// A limit on the number of concurrently held [`Permit`]s.
///
/// Its counts order no other memory, so they are relaxed.
#[derive(Debug)]
pub struct Limit {
    max: AtomicUsize,
    held: AtomicUsize,
}

impl Limit {
    /// Creates a limit of `max` permits, none of which is held.
    pub const fn new(max: usize) -> Self {
        Self {
            max: AtomicUsize::new(max),
            held: AtomicUsize::new(0),
        }
    }

    /// Creates a limit that only counts.
    pub const fn unlimited() -> Self {
        Self::new(usize::MAX)
    }

    /// Returns the maximum number of permits.
    pub fn max(&self) -> usize {
        self.max.load(Relaxed)
    }

    /// Changes the maximum number of permits. Permits that are held beyond it stay valid.
    pub fn set_max(&self, max: usize) {
        self.max.store(max, Relaxed);
    }

    /// Returns the number of permits that are held.
    pub fn held(&self) -> usize {
        self.held.load(Relaxed)
    }

    /// Counts `count` more permits. Returns the number held with them, or `None` if they exceed the
    /// limit.
    pub(crate) fn increase(&self, count: usize) -> Option<usize> {
        let max = self.max();
        let more = |held: usize| held.checked_add(count).filter(|held| *held <= max);
        let before = self.held.fetch_update(Relaxed, Relaxed, more);
        before.ok().map(|before| before + count)
    }

    /// Counts `count` more permits while one is free, so that they may exceed the limit. Returns
    /// the number held with them, or `None` if the limit is reached without them.
    fn increase_if_free(&self, count: usize) -> Option<usize> {
        let max = self.max();
        let more = |held: usize| (held < max).then(|| held.saturating_add(count));
        let before = self.held.fetch_update(Relaxed, Relaxed, more);
        before.ok().map(|before| before.saturating_add(count))
    }

    /// Counts `count` permits less.
    pub(crate) fn decrease(&self, count: usize) {
        self.held.fetch_sub(count, Relaxed);
    }
}

impl Default for Limit {
    /// Creates a limit that only counts, as [`Limit::unlimited`] does.
    fn default() -> Self {
        Self::unlimited()
    }
}

/// One or several permits of a [`Limit`], released together when they are dropped.
///
/// `H` is the handle that leads to the limit, such as `Arc<Limit>` or `&Limit`. A handle with a
/// reference count per thread spares threads the contention for a shared count.
#[derive(Debug)]
pub struct Permit<H: Deref<Target = Limit>> {
    handle: H,
    count: usize,
}

impl<H: Deref<Target = Limit>> Permit<H> {
    /// Acquires one permit, or returns `None` if the limit is reached.
    pub fn try_acquire(handle: H) -> Option<Self> {
        Self::try_acquire_all(handle, 1)
    }

    /// Acquires `count` permits, or returns `None` and acquires none if they exceed the limit.
    pub fn try_acquire_all(handle: H, count: usize) -> Option<Self> {
        handle.increase(count)?;
        Some(Self { handle, count })
    }

    /// Acquires `count` permits while at least one is free, so that a limit never excludes many
    /// permits for good: those that are held may exceed it by `count - 1`.
    ///
    /// Returns them with the number of permits held at that moment, themselves included, or `None`
    /// if the limit is reached.
    pub fn try_acquire_counted(handle: H, count: usize) -> Option<(Self, usize)> {
        let held = handle.increase_if_free(count)?;
        Some((Self { handle, count }, held))
    }

    /// Acquires one permit, also if the limit is reached: for a limit that only counts, or one that
    /// the caller checks.
    pub fn acquire(handle: H) -> Self {
        Self::acquire_many(handle, 1)
    }

    /// Acquires `count` permits, also if the limit is reached: for a limit that only counts.
    pub fn acquire_many(handle: H, count: usize) -> Self {
        handle.held.fetch_add(count, Relaxed);
        Self { handle, count }
    }
}

impl<H: Deref<Target = Limit>> Drop for Permit<H> {
    fn drop(&mut self) {
        self.handle.decrease(self.count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{sync::Arc, thread};

    #[test]
    fn grants_many_permits_while_one_is_free_and_releases_them_together() {
        let limit = Limit::new(3);
        let (first, held) = Permit::try_acquire_counted(&limit, 2).unwrap();
        assert_eq!(held, 2);
        let (last, held) = Permit::try_acquire_counted(&limit, 5).unwrap();
        assert_eq!((held, limit.held()), (7, 7), "one permit was free");
        assert!(Permit::try_acquire_counted(&limit, 1).is_none());
        drop(first);
        assert!(Permit::try_acquire(&limit).is_none(), "5 of 3 are held");
        drop(last);
        assert_eq!(limit.held(), 0);
    }

    #[test]
    fn grants_permits_up_to_the_maximum_and_again_after_a_release() {
        let limit = Limit::new(2);
        let first = Permit::try_acquire(&limit).unwrap();
        let (_second, held) = Permit::try_acquire_counted(&limit, 1).unwrap();
        assert_eq!(held, 2);
        assert!(Permit::try_acquire(&limit).is_none());
        assert_eq!(limit.held(), 2, "a rejected caller holds nothing");
        drop(first);
        assert!(Permit::try_acquire(&limit).is_some());
    }

    #[test]
    fn counts_permits_beyond_the_maximum() {
        let limit = Limit::new(0);
        let permits = [(); 2].map(|()| Permit::acquire(&limit));
        assert_eq!(limit.held(), 2);
        drop(permits);
        assert_eq!(limit.held(), 0);
    }

    #[test]
    fn keeps_held_permits_when_the_maximum_is_lowered() {
        let limit = Limit::new(3);
        let permits = [(); 3].map(|()| Permit::try_acquire(&limit).unwrap());
        limit.set_max(1);
        assert_eq!((limit.max(), limit.held()), (1, 3));
        assert!(Permit::try_acquire(&limit).is_none());
        drop(permits);
        assert!(Permit::try_acquire(&limit).is_some());
    }

    #[test]
    fn never_grants_more_than_the_maximum_to_concurrent_threads() {
        let limit = Arc::new(Limit::new(3));
        let threads = [(); 4].map(|()| {
            let limit = Arc::clone(&limit);
            thread::spawn(move || {
                let held = (0..10_000).filter_map(|_| {
                    Permit::try_acquire_counted(Arc::clone(&limit), 1).map(|(_, held)| held)
                });
                held.max().unwrap()
            })
        });
        for thread in threads {
            assert!(thread.join().unwrap() <= 3);
        }
        assert_eq!(limit.held(), 0);
    }
}
