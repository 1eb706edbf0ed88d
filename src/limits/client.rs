//! Classes of client addresses, so that the state for each client has a constant size.

use crate::network_of;
use foldhash::quality::RandomState;
use std::{hash::BuildHasher as _, net::IpAddr};

/// One of [`ClientKey::COUNT`] classes of client addresses. Clients of one class share their turns
/// and their part of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientKey(pub(crate) u16);

impl ClientKey {
    /// Number of classes. With 1,024 of them, a client shares its class with one of ten busy
    /// clients in a hundredth of all cases, and the state of an idle queue stays below 300 KB.
    pub const COUNT: usize = 1024;

    /// The class of the node's own work, and of requests without an address.
    pub const NODE: Self = Self(0);

    /// Returns the number of the class, less than [`Self::COUNT`].
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// The assignment of addresses to classes, with a secret of the process: a client can neither
/// choose the class of its address nor find addresses of all classes.
#[derive(Clone, Debug, Default)]
pub struct ClientKeys(RandomState);

impl ClientKeys {
    /// Returns the class of an address. All addresses of one [`network_of`] have the same class,
    /// which is never [`ClientKey::NODE`].
    pub fn key_of(&self, address: IpAddr) -> ClientKey {
        const CLASSES: u64 = ClientKey::COUNT as u64 - 1;
        let class = 1 + self.0.hash_one(network_of(address)) % CLASSES;
        ClientKey(u16::try_from(class).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{collections::BTreeSet, net::Ipv4Addr};

    #[test]
    fn addresses_of_one_network_have_one_class() {
        let keys = ClientKeys::default();
        let key = |text: &str| keys.key_of(text.parse().unwrap());
        assert_eq!(key("2001:db8::1"), key("2001:db8::2"));
        assert_eq!(key("::ffff:10.0.0.1"), key("10.0.0.1"));
    }

    #[test]
    fn addresses_use_all_classes_but_that_of_the_node() {
        let keys = ClientKeys::default();
        let classes: BTreeSet<_> = (0..100_000)
            .map(|number| keys.key_of(Ipv4Addr::from_bits(number).into()))
            .collect();
        assert_eq!(classes.len(), ClientKey::COUNT - 1);
        assert!(!classes.contains(&ClientKey::NODE));
        assert!(classes.iter().all(|key| key.index() < ClientKey::COUNT));
    }

    #[test]
    fn processes_assign_classes_differently() {
        let (one, other) = (ClientKeys::default(), ClientKeys::default());
        let differ = |number| {
            let address = Ipv4Addr::from_bits(number).into();
            one.key_of(address) != other.key_of(address)
        };
        assert!((0..100).any(differ));
    }
}
