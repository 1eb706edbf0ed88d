//! Ledger headers: seven on every successful response, two only on some
//! (docs/reference/rest-contract.md#s2-10). Their names are built once from the chain's vendor
//! word.

use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use ledger_types::{LedgerInfo, Vendor};
use std::{
    cell::RefCell,
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

/// Header names that live as long as the process: eleven for each vendor word.
///
/// A name that is not static is reference-counted. All threads contended for the count with each
/// header of each response.
static NAMES: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());

/// Returns the name as a static string. Equal names share one allocation.
fn static_name(name: String) -> &'static str {
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name.as_str()) {
        return known;
    }
    let name: &str = Box::leak(name.into_boxed_str());
    names.insert(name);
    name
}

/// Ledger metadata as header values, in the order of [`LedgerHeaders::metadata_names`].
type MetadataValues = [HeaderValue; 7];

thread_local! {
    /// Ledger metadata of the thread's last response, with its header values.
    ///
    /// Many consecutive responses have the same metadata and share the values. Formatting them took
    /// a twentieth of the time of a point read.
    static LAST: RefCell<Option<(LedgerInfo, MetadataValues)>> = const { RefCell::new(None) };
}

/// Returns the header values of the metadata, from the last response if the metadata is equal.
fn metadata_values(ledger_info: &LedgerInfo) -> MetadataValues {
    LAST.with_borrow_mut(|last| match last {
        Some((cached, values)) if cached == ledger_info => values.clone(),
        _ => last
            .insert((*ledger_info, format_metadata(ledger_info)))
            .1
            .clone(),
    })
}

/// Formats the header values of the metadata.
fn format_metadata(ledger_info: &LedgerInfo) -> MetadataValues {
    [
        u64::from(ledger_info.chain_id),
        ledger_info.version,
        ledger_info.oldest_version,
        ledger_info.timestamp_usecs,
        ledger_info.epoch,
        ledger_info.block_height,
        ledger_info.oldest_block_height,
    ]
    .map(HeaderValue::from)
}

/// Names of the ledger headers on one chain, and of the headers of requests that have its vendor
/// word.
#[derive(Debug)]
pub(crate) struct LedgerHeaders {
    chain_id: HeaderName,
    version: HeaderName,
    oldest_version: HeaderName,
    timestamp_usecs: HeaderName,
    epoch: HeaderName,
    block_height: HeaderName,
    oldest_block_height: HeaderName,
    gas_used: HeaderName,
    cursor: HeaderName,
    client: HeaderName,
    min_ledger_version: HeaderName,
}

impl LedgerHeaders {
    /// Creates the names with this vendor word, which consists of letters, so the names are valid.
    pub fn new(vendor: &Vendor) -> Self {
        let name = |rest: &str| {
            HeaderName::from_static(static_name(format!("x-{}-{rest}", vendor.lower())))
        };
        Self {
            chain_id: name("chain-id"),
            version: name("ledger-version"),
            oldest_version: name("ledger-oldest-version"),
            timestamp_usecs: name("ledger-timestampusec"),
            epoch: name("epoch"),
            block_height: name("block-height"),
            oldest_block_height: name("oldest-block-height"),
            gas_used: name("gas-used"),
            cursor: name("cursor"),
            client: name("client"),
            min_ledger_version: name("min-ledger-version"),
        }
    }

    /// Returns the name of the header that identifies a client's software.
    pub fn client(&self) -> &HeaderName {
        &self.client
    }

    /// Returns the name of the header with the version that a read waits for.
    pub fn min_ledger_version(&self) -> &HeaderName {
        &self.min_ledger_version
    }

    /// Returns the names of all ledger headers of responses.
    pub fn names(&self) -> impl Iterator<Item = HeaderName> {
        let optional = [&self.gas_used, &self.cursor];
        self.metadata_names().into_iter().chain(optional).cloned()
    }

