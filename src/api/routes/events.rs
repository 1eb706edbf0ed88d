//! Lists of the events of a stream, identified by its creation number or by the event handle in a
//! resource (docs/reference/rest-contract.md#s4-3). Module events belong to no stream. They are
//! part of their transactions only.

mod stream;

use crate::{
    context::{
        CacheKey, LedgerResponse, PageBody, PartOrder, QueryError, RequestContext,
        extract::{Combine, PageLimit, Parameter, Path, QueryParameter},
    },
    error::{ApiError, ErrorCode, ErrorKind},
    limits::large_responses::{INLINE_CONTENT_BYTES_MAX, PART_BYTES_MAX, values_bytes},
    model::{DecimalText, format::Format, json::VersionedEventJson},
    openapi::{
        StatusCode,
        errors::{self, documented_only, error},
        operation::{Operation, Success, Tag},
        parameter::u64_text,
        schemas::schema,
    },
};
use ledger_store::{Snapshot, StreamEvent, StreamEvents, StreamPage, StreamPosition, StreamRows};
use ledger_types::{EventKey, LedgerInfo};
use ledger_vm::Chain;
use serde_json::{Value, json};
use stream::{CreationNumber, HandleField, HandleLocation, HandleType, Stream, StreamOwner};

/// Approximate size of an event besides its data, in bytes.
const EVENT_FIXED_BYTES: usize = 256;

/// Maximum number of events in a page, as on the reference node.
type Limit = PageLimit<25, 100>;

/// Sequence number of the first event of a page.
pub(super) enum FirstEvent {}

impl Parameter for FirstEvent {
    type Value = DecimalText<u64>;
    const NAME: &'static str = "start";
    const DESCRIPTION: &'static str =
        "Sequence number of the first event. Without it, the page contains the newest events.";
    const SCHEMA: fn() -> Value = u64_text;
    const EXAMPLE: fn() -> Value = || json!("0");
}

