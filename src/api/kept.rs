//! Answers that stay true, kept for who asks next. A committed transaction and a block are the same until they are
//! pruned, a page of events is the same as long as the ledger stands still; making one again costs up to ten times
//! what sending it does.
//!
//! Only bodies are kept: the ledger headers of an answer are of the moment at which it is asked for.

use crate::{answer::Answer, format::Format};
use bytes::Bytes;
use ledger::{EventKey, HashValue, LedgerInfo, map::HashState};
use quick_cache::{
    Weighter,
    sync::{Cache, DefaultLifecycle},
};
use std::{fmt, sync::Arc};

/// What a kept answer takes beside its body, about.
const ENTRY_OVERHEAD_BYTES: u64 = 256;
/// About how many bytes an answer has; the room for names is made by it.
const ANSWER_BYTES: u64 = 4096;

/// What an answer shows.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Subject {
    /// A committed transaction.
    TransactionByHash(HashValue),
    /// A committed transaction.
    TransactionByVersion(u64),
    /// A block.
    BlockByHeight { height: u64, with_transactions: bool },
    /// A block.
    BlockByVersion { version: u64, with_transactions: bool },
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

impl Weighter<(Subject, Format), Kept> for ByBytes {
    fn weight(&self, _: &(Subject, Format), kept: &Kept) -> u64 {
        ENTRY_OVERHEAD_BYTES.saturating_add(kept.body.len() as u64)
    }
}

type Answers = Cache<(Subject, Format), Kept, ByBytes, HashState>;

/// The answers that are kept. Clones are the same ones.
#[derive(Clone)]
pub(crate) struct KeptAnswers(Option<Arc<Answers>>);

impl fmt::Debug for KeptAnswers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KeptAnswers").field(&self.counts()).finish()
    }
}

/// What was counted of the answers that are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct KeptAnswersStatus {
    /// What they take.
    pub bytes: u64,
    /// How many requests they answered.
    pub hits: u64,
    /// How many requests found none, and made one.
    pub misses: u64,
}

impl KeptAnswers {
    /// Keeps as much as takes `bytes_max`; nothing where that is 0.
    pub fn new(bytes_max: usize) -> Self {
        let bytes_max = bytes_max as u64;
        let items = usize::try_from(bytes_max / ANSWER_BYTES).unwrap_or(usize::MAX);
        let lifecycle = DefaultLifecycle::default();
        let answers = || Cache::with(items, bytes_max, ByBytes, HashState::default(), lifecycle);
        Self((bytes_max > 0).then(|| Arc::new(answers())))
    }

    /// The kept answer, given at the moment `ledger_info`; none of what is pruned then.
    pub fn get(&self, subject: Subject, format: Format, ledger_info: &LedgerInfo) -> Option<Answer> {
        let kept = self.0.as_ref()?.get(&(subject, format))?;
        let is_there = (ledger_info.oldest_version..=ledger_info.version).contains(&kept.version);
        is_there.then(|| Answer::bytes(*ledger_info, format, kept.body))
    }

    /// Keeps the body of `answer`, which shows nothing before `version`.
    pub fn keep(&self, subject: Subject, version: u64, answer: &Answer) {
        if let Some(answers) = &self.0 {
            // A copy, as the body may have been given more room than it took.
            let body = Bytes::copy_from_slice(answer.body());
            answers.insert((subject, answer.format()), Kept { body, version });
        }
    }

    /// What was counted.
    pub fn counts(&self) -> KeptAnswersStatus {
        let Some(answers) = &self.0 else {
            return KeptAnswersStatus::default();
        };
        KeptAnswersStatus {
            bytes: answers.weight(),
            hits: answers.hits(),
            misses: answers.misses(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUBJECT: Subject = Subject::TransactionByVersion(5);

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

    fn answer(bytes: usize) -> Answer {
        Answer::bytes(moment(0, 9), Format::Bcs, vec![7; bytes].into())
    }

    #[test]
    fn an_answer_is_given_at_the_moment_that_is_asked_for_until_it_is_pruned() {
        let kept = KeptAnswers::new(1 << 20);
        assert!(kept.get(SUBJECT, Format::Bcs, &moment(0, 9)).is_none());
        kept.keep(SUBJECT, 5, &answer(10));
        for at in [moment(0, 9), moment(5, 5), moment(5, 100)] {
            let given = kept.get(SUBJECT, Format::Bcs, &at).unwrap();
            assert_eq!((given.body().len(), *given.ledger_info()), (10, at));
        }
        for at in [moment(6, 9), moment(0, 4)] {
            assert!(kept.get(SUBJECT, Format::Bcs, &at).is_none(), "{at:?}");
        }
        assert!(kept.get(SUBJECT, Format::Json, &moment(0, 9)).is_none());
        let counts = kept.counts();
        assert_eq!((counts.hits, counts.misses), (5, 2));
    }

    #[test]
    fn no_more_is_kept_than_is_allowed_and_nothing_where_that_is_nothing() {
        const BYTES_MAX: usize = 1 << 20;
        let kept = KeptAnswers::new(BYTES_MAX);
        for version in 0..10_000 {
            kept.keep(Subject::TransactionByVersion(version), version, &answer(1_000));
            assert!(kept.counts().bytes <= BYTES_MAX as u64);
        }
        assert!(kept.counts().bytes > BYTES_MAX as u64 / 2);
        let larger = Subject::TransactionByVersion(10_000);
        kept.keep(larger.clone(), 1, &answer(2 * BYTES_MAX));
        assert!(kept.get(larger, Format::Bcs, &moment(0, 9)).is_none());

        let none = KeptAnswers::new(0);
        none.keep(SUBJECT, 5, &answer(1));
        assert!(none.get(SUBJECT, Format::Bcs, &moment(0, 9)).is_none());
        assert_eq!(none.counts(), KeptAnswersStatus::default());
    }
}
