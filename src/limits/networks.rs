//! Lists of networks: those of trusted proxies, and those whose clients are denied.

use ipnet::IpNet;
use std::{fmt, net::IpAddr, str::FromStr, sync::Arc};

/// A list of networks, by default an empty one.
///
/// Clones share the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Networks(Arc<[IpNet]>);

impl Networks {
    /// Maximum number of networks. Each is compared with the address of every request.
    pub const COUNT_MAX: usize = 64;

    /// Returns whether an address is in one of the networks. An IPv4 address that is mapped to IPv6
    /// counts as the IPv4 address.
    pub fn contain(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }

    /// Returns the networks, each in CIDR notation.
    pub fn iter(&self) -> impl Iterator<Item = impl fmt::Display> {
        self.0.iter()
    }

    /// Returns these networks and after them those of `others`, each once. There may be more than
    /// [`Self::COUNT_MAX`].
    #[must_use]
    pub fn with(&self, others: &Self) -> Self {
        let others = others.0.iter().filter(|other| !self.0.contains(other));
        Self(self.0.iter().chain(others).copied().collect())
    }

    /// Returns these networks without those of `others`.
    #[must_use]
    pub fn without(&self, others: &Self) -> Self {
        let rest = self.0.iter().filter(|network| !others.0.contains(network));
        Self(rest.copied().collect())
    }
}

/// Parses a list of networks in CIDR notation, separated by commas. An address without a prefix
/// length is a network of its own. Bits of an address below the prefix are ignored.
impl FromStr for Networks {
    type Err = NoNetworks;

    fn from_str(text: &str) -> Result<Self, NoNetworks> {
        let parts = text.split(',').map(str::trim).filter(|_| !text.is_empty());
        let networks: Option<Vec<_>> = parts.take(Self::COUNT_MAX + 1).map(network).collect();
        match networks {
            Some(networks) if networks.len() <= Self::COUNT_MAX => Ok(Self(networks.into())),
            _ => Err(NoNetworks),
        }
    }
}

fn network(text: &str) -> Option<IpNet> {
    let network = match text.parse::<IpAddr>() {
        Ok(address) => IpNet::from(address),
        Err(_) => text.parse().ok()?,
    };
    Some(network.trunc())
}

/// Writes the networks in CIDR notation, separated by commas.
impl fmt::Display for Networks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for network in &*self.0 {
            write!(f, "{separator}{network}")?;
            separator = ",";
        }
        Ok(())
    }
}

/// The text is not a list of networks.
#[derive(Debug, PartialEq, Eq)]
pub struct NoNetworks;

/// Describes the accepted texts.
impl fmt::Display for NoNetworks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "up to {} networks such as 10.0.0.0/8 or 2001:db8::/32, separated by commas, or \"\" \
             for none",
            Networks::COUNT_MAX
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contain(proxies: &str, address: &str) -> bool {
        let proxies: Networks = proxies.parse().unwrap();
        proxies.contain(address.parse().unwrap())
    }

    #[test]
    fn contains_the_addresses_of_its_networks_only() {
        let proxies = "10.0.0.0/8, 192.0.2.7,2001:db8::/32";
        for inside in [
            "10.255.0.1",
            "::ffff:10.0.0.1",
            "192.0.2.7",
            "2001:db8:1::1",
        ] {
            assert!(contain(proxies, inside), "{inside}");
        }
        for outside in ["11.0.0.1", "192.0.2.8", "2001:db9::1", "::1"] {
            assert!(!contain(proxies, outside), "{outside}");
        }
        assert!(!contain("", "127.0.0.1"), "there are none by default");
    }

    #[test]
    fn writes_the_networks_that_it_has_parsed() {
        for (text, written) in [
            ("", ""),
            ("127.0.0.1", "127.0.0.1/32"),
            (" 10.1.2.3/8 ,::1", "10.0.0.0/8,::1/128"),
        ] {
            let proxies: Networks = text.parse().unwrap();
            assert_eq!(proxies.to_string(), written);
            assert_eq!(proxies.to_string().parse(), Ok(proxies));
        }
    }

    #[test]
    fn adds_and_removes_networks() {
        let networks = |text: &str| text.parse::<Networks>().unwrap();
        let both = networks("192.0.2.7").with(&networks("10.0.0.0/8,192.0.2.7"));
        assert_eq!(both, networks("192.0.2.7,10.0.0.0/8"));
        assert_eq!(both.without(&networks("192.0.2.7")), networks("10.0.0.0/8"));
        assert_eq!(both.without(&networks("192.0.2.8")), both);
        assert_eq!(both.iter().count(), 2);
    }

    #[test]
    fn rejects_other_texts_and_too_many_networks() {
        let of = |count: usize| vec!["10.0.0.0/8"; count].join(",");
        assert!(of(Networks::COUNT_MAX).parse::<Networks>().is_ok());
        let too_many = of(Networks::COUNT_MAX + 1);
        for text in [
            "proxy",
            "10.0.0.0/33",
            "10.0.0/8",
            "::/129",
            ",",
            "1.2.3.4,",
            &too_many,
        ] {
            assert_eq!(text.parse::<Networks>(), Err(NoNetworks), "{text}");
        }
    }
}
