//! Asking a node whose window moves, and what holds for every answer, whatever was asked.

use super::{known::Known, moment::Moment};
use crate::kit::{HttpResponse, NodeClient, TestAccount};
use std::{
    collections::BTreeMap,
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
};

/// What all readers of one ledger share.
#[derive(Debug)]
pub struct Watch {
    pub payer: TestAccount,
    pub payee: TestAccount,
    /// What the payee held before the payer's first transfer.
    pub payee_start: u64,
    /// The payer's coins, as a type tag in a path.
    pub coin_store: String,
    /// How many versions stay at least.
    pub window: u64,
    seen: Mutex<Moment>,
    known: Mutex<Known>,
    counts: Mutex<BTreeMap<(&'static str, u16), u64>>,
    over: AtomicBool,
}

/// An answer with the moment that it is of.
#[derive(Debug)]
pub struct Told {
    pub path: String,
    pub moment: Moment,
    pub answer: HttpResponse,
}

impl Watch {
    pub fn new(
        payer: TestAccount,
        payee: TestAccount,
        payee_start: u64,
        coin_store: String,
        window: u64,
    ) -> Self {
        Self {
            payer,
            payee,
            payee_start,
            coin_store,
            window,
            seen: Mutex::default(),
            known: Mutex::default(),
            counts: Mutex::default(),
            over: AtomicBool::new(false),
        }
    }

    /// The newest moment that an answer has named.
    pub fn moment(&self) -> Moment {
        *self.seen.lock().unwrap()
    }

    pub fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap()
    }

    /// How often each kind was answered with which status.
    pub fn counts(&self) -> BTreeMap<(&'static str, u16), u64> {
        self.counts.lock().unwrap().clone()
    }

    /// Ends all readers.
    pub fn finish(&self) {
        self.over.store(true, SeqCst);
    }

    pub fn is_over(&self) -> bool {
        self.over.load(SeqCst)
    }

    /// Asks; `None` when no answer came, as from a node that ends.
    ///
    /// # Panics
    /// When the answer is neither 200, 404 nor 410, or its moment lies before one that an earlier answer named.
    pub async fn ask(&self, node: &NodeClient, kind: &'static str, path: String) -> Option<Told> {
        let before = self.moment();
        let request = node
            .http
            .request(reqwest::Method::GET, &format!("{}{path}", node.api));
        let answer = node.http.try_send(request).await?;
        // A node that is stopping says so.
        if answer.status == 503 && self.is_over() {
            return None;
        }
        assert!(
            matches!(answer.status, 200 | 404 | 410),
            "{path}: {} {}",
            answer.status,
            answer.text
        );
        let moment = Moment::of(&answer.headers);
        assert!(
            moment.is_not_before(&before),
            "{path}: {moment:?} after an answer of {before:?}"
        );
        {
            let mut seen = self.seen.lock().unwrap();
            *seen = seen.or_later(&moment);
        }
        *self
            .counts
            .lock()
            .unwrap()
            .entry((kind, answer.status))
            .or_default() += 1;
        Some(Told {
            path,
            moment,
            answer,
        })
    }
}

impl Told {
    /// Whether what has this version was given: it must have been exactly where the answer's own moment has it.
    pub fn gives_version(&self, version: u64) -> bool {
        self.gives(
            version >= self.moment.oldest_version,
            &format!("version {version}"),
        )
    }

    /// Whether the answer is 200; it must be where `is_there`, and 410 where not.
    pub fn gives(&self, is_there: bool, what: &str) -> bool {
        let expected = if is_there { 200 } else { 410 };
        assert_eq!(
            self.answer.status, expected,
            "{}: {what} at {:?}: {}",
            self.path, self.moment, self.answer.text
        );
        is_there
    }
}
