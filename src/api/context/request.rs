//! One request on its way through a handler: what it asks for and whom it may ask.

use crate::{
    context::{
        ApiState, CacheKey, LedgerResponse,
        extract::{body, params},
    },
    error::{ApiError, ErrorKind},
    model::{
        DecimalText,
        format::{Format, JSON},
    },
    openapi::{Operation, ParameterLocation},
};
use actix_web::{HttpRequest, dev::Payload};
use bytes::Bytes;
use ledger_actors::NodeHandle;
use ledger_limits::MemoryLease;
use ledger_store::{Snapshot, StoreError};
use ledger_types::LedgerInfo;
use ledger_vm::Chain;
use serde::{Serialize, de::DeserializeOwned};
use std::{fmt::Display, rc::Rc, str::FromStr, sync::Arc};

/// How many things a listing gives.
#[derive(Clone, Copy)]
pub(crate) struct PageSize {
    /// Without `limit`.
    pub default: usize,
    /// Whatever `limit` says.
    pub max: usize,
}

/// One request.
pub(crate) struct RequestContext {
    /// Its thread's own: a count that all threads have in common is waited for, and there are several of each request.
    pub state: Rc<ApiState>,
    /// The path of the route below the root of the interface, its parameters in braces.
    pub pattern: &'static str,
    /// What the interface's document says of the route.
    pub operation: Rc<Operation>,
    /// The form of the answer that is asked for.
    pub format: Format,
    /// Whether the request is a `HEAD`. It is served as a `GET` that does not wait for a commit.
    pub is_head: bool,
    pub request: HttpRequest,
    pub payload: Payload,
    /// Memory of its body, held for as long as anything that was parsed from it.
    pub body_lease: Arc<MemoryLease>,
}

impl RequestContext {
    /// The node.
    pub fn node(&self) -> &NodeHandle {
        &self.state.node
    }

    /// The chain.
    pub fn chain(&self) -> &Chain {
        self.node().chain()
    }

    /// The form of the answer.
    pub fn format(&self) -> Format {
        self.format
    }

    /// A path parameter; see [`params::path`].
    ///
    /// # Panics
    /// In builds with debug assertions, when the operation does not declare it.
    pub fn path<T: FromStr<Err: Display>>(&self, name: &str) -> Result<T, ErrorKind> {
        debug_assert!(
            self.operation
                .declares_parameter(ParameterLocation::Path, name),
            "{name}"
        );
        params::path(self.pattern, &self.request, name)
    }

    /// A query parameter; see [`params::query`].
    ///
    /// # Panics
    /// In builds with debug assertions, when the operation does not declare it.
    pub fn query<T: FromStr<Err: Display>>(&self, name: &str) -> Result<Option<T>, ErrorKind> {
        debug_assert!(
            self.operation
                .declares_parameter(ParameterLocation::Query, name),
            "{name}"
        );
        params::query(&self.request, name)
    }

    /// Returns the query parameter `limit`, or the default of the listing (docs/interface.md#rule-7).
    ///
    /// # Errors
    /// 400 when it is 0 or no number.
    pub fn limit(&self, page: PageSize) -> Result<usize, ErrorKind> {
        match self.query("limit")? {
            None => Ok(page.default),
            Some(DecimalText(0u16)) => Err(ErrorKind::InvalidInput(
                "Given limit value (0) must not be zero".to_owned(),
            )),
            Some(DecimalText(limit)) => Ok(usize::from(limit).min(page.max)),
        }
    }

    /// A body that is JSON only. What is made of it is kept beside it, and counts as much.
    ///
    /// # Errors
    /// As [`Self::body`], and 400 when it is no `T`.
    pub async fn json_body<T: DeserializeOwned>(&mut self) -> Result<T, ErrorKind> {
        let (_, body) = self.body(&[JSON]).await?;
        let bodies = &self.state.bodies;
        if !self.body_lease.try_grow(body.len()) {
            return Err(body::full(bodies));
        }
        body::parse_json(&body)
    }

    /// The body, under the configured limit, and the place of its type among `media_types`; see
    /// [`body::read`].
    pub async fn body(&mut self, media_types: &[&str]) -> Result<(usize, Bytes), ErrorKind> {
        self.body_up_to(self.state.config.max_body_bytes, media_types)
            .await
    }

    /// As [`Self::body`], under a limit of the operation's own, in bytes.
    pub async fn body_up_to(
        &mut self,
        limit_bytes: usize,
        media_types: &[&str],
    ) -> Result<(usize, Bytes), ErrorKind> {
        let limit_bytes = limit_bytes.min(self.state.config.max_body_bytes);
        body::read(
            &self.request,
            &mut self.payload,
            limit_bytes,
            media_types,
            &self.state.bodies,
            &self.body_lease,
        )
        .await
    }

