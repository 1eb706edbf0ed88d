//! The addresses whose requests the operator denies.

use crate::error::ErrorKind;
use arc_swap::ArcSwap;
use ledger_limits::Networks;
use ledger_metrics::{Counter, Metric as _};
use std::net::IpAddr;

/// The networks whose requests are rejected, at the start those of `api.denied_addresses`.
#[derive(Debug)]
pub struct DeniedAddresses {
    networks: ArcSwap<Networks>,
    rejected: Counter,
}

impl DeniedAddresses {
    /// Creates the list of a configuration.
    pub(crate) fn new(networks: Networks) -> Self {
        Self {
            networks: ArcSwap::from_pointee(networks),
            rejected: Counter::default(),
        }
    }

    /// Returns the networks.
    pub fn networks(&self) -> Networks {
        Networks::clone(&self.networks.load())
    }

    /// Replaces the networks for requests that begin from now on.
    pub fn set(&self, networks: Networks) {
        self.networks.store(networks.into());
    }

    /// Returns the number of requests that were rejected since the start.
    pub fn rejected(&self) -> u64 {
        self.rejected.snapshot()
    }

    /// Checks that the requests of an address are not denied, and counts a request that is.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::AddressDenied`] if the address is in one of the networks.
    pub(crate) fn check(&self, address: IpAddr) -> Result<(), ErrorKind> {
        if !self.networks.load().contain(address) {
            return Ok(());
        }
        self.rejected.increment();
        Err(ErrorKind::AddressDenied)
    }
}
