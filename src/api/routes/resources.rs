//! Lists of the resources at an address, in pages. Members of resource groups are listed like other
//! resources. A page can end within a group, and the next page then starts there.

use super::accounts::{
    Address, CURSOR_DESCRIPTION, NEXT_PAGE, cursor_text, resource_example, state_operation,
};
use crate::{
    context::{
        LedgerResponse, PageBody, PartOrder, QueryError, RequestContext,
        extract::{AtVersion, PageLimit, Parameter, Path, QueryParameter},
    },
    error::{ApiError, ErrorCode, ErrorKind},
    limits::large_responses::{PART_BYTES_MAX, PART_DEMAND, VALUE_BYTES_MAX, values_bytes},
    model::{
        Resource,
        format::Format,
        json::{HexBytes, ResourceJson},
        resources_of,
    },
    openapi::{
        StatusCode,
        errors::{self, error},
        operation::{Operation, Success},
        schemas::schema,
    },
};
use ledger_limits::WorkKind;
use ledger_store::{Snapshot, StateKeyCursor};
use ledger_types::{AccountAddress, LedgerInfo, StructTag};
use ledger_vm::Chain;
use serde_json::{Value, json};
use std::{collections::BTreeMap, str::FromStr};

/// Maximum number of resources in a page, as on the reference node.
const PAGE_MAX: usize = 9_999;

/// Maximum number of slots that are read for a page. A slot takes about 7 microseconds.
///
/// A page of the maximum length can skip as many empty slots as it has resources. With more empty
/// slots a page is shorter, and may even be empty and have a cursor.
const SLOTS_MAX: usize = 2 * PAGE_MAX;

/// Maximum number of slots that are read at a time, so that a reader thread serves other queries
/// after about 7 milliseconds.
const PART_SLOTS_MAX: usize = 1_000;

/// Approximate size of a resource besides its value, in bytes.
const RESOURCE_FIXED_BYTES: usize = 256;

type Limit = PageLimit<PAGE_MAX, PAGE_MAX>;

/// Handles `GET /v1/accounts/{address}/resources`.
///
/// Responds with an empty list for an account without resources, even if it does not exist.
pub(super) async fn resources(
    cx: RequestContext,
    Path(address): Path<Address>,
    QueryParameter(start): QueryParameter<Cursor>,
    PageLimit(limit): Limit,
    version: AtVersion,
) -> Result<LedgerResponse, ApiError> {
    let page = ResourcePage {
        chain: cx.chain().clone(),
        address,
        start,
        limit,
        slots_read: 0,
        read_bytes: 0,
        in_bcs: Vec::new(),
        body: cx.page_body(PartOrder::Ascending),
    };
    let (ledger_info, first) = cx
        .read(WorkKind::Page, PART_DEMAND, move |snapshot| {
            page.read_part(snapshot, version)
        })
        .await?;
    respond(&cx, ledger_info, first).await
}

/// Responds with the page that begins with the part `first`. All parts are of the same version.
async fn respond(
    cx: &RequestContext,
    ledger_info: LedgerInfo,
    first: ReadPart,
) -> Result<LedgerResponse, ApiError> {
    let mut next = first;
    let mut is_first = true;
    loop {
        let version = next.version;
        let rendered = cx.render_part(is_first, next.read_bytes, move || next.render(ledger_info));
        let mut page = match rendered.await? {
            Rendered::Page(response) => return Ok(response),
            Rendered::Rest(page) => page,
        };
        if is_first {
            let further_bytes = page.further_bytes();
            cx.reserve(ledger_info, &mut page.body.writer, further_bytes)
                .await?;
        }
        is_first = false;
        (_, next) = cx
            .read_next(move |snapshot| page.read_part(snapshot, version.into()))
            .await?;
    }
}