fn operation(id: &'static str, summary: &'static str, description: &'static str) -> Operation {
    let example = json!([{
        "version": "5",
        "guid": {"creation_number": "3", "account_address": "0x5"},
        "sequence_number": "0",
        "type": "0x1::fungible_asset::WithdrawEvent",
        "data": {"amount": "7"},
    }]);
    let success = Success::ok("The events, in ascending order of sequence number.")
        .json(schema::<Vec<VersionedEventJson<'static>>>(), example)
        .bcs("BCS vector of structs: the version of the transaction, and the event.")
        .link(
            "first_transaction",
            "get_transaction_by_version",
            &[("txn_version", "$response.body#/0/version")],
        );
    Operation::new(id, Tag::Events, summary, description)
        .parameter(Path::<StreamOwner>::describe())
        .parameter(QueryParameter::<FirstEvent>::describe())
        .parameter(Limit::describe(
            "Maximum number of events in the page: 25 by default, values above 100 count as 100.",
        ))
        .success(success)
        .errors(errors::LIMIT)
        .errors(errors::PAGE)
        .errors(&[error(
            StatusCode::GONE,
            ErrorCode::VersionPruned,
            "`start` is below the first readable event of the stream.",
        )])
}

/// Handles `GET /v1/accounts/{address}/events/{creation_number}`.
///
/// Responds with an empty list for an account or stream that does not exist.
pub(super) async fn by_creation_number(
    cx: RequestContext,
    Path(DecimalText(creation_number)): Path<CreationNumber>,
    Path(account_address): Path<StreamOwner>,
    page: EventPage,
) -> Result<LedgerResponse, ApiError> {
    let stream = Stream {
        key: EventKey {
            creation_number,
            account_address,
        },
        emitted: None,
    };
    let (key, start, limit) = (stream.key, page.start, page.limit);
    let cache_key = |at: &LedgerInfo| CacheKey::Events {
        stream: key,
        start,
        limit,
        newest_version: at.version,
        oldest_version: at.oldest_version,
    };
    if let Some(response) = cx.cached(cache_key(&cx.newest())) {
        return Ok(response);
    }
    let list = EventList::new(&cx, &page);
    let (ledger_info, first) = cx
        .read_few(move |snapshot| list.begin(snapshot, stream, page.start, page.limit))
        .await?;
    let response = respond(&cx, ledger_info, first).await?;
    cx.cache(cache_key(&ledger_info), ledger_info.version, &response);
    Ok(response)
}

/// Describes [`by_creation_number`].
pub(super) fn describe_by_creation_number() -> Operation {
    operation(
        "get_events_by_creation_number",
        "List events by creation number",
        "Each event stream of an account has a creation number, from 0 in the order of creation. \
         Accounts and streams that do not exist have no events. Module events belong to no stream. \
         They are part of their transactions.",
    )
    .parameter(Path::<CreationNumber>::describe())
    .errors(&[documented_only(
        StatusCode::NOT_FOUND,
        ErrorCode::AccountNotFound,
        "Never returned by this operation: an account that does not exist has no events.",
    )])
}

/// Handles `GET /v1/accounts/{address}/events/{event_handle}/{field_name}`.
pub(super) async fn by_handle(
    cx: RequestContext,
    location: HandleLocation,
    page: EventPage,
) -> Result<LedgerResponse, ApiError> {
    let list = EventList::new(&cx, &page);
    let (ledger_info, first) = cx
        .read_few(move |snapshot| {
            let stream = location.stream(&list.chain, snapshot)?;
            list.begin(snapshot, stream, page.start, page.limit)
        })
        .await?;
    respond(&cx, ledger_info, first).await
}

/// Describes [`by_handle`].
pub(super) fn describe_by_handle() -> Operation {
    operation(
        "get_events_by_event_handle",
        "List events by event handle",
        "Lists the events of the stream whose handle is a field of a resource at the address, in \
         the newest state. Only fields of the resource itself are searched, not fields of its \
         fields. No account has a `0x1::coin::CoinStore`: its `deposit_events` and \
         `withdraw_events` are the streams of the account's primary store of the paired asset, \
         whose address is the `account_address` of the events.",
    )
    .parameter(Path::<HandleType>::describe())
    .parameter(Path::<HandleField>::describe())
    .errors(&[
        error(
            StatusCode::BAD_REQUEST,
            ErrorCode::InvalidInput,
            "The field name is invalid, or the field is not an event handle.",
        ),
        error(
            StatusCode::NOT_FOUND,
            ErrorCode::ResourceNotFound,
            "The address does not have this resource, or a store without event handles.",
        ),
        error(
            StatusCode::NOT_FOUND,
            ErrorCode::StructFieldNotFound,
            "The resource does not have this field.",
        ),
    ])
}

/// Responds with the page that begins with the part `first`.
///
/// # Errors
///
/// Returns [`ErrorKind::InvalidInput`] if the page is too large, and [`ErrorKind::EventPruned`] if
/// an event is pruned before it is read.
async fn respond(
    cx: &RequestContext,
    ledger_info: LedgerInfo,
    first: ReadPart,
) -> Result<LedgerResponse, ApiError> {
    let mut next = first;
    let mut is_first = true;
    loop {
        let (stream, rest) = (next.stream, next.rest);
        let mut list = cx
            .render_part(is_first, next.read_bytes, move || {
                next.render().map_err(|error| error.at(ledger_info))
            })
            .await?;
        let Some(rest) = rest else {
            return list.body.respond(ledger_info);
        };
        if is_first {
            let further_bytes = list.body.further_bytes(rest.limit);
            cx.reserve(ledger_info, &mut list.body.writer, further_bytes)
                .await?;
        }
        is_first = false;
        (_, next) = cx
            .read_next(move |snapshot| list.read_part(snapshot, stream, &rest))
            .await?;
    }
}

/// A page of events that is being made.
struct EventList {
    chain: Chain,
    /// Size of the events of all parts, in bytes.
    read_bytes: usize,
    body: PageBody,
}

/// A part of a page of events, in the form that the format of the response needs, with the rest of
/// the page.
struct ReadPart {
    list: EventList,
    stream: Stream,
    events: PartEvents,
    /// Approximate size of the events of the part, in bytes.
    read_bytes: usize,
    /// The events that are not read yet, or `None` if all are read.
    rest: Option<StreamPage>,
}

enum PartEvents {
    Json(StreamEvents),
    Bcs(StreamRows),
}

impl EventList {
    /// Creates a page without events.
    fn new(cx: &RequestContext, page: &EventPage) -> Self {
        Self {
            chain: cx.chain().clone(),
            read_bytes: 0,
            body: cx.page_body(PartOrder::of_start(page.start)),
        }
    }

    /// Reads the first part, which an HTTP worker may read and render itself.
    fn begin(
        self,
        snapshot: &Snapshot,
        stream: Stream,
        start: Option<u64>,
        limit: usize,
    ) -> Result<ReadPart, QueryError> {
        let first = StreamPage {
            bytes_max: INLINE_CONTENT_BYTES_MAX,
            version_max: snapshot.ledger_info().version,
            ..StreamPage::new(start, limit)
        };
        self.read_part(snapshot, stream, &first)
    }

    /// Reads the next events, up to the one that reaches the size of a part.
    fn read_part(
        mut self,
        snapshot: &Snapshot,
        stream: Stream,
        page: &StreamPage,
    ) -> Result<ReadPart, QueryError> {
        let Stream { key, emitted } = stream;
        if let StreamPosition::Start(start) = page.from {
            // Earlier builds did not record pruned events by stream, but the event handle counts
            // them.
            let first = snapshot.first_event(&key)?.or(emitted);
            if let Some(end) = first.filter(|first| start < *first) {
                return Err(ErrorKind::EventPruned { start, end }.into());
            }
        }
        let events = match self.body.format {
            Format::Json => PartEvents::Json(snapshot.stream_events(&key, page)?),
            Format::Bcs => PartEvents::Bcs(snapshot.stream_event_rows(&key, page)?),
        };
        let read_bytes = events.size_bytes();
        self.body.writer.lease_values(events.values_bytes())?;
        self.read_bytes += read_bytes;
        let rest = events.next().map(|from| StreamPage {
            from,
            limit: page.limit - events.count(),
            bytes_max: PART_BYTES_MAX,
            version_max: page.version_max,
        });
        Ok(ReadPart {
            list: self,
            stream,
            events,
            read_bytes,
            rest,
        })
    }
}

impl PartEvents {
    fn count(&self) -> usize {
        match self {
            Self::Json(found) => found.events.len(),
            Self::Bcs(found) => found.rows.len(),
        }
    }

    /// Returns the rest of the page, if it ended because of its size.
    fn next(&self) -> Option<StreamPosition> {
        match self {
            Self::Json(found) => found.next,
            Self::Bcs(found) => found.next,
        }
    }

    /// Returns the approximate size of the events, in bytes.
    fn size_bytes(&self) -> usize {
        let size_of = |event: &StreamEvent| EVENT_FIXED_BYTES + event.data.len();
        match self {
            Self::Json(found) => found.events.iter().map(size_of).sum(),
            Self::Bcs(found) => found.rows.iter().map(|row| row.event.len()).sum(),
        }
    }

    /// Returns the maximum memory of the events, in bytes.
    fn values_bytes(&self) -> usize {
        match self {
            Self::Json(_) => values_bytes(self.size_bytes()),
            Self::Bcs(_) => self.size_bytes(),
        }
    }
}

impl ReadPart {
    /// Renders the part, drops it, and returns the rest of the page.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`respond`].
    fn render(self) -> Result<EventList, ErrorKind> {
        let Self {
            mut list, events, ..
        } = self;
        match &events {
            PartEvents::Json(events) => {
                let views = VersionedEventJson::all(&list.chain, events);
                list.body.push_json(views.into_iter())?;
            }
            PartEvents::Bcs(found) => list.body.push_part(found.rows.iter(), |writer, row| {
                writer.write_bytes(&row.version.to_le_bytes())?;
                writer.write_bytes(&row.event)
            })?,
        }
        drop(events);
        list.body.writer.release_values();
        list.body.check_size()?;
        Ok(list)
    }
}

/// A page of events of a stream.
pub(super) struct EventPage {
    start: Option<u64>,
    limit: usize,
}

impl Combine for EventPage {
    type Parts = (QueryParameter<FirstEvent>, Limit);

    fn combine((QueryParameter(start), PageLimit(limit)): Self::Parts) -> Result<Self, ErrorKind> {
        Ok(Self {
            start: start.map(|DecimalText(start)| start),
            limit,
        })
    }
}
