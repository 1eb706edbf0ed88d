//! Events of a stream, named by its creation number or by the handle that a resource holds
//! (docs/reference/rest-contract.md#s4-3). Events of modules belong to no stream; transactions show them.

use crate::{
    context::{CacheKey, LedgerResponse, PageSize, RequestContext},
    error::{ApiError, ErrorKind},
    limits::large_responses,
    model::{
        DecimalText,
        bcs::ListBcs,
        format::Format,
        json::{EventHandleJson, VersionedEventJson},
        read_resource,
    },
};
use ledger_store::{Snapshot, StoreError, StreamEvent, StreamEvents};
use ledger_types::{AccountAddress, EventKey, Identifier, LedgerInfo, StructTag};
use ledger_vm::Chain;
use serde::Deserialize;

/// The reference's numbers.
const PAGE: PageSize = PageSize {
    default: 25,
    max: 100,
};

/// About how many bytes an event holds besides its data.
const EVENT_FIXED_BYTES: usize = 256;

/// `GET /v1/accounts/{address}/events/{creation_number}`
///
/// Nothing is said about accounts and streams that do not exist: they have no events.
pub(crate) async fn by_creation_number(cx: RequestContext) -> Result<LedgerResponse, ApiError> {
    let DecimalText(creation_number) = cx.path("creation_number")?;
    let stream = Stream {
        key: EventKey {
            creation_number,
            account_address: cx.path("address")?,
        },
        emitted: None,
    };
    let page = EventPage::asked_by(&cx)?;
    let (key, start, limit) = (stream.key, page.start, page.limit);
    let subject = |at: &LedgerInfo| CacheKey::Events {
        stream: key,
        start,
        limit,
        newest_version: at.version,
        oldest_version: at.oldest_version,
    };
    let newest = *cx.node().head().ledger_info();
    if let Some(answer) = cx.kept(subject(&newest)) {
        return Ok(answer);
    }
    let (ledger_info, events) = cx
        .read_few(move |snapshot| page.read(snapshot, &stream))
        .await?;
    let answer = answer(&cx, ledger_info, events).await?;
    cx.keep(subject(&ledger_info), ledger_info.version, &answer);
    Ok(answer)
}

/// `GET /v1/accounts/{address}/events/{event_handle}/{field_name}`
pub(crate) async fn by_handle(cx: RequestContext) -> Result<LedgerResponse, ApiError> {
    let field: String = cx.path("field_name")?;
    let place = HandlePlace {
        address: cx.path("address")?,
        tag: cx.path("event_handle")?,
        field: field.parse().map_err(|cause| {
            ErrorKind::InvalidInput(format!("{field:?} is no name of a field: {cause}"))
        })?,
    };
    let page = EventPage::asked_by(&cx)?;
    let chain = cx.chain().clone();
    let (ledger_info, events) = cx
        .read_few(move |snapshot| match place.stream(&chain, snapshot)? {
            Ok(stream) => page.read(snapshot, &stream),
            Err(problem) => Ok(Err(problem)),
        })
        .await?;
    answer(&cx, ledger_info, events).await
}

async fn answer(
    cx: &RequestContext,
    ledger_info: LedgerInfo,
    found: LoadedEvents,
) -> Result<LedgerResponse, ApiError> {
    let size_bytes = found.size_bytes();
    let permit = cx.state.large_responses().acquire_for(size_bytes)?;
    let chain = cx.chain().clone();
    large_responses::render(cx.node(), permit, move || match found {
        LoadedEvents::Json(events) => {
            let views = VersionedEventJson::all(&chain, &events);
            LedgerResponse::json_of_about(
                ledger_info,
                &views,
                large_responses::json_bytes(size_bytes),
            )
        }
        LoadedEvents::Bcs(events) => {
            LedgerResponse::bcs_bytes(ledger_info, events.behind(Vec::new()))
        }
    })
    .await
}

/// A page of events, as far as the form of the answer needs it.
enum LoadedEvents {
    Json(StreamEvents),
    Bcs(ListBcs),
}

impl LoadedEvents {
    /// About how many bytes they hold.
    fn size_bytes(&self) -> usize {
        let size_of = |event: &StreamEvent| EVENT_FIXED_BYTES + event.data.len();
        match self {
            Self::Json(found) => found.events.iter().map(size_of).sum(),
            Self::Bcs(events) => events.size_bytes(),
        }
    }
}

/// A stream of events.
struct Stream {
    key: EventKey,
    /// How many events it has had, where its handle was read.
    emitted: Option<u64>,
}

/// Which events of a stream are asked for.
struct EventPage {
    start: Option<u64>,
    limit: usize,
    format: Format,
}

impl EventPage {
    fn asked_by(cx: &RequestContext) -> Result<Self, ErrorKind> {
        Ok(Self {
            start: cx.query("start")?.map(|DecimalText(start)| start),
            limit: cx.limit(PAGE)?,
            format: cx.format(),
        })
    }

    fn read(
        &self,
        snapshot: &Snapshot,
        stream: &Stream,
    ) -> Result<Result<LoadedEvents, ErrorKind>, StoreError> {
        if let Some(start) = self.start {
            // What earlier releases pruned is not recorded by stream; its handle knows that there was some.
            let first = snapshot.first_event(&stream.key)?.or(stream.emitted);
            if let Some(end) = first.filter(|first| start < *first) {
                return Ok(Err(ErrorKind::EventPruned { start, end }));
            }
        }
        let (key, start, limit) = (&stream.key, self.start, self.limit);
        Ok(Ok(match self.format {
            Format::Json => LoadedEvents::Json(snapshot.stream_events(key, start, limit)?),
            Format::Bcs => {
                let mut events = ListBcs::default();
                for (version, event) in snapshot.stream_event_rows(key, start, limit)? {
                    events.push_event(version, &event);
                }
                LoadedEvents::Bcs(events)
            }
        }))
    }
}

/// Where a handle lies: a field of a resource.
struct HandlePlace {
    address: AccountAddress,
    tag: StructTag,
    field: Identifier,
}

impl HandlePlace {
    /// The stream of the handle at the newest version. Only fields of the resource itself are looked
    /// at, not fields of its fields.
    fn stream(
        self,
        chain: &Chain,
        snapshot: &Snapshot,
    ) -> Result<Result<Stream, ErrorKind>, StoreError> {
        let Self {
            address,
            tag,
            field,
        } = self;
        let version = snapshot.ledger_info().version;
        let Some(bytes) = read_resource(chain, snapshot, &address, &tag, version)? else {
            let tag = Box::new(tag);
            return Ok(Err(ErrorKind::ResourceNotFound {
                address,
                tag,
                version,
            }));
        };
        let resource = chain
            .registry()
            .value_to_json(&tag.clone().into(), &bytes)
            .map_err(|cause| StoreError::Inconsistent(format!("{tag} at {address}: {cause}")))?;
        let Some(value) = resource.get(field.as_str()) else {
            let tag = Box::new(tag);
            return Ok(Err(ErrorKind::StructFieldNotFound {
                address,
                tag,
                field,
                version,
            }));
        };
        Ok(match EventHandleJson::deserialize(value) {
            Ok(handle) => Ok(Stream {
                key: handle.key(),
                emitted: Some(handle.counter()),
            }),
            Err(cause) => Err(ErrorKind::InvalidInput(format!(
                "field({field}) type is not a EventHandle struct: {cause}"
            ))),
        })
    }
}