/// Describes [`resources`].
pub(super) fn describe_resources() -> Operation {
    let success = Success::ok("A page of resources.")
        .json(schema::<Vec<ResourceJson>>(), json!([resource_example()]))
        .bcs("BCS map from the type of a resource to its bytes.")
        .with_cursor()
        .link("next_page", "get_account_resources", NEXT_PAGE);
    state_operation(
        "get_account_resources",
        "List the resources of an account",
        "Lists all resources at the address, including members of resource groups. Modules are \
         listed separately. A page ends at its limit or at about 8 MiB. If resources remain, the \
         response has `X-{VENDOR}-CURSOR`, which is the `start` of the next page. Request every \
         page with the `ledger_version` of the first page, so that all pages show the same \
         version. A page may be shorter than its limit, even empty, and still have a cursor.",
    )
    .parameter(QueryParameter::<Cursor>::describe())
    .parameter(Limit::describe(
        "Maximum number of resources in the page: 9999 by default, higher values count as 9999.",
    ))
    .success(success)
    .errors(errors::LIMIT)
    .errors(errors::NOTHING_TO_FIND)
    .errors(&[error(
        StatusCode::BAD_REQUEST,
        ErrorCode::InvalidInput,
        "`start` is not a cursor of this account on this node.",
    )])
}

/// A page of resources that is being made.
struct ResourcePage {
    chain: Chain,
    address: AccountAddress,
    /// The first resource that is not read yet, or `None` for the first one of the account.
    start: Option<Cursor>,
    /// Number of resources that may follow.
    limit: usize,
    /// Number of slots of all parts.
    slots_read: usize,
    /// Size of the resources of all parts, in bytes.
    read_bytes: usize,
    /// The resources of all parts for a response in BCS, which is a map and thus sorted.
    in_bcs: Vec<Resource>,
    body: PageBody,
}

/// A part of a page of resources, with the rest of the page.
struct ReadPart {
    page: ResourcePage,
    /// Version of the state that the page shows.
    version: u64,
    resources: Vec<Resource>,
    /// Size of the resources of the part, in bytes.
    read_bytes: usize,
    /// Whether the page ends with this part.
    is_last: bool,
}

