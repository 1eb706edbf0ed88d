//! Answers that stay true, kept for who asks next. A committed transaction and a block are the same until they are
//! pruned, a page of events is the same as long as the ledger stands still; making one again costs up to ten times
//! what sending it does.
//!
//! Only bodies are kept: the ledger headers of an answer are of the moment at which it is asked for.

use crate::{context::LedgerResponse, model::format::Format};
use bytes::Bytes;
use ledger_crypto::{HashValue, map::HashState};
use ledger_types::{EventKey, LedgerInfo};
use quick_cache::{
    OptionsBuilder, Weighter,
    sync::{Cache, DefaultLifecycle},
};
use std::{fmt, sync::Arc};

/// What a kept answer takes beside its body, about.
const ENTRY_OVERHEAD_BYTES: u64 = 256;
/// About how many bytes an answer has: of what is gone, names are remembered for as many as that would be.
const ANSWER_BYTES: u64 = 4096;
/// Parts of the memory with a lock each. A fixed number, so that it is not for the cores of a machine to say how large
/// an answer may be.
const PARTS: usize = 8;
/// One answer takes at most such a share of its part: a few large ones do not drive out all others, and the copy that is
/// kept of one stays short for the HTTP worker that makes it.
const PART_OF_ONE_ANSWER: u64 = 4;

/// What an answer shows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum CacheKey {
    /// A committed transaction.
    TransactionByHash(HashValue),
    /// A committed transaction.
    TransactionByVersion(u64),
    /// A block.
    BlockByHeight {
        height: u64,
        with_transactions: bool,
    },
    /// A block.
    BlockByVersion {
        version: u64,
        with_transactions: bool,
    },
    /// A page of events at a moment of the ledger.
    Events {
        stream: EventKey,
        start: Option<u64>,
        limit: usize,
        newest_version: u64,
        oldest_version: u64,
    },
}

#[derive(Clone)]
struct Kept {
    body: Bytes,
    /// The first version that it shows, with which it is pruned.
    version: u64,
}

#[derive(Clone)]
struct ByBytes;

impl Weighter<(CacheKey, Format), Kept> for ByBytes {
    fn weight(&self, _: &(CacheKey, Format), kept: &Kept) -> u64 {
        ENTRY_OVERHEAD_BYTES.saturating_add(kept.body.len() as u64)
    }
}

type Answers = Cache<(CacheKey, Format), Kept, ByBytes, HashState>;

/// The answers that are kept. Clones are the same ones.
#[derive(Clone)]
pub struct ResponseCache(Option<Arc<Answers>>);

impl fmt::Debug for ResponseCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KeptAnswers").field(&self.status()).finish()
    }
}

/// What was counted of the answers that are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ResponseCacheStatus {
    /// What they take.
    pub bytes: u64,
    /// How many requests found one.
    pub hits: u64,
    /// How many requests found none.
    pub misses: u64,
}

impl ResponseCache {
    /// Keeps as much as takes `bytes_max`; nothing where that is 0.
    ///
    /// # Panics
    /// Never: both sizes that the options need are given.
    pub(crate) fn new(bytes_max: usize) -> Self {
        if bytes_max == 0 {
            return Self(None);
        }
        let bytes_max = bytes_max as u64;
        let options = OptionsBuilder::new()
            .shards(PARTS)
            .estimated_items_capacity(
                usize::try_from(bytes_max / ANSWER_BYTES).unwrap_or(usize::MAX),
            )
            .weight_capacity(bytes_max)
            .build()
            .expect("both sizes are given");
        let (hash_state, lifecycle) = (HashState::default(), DefaultLifecycle::default());
        Self(Some(Arc::new(Cache::with_options(
            options, ByBytes, hash_state, lifecycle,
        ))))
    }

