//! Networks of trusted proxies.

use ipnet::IpNet;
use std::{fmt, net::IpAddr, str::FromStr, sync::Arc};

/// The networks of proxies whose forwarding headers are believed. By default there are none.
///
/// Clones share the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrustedProxies(Arc<[IpNet]>);

impl TrustedProxies {
    /// Maximum number of networks. Each is compared with the peer of every request.
    pub const COUNT_MAX: usize = 64;

    /// Returns whether an address is in one of the networks. An IPv4 address that is mapped to IPv6
    /// counts as the IPv4 address.
    pub fn contain(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }
}

/// Parses a list of networks in CIDR notation, separated by commas. An address without a prefix
/// length is a network of its own. Bits of an address below the prefix are ignored.
impl FromStr for TrustedProxies {
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
impl fmt::Display for TrustedProxies {
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
            TrustedProxies::COUNT_MAX
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contain(proxies: &str, address: &str) -> bool {
        let proxies: TrustedProxies = proxies.parse().unwrap();
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
            let proxies: TrustedProxies = text.parse().unwrap();
            assert_eq!(proxies.to_string(), written);
            assert_eq!(proxies.to_string().parse(), Ok(proxies));
        }
    }

    #[test]
    fn rejects_other_texts_and_too_many_networks() {
        let of = |count: usize| vec!["10.0.0.0/8"; count].join(",");
        assert!(
            of(TrustedProxies::COUNT_MAX)
                .parse::<TrustedProxies>()
                .is_ok()
        );
        let too_many = of(TrustedProxies::COUNT_MAX + 1);
        for text in [
            "proxy",
            "10.0.0.0/33",
            "10.0.0/8",
            "::/129",
            ",",
            "1.2.3.4,",
            &too_many,
        ] {
            assert_eq!(text.parse::<TrustedProxies>(), Err(NoNetworks), "{text}");
        }
    }
}
