//! The requests to a node with a moving window, and the checks of every response.

use super::{bounds::Bounds, known::Known};
use ledger_test_support::{
    TestAccount,
    http::{HttpResponse, NodeClient},
};
use std::{
    collections::BTreeMap,
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
};

/// The shared state of all readers of one ledger.
#[derive(Debug)]
pub struct Watch {
    pub payer: TestAccount,
    pub payee: TestAccount,
    /// The balance of the payee before the payer's first transfer.
    pub payee_start: u64,
    /// Minimum number of versions in the window.
    pub window: u64,
    newest: Mutex<Bounds>,
    known: Mutex<Known>,
    counts: Mutex<BTreeMap<(&'static str, u16), u64>>,
    finished: AtomicBool,
}

/// A response with the bounds in its headers.
#[derive(Debug)]
pub struct Response {
    pub path: String,
    pub bounds: Bounds,
    pub http: HttpResponse,
}

impl Watch {
    pub fn new(payer: TestAccount, payee: TestAccount, payee_start: u64, window: u64) -> Self {
        Self {
            payer,
            payee,
            payee_start,
            window,
            newest: Mutex::default(),
            known: Mutex::default(),
            counts: Mutex::default(),
            finished: AtomicBool::new(false),
        }
    }

    /// Returns the highest bounds of any response.
    pub fn bounds(&self) -> Bounds {
        *self.newest.lock().unwrap()
    }

    /// Locks the known facts.
    pub fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap()
    }

    /// Returns the number of responses by kind of read and status.
    pub fn counts(&self) -> BTreeMap<(&'static str, u16), u64> {
        self.counts.lock().unwrap().clone()
    }

    /// Ends all readers.
    pub fn finish(&self) {
        self.finished.store(true, SeqCst);
    }

    /// Returns whether the readers must end.
    pub fn is_finished(&self) -> bool {
        self.finished.load(SeqCst)
    }

    /// Sends a GET request. Returns `None` if there is no response, as from a node that ends.
    ///
    /// # Panics
    ///
    /// Panics if the status is neither 200, 404 nor 410, or if a bound is before that of an earlier
    /// response.
    pub async fn get(
        &self,
        node: &NodeClient,
        kind: &'static str,
        path: String,
    ) -> Option<Response> {
        let before = self.bounds();
        let request = node
            .http
            .request(reqwest::Method::GET, &format!("{}{path}", node.api));
        let http = node.http.try_send(request).await?;
        // A node that is stopping responds with 503.
        if http.status == 503 && self.is_finished() {
            return None;
        }
        assert!(
            matches!(http.status, 200 | 404 | 410),
            "{path}: {} {}",
            http.status,
            http.text
        );
        let bounds = Bounds::from_headers(&http.headers);
        assert!(
            bounds.is_not_before(&before),
            "{path}: {bounds:?} after a response with {before:?}"
        );
        {
            let mut newest = self.newest.lock().unwrap();
            *newest = newest.merged_with(&bounds);
        }
        *self
            .counts
            .lock()
            .unwrap()
            .entry((kind, http.status))
            .or_default() += 1;
        Some(Response { path, bounds, http })
    }
}

impl Response {
    /// Checks that the response has data of `version` exactly if its own bounds include that
    /// version. Returns whether they do.
    pub fn check_version(&self, version: u64) -> bool {
        self.check_presence(
            version >= self.bounds.oldest_version,
            &format!("version {version}"),
        )
    }

    /// Checks that the status is 200 if the data `is_in_window`, and 410 otherwise. Returns
    /// `is_in_window`.
    pub fn check_presence(&self, is_in_window: bool, what: &str) -> bool {
        let expected = if is_in_window { 200 } else { 410 };
        assert_eq!(
            self.http.status, expected,
            "{}: {what} at {:?}: {}",
            self.path, self.bounds, self.http.text
        );
        is_in_window
    }
}
