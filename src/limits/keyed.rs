//! Permits per key, so that one client cannot use all of them.

use foldhash::quality::RandomState;
use std::{
    collections::{HashMap, hash_map::Entry},
    hash::Hash,
    net::{IpAddr, Ipv6Addr},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

/// Length of the network part of an IPv6 address, in bits. A client that has one address of a
/// network of this length has all of them (RFC 6177).
const IPV6_NETWORK_BITS: u32 = 64;

/// A limit on the number of concurrently held [`KeyedPermit`]s of each key.
///
/// It has an entry per key with a permit, so its size is bounded by the number of permits that the
/// caller can hold in all.
#[derive(Debug)]
pub struct KeyedLimit<K> {
    /// Relaxed, because it orders no other memory.
    max: AtomicUsize,
    held: Mutex<HashMap<K, usize, RandomState>>,
}

impl<K: Hash + Eq + Clone> KeyedLimit<K> {
    /// Creates a limit of `max` permits for each key.
    pub fn new(max: usize) -> Self {
        Self {
            max: AtomicUsize::new(max),
            held: Mutex::default(),
        }
    }

    /// Returns the maximum number of permits of a key.
    pub fn max(&self) -> usize {
        self.max.load(Relaxed)
    }

    /// Changes the maximum number of permits of a key. Permits that are held beyond it stay valid.
    pub fn set_max(&self, max: usize) {
        self.max.store(max, Relaxed);
    }

    /// Acquires a permit of `key`, or returns `None` if the key has `max` permits.
    pub fn try_acquire(self: &Arc<Self>, key: K) -> Option<KeyedPermit<K>> {
        let max = self.max();
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        match held.entry(key.clone()) {
            Entry::Occupied(mut count) if *count.get() < max => *count.get_mut() += 1,
            Entry::Vacant(vacant) if max > 0 => {
                vacant.insert(1);
            }
            _ => return None,
        }
        Some(KeyedPermit {
            limit: Arc::clone(self),
            key,
        })
    }
}

/// One permit of a key of a [`KeyedLimit`], released when it is dropped.
#[derive(Debug)]
pub struct KeyedPermit<K: Hash + Eq> {
    limit: Arc<KeyedLimit<K>>,
    key: K,
}

impl<K: Hash + Eq> Drop for KeyedPermit<K> {
    fn drop(&mut self) {
        let mut held = self
            .limit
            .held
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = held.get_mut(&self.key) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                held.remove(&self.key);
            }
        }
    }
}

/// Returns the address that identifies all addresses of a client: an IPv4 address itself, also if
/// it is mapped to IPv6, and the network of an IPv6 address.
pub fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            let mask = u128::MAX << (Ipv6Addr::BITS - IPV6_NETWORK_BITS);
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & mask))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_each_key_by_itself() {
        let limit = Arc::new(KeyedLimit::new(2));
        let first = limit.try_acquire("a").unwrap();
        let _second = limit.try_acquire("a").unwrap();
        assert!(limit.try_acquire("a").is_none());
        let _other = limit.try_acquire("b").unwrap();
        drop(first);
        let _third = limit.try_acquire("a").unwrap();
        assert!(limit.try_acquire("a").is_none());
    }

    #[test]
    fn keeps_held_permits_when_the_maximum_is_lowered() {
        let limit = Arc::new(KeyedLimit::new(3));
        let permits = [(); 3].map(|()| limit.try_acquire("a").unwrap());
        limit.set_max(2);
        assert!(limit.try_acquire("a").is_none());
        let [first, second, _third] = permits;
        drop(first);
        assert!(limit.try_acquire("a").is_none(), "2 of 2 are held");
        drop(second);
        assert!(limit.try_acquire("a").is_some());
    }

    #[test]
    fn keeps_no_entry_of_a_key_without_permits() {
        let limit = Arc::new(KeyedLimit::new(1));
        drop(limit.try_acquire("a").unwrap());
        let _held = limit.try_acquire("b").unwrap();
        assert_eq!(limit.held.lock().unwrap().len(), 1);
    }

    #[test]
    fn a_zero_limit_leaves_no_entry() {
        let limit = Arc::new(KeyedLimit::new(0));
        assert!(limit.try_acquire("a").is_none());
        assert!(limit.held.lock().unwrap().is_empty());
    }

    #[test]
    fn addresses_of_one_client_have_one_network() {
        let network = |text: &str| network_of(text.parse().unwrap());
        assert_eq!(network("::ffff:10.0.0.1"), network("10.0.0.1"));
        assert_ne!(network("10.0.0.2"), network("10.0.0.1"));
        assert_eq!(network("2001:db8:1:2::1"), network("2001:db8:1:2:ffff::9"));
        assert_ne!(network("2001:db8:1:3::1"), network("2001:db8:1:2::1"));
    }
}