impl ResourcePage {
    /// Reads the next resources, up to the one that reaches the size of a part or of the page.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::InvalidInput`] if the cursor is not one of this account.
    fn read_part(
        mut self,
        snapshot: &Snapshot,
        version: AtVersion,
    ) -> Result<ReadPart, QueryError> {
        let version = version.resolve(snapshot)?;
        let mut from = None;
        if let Some(start) = &self.start {
            from = snapshot.state_key_cursor(&self.address, start.slot);
            if from.is_none() {
                return Err(ErrorKind::InvalidInput(format!(
                    "the cursor does not belong to the account {} on this node",
                    self.address
                ))
                .into());
            }
        }
        let (mut resources, mut read_bytes) = (Vec::new(), 0);
        let mut next = None;
        let slots = snapshot.state_keys(&self.address, version, from)?;
        'slots: for (slots_read, slot) in slots.enumerate() {
            let slot = slot?;
            if self.slots_read == SLOTS_MAX || slots_read == PART_SLOTS_MAX {
                next = Some(Cursor::new(slot.cursor, None));
                break;
            }
            self.slots_read += 1;
            let Some((key, value)) = slot.key_value else {
                continue;
            };
            for (tag, value) in resources_of(&key, value)? {
                if self.is_before_start(slot.cursor, &tag) {
                    continue;
                }
                if self.is_complete() || read_bytes >= PART_BYTES_MAX {
                    next = Some(Cursor::new(slot.cursor, Some(tag)));
                    break 'slots;
                }
                let size_bytes = RESOURCE_FIXED_BYTES + value.len();
                read_bytes += size_bytes;
                self.read_bytes += size_bytes;
                self.limit -= 1;
                resources.push((tag, value));
                self.body.writer.lease_values(match self.body.format {
                    Format::Json => values_bytes(size_bytes),
                    Format::Bcs => size_bytes,
                })?;
            }
        }
        let is_last = next.is_none() || self.is_complete();
        self.start = next;
        Ok(ReadPart {
            page: self,
            version,
            resources,
            read_bytes,
            is_last,
        })
    }

    /// Returns whether the page has its maximum length or size.
    fn is_complete(&self) -> bool {
        self.limit == 0 || self.read_bytes >= VALUE_BYTES_MAX || self.slots_read == SLOTS_MAX
    }

    /// Returns the memory that the rest of the page takes at most, in bytes, if its resources are as
    /// large as those that are made.
    fn further_bytes(&self) -> usize {
        let rest_bytes = VALUE_BYTES_MAX.saturating_sub(self.read_bytes);
        match self.body.format {
            Format::Json => {
                let fitting = self.body.item_count() * rest_bytes / self.read_bytes.max(1);
                self.body.further_bytes(fitting.min(self.limit))
            }
            // The values of all parts, and the map of them.
            Format::Bcs => rest_bytes + VALUE_BYTES_MAX,
        }
    }

    /// Returns whether a member of the group in which the page starts is part of an earlier page.
    fn is_before_start(&self, slot: StateKeyCursor, tag: &StructTag) -> bool {
        let start = self.start.as_ref();
        start.is_some_and(|start| start.slot == slot.to_bytes() && start.tag.as_ref() > Some(tag))
    }

    /// Responds with the page, and with the cursor of the next one if resources remain.
    fn respond(mut self, ledger_info: LedgerInfo) -> Result<LedgerResponse, ApiError> {
        let response = match self.body.format {
            Format::Json => self.body.respond(ledger_info),
            Format::Bcs => {
                let map: BTreeMap<_, _> = self.in_bcs.drain(..).collect();
                self.body.writer.bcs(ledger_info, &map)
            }
        };
        let cursor = self.start.map(|cursor| cursor.to_string());
        Ok(response?.with_cursor(cursor))
    }
}

impl ReadPart {
    /// Renders the part as JSON and drops it, or collects it for BCS.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::Overloaded`] if the budget of responses has no capacity.
    fn render(self, ledger_info: LedgerInfo) -> Result<Rendered, ApiError> {
        let Self {
            mut page,
            mut resources,
            is_last,
            ..
        } = self;
        match page.body.format {
            Format::Bcs => page.in_bcs.append(&mut resources),
            Format::Json => {
                let views = resources.into_iter();
                let views = views.map(|(tag, value)| ResourceJson::new(&page.chain, tag, value));
                let rendered = page.body.push_json(views);
                rendered.map_err(|error| error.at(ledger_info))?;
                page.body.writer.release_values();
            }
        }
        if is_last || page.body.is_full() {
            return page.respond(ledger_info).map(Rendered::Page);
        }
        Ok(Rendered::Rest(Box::new(page)))
    }
}

/// The outcome of rendering a part.
enum Rendered {
    /// The complete page.
    Page(LedgerResponse),
    /// The page without its further parts.
    Rest(Box<ResourcePage>),
}

/// The start of a page: the position of its first slot, and the type of its first resource in the
/// slot. Writes to other slots and members change neither.
pub(super) struct Cursor {
    slot: [u8; StateKeyCursor::BYTES],
    tag: Option<StructTag>,
}

impl Cursor {
    fn new(slot: StateKeyCursor, tag: Option<StructTag>) -> Self {
        Self {
            slot: slot.to_bytes(),
            tag,
        }
    }
}

impl Parameter for Cursor {
    type Value = Self;
    const NAME: &'static str = "start";
    const DESCRIPTION: &'static str = CURSOR_DESCRIPTION;
    const SCHEMA: fn() -> Value = cursor_text;
    /// Cursors of another node are rejected, so no example is valid on every node.
    const EXAMPLE: fn() -> Value = || json!("8bdb33df861b2b2fbc0ba7302846b6c8");
}

