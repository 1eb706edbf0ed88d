//! The moment of the ledger that an answer names in its headers.

use reqwest::header::HeaderMap;

/// What the headers tell of the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Moment {
    pub oldest_version: u64,
    pub version: u64,
    pub oldest_height: u64,
    pub height: u64,
}

impl Moment {
    /// The moment of an answer. The vendor's word in the headers' names is not looked at.
    ///
    /// # Panics
    /// When a header is missing, or the window that they tell is none.
    pub fn of(headers: &HeaderMap) -> Self {
        let read = |rest: &str| {
            let value = headers
                .iter()
                .find(|(name, _)| {
                    let name = name
                        .as_str()
                        .strip_prefix("x-")
                        .and_then(|name| name.split_once('-'));
                    name.is_some_and(|(_, found)| found == rest)
                })
                .and_then(|(_, value)| value.to_str().ok()?.parse().ok());
            value.unwrap_or_else(|| panic!("no header {rest} in {headers:?}"))
        };
        let moment = Self {
            oldest_version: read("ledger-oldest-version"),
            version: read("ledger-version"),
            oldest_height: read("oldest-block-height"),
            height: read("block-height"),
        };
        assert!(
            moment.oldest_version <= moment.version && moment.oldest_height <= moment.height,
            "{moment:?} is no window"
        );
        moment
    }

    /// Whether nothing of it is older than in `earlier`.
    pub fn is_not_before(&self, earlier: &Self) -> bool {
        self.oldest_version >= earlier.oldest_version
            && self.version >= earlier.version
            && self.oldest_height >= earlier.oldest_height
            && self.height >= earlier.height
    }

    /// The newest of both, each number for itself.
    pub fn or_later(&self, other: &Self) -> Self {
        Self {
            oldest_version: self.oldest_version.max(other.oldest_version),
            version: self.version.max(other.version),
            oldest_height: self.oldest_height.max(other.oldest_height),
            height: self.height.max(other.height),
        }
    }
}