    /// The kept answer, given at the moment `ledger_info`; none of what is pruned then.
    pub(crate) fn get(
        &self,
        subject: CacheKey,
        format: Format,
        ledger_info: &LedgerInfo,
    ) -> Option<LedgerResponse> {
        let answers = self.0.as_ref()?;
        let name = (subject, format);
        let kept = answers.get(&name)?;
        if kept.version < ledger_info.oldest_version {
            answers.remove(&name);
            return None;
        }
        // Another thread may have kept it since the moment was looked at.
        (kept.version <= ledger_info.version)
            .then(|| LedgerResponse::bytes(*ledger_info, format, kept.body))
    }

    /// Keeps the body of `answer`, which shows nothing before `version`, unless it is too large.
    pub(crate) fn insert(&self, subject: CacheKey, version: u64, answer: &LedgerResponse) {
        let Some(answers) = &self.0 else { return };
        if answer.body().len() as u64 > answers.shard_capacity() / PART_OF_ONE_ANSWER {
            return;
        }
        // A copy, as the body may have been given more room than it took.
        let body = Bytes::copy_from_slice(answer.body());
        answers.insert((subject, answer.format()), Kept { body, version });
    }

    /// What was counted.
    pub fn status(&self) -> ResponseCacheStatus {
        let Some(answers) = &self.0 else {
            return ResponseCacheStatus::default();
        };
        ResponseCacheStatus {
            bytes: answers.weight(),
            hits: answers.hits(),
            misses: answers.misses(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUBJECT: CacheKey = CacheKey::TransactionByVersion(5);

    fn moment(oldest_version: u64, version: u64) -> LedgerInfo {
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

    fn answer(bytes: usize) -> LedgerResponse {
        LedgerResponse::bytes(moment(0, 9), Format::Bcs, vec![7; bytes].into())
    }

    #[test]
    fn an_answer_is_given_at_the_moment_that_is_asked_for_until_it_is_pruned() {
        let kept = ResponseCache::new(1 << 20);
        assert!(kept.get(SUBJECT, Format::Bcs, &moment(0, 9)).is_none());
        kept.insert(SUBJECT, 5, &answer(10));
        for at in [moment(0, 9), moment(5, 5), moment(5, 100)] {
            let given = kept.get(SUBJECT, Format::Bcs, &at).unwrap();
            assert_eq!((given.body().len(), *given.ledger_info()), (10, at));
        }
        assert!(kept.get(SUBJECT, Format::Json, &moment(0, 9)).is_none());
        assert!(kept.get(SUBJECT, Format::Bcs, &moment(0, 4)).is_none());
        assert!(kept.get(SUBJECT, Format::Bcs, &moment(6, 9)).is_none());
        assert_eq!(kept.status().bytes, 0, "what is pruned is kept no longer");
    }

    #[test]
    fn no_more_is_kept_than_is_allowed_and_nothing_where_that_is_nothing() {
        const BYTES_MAX: usize = 1 << 20;
        let kept = ResponseCache::new(BYTES_MAX);
        for version in 0..10_000 {
            kept.insert(
                CacheKey::TransactionByVersion(version),
                version,
                &answer(1_000),
            );
            assert!(kept.status().bytes <= BYTES_MAX as u64);
        }
        assert!(kept.status().bytes > BYTES_MAX as u64 / 2);
        let largest = BYTES_MAX / PARTS / PART_OF_ONE_ANSWER as usize;
        for (bytes, is_kept) in [(largest, true), (largest + 1, false)] {
            let one = CacheKey::TransactionByVersion(10_000 + bytes as u64);
            kept.insert(one, 1, &answer(bytes));
            let found = kept.get(one, Format::Bcs, &moment(0, 9));
            assert_eq!(found.is_some(), is_kept, "{bytes} bytes");
        }

        let none = ResponseCache::new(0);
        none.insert(SUBJECT, 5, &answer(1));
        assert!(none.get(SUBJECT, Format::Bcs, &moment(0, 9)).is_none());
        assert_eq!(none.status(), ResponseCacheStatus::default());
    }
}
