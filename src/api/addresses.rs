//! How many connections or requests an address has: one that floods is to leave places to the others.

use ledger::map::HashMap;
use std::{
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, Mutex, PoisonError},
};

/// The bits of an IPv6 address that name its network: whoever has one address there has all of them
/// (RFC 6177), so that they count as one.
const NETWORK_BITS: u32 = 64;

/// How many each address has that has any. Never more entries than places.
#[derive(Debug)]
pub struct Addresses {
    max: usize,
    taken: Mutex<HashMap<IpAddr, usize>>,
}

impl Addresses {
    /// Lets each address have so many.
    pub fn new(max: usize) -> Self {
        Self {
            max,
            taken: Mutex::default(),
        }
    }

    /// A place for one more of this address, given back when dropped; `None` where it has as many
    /// as it may have.
    pub fn place(self: &Arc<Self>, address: IpAddr) -> Option<AddressPlace> {
        let address = network(address);
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let count = taken.entry(address).or_default();
        if *count >= self.max {
            return None;
        }
        *count += 1;
        Some(AddressPlace {
            addresses: Arc::clone(self),
            address,
        })
    }
}

/// What an address counts as.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            let mask = u128::MAX << (Ipv6Addr::BITS - NETWORK_BITS);
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & mask))
        }
    }
}

/// The place of one connection or request.
#[derive(Debug)]
pub struct AddressPlace {
    addresses: Arc<Addresses>,
    address: IpAddr,
}

impl Drop for AddressPlace {
    fn drop(&mut self) {
        let mut taken = self
            .addresses
            .taken
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = taken.get_mut(&self.address) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                taken.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_has_its_own_places_and_gets_them_back() {
        let addresses = Arc::new(Addresses::new(2));
        let place = |text: &str| addresses.place(text.parse().unwrap());
        let first = place("10.0.0.1").unwrap();
        let _second = place("::ffff:10.0.0.1").unwrap();
        assert!(place("10.0.0.1").is_none());
        let other = place("10.0.0.2").unwrap();
        drop(first);
        let _third = place("10.0.0.1").unwrap();
        assert!(place("10.0.0.1").is_none());
        drop(other);
        assert_eq!(
            addresses.taken.lock().unwrap().len(),
            1,
            "nothing is kept of who has gone"
        );
    }

    #[test]
    fn a_network_of_ipv6_counts_as_one_address() {
        let addresses = Arc::new(Addresses::new(1));
        let place = |text: &str| addresses.place(text.parse().unwrap());
        let _first = place("2001:db8:1:2::1").unwrap();
        assert!(place("2001:db8:1:2:ffff::9").is_none());
        assert!(place("2001:db8:1:3::1").is_some());
    }
}
