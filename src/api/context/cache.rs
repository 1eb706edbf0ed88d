//! A cache of responses.
//!
//! A committed transaction and a block do not change until they are pruned, and a page of events
//! does not change until the next block. Rendering one again costs up to ten times as much as
//! sending it.
//!
//! Only bodies are cached. The ledger headers of a response are those of its request.

use crate::{context::LedgerResponse, model::format::Format};
use bytes::Bytes;
use ledger_crypto::{HashValue, map::HashState};
use ledger_types::{EventKey, LedgerInfo};
use quick_cache::{
    OptionsBuilder, Weighter,
    sync::{Cache, DefaultLifecycle},
};
use std::{fmt, sync::Arc};

/// Approximate size of an entry beside its body, in bytes.
const ENTRY_OVERHEAD_BYTES: u64 = 256;
/// Approximate size of a body, in bytes. It determines for how many evicted entries the cache
/// remembers the key.
const BODY_BYTES: u64 = 4096;
/// Number of parts with a lock each. It is fixed, because the maximum size of an entry depends on
/// it and must not depend on the number of cores.
const PARTS: usize = 8;
/// Minimum number of entries of the maximum size that fit into a part.
///
/// The bound keeps a few large entries from evicting all others, and limits the time that an HTTP
/// worker spends on the copy of a body.
const LARGEST_PER_PART: u64 = 4;

/// The key of a cached response, which identifies its content.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum CacheKey {
    /// A committed transaction, by its hash.
    TransactionByHash(HashValue),
    /// A committed transaction, by its version.
    TransactionByVersion(u64),
    /// A block, by its height.
    BlockByHeight {
        height: u64,
        with_transactions: bool,
    },
    /// A block, by one of its versions.
    BlockByVersion {
        version: u64,
        with_transactions: bool,
    },
    /// A page of events at one state of the ledger.
    Events {
        stream: EventKey,
        start: Option<u64>,
        limit: usize,
        newest_version: u64,
        oldest_version: u64,
    },
}

/// A cached body.
#[derive(Clone)]
struct Entry {
    body: Bytes,
    /// The first version that the response contains. The entry is stale once it is pruned.
    version: u64,
}

/// Weighs an entry by its size.
#[derive(Clone)]
struct ByBytes;

impl Weighter<(CacheKey, Format), Entry> for ByBytes {
    fn weight(&self, _: &(CacheKey, Format), entry: &Entry) -> u64 {
        ENTRY_OVERHEAD_BYTES.saturating_add(entry.body.len() as u64)
    }
}

type Entries = Cache<(CacheKey, Format), Entry, ByBytes, HashState>;

/// The cache of responses. Clones share the entries.
#[derive(Clone)]
pub struct ResponseCache(Option<Arc<Entries>>);

impl fmt::Debug for ResponseCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ResponseCache")
            .field(&self.status())
            .finish()
    }
}

/// Size and counters of the response cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ResponseCacheStatus {
    /// Size of all entries, in bytes.
    pub bytes: u64,
    /// Number of look-ups that found an entry.
    pub hits: u64,
    /// Number of look-ups that found none.
    pub misses: u64,
}

impl ResponseCache {
    /// Creates a cache of up to `bytes_max` bytes. A cache of 0 bytes stays empty.
    ///
    /// # Panics
    ///
    /// Never, because the options have both sizes that they need.
    pub(crate) fn new(bytes_max: usize) -> Self {
        if bytes_max == 0 {
            return Self(None);
        }
        let bytes_max = bytes_max as u64;
        let options = OptionsBuilder::new()
            .shards(PARTS)
            .estimated_items_capacity(usize::try_from(bytes_max / BODY_BYTES).unwrap_or(usize::MAX))
            .weight_capacity(bytes_max)
            .build()
            .expect("both sizes are given");
        let (hash_state, lifecycle) = (HashState::default(), DefaultLifecycle::default());
        Self(Some(Arc::new(Cache::with_options(
            options, ByBytes, hash_state, lifecycle,
        ))))
    }