impl FromStr for Cursor {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let HexBytes(bytes) = text.parse()?;
        let (slot, tag) = bytes.split_first_chunk().ok_or("the cursor is too short")?;
        let tag = (!tag.is_empty()).then(|| bcs::from_bytes(tag));
        let tag = tag
            .transpose()
            .map_err(|cause| format!("the cursor does not name a type: {cause}"))?;
        Ok(Self { slot: *slot, tag })
    }
}

impl std::fmt::Display for Cursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&hex::encode(self.slot))?;
        match &self.tag {
            Some(tag) => f.write_str(&hex::encode(
                bcs::to_bytes(tag).map_err(|_| std::fmt::Error)?,
            )),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::BodyWriter;
    use ledger_execution::{build_chain, development_genesis, execute_genesis};
    use ledger_limits::{ClientKey, MemoryBudget};
    use ledger_store::{Store, StoreOptions, StoreWriter};
    use ledger_types::{Parameters, StateKey, Vendor, WriteOp, WriteSet};

    const OWNER: AccountAddress = AccountAddress::from_low_u64(0x0b1ec7);
    const RESOURCES: usize = 3;

    /// Creates a ledger with an account of `RESOURCES` resources among more empty slots than a page
    /// reads.
    fn nearly_empty(directory: &std::path::Path) -> (StoreWriter, Snapshot) {
        let genesis = development_genesis(4, Vendor::default(), Parameters::default());
        let mut block = execute_genesis(&genesis, &build_chain(&genesis).unwrap());
        let executed = &mut block.transactions[0];
        let mut writes: Vec<_> = executed.writes.iter().cloned().collect();
        writes.extend((0..SLOTS_MAX + RESOURCES).map(|number| {
            let tag = format!("0x1::made_up::R{number}").parse().unwrap();
            let operation = if number < RESOURCES {
                WriteOp::Create(vec![1].into())
            } else {
                WriteOp::Delete
            };
            (StateKey::resource(&OWNER, &tag), operation)
        }));
        writes.sort_by(|(a, _), (b, _)| a.cmp(b));
        executed.writes = WriteSet::from_ascending(writes);
        let mut store = Store::open(
            directory,
            &StoreOptions {
                cache_bytes: 1 << 20,
            },
        )
        .unwrap();
        store.initialize(&genesis, &block).unwrap();
        let (writer, reader) = store.split();
        (writer, reader.snapshot().unwrap())
    }

    /// Returns the page from `start` before its first part is read.
    fn page_from(start: Option<Cursor>) -> ResourcePage {
        let genesis = development_genesis(4, Vendor::default(), Parameters::default());
        ResourcePage {
            chain: build_chain(&genesis).unwrap(),
            address: OWNER,
            start,
            limit: PAGE_MAX,
            slots_read: 0,
            read_bytes: 0,
            in_bcs: Vec::new(),
            body: PageBody::new(
                BodyWriter::new(&MemoryBudget::new(1 << 20), ClientKey::NODE),
                Format::Json,
                PartOrder::Ascending,
            ),
        }
    }

    #[test]
    fn ends_a_page_after_the_maximum_number_of_slots() {
        let directory = tempfile::tempdir().unwrap();
        // A snapshot is readable while the writer exists.
        let (_writer, snapshot) = nearly_empty(directory.path());
        let (mut pages, mut found, mut start) = (0, Vec::new(), None);
        loop {
            let mut page = page_from(start.take());
            pages += 1;
            loop {
                let part = page
                    .read_part(&snapshot, AtVersion::from(0))
                    .expect("the version is readable");
                found.extend(part.resources);
                page = part.page;
                if part.is_last {
                    break;
                }
            }
            match page.start {
                Some(next) => start = Some(next.to_string().parse().unwrap()),
                None => break,
            }
        }
        assert_eq!(pages, 2);
        found.dedup();
        assert_eq!(found.len(), RESOURCES);
    }
}
