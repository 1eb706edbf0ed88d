//! The data that a node has acknowledged to its clients. The next node on the same directory must
//! have all of it.

use ledger_crypto::HashValue;
use ledger_test_support::http::{HttpResponse, number};
use serde_json::Value;
use std::sync::Mutex;

/// A committed transaction, as the node reported it.
#[derive(Clone, Copy, Debug)]
pub struct Committed {
    pub hash: HashValue,
    pub version: u64,
}

/// The bounds of a ledger: its newest and oldest version and block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    pub version: u64,
    pub height: u64,
    pub oldest_version: u64,
    pub oldest_height: u64,
}

impl Bounds {
    /// Reads the bounds from a body of `/v1`.
    pub fn from_body(ledger: &Value) -> Self {
        Self {
            version: number(&ledger["ledger_version"]),
            height: number(&ledger["block_height"]),
            oldest_version: number(&ledger["oldest_ledger_version"]),
            oldest_height: number(&ledger["oldest_block_height"]),
        }
    }

    /// Reads the bounds from the headers of a response, if it has them.
    pub fn from_headers(response: &HttpResponse) -> Option<Self> {
        let header = |end: &str| {
            let mut pairs = response.headers.iter();
            let (_, value) = pairs.find(|(name, _)| name.as_str().ends_with(end))?;
            value.to_str().ok()?.parse().ok()
        };
        Some(Self {
            version: header("-ledger-version")?,
            height: header("-block-height")?,
            oldest_version: header("-ledger-oldest-version")?,
            oldest_height: header("-oldest-block-height")?,
        })
    }

    /// Checks that no bound is before that of `earlier`.
    pub fn check_not_before(&self, earlier: &Self) {
        assert!(
            self.version >= earlier.version
                && self.height >= earlier.height
                && self.oldest_version >= earlier.oldest_version
                && self.oldest_height >= earlier.oldest_height,
            "the ledger went back from {earlier:?} to {self:?}"
        );
    }
}

/// The data of one ledger that the node has acknowledged since the last check.
#[derive(Debug, Default)]
pub struct Acknowledged(Mutex<Acknowledgments>);

/// The content of [`Acknowledged`].
#[derive(Clone, Debug, Default)]
pub struct Acknowledgments {
    /// The highest bounds in any response.
    pub bounds: Bounds,
    /// Hashes of accepted transactions, committed or not.
    pub accepted: Vec<HashValue>,
    pub committed: Vec<Committed>,
}

impl Acknowledged {
    /// Records the bounds in the headers of a response.
    pub fn record_bounds(&self, response: &HttpResponse) {
        let Some(bounds) = Bounds::from_headers(response) else {
            return;
        };
        let mut acknowledgments = self.0.lock().unwrap();
        let known = &mut acknowledgments.bounds;
        *known = Bounds {
            version: known.version.max(bounds.version),
            height: known.height.max(bounds.height),
            oldest_version: known.oldest_version.max(bounds.oldest_version),
            oldest_height: known.oldest_height.max(bounds.oldest_height),
        };
    }

    /// Records an accepted transaction.
    pub fn record_accepted(&self, hash: HashValue) {
        self.0.lock().unwrap().accepted.push(hash);
    }

    /// Records a committed transaction.
    pub fn record_committed(&self, committed: Committed) {
        self.0.lock().unwrap().committed.push(committed);
    }

    /// Returns the hashes of all transactions accepted since the last [`Self::take_new`].
    pub fn accepted(&self) -> Vec<HashValue> {
        self.0.lock().unwrap().accepted.clone()
    }

    /// Returns the oldest version in any response.
    pub fn oldest_version(&self) -> u64 {
        self.0.lock().unwrap().bounds.oldest_version
    }

    /// Returns and clears everything except the bounds.
    pub fn take_new(&self) -> Acknowledgments {
        let mut acknowledgments = self.0.lock().unwrap();
        let bounds = acknowledgments.bounds;
        std::mem::replace(
            &mut acknowledgments,
            Acknowledgments {
                bounds,
                ..Acknowledgments::default()
            },
        )
    }
}