    /// Returns a cached response with the state `ledger_info` of the ledger, or `None` if there is
    /// none or its content is pruned in that state.
    pub(crate) fn get(
        &self,
        key: CacheKey,
        format: Format,
        ledger_info: &LedgerInfo,
    ) -> Option<LedgerResponse> {
        let entries = self.0.as_ref()?;
        let key = (key, format);
        let entry = entries.get(&key)?;
        if entry.version < ledger_info.oldest_version {
            entries.remove(&key);
            return None;
        }
        // Another thread may have inserted a newer entry since the caller read `ledger_info`.
        (entry.version <= ledger_info.version)
            .then(|| LedgerResponse::bytes(*ledger_info, format, entry.body))
    }

    /// Inserts the body of a response, unless it is too large. `version` is the first version that
    /// the response contains.
    pub(crate) fn insert(&self, key: CacheKey, version: u64, response: &LedgerResponse) {
        let Some(entries) = &self.0 else { return };
        if response.body().size_bytes() as u64 > entries.shard_capacity() / LARGEST_PER_PART {
            return;
        }
        // A copy, because the buffer of the body may be larger than the body.
        let body = response.body().to_bytes();
        entries.insert((key, response.format()), Entry { body, version });
    }

    /// Returns the size and the counters.
    pub fn status(&self) -> ResponseCacheStatus {
        let Some(entries) = &self.0 else {
            return ResponseCacheStatus::default();
        };
        ResponseCacheStatus {
            bytes: entries.weight(),
            hits: entries.hits(),
            misses: entries.misses(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: CacheKey = CacheKey::TransactionByVersion(5);

    fn ledger_info(oldest_version: u64, version: u64) -> LedgerInfo {
        LedgerInfo {
            chain_id: 4,
            epoch: 1,
            version,
            oldest_version,
            block_height: 1,
            oldest_block_height: 0,
            timestamp_usecs: 1,
        }
    }

    fn response(bytes: usize) -> LedgerResponse {
        LedgerResponse::bytes(ledger_info(0, 9), Format::Bcs, vec![7; bytes].into())
    }

    #[test]
    fn returns_an_entry_with_the_requested_ledger_state_until_it_is_pruned() {
        let cache = ResponseCache::new(1 << 20);
        assert!(cache.get(KEY, Format::Bcs, &ledger_info(0, 9)).is_none());
        cache.insert(KEY, 5, &response(10));
        for at in [ledger_info(0, 9), ledger_info(5, 5), ledger_info(5, 100)] {
            let response = cache.get(KEY, Format::Bcs, &at).unwrap();
            assert_eq!(
                (response.body().size_bytes(), *response.ledger_info()),
                (10, at)
            );
        }
        assert!(cache.get(KEY, Format::Json, &ledger_info(0, 9)).is_none());
        assert!(cache.get(KEY, Format::Bcs, &ledger_info(0, 4)).is_none());
        assert!(cache.get(KEY, Format::Bcs, &ledger_info(6, 9)).is_none());
        assert_eq!(cache.status().bytes, 0, "a pruned entry is removed");
    }

    #[test]
    fn holds_no_more_than_its_maximum_size() {
        const BYTES_MAX: usize = 1 << 20;
        let cache = ResponseCache::new(BYTES_MAX);
        for version in 0..10_000 {
            cache.insert(
                CacheKey::TransactionByVersion(version),
                version,
                &response(1_000),
            );
            assert!(cache.status().bytes <= BYTES_MAX as u64);
        }
        assert!(cache.status().bytes > BYTES_MAX as u64 / 2);
        let largest = BYTES_MAX / PARTS / LARGEST_PER_PART as usize;
        for (bytes, is_cached) in [(largest, true), (largest + 1, false)] {
            let one = CacheKey::TransactionByVersion(10_000 + bytes as u64);
            cache.insert(one, 1, &response(bytes));
            let found = cache.get(one, Format::Bcs, &ledger_info(0, 9));
            assert_eq!(found.is_some(), is_cached, "{bytes} bytes");
        }

        let empty = ResponseCache::new(0);
        empty.insert(KEY, 5, &response(1));
        assert!(empty.get(KEY, Format::Bcs, &ledger_info(0, 9)).is_none());
        assert_eq!(empty.status(), ResponseCacheStatus::default());
    }
}
