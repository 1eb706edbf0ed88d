//! A wait for many transactions with one request (docs/use/interface.md#wait-for-many).

use super::submit::decode_failed;
use crate::{
    context::{
        RequestContext, StreamResponse,
        extract::{JsonOrBcs, JsonOrBcsBody, WaitTimeout, lease_values},
    },
    error::{ApiError, ErrorCode, ErrorKind},
    limits::{FurtherPermit, WaitEnd},
    model::{
        format::{Format, NDJSON},
        json::parse_json,
        wait_lines::{OutcomeCounts, WaitLineBcs, WaitLineJson, WaitManyRequest},
    },
    openapi::{
        StatusCode,
        errors::error,
        operation::{Media, Operation, Success, Tag},
        schemas::schema,
    },
};
use bytes::Bytes;
use futures::stream::{self, Stream};
use ledger_actors::{HashOutcome, ManyWait, NodeError};
use ledger_crypto::HashValue;
use ledger_limits::MemoryLease;
use ledger_types::LedgerInfo;
use ledger_vm::Chain;
use serde_json::json;
use std::{sync::Arc, time::Duration};
use tokio::{task::yield_now, time::Instant};

/// Number of hashes for which a request takes one permit of `api.max_in_flight`.
const HASHES_PER_PERMIT: usize = 1_000;

/// Size from which a piece of the response is sent, in bytes. It is the memory of a response that
/// its client does not read, beside the buffers of the connection.
const PIECE_BYTES: usize = 16 * 1024;

/// Number of pieces that are made before the other requests of the thread are served. They take
/// about 100 µs.
const PIECES_PER_YIELD: usize = 2;

/// The hashes of a request, distinct and in ascending order.
pub(crate) struct WaitedHashes(Vec<HashValue>);

impl WaitedHashes {
    /// Removes repeated hashes.
    fn new(mut hashes: Vec<HashValue>) -> Self {
        hashes.sort_unstable();
        hashes.dedup();
        hashes.shrink_to_fit();
        Self(hashes)
    }
}

impl JsonOrBcs for WaitedHashes {
    const BCS: Media = Media::Bcs;

    fn from_json(_: &Chain, body: &[u8]) -> Result<Self, ErrorKind> {
        let WaitManyRequest { hashes } = parse_json(body)?;
        Ok(Self::new(hashes.into_iter().map(|hash| hash.0).collect()))
    }

    fn from_bcs(_: &Chain, body: &[u8]) -> Result<Self, ErrorKind> {
        let hashes = bcs::from_bytes(body);
        let hashes = hashes.map_err(|cause| decode_failed("Vec<HashValue>", &cause))?;
        Ok(Self::new(hashes))
    }
}

/// Handles `POST /v1/transactions/wait`.
///
/// The response begins when the mempool has checked all hashes, and those that are not pending have
/// been looked up. It ends when all outcomes are known, or after the requested time, at most
/// `wait.timeout_max_ms`, by default `wait.timeout_ms`.
pub(crate) async fn wait_many(
    cx: RequestContext,
    requested: WaitTimeout,
    body: JsonOrBcsBody<WaitedHashes>,
) -> Result<StreamResponse, ApiError> {
    let WaitedHashes(hashes) = body.read(&cx).await?;
    let config = &cx.node().config().wait;
    if hashes.len() > config.hashes_max {
        return Err(ErrorKind::InvalidInput(format!(
            "the request has {} hashes, and a node waits for at most {} with one request \
             (wait.hashes_max)",
            hashes.len(),
            config.hashes_max
        ))
        .into());
    }
    lease_values(&cx, hashes.len() * HashValue::LENGTH)?;
    let permits = hashes.len().div_ceil(HASHES_PER_PERMIT).saturating_sub(1);
    let permits = cx.further_permits(permits)?;
    let default = Duration::from_millis(config.timeout_ms);
    let end = cx.wait_end(Instant::now() + requested.clamped(config).unwrap_or(default));
    let wait = cx.node().wait_for_many(hashes, cx.client()).await?;
    let ledger_info = *wait.begun();
    let lines = Lines {
        chain: cx.chain().clone(),
        format: cx.format(),
        wait,
        end,
        counts: OutcomeCounts::default(),
        pieces: 0,
        is_complete: false,
        _permits: permits,
        _lease: Arc::clone(&cx.body_lease),
    };
    let media_type = match cx.format() {
        Format::Json => NDJSON,
        Format::Bcs => Format::Bcs.media_type(),
    };
    Ok(StreamResponse::new(ledger_info, media_type, lines.pieces()))
}

