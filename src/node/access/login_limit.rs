//! The limit on failed logins of an address.
//!
//! A token has so many values that guessing is hopeless at any rate. The limit keeps attempts from
//! costing anything, and its address alone waits: logins from other addresses continue.

use std::{
    collections::HashMap,
    net::IpAddr,
    time::{Duration, Instant},
};

/// Maximum number of failed logins of an address within [`WINDOW`]: more than the slips of a
/// person.
pub const FAILURES_MAX: u32 = 10;
/// Time in which the failures of an address are counted, from the first one.
const WINDOW: Duration = Duration::from_secs(60);
/// Maximum number of addresses that are counted. Beyond it, the count that began first is dropped.
const ADDRESSES_MAX: usize = 1_024;
/// Minimum time between two log lines about failed logins.
const LINE_INTERVAL: Duration = Duration::from_secs(5);

/// Failures of one address.
#[derive(Debug)]
struct Failures {
    count: u32,
    since: Instant,
}

/// Failed logins by address.
#[derive(Debug, Default)]
pub struct LoginLimit {
    addresses: HashMap<IpAddr, Failures>,
    /// Time of the last log line.
    logged: Option<Instant>,
    /// Failures since the last log line.
    unlogged: u64,
}

impl LoginLimit {
    /// Returns the time after which the address may try again, or `None` if it may do so at `now`.
    pub fn wait(&self, address: IpAddr, now: Instant) -> Option<Duration> {
        let failures = self.addresses.get(&address)?;
        let left = WINDOW.checked_sub(now.saturating_duration_since(failures.since))?;
        (failures.count >= FAILURES_MAX && !left.is_zero()).then_some(left)
    }

    /// Counts a failure at `now`.
    ///
    /// Returns the number of failures since the last log line if another line is due.
    pub fn record_failure(&mut self, address: IpAddr, now: Instant) -> Option<u64> {
        let is_over = |failures: &Failures| now.saturating_duration_since(failures.since) >= WINDOW;
        let is_new = !self.addresses.contains_key(&address);
        if is_new && self.addresses.len() >= ADDRESSES_MAX {
            self.addresses.retain(|_, failures| !is_over(failures));
        }
        if is_new && self.addresses.len() >= ADDRESSES_MAX {
            let first = self
                .addresses
                .iter()
                .min_by_key(|(_, failures)| failures.since);
            if let Some(first) = first.map(|(address, _)| *address) {
                self.addresses.remove(&first);
            }
        }
        let failures = self.addresses.entry(address).or_insert(Failures {
            count: 0,
            since: now,
        });
        if is_over(failures) {
            *failures = Failures {
                count: 0,
                since: now,
            };
        }
        failures.count = failures.count.saturating_add(1);
        self.unlogged += 1;
        let is_line_due = self
            .logged
            .is_none_or(|logged| now.saturating_duration_since(logged) >= LINE_INTERVAL);
        is_line_due.then(|| {
            self.logged = Some(now);
            std::mem::take(&mut self.unlogged)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn address(number: u32) -> IpAddr {
        Ipv4Addr::from(number).into()
    }

    #[test]
    fn makes_only_the_address_wait_that_fails_often() {
        let begun = Instant::now();
        let mut limit = LoginLimit::default();
        for _ in 0..FAILURES_MAX {
            assert_eq!(limit.wait(address(1), begun), None);
            limit.record_failure(address(1), begun);
        }
        let second = Duration::from_secs(1);
        assert_eq!(
            limit.wait(address(1), begun + second),
            Some(WINDOW - second)
        );
        assert_eq!(limit.wait(address(2), begun + second), None);
        assert_eq!(limit.wait(address(1), begun + WINDOW), None);
        limit.record_failure(address(1), begun + WINDOW);
        assert_eq!(limit.wait(address(1), begun + WINDOW), None);
    }

    #[test]
    fn counts_a_bounded_number_of_addresses() {
        let begun = Instant::now();
        let mut limit = LoginLimit::default();
        let count = ADDRESSES_MAX as u32;
        for number in 0..2 * count {
            let now = begun + Duration::from_millis(number.into());
            limit.record_failure(address(number), now);
        }
        assert_eq!(limit.addresses.len(), ADDRESSES_MAX);
        assert!(limit.addresses.contains_key(&address(2 * count - 1)));
        assert!(!limit.addresses.contains_key(&address(0)));
    }

    #[test]
    fn logs_a_bounded_number_of_lines() {
        let begun = Instant::now();
        let mut limit = LoginLimit::default();
        assert_eq!(limit.record_failure(address(1), begun), Some(1));
        for _ in 0..5 {
            assert_eq!(limit.record_failure(address(1), begun), None);
        }
        let later = begun + LINE_INTERVAL;
        assert_eq!(limit.record_failure(address(2), later), Some(6));
    }
}
