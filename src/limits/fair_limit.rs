//! Counting permits that clients share.

use crate::{ClientKey, Limit};
use std::{
    iter,
    ops::Deref,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

/// A limit on the number of concurrently held [`FairPermit`]s. No client can hold all of them.
///
/// A client may hold at most [`Self::per_free`] times as many permits as are free. With `k` for
/// that number, a client alone may hold `k` parts of `k + 1`, and each of `n` clients that all want
/// more `k` parts of `n * k + 1`. The free part admits the next client immediately.
#[derive(Debug)]
pub struct FairLimit {
    all: Limit,
    of_clients: Box<[AtomicUsize]>,
    per_free: usize,
}

impl FairLimit {
    /// Creates a limit of `max` permits, none of which is held. A client may hold `per_free` times
    /// as many as are free.
    pub fn new(max: usize, per_free: usize) -> Self {
        let zeros = iter::repeat_with(AtomicUsize::default);
        Self {
            all: Limit::new(max),
            of_clients: zeros.take(ClientKey::COUNT).collect(),
            per_free,
        }
    }

    /// Returns the maximum number of permits of all clients.
    pub fn max(&self) -> usize {
        self.all.max()
    }

    /// Changes the maximum number of permits of all clients. Permits that are held beyond it stay
    /// valid.
    pub fn set_max(&self, max: usize) {
        self.all.set_max(max);
    }

    /// Returns the number of permits that are held.
    pub fn held(&self) -> usize {
        self.all.held()
    }

    /// Returns the number of permits that a client may hold for each one that is free.
    pub fn per_free(&self) -> usize {
        self.per_free
    }

    fn of_client(&self, client: ClientKey) -> &AtomicUsize {
        &self.of_clients[client.index()]
    }
}

/// One or several permits of a [`FairLimit`], released in parts or when they are dropped.
///
/// `H` is the handle that leads to the limit, as in [`Permit`](crate::Permit).
#[derive(Debug)]
pub struct FairPermit<H: Deref<Target = FairLimit>> {
    handle: H,
    client: ClientKey,
    count: usize,
}

impl<H: Deref<Target = FairLimit>> FairPermit<H> {
    /// Acquires one permit for `client`. Returns `None` if the limit is reached, or if the client
    /// holds its part of it.
    pub fn try_acquire(handle: H, client: ClientKey) -> Option<Self> {
        Self::try_acquire_all(handle, client, 1)
    }

    /// Acquires `count` permits for `client` if it could acquire them one after the other.
    /// Otherwise returns `None` and acquires none.
    pub fn try_acquire_all(handle: H, client: ClientKey, count: usize) -> Option<Self> {
        let held = handle.all.increase(count)?;
        let own = handle.of_client(client).fetch_add(count, Relaxed);
        // Dropped again, which releases them, if the client has no right to the last one.
        let permit = Self {
            handle,
            client,
            count,
        };
        let free = (permit.handle.max() + 1).saturating_sub(held);
        let is_part = own + count <= free.saturating_mul(permit.handle.per_free);
        (count == 0 || is_part).then_some(permit)
    }

    /// Returns the number of permits.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Releases `count` of the permits, or all if there are fewer.
    pub fn release(&mut self, count: usize) {
        let released = count.min(self.count);
        self.count -= released;
        let of_client = self.handle.of_client(self.client);
        of_client.fetch_sub(released, Relaxed);
        self.handle.all.decrease(released);
    }
}

impl<H: Deref<Target = FairLimit>> Drop for FairPermit<H> {
    fn drop(&mut self) {
        self.release(self.count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn client(index: usize) -> ClientKey {
        ClientKey(u16::try_from(index).unwrap())
    }

    /// Acquires permits until the client gets no more.
    fn take_all(limit: &FairLimit, index: usize) -> Vec<FairPermit<&FairLimit>> {
        iter::from_fn(|| FairPermit::try_acquire(limit, client(index))).collect()
    }

    #[test]
    fn leaves_permits_to_the_next_client() {
        for (max, per_free, parts) in [
            (8, 1, [4, 2, 1, 1]),
            (800, 7, [700, 88, 11, 1]),
            (1, 1, [1, 0, 0, 0]),
            (0, 7, [0; 4]),
        ] {
            let limit = FairLimit::new(max, per_free);
            let held: Vec<_> = (0..4).map(|index| take_all(&limit, index)).collect();
            assert_eq!(held.iter().map(Vec::len).collect::<Vec<_>>(), parts);
            drop(held);
            assert_eq!(limit.held(), 0);
        }
    }

    #[test]
    fn parts_of_greedy_clients_become_equal() {
        const CLIENTS: usize = 3;
        let limit = FairLimit::new(700, 7);
        let mut held: Vec<_> = (0..CLIENTS).map(|index| take_all(&limit, index)).collect();
        // Each releases a tenth, and then all take permits in turns.
        for _ in 0..60 {
            for permits in &mut held {
                permits.truncate(permits.len() * 9 / 10);
            }
            let mut acquired = true;
            while acquired {
                acquired = false;
                for (index, permits) in held.iter_mut().enumerate() {
                    let permit = FairPermit::try_acquire(&limit, client(index));
                    acquired |= permit.is_some();
                    permits.extend(permit);
                }
            }
        }
        let counts: Vec<_> = held.iter().map(Vec::len).collect();
        let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
        assert!(most - least <= most / 5, "{counts:?}");
    }

    #[test]
    fn acquires_many_permits_if_it_could_acquire_them_one_by_one() {
        for (max, per_free) in [(8, 1), (16, 7), (5, 7), (1, 1), (0, 7)] {
            for held in 0..=max {
                for count in 0..=max + 1 {
                    let limit = FairLimit::new(max, per_free);
                    let singles = || FairPermit::try_acquire(&limit, client(1));
                    let before: Vec<_> = iter::from_fn(singles).take(held).collect();
                    let one_by_one = iter::from_fn(singles).take(count);
                    let one_by_one = one_by_one.collect::<Vec<_>>().len();
                    let expected = limit.held();
                    let many = FairPermit::try_acquire_all(&limit, client(1), count);
                    assert_eq!(many.is_some(), one_by_one == count, "{max} {held} {count}");
                    let counted = many.as_ref().map_or(0, FairPermit::count);
                    assert_eq!(limit.held(), expected + counted);
                    drop((many, before));
                    assert_eq!(limit.held(), 0);
                }
            }
        }
    }

    #[test]
    fn follows_a_changed_maximum() {
        let limit = FairLimit::new(8, 1);
        let mut held = take_all(&limit, 1);
        limit.set_max(4);
        assert!(FairPermit::try_acquire(&limit, client(2)).is_none());
        held.truncate(1);
        assert!(FairPermit::try_acquire(&limit, client(2)).is_some());
        limit.set_max(16);
        held.extend(take_all(&limit, 1));
        assert_eq!(held.len(), 8);
    }

    #[test]
    fn releases_permits_in_parts() {
        let limit = FairLimit::new(80, 7);
        let mut many = FairPermit::try_acquire_all(&limit, client(1), 70).unwrap();
        assert!(FairPermit::try_acquire(&limit, client(1)).is_none());
        many.release(20);
        assert_eq!((many.count(), limit.held()), (50, 50));
        assert!(FairPermit::try_acquire(&limit, client(1)).is_some());
        many.release(100);
        assert_eq!((many.count(), limit.held()), (0, 0));
    }

    proptest! {
        #[test]
        fn a_client_without_permits_gets_every_free_one(
            steps in prop::collection::vec((0..8usize, any::<bool>()), 1..400),
            max in 1..20usize,
            per_free in 1..9usize,
        ) {
            let limit = FairLimit::new(max, per_free);
            let mut held: Vec<Vec<_>> = (0..8).map(|_| Vec::new()).collect();
            for (index, releases) in steps {
                if releases {
                    held[index].pop();
                    continue;
                }
                let (free, own) = (max - limit.held(), held[index].len());
                let permit = FairPermit::try_acquire(&limit, client(index));
                prop_assert_eq!(permit.is_some(), own < per_free * free);
                held[index].extend(permit);
                prop_assert_eq!(limit.held(), held.iter().map(Vec::len).sum::<usize>());
            }
        }
    }
}