/// Describes [`wait_many`].
pub(crate) fn describe_wait_many() -> Operation {
    let hash = format!("0x{:064x}", 0xa);
    let line = json!({
        "type": "outcome",
        "hash": hash,
        "status": "committed",
        "version": "7",
        "success": true,
        "vm_status": "Executed successfully",
    });
    Operation::new(
        "wait_transactions",
        Tag::Transactions,
        "Wait for many transactions",
        "Streams an outcome for each hash as it becomes known, then a summary. Committed \
         transactions are in the order of their versions. A transaction that is still pending \
         after `timeout_ms` has the outcome `pending`, an unknown hash has the outcome `unknown`. \
         A response without a summary is incomplete: repeat the request. The ledger headers are \
         those of the begin of the response, the summary has the ledger version at its end.",
    )
    .wait_parameter(WaitTimeout::describe(
        "Maximum time to wait, in milliseconds; by default `wait.timeout_ms` of the configuration, \
         1000. A larger value than `wait.timeout_max_ms` of the configuration, 60000 by default, \
         waits as long as that. With 0 the node does not wait.",
    ))
    .json_body(schema::<WaitManyRequest>(), json!({"hashes": [hash]}))
    .bcs_body(Media::Bcs, "BCS vector of hashes.")
    .success(
        Success::ok("The outcomes, one line or frame for each hash, and the summary.")
            .value(Media::Text(NDJSON), schema::<WaitLineJson>(), line)
            .bcs(
                "Frames: the length of a value as a 32-bit number in little-endian order, then the \
                 value, a BCS enum of an outcome or the summary.",
            ),
    )
    .errors(&[error(
        StatusCode::BAD_REQUEST,
        ErrorCode::InvalidInput,
        "The request has more hashes than `wait.hashes_max` of the configuration, 10000 by \
         default, or the bytes do not decode to a vector of hashes.",
    )])
}

/// The response to a wait while it is made.
struct Lines {
    chain: Chain,
    format: Format,
    wait: ManyWait,
    end: WaitEnd,
    counts: OutcomeCounts,
    /// Number of pieces that were made since the last yield.
    pieces: usize,
    is_complete: bool,
    _permits: FurtherPermit,
    /// Memory of the hashes.
    _lease: Arc<MemoryLease>,
}

impl Lines {
    /// Returns the pieces of the response.
    fn pieces(self) -> impl Stream<Item = Result<Bytes, NodeError>> {
        stream::unfold(Some(self), |lines| async {
            let mut lines = lines.filter(|lines| !lines.is_complete)?;
            match lines.next_piece().await {
                Ok(piece) => Some((Ok(piece), Some(lines))),
                Err(error) => Some((Err(error), None)),
            }
        })
    }

    /// Waits for further outcomes, and returns lines of at most about [`PIECE_BYTES`].
    async fn next_piece(&mut self) -> Result<Bytes, NodeError> {
        if self.pieces == PIECES_PER_YIELD {
            self.pieces = 0;
            yield_now().await;
        }
        self.pieces += 1;
        let mut piece = Vec::new();
        loop {
            while piece.len() < PIECE_BYTES
                && let Some((hash, outcome)) = self.wait.next_known()
            {
                self.write_outcome(&mut piece, hash, &outcome);
            }
            if !piece.is_empty() {
                return Ok(piece.into());
            }
            if let Some(ledger_info) = self.wait.wait(self.end.clone().reached()).await? {
                self.is_complete = true;
                self.write_summary(&mut piece, &ledger_info);
                return Ok(piece.into());
            }
        }
    }

    fn write_outcome(&mut self, out: &mut Vec<u8>, hash: HashValue, outcome: &HashOutcome) {
        self.counts.count(outcome);
        match self.format {
            Format::Json => WaitLineJson::outcome(&self.chain, hash, outcome).write(out),
            Format::Bcs => WaitLineBcs::outcome(&self.chain, hash, outcome).write(out),
        }
    }

    fn write_summary(&self, out: &mut Vec<u8>, ledger_info: &LedgerInfo) {
        match self.format {
            Format::Json => WaitLineJson::summary(ledger_info, self.counts).write(out),
            Format::Bcs => WaitLineBcs::summary(ledger_info, self.counts).write(out),
        }
    }
}
