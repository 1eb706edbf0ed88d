//! The request context of handlers, and queries on snapshots.

use crate::{
    context::{
        ApiState, BodyWriter, CacheKey, LedgerResponse, PageBody, PartOrder, QueryError,
        body::ANSWERS_LIMIT, extract::format::response_format, interrupt::interrupt,
        query::at_snapshot,
    },
    error::{ApiError, ErrorKind},
    limits::{
        Connection, FurtherPermit, RequestWork, Subject, WaitEnd, connection,
        large_responses::PART_DEMAND, measured,
    },
    model::format::Format,
};
use actix_web::HttpRequest;
use ledger_actors::{Accepted, Lane, NodeHandle, Overload, SubmitError};
use ledger_limits::{ClientKey, Demand, Limit, MemoryLease, SMALL_LEASE_BYTES_MAX, Work, WorkKind};
use ledger_store::Snapshot;
use ledger_types::LedgerInfo;
use ledger_vm::{Chain, Interrupt};
use serde::Serialize;
use std::{
    rc::Rc,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::time::{self, timeout};

/// Maximum estimated duration of work that an HTTP worker does between two polls of its event loop,
/// in microseconds. The health check and point reads of all its connections wait as long, for each
/// request that has arrived before them. The transfer to another thread takes about a tenth.
const INLINE_USECS_MAX: u64 = 100;

/// Maximum time for which a page waits for memory. Clients cancel a request that takes much longer.
const MEMORY_WAIT_MAX: Duration = Duration::from_secs(30);

/// Demand of a query that looks up a few rows.
const FEW_ROWS: Demand = Demand::rows(4);

/// Number of bytes of JSON that are expected for each byte of content in BCS.
///
/// Hexadecimal text has 2, numbers and addresses up to 3, and the names of fields and types are
/// added: a simulated transfer has 2.3 in sum. No factor is a bound: `false` and an escaped control
/// character have 6 for one byte, and an empty item has the names of its fields. A body leases the
/// bytes beyond its reservation while it is written, which may fail, so the factor is above the
/// usual ones.
const JSON_FACTOR: usize = 4;

/// Number of bytes of BCS that are copied in the time in which a byte of JSON is rendered.
const BCS_DIVISOR: usize = 4;

/// The context of a request.
///
/// Path, query, and body are not accessible through it. Handlers read them with the arguments of
/// [`extract`](crate::context::extract).
pub(crate) struct RequestContext {
    /// State of the worker thread. Each thread has its own `Rc`, because reference counts that all
    /// threads share would be contended: each request changes several.
    pub state: Rc<ApiState>,
    /// Format of the response.
    pub format: Format,
    /// Whether the response is sent without its body, because the method is `HEAD`.
    pub is_head: bool,
    /// Memory of the body. The lease lasts until all values parsed from the body are dropped.
    pub body_lease: Arc<MemoryLease>,
    client: ClientKey,
    request: HttpRequest,
    /// `None` if the request is not recorded in the traffic.
    work: Option<Rc<RequestWork>>,
}

impl RequestContext {
    /// Creates the context of a request of `client`.
    pub fn new(
        state: Rc<ApiState>,
        request: HttpRequest,
        client: ClientKey,
        is_head: bool,
        work: Option<Rc<RequestWork>>,
    ) -> Self {
        Self {
            format: response_format(request.headers()),
            is_head,
            body_lease: Arc::new(state.bodies.lease(client)),
            state,
            client,
            request,
            work,
        }
    }

    /// Returns the class of the client's address.
    pub fn client(&self) -> ClientKey {
        self.client
    }

    /// Returns the work of the request, or `None` if it is not recorded in the traffic.
    pub fn recorded_work(&self) -> Option<&RequestWork> {
        self.work.as_deref()
    }

    /// Charges the request to a subject, if it is recorded.
    pub fn charge(&self, subject: impl FnOnce() -> Subject) {
        if let Some(work) = &self.work {
            work.charge(subject(), 1);
        }
    }

    /// Adds processor time of another thread that has worked for the request, in microseconds.
    fn add_work(&self, usecs: u64) {
        if let Some(work) = &self.work {
            work.add(usecs);
        }
    }

    /// Returns the node.
    pub fn node(&self) -> &NodeHandle {
        &self.state.node
    }

    /// Returns the chain.
    pub fn chain(&self) -> &Chain {
        self.node().chain()
    }

    /// Returns the format of the response.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Returns work for the client of the request.
    pub fn work(&self, kind: WorkKind, demand: Demand) -> Work {
        Work {
            client: self.client(),
            kind,
            demand,
            is_continued: false,
        }
    }

    /// Returns the ledger info of the newest durable version.
    pub fn newest(&self) -> LedgerInfo {
        *self.node().head().ledger_info()
    }

    /// Returns the request, which only arguments of handlers read.
    pub(super) fn request(&self) -> &HttpRequest {
        &self.request
    }

    /// Returns the error of a path without a route.
    pub fn unknown_route(&self) -> ErrorKind {
        ErrorKind::UnknownRoute(self.request.path().to_owned())
    }

    /// Returns the end of the waits of the request with this deadline.
    pub fn wait_end(&self, deadline: time::Instant) -> WaitEnd {
        WaitEnd::new(&self.request, deadline)
    }

    /// Returns the queue in which a submission waits for the check of its signatures.
    pub fn lane(&self) -> Lane {
        connection::lane_of(&self.request)
    }

    /// Records the outcome of a submission for the connection of the request.
    pub fn remember_outcome(&self, outcome: &Result<Accepted, SubmitError>) {
        connection::remember_outcome(&self.request, outcome);
    }

    /// Runs a query on a snapshot, on a reader thread. `kind` and `demand` are those of the query,
    /// which waits in turns with the queries of other clients.
    ///
    /// Returns the result of the query with the ledger info of the snapshot.
    ///
    /// # Errors
    ///
    /// Returns the errors of the query and of [`NodeHandle::read`]. An [`ErrorKind`] of the query
    /// has the ledger info of the snapshot.
    pub async fn read<T, Q>(
        &self,
        kind: WorkKind,
        demand: Demand,
        query: Q,
    ) -> Result<(LedgerInfo, T), ApiError>
    where
        T: Send + 'static,
        Q: FnOnce(&Snapshot) -> Result<T, QueryError> + Send + 'static,
    {
        self.read_work(self.work(kind, demand), query).await
    }

    /// Reads the next part of a page, as [`Self::read`] does, before the other queries of the
    /// client.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::read`].
    pub async fn read_next<T, Q>(&self, query: Q) -> Result<(LedgerInfo, T), ApiError>
    where
        T: Send + 'static,
        Q: FnOnce(&Snapshot) -> Result<T, QueryError> + Send + 'static,
    {
        let work = Work {
            is_continued: true,
            ..self.work(WorkKind::Page, PART_DEMAND)
        };
        self.read_work(work, query).await
    }

    async fn read_work<T, Q>(&self, work: Work, query: Q) -> Result<(LedgerInfo, T), ApiError>
    where
        T: Send + 'static,
        Q: FnOnce(&Snapshot) -> Result<T, QueryError> + Send + 'static,
    {
        // The query continues if the client disconnects, and owns values parsed from the body.
        let body_lease = Arc::clone(&self.body_lease);
        let is_recorded = self.work.is_some();
        let answer = self.node().read(work, move |snapshot: &Snapshot| {
            let _body_lease = body_lease;
            let (result, usecs) = measured(is_recorded, || QueryError::split(query(snapshot)));
            Ok((result?, usecs))
        });
        let (ledger_info, (result, usecs)) = answer.await?;
        self.add_work(usecs);
        at_snapshot((ledger_info, result))
    }

    /// Runs a query that looks up at most as many rows as a page of events.
    ///
    /// Unlike [`Self::read`], it runs the query on the calling thread if reads are fast.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::read`].
    pub async fn read_few<T, Q>(&self, query: Q) -> Result<(LedgerInfo, T), ApiError>
    where
        T: Send + 'static,
        Q: FnOnce(&Snapshot) -> Result<T, QueryError> + Send + 'static,
    {
        let query = move |snapshot: &Snapshot| QueryError::split(query(snapshot));
        let work = self.work(WorkKind::PointRead, FEW_ROWS);
        at_snapshot(self.node().read_few(work, query).await?)
    }

    /// Runs a call of functions outside of blocks on a snapshot, as [`Self::read`] does. The
    /// [`Interrupt`] ends the call after `work.call_time_max_ms`, or when the client disconnects.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::read`].
    pub async fn call<T, Q>(
        &self,
        kind: WorkKind,
        demand: Demand,
        call: Q,
    ) -> Result<(LedgerInfo, T), ApiError>
    where
        T: Send + 'static,
        Q: FnOnce(&Snapshot, Interrupt) -> Result<T, QueryError> + Send + 'static,
    {
        let time_max = Duration::from_millis(self.node().config().work.call_time_max_ms);
        // Dropped with this future, if the client disconnects.
        let waits = Arc::new(());
        let waiting = Arc::downgrade(&waits);
        let query = move |snapshot: &Snapshot| {
            let end = Instant::now() + time_max;
            call(snapshot, interrupt(waiting, end))
        };
        let answer = self.read(kind, demand, query).await;
        drop(waits);
        answer
    }

    /// Runs work on this thread if it takes at most about [`INLINE_USECS_MAX`], and otherwise on a
    /// renderer thread, where the clients take turns.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::Overloaded`] if too much work waits for the renderer threads, and
    /// [`ErrorKind::Stopping`] if the node is stopping.
    pub fn run<T: Send + 'static>(
        &self,
        kind: WorkKind,
        demand: Demand,
        run: impl FnOnce() -> T + Send + 'static,
    ) -> impl Future<Output = Result<T, ErrorKind>> {
        self.run_work(self.work(kind, demand), run)
    }

    async fn run_work<T: Send + 'static>(
        &self,
        work: Work,
        run: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ErrorKind> {
        if work.uncorrected_usecs() <= INLINE_USECS_MAX {
            return Ok(run());
        }
        // Boxed, because it is rare, and the future of every request would have room for it.
        let is_recorded = self.work.is_some();
        let measured = move || measured(is_recorded, run);
        let (output, usecs) = Box::pin(self.node().render(work, measured)).await?;
        self.add_work(usecs);
        Ok(output)
    }

    /// Renders content of `size_bytes`, as [`Self::run`] does.
    ///
    /// # Errors
    ///
    /// Returns the errors of `make` and of [`Self::run`].
    pub async fn render<T: Send + 'static>(
        &self,
        size_bytes: usize,
        make: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let demand = rendering_demand(self.format, size_bytes);
        self.run(WorkKind::Render, demand, make).await?
    }

    /// Renders a part of a page, as [`Self::render`] does. A part after the first precedes the
    /// other renderings of the client.
    ///
    /// # Errors
    ///
    /// Returns the errors of `make` and of [`Self::run`].
    pub async fn render_part<T: Send + 'static>(
        &self,
        is_first: bool,
        size_bytes: usize,
        make: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let demand = rendering_demand(self.format, size_bytes);
        let work = Work {
            is_continued: !is_first,
            ..self.work(WorkKind::Render, demand)
        };
        self.run_work(work, make).await?
    }

    /// Returns the cached response, or `None` if there is none or it is pruned.
    pub fn cached(&self, key: CacheKey) -> Option<LedgerResponse> {
        self.state.cache.get(key, self.format, &self.newest())
    }

    /// Adds a response to the cache. `version` is the lowest version in the response.
    pub fn cache(&self, key: CacheKey, version: u64, response: &LedgerResponse) {
        self.state.cache.insert(key, version, response);
    }

    /// Returns the count of delayed requests of `wait_by_hash`.
    pub fn delayed_waits(&self) -> &Limit {
        &self.state.delayed_waits
    }

    /// Acquires `count` permits of `api.max_in_flight` beside the first one of the request.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::Overloaded`] if fewer are free.
    pub fn further_permits(&self, count: usize) -> Result<FurtherPermit, ErrorKind> {
        self.state.in_flight.acquire_further(count)
    }

    /// Creates a writer of the body, which leases its memory from `api.answers_bytes_max`.
    pub fn body_writer(&self) -> BodyWriter {
        BodyWriter::new(&self.state.responses, self.client)
    }

    /// Creates the body of a page, whose memory is leased from `api.answers_bytes_max`.
    pub fn page_body(&self, order: PartOrder) -> PageBody {
        PageBody::new(self.body_writer(), self.format, order)
    }

    /// Waits for the memory in which values of `size_bytes` are rendered. Small ones do not wait.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::reserve`].
    pub async fn reserve_rendering(
        &self,
        ledger_info: LedgerInfo,
        body: &mut BodyWriter,
        size_bytes: usize,
    ) -> Result<(), ApiError> {
        let rendered_bytes = match self.format {
            Format::Json => size_bytes.saturating_mul(JSON_FACTOR),
            Format::Bcs => size_bytes,
        };
        if rendered_bytes <= SMALL_LEASE_BYTES_MAX {
            return Ok(());
        }
        self.reserve(ledger_info, body, rendered_bytes).await
    }

    /// Waits for `further_bytes` of memory for the rest of a body, whose first part or values hold
    /// memory already. The responses of a client would otherwise reject each other half-way.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::Overloaded`] if too many responses wait, or if this one has waited for
    /// [`MEMORY_WAIT_MAX`], or less if the node stops.
    pub async fn reserve(
        &self,
        ledger_info: LedgerInfo,
        body: &mut BodyWriter,
        further_bytes: usize,
    ) -> Result<(), ApiError> {
        let reserved = tokio::select! {
            biased;
            reserved = timeout(MEMORY_WAIT_MAX, body.reserve(further_bytes)) => reserved.ok(),
            () = Connection::work_ends(&self.request) => None,
        };
        let retry_after_secs = match reserved {
            Some(Ok(())) => return Ok(()),
            Some(Err(full)) => full.retry_after_secs,
            None => MEMORY_WAIT_MAX.as_secs(),
        };
        let limit_bytes = self.state.responses.limit_bytes() as u64;
        let overload = Overload::new(ANSWERS_LIMIT, limit_bytes, retry_after_secs);
        Err(ErrorKind::from(overload).at(ledger_info))
    }

    /// Responds with a value in the format of the response. Only the closure of that format runs.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::Overloaded`] if the budget of responses has no capacity, and
    /// [`ErrorKind::Internal`] if the value cannot be serialized.
    pub fn respond<J: Serialize, B: Serialize>(
        &self,
        ledger_info: LedgerInfo,
        json: impl FnOnce() -> J,
        bcs: impl FnOnce() -> B,
    ) -> Result<LedgerResponse, ApiError> {
        match self.format() {
            Format::Json => self.body_writer().json(ledger_info, &json()),
            Format::Bcs => self.body_writer().bcs(ledger_info, &bcs()),
        }
    }
}

/// Returns the demand of rendering content of `size_bytes`.
fn rendering_demand(format: Format, size_bytes: usize) -> Demand {
    Demand::bytes(match format {
        Format::Json => size_bytes.saturating_mul(JSON_FACTOR),
        Format::Bcs => size_bytes / BCS_DIVISOR,
    })
}
