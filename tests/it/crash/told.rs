//! What clients were told by a node, and the next one on the same directory must stand by.

use crate::kit::HttpResponse;
use ledger_crypto::HashValue;
use serde_json::Value;
use std::sync::Mutex;

/// A transaction that a client knows of.
#[derive(Clone, Copy, Debug)]
pub struct Committed {
    pub hash: HashValue,
    pub version: u64,
}

/// Where a ledger begins and ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    pub version: u64,
    pub height: u64,
    pub oldest_version: u64,
    pub oldest_height: u64,
}

impl Ends {
    /// The ends in the answer of `/v1`.
    pub fn of(ledger: &Value) -> Self {
        Self {
            version: number(&ledger["ledger_version"]),
            height: number(&ledger["block_height"]),
            oldest_version: number(&ledger["oldest_ledger_version"]),
            oldest_height: number(&ledger["oldest_block_height"]),
        }
    }

    /// The ends in the headers of any answer that has them.
    fn in_headers(answer: &HttpResponse) -> Option<Self> {
        let header = |end: &str| {
            let mut pairs = answer.headers.iter();
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

    /// No end may be before what was told earlier.
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

/// What clients were told of one ledger since it was last checked.
#[derive(Debug, Default)]
pub struct Told(Mutex<News>);

/// See [`Told`].
#[derive(Clone, Debug, Default)]
pub struct News {
    /// The farthest ends of any answer.
    pub ends: Ends,
    /// Accepted; committed or not.
    pub accepted: Vec<HashValue>,
    pub committed: Vec<Committed>,
}

impl Told {
    /// Notes the ends that an answer names.
    pub fn note_ends(&self, answer: &HttpResponse) {
        let Some(ends) = Ends::in_headers(answer) else {
            return;
        };
        let mut news = self.0.lock().unwrap();
        let known = &mut news.ends;
        *known = Ends {
            version: known.version.max(ends.version),
            height: known.height.max(ends.height),
            oldest_version: known.oldest_version.max(ends.oldest_version),
            oldest_height: known.oldest_height.max(ends.oldest_height),
        };
    }

    pub fn note_accepted(&self, hash: HashValue) {
        self.0.lock().unwrap().accepted.push(hash);
    }

    pub fn note_committed(&self, committed: Committed) {
        self.0.lock().unwrap().committed.push(committed);
    }

    /// Hashes of all that was accepted since [`Self::take_news`].
    pub fn accepted(&self) -> Vec<HashValue> {
        self.0.lock().unwrap().accepted.clone()
    }

    /// The oldest version that any answer named.
    pub fn oldest_version(&self) -> u64 {
        self.0.lock().unwrap().ends.oldest_version
    }

    /// What is new since this was last asked for; the ends stay.
    pub fn take_news(&self) -> News {
        let mut news = self.0.lock().unwrap();
        let ends = news.ends;
        std::mem::replace(
            &mut news,
            News {
                ends,
                ..News::default()
            },
        )
    }
}

/// A whole number as the interface writes it.
pub fn number(value: &Value) -> u64 {
    value
        .as_str()
        .and_then(|text| text.parse().ok())
        .unwrap_or_else(|| panic!("{value} is no number in a string"))
}
