//! The bounds of the window that a response names in its headers.

use reqwest::header::HeaderMap;

/// The bounds of the window, from the headers of a response.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Bounds {
    pub oldest_version: u64,
    pub version: u64,
    pub oldest_height: u64,
    pub height: u64,
}

impl Bounds {
    /// Reads the bounds from headers, whatever the vendor word in their names.
    ///
    /// # Panics
    ///
    /// Panics if a header is missing, or if a lower bound is above the upper one.
    pub fn from_headers(headers: &HeaderMap) -> Self {
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
        let bounds = Self {
            oldest_version: read("ledger-oldest-version"),
            version: read("ledger-version"),
            oldest_height: read("oldest-block-height"),
            height: read("block-height"),
        };
        assert!(
            bounds.oldest_version <= bounds.version && bounds.oldest_height <= bounds.height,
            "{bounds:?} is not a window"
        );
        bounds
    }

    /// Returns whether no bound is before that of `earlier`.
    pub fn is_not_before(&self, earlier: &Self) -> bool {
        self.oldest_version >= earlier.oldest_version
            && self.version >= earlier.version
            && self.oldest_height >= earlier.oldest_height
            && self.height >= earlier.height
    }

    /// Returns the higher of both, for each bound.
    pub fn merged_with(&self, other: &Self) -> Self {
        Self {
            oldest_version: self.oldest_version.max(other.oldest_version),
            version: self.version.max(other.version),
            oldest_height: self.oldest_height.max(other.oldest_height),
            height: self.height.max(other.height),
        }
    }
}