    /// Answers a question on one snapshot. Whatever the question finds, also that there is nothing,
    /// is of the same moment as the ledger info of the answer.
    pub async fn read<T, Q>(&self, question: Q) -> Result<(LedgerInfo, T), ApiError>
    where
        T: Send + 'static,
        Q: FnOnce(&Snapshot) -> Result<Result<T, ErrorKind>, StoreError> + Send + 'static,
    {
        // The question outlives a client that disconnects, and holds what was parsed from the body.
        let body_lease = Arc::clone(&self.body_lease);
        let question = move |snapshot: &Snapshot| {
            let _body_lease = body_lease;
            question(snapshot)
        };
        found_at(self.node().read(question).await?)
    }

    /// As [`Self::read`], of a question that looks up no more rows than a page of events has: answered on this
    /// thread, where that is quick.
    pub async fn read_few<T, Q>(&self, question: Q) -> Result<(LedgerInfo, T), ApiError>
    where
        T: Send + 'static,
        Q: FnOnce(&Snapshot) -> Result<Result<T, ErrorKind>, StoreError> + Send + 'static,
    {
        found_at(self.node().read_few(question).await?)
    }

    /// Answers a question about the state at the query parameter `ledger_version`, or at the newest
    /// version without it. Whether that version can be read is decided on the same snapshot.
    pub async fn read_state<T, Q>(&self, question: Q) -> Result<(LedgerInfo, T), ApiError>
    where
        T: Send + 'static,
        Q: FnOnce(&Snapshot, u64) -> Result<Result<T, ErrorKind>, StoreError> + Send + 'static,
    {
        self.read(at_version(self.asked_version()?, question)).await
    }

    /// As [`Self::read_state`], of a question that looks up a few rows; see [`Self::read_few`].
    pub async fn read_few_of_state<T, Q>(&self, question: Q) -> Result<(LedgerInfo, T), ApiError>
    where
        T: Send + 'static,
        Q: FnOnce(&Snapshot, u64) -> Result<Result<T, ErrorKind>, StoreError> + Send + 'static,
    {
        self.read_few(at_version(self.asked_version()?, question))
            .await
    }

    /// The query parameter `ledger_version`.
    fn asked_version(&self) -> Result<Option<u64>, ErrorKind> {
        Ok(self
            .query("ledger_version")?
            .map(|DecimalText(version)| version))
    }

    /// The answer to the same question, where it is kept and still true at the newest moment.
    pub fn kept(&self, subject: CacheKey) -> Option<LedgerResponse> {
        let head = self.node().head();
        self.state
            .cache
            .get(subject, self.format, head.ledger_info())
    }

    /// Keeps an answer, which shows nothing before `version`.
    pub fn keep(&self, subject: CacheKey, version: u64, answer: &LedgerResponse) {
        self.state.cache.insert(subject, version, answer);
    }

    /// The answer in the form that the client asked for; only that form is made.
    pub fn answer<J: Serialize, B: Serialize>(
        &self,
        ledger_info: LedgerInfo,
        json: impl FnOnce() -> J,
        bcs: impl FnOnce() -> B,
    ) -> Result<LedgerResponse, ApiError> {
        match self.format() {
            Format::Json => LedgerResponse::json(ledger_info, &json()),
            Format::Bcs => LedgerResponse::bcs(ledger_info, &bcs()),
        }
    }
}

/// What a question found, of one moment of the ledger.
fn found_at<T>(
    (ledger_info, found): (LedgerInfo, Result<T, ErrorKind>),
) -> Result<(LedgerInfo, T), ApiError> {
    match found {
        Ok(found) => Ok((ledger_info, found)),
        Err(problem) => Err(problem.at(ledger_info)),
    }
}

/// A question about the state at a version, once it is known whether that can be read.
fn at_version<T>(
    asked: Option<u64>,
    question: impl FnOnce(&Snapshot, u64) -> Result<Result<T, ErrorKind>, StoreError> + Send + 'static,
) -> impl FnOnce(&Snapshot) -> Result<Result<T, ErrorKind>, StoreError> + Send + 'static {
    move |snapshot| match readable_version(asked, snapshot.ledger_info()) {
        Ok(version) => question(snapshot, version),
        Err(problem) => Ok(Err(problem)),
    }
}

/// The version to read the state at: the one that is asked for, or the newest.
///
/// # Errors
/// 404 above the newest version, 410 below the window.
pub(crate) fn readable_version(
    asked: Option<u64>,
    ledger_info: &LedgerInfo,
) -> Result<u64, ErrorKind> {
    match asked {
        None => Ok(ledger_info.version),
        Some(version) if version > ledger_info.version => Err(ErrorKind::VersionNotFound(version)),
        Some(version) if version < ledger_info.oldest_version => {
            Err(ErrorKind::VersionPruned(version))
        }
        Some(version) => Ok(version),
    }
}
