//! Lists of the resources at an address, in pages. Members of resource groups are listed like other
//! resources. A page can end within a group, and the next page then starts there.

use super::accounts::{
    Address, CURSOR_DESCRIPTION, NEXT_PAGE, cursor_text, resource_example, state_operation,
};
use crate::{
    context::{
        LedgerResponse, QueryError, RequestContext,
        extract::{AtVersion, PageLimit, Parameter, Path, Query},
    },
    error::{ApiError, ErrorCode, ErrorKind},
    limits::large_responses::{self, LargeResponsePermit, LargeResponses, VALUE_BYTES_MAX},
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
use ledger_store::{Snapshot, StateKeyCursor};
use ledger_types::{AccountAddress, StructTag};
use serde_json::{Value, json};
use std::{collections::BTreeMap, str::FromStr};

/// Maximum number of resources in a page, as on the reference node.
const PAGE_MAX: usize = 9_999;

/// Maximum number of slots that are read for a page. A slot takes about 7 microseconds.
///
/// A page of the maximum length can skip as many empty slots as it has resources. With more empty
/// slots a page is shorter, and may even be empty and have a cursor.
const SLOTS_MAX: usize = 2 * PAGE_MAX;

/// Approximate size of a resource besides its value, in bytes.
const RESOURCE_FIXED_BYTES: usize = 256;

type Limit = PageLimit<PAGE_MAX, PAGE_MAX>;

/// Handles `GET /v1/accounts/{address}/resources`.
///
/// Responds with an empty list for an account without resources, even if it does not exist.
pub(super) async fn resources(
    cx: RequestContext,
    Path(address): Path<Address>,
    Query(start): Query<Cursor>,
    PageLimit(limit): Limit,
    version: AtVersion,
) -> Result<LedgerResponse, ApiError> {
    let large_responses = cx.state.large_responses.clone();
    let (ledger_info, page) = cx
        .read(move |snapshot| {
            let page_request = PageRequest {
                address,
                version: version.resolve(snapshot)?,
                start,
                limit,
            };
            page_request.read(snapshot, &large_responses)
        })
        .await?;
    let Page {
        resources,
        next,
        permit,
    } = page;
    let (chain, format) = (cx.chain().clone(), cx.format());
    let response = large_responses::render(cx.node(), permit, move || match format {
        Format::Json => {
            let views = resources.into_iter();
            let views = views.map(|(tag, value)| ResourceJson::new(&chain, tag, value));
            LedgerResponse::json(ledger_info, &views.collect::<Vec<_>>())
        }
        Format::Bcs => LedgerResponse::bcs(
            ledger_info,
            &resources.into_iter().collect::<BTreeMap<_, _>>(),
        ),
    });
    Ok(response
        .await?
        .with_cursor(next.map(|cursor| cursor.to_string())))
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
    .parameter(Query::<Cursor>::describe())
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

/// A request for a page of resources.
struct PageRequest {
    address: AccountAddress,
    version: u64,
    start: Option<Cursor>,
    limit: usize,
}

/// A page of resources, with the start of the next page. A large page has a permit.
#[derive(Default)]
struct Page {
    resources: Vec<Resource>,
    next: Option<Cursor>,
    permit: Option<LargeResponsePermit>,
}

impl PageRequest {
    fn read(
        &self,
        snapshot: &Snapshot,
        large_responses: &LargeResponses,
    ) -> Result<Page, QueryError> {
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
        let (mut page, mut read_bytes) = (Page::default(), 0);
        for (slots_read, slot) in snapshot
            .state_keys(&self.address, self.version, from)?
            .enumerate()
        {
            let slot = slot?;
            if slots_read == SLOTS_MAX {
                page.next = Some(Cursor::new(slot.cursor, None));
                break;
            }
            let Some((key, value)) = slot.key_value else {
                continue;
            };
            for (tag, value) in resources_of(&key, value)? {
                if self.is_before_start(slot.cursor, &tag) {
                    continue;
                }
                if page.resources.len() == self.limit || read_bytes >= VALUE_BYTES_MAX {
                    page.next = Some(Cursor::new(slot.cursor, Some(tag)));
                    return Ok(page);
                }
                read_bytes += RESOURCE_FIXED_BYTES + value.len();
                page.resources.push((tag, value));
                if page.permit.is_none() {
                    page.permit = large_responses.acquire_for(read_bytes)?;
                }
            }
        }
        Ok(page)
    }

    /// Returns whether a member of the group in which the page starts is part of an earlier page.
    fn is_before_start(&self, slot: StateKeyCursor, tag: &StructTag) -> bool {
        let start = self.start.as_ref();
        start.is_some_and(|start| start.slot == slot.to_bytes() && start.tag.as_ref() > Some(tag))
    }
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
    use ledger_execution::{build_chain, development_genesis, execute_genesis};
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
                WriteOp::Put(vec![1].into())
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

    #[test]
    fn ends_a_page_after_the_maximum_number_of_slots() {
        let directory = tempfile::tempdir().unwrap();
        // A snapshot is readable while the writer exists.
        let (_writer, snapshot) = nearly_empty(directory.path());
        let (mut pages, mut found, mut start) = (0, Vec::new(), None);
        loop {
            let page_request = PageRequest {
                address: OWNER,
                version: 0,
                start: start.take(),
                limit: PAGE_MAX,
            };
            let page = page_request
                .read(&snapshot, &LargeResponses::default())
                .unwrap();
            pages += 1;
            found.extend(page.resources);
            match page.next {
                Some(next) => start = Some(next.to_string().parse().unwrap()),
                None => break,
            }
        }
        assert_eq!(pages, 2);
        found.dedup();
        assert_eq!(found.len(), RESOURCES);
    }
}