    /// Returns the names of the headers with ledger metadata.
    fn metadata_names(&self) -> [&HeaderName; 7] {
        [
            &self.chain_id,
            &self.version,
            &self.oldest_version,
            &self.timestamp_usecs,
            &self.epoch,
            &self.block_height,
            &self.oldest_block_height,
        ]
    }

    /// Inserts the headers with ledger metadata.
    pub fn write(&self, ledger_info: &LedgerInfo, headers: &mut HeaderMap) {
        for (name, value) in self
            .metadata_names()
            .into_iter()
            .zip(metadata_values(ledger_info))
        {
            headers.insert(name.clone(), value);
        }
    }

    /// Inserts the cost of a call, in gas units.
    pub fn write_gas_used(&self, gas_used: u64, headers: &mut HeaderMap) {
        headers.insert(self.gas_used.clone(), HeaderValue::from(gas_used));
    }

    /// Inserts the cursor of the next page. A cursor consists of hexadecimal digits, so it is
    /// always a valid header value.
    pub fn write_cursor(&self, cursor: &str, headers: &mut HeaderMap) {
        if let Ok(value) = HeaderValue::from_str(cursor) {
            headers.insert(self.cursor.clone(), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_the_same_string_for_equal_names() {
        let made = || static_name("x-aptos-once".to_owned());
        assert!(std::ptr::eq(made(), made()));
    }

    const LEDGER_INFO: LedgerInfo = LedgerInfo {
        chain_id: 4,
        epoch: 1,
        version: 9,
        oldest_version: 2,
        block_height: 3,
        oldest_block_height: 1,
        timestamp_usecs: 77,
    };

    /// Compares metadata that differ in one value only: pruning changes the oldest version alone.
    #[test]
    fn writes_each_changed_metadata_value() {
        let headers = LedgerHeaders::new(&"APTOS".parse().unwrap());
        type Change = fn(&mut LedgerInfo);
        let changes: [(&HeaderName, Change); 7] = [
            (&headers.chain_id, |info| info.chain_id += 1),
            (&headers.version, |info| info.version += 1),
            (&headers.oldest_version, |info| info.oldest_version += 1),
            (&headers.timestamp_usecs, |info| info.timestamp_usecs += 1),
            (&headers.epoch, |info| info.epoch += 1),
            (&headers.block_height, |info| info.block_height += 1),
            (&headers.oldest_block_height, |info| {
                info.oldest_block_height += 1;
            }),
        ];
        let written = |ledger_info: &LedgerInfo| {
            let mut map = HeaderMap::new();
            headers.write(ledger_info, &mut map);
            map
        };
        for (name, change) in changes {
            let before = written(&LEDGER_INFO);
            let mut changed = LEDGER_INFO;
            change(&mut changed);
            let after = written(&changed);
            for other in headers.metadata_names() {
                let differs = before.get(other) != after.get(other);
                assert_eq!(differs, other == name, "{other} after a change of {name}");
            }
        }
    }

    #[test]
    fn names_headers_and_media_types_by_the_vendor_word() {
        let headers = LedgerHeaders::new(&"APTOS".parse().unwrap());
        let ledger_info = LEDGER_INFO;
        let mut map = HeaderMap::new();
        headers.write(&ledger_info, &mut map);
        headers.write_gas_used(5, &mut map);
        headers.write_cursor("00ab", &mut map);
        let expected = [
            ("X-APTOS-CHAIN-ID", "4"),
            ("X-APTOS-LEDGER-VERSION", "9"),
            ("X-APTOS-LEDGER-OLDEST-VERSION", "2"),
            ("X-APTOS-LEDGER-TIMESTAMPUSEC", "77"),
            ("X-APTOS-EPOCH", "1"),
            ("X-APTOS-BLOCK-HEIGHT", "3"),
            ("X-APTOS-OLDEST-BLOCK-HEIGHT", "1"),
            ("X-APTOS-GAS-USED", "5"),
            ("X-APTOS-CURSOR", "00ab"),
        ];
        assert_eq!(map.len(), expected.len());
        for (name, value) in expected {
            assert_eq!(map.get(name).unwrap(), value, "{name}");
        }
    }
}
