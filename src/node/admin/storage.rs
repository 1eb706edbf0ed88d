//! `/storage`: the readable versions, the size of the ledger and its limit.
//!
//! Once the window is full, `disk_bytes` no longer grows, because the pages that pruning frees are
//! reused. `used_bytes` counts the other pages, as of the last checkpoint that was measured.

use super::context::{Admin, error_response};
use actix_web::{HttpResponse, http::StatusCode, web::Data};
use ledger_actors::MeterStatus;
use ledger_api::ErrorCode;
use ledger_store::FileSize;
use ledger_types::LedgerInfo;
use serde::Serialize;

/// Readable versions, and sizes in bytes.
#[derive(Debug, Serialize)]
struct Storage {
    oldest_version: u64,
    newest_version: u64,
    oldest_block_height: u64,
    newest_block_height: u64,
    /// Length of the ledger file. Null for a ledger in memory.
    file_bytes: Option<u64>,
    /// Space that the ledger file takes. Null for a ledger in memory.
    disk_bytes: Option<u64>,
    #[serde(flatten)]
    usage: Usage,
    /// Whether the limit decides the window, and not a minimum.
    is_window_limited: bool,
    /// Whether the ledger exceeds the limit although nothing more can be removed.
    is_limit_exceeded: bool,
    /// Time until low disk space or the limit. Null if it is unknown, or if the ledger does not
    /// grow.
    full_in_seconds: Option<u64>,
}

/// The size of the ledger. Each is null before the first measurement, `limit_bytes` without a
/// limit.
#[derive(Debug, Serialize)]
struct Usage {
    /// Pages that the ledger file uses.
    used_bytes: Option<u64>,
    log_bytes: Option<u64>,
    /// The mempool that a stop would save.
    saved_pool_bytes: u64,
    /// The sum of these three, which the limit bounds.
    storage_bytes: Option<u64>,
    limit_bytes: Option<u64>,
}

impl Usage {
    fn of(meters: &MeterStatus, limit_bytes: u64) -> Self {
        let usage = (meters.usage.sequence > 0).then_some(meters.usage);
        let saved_pool_bytes = meters.saved_pool_bytes;
        Self {
            used_bytes: usage.map(|usage| usage.used_bytes),
            log_bytes: usage.map(|usage| usage.log_bytes),
            saved_pool_bytes,
            storage_bytes: usage.map(|usage| usage.bytes().saturating_add(saved_pool_bytes)),
            limit_bytes: (limit_bytes > 0).then_some(limit_bytes),
        }
    }
}

/// `GET /storage`. Responds with 500 if the size of the file cannot be read.
pub async fn show(admin: Data<Admin>) -> HttpResponse {
    let LedgerInfo {
        oldest_version,
        version,
        oldest_block_height,
        block_height,
        ..
    } = *admin.node.head().ledger_info();
    let meters = admin.node.meters();
    let limit_bytes = admin.node.config().pruner.window_bytes;
    let full_in = admin
        .forecast
        .seconds()
        .filter(|seconds| seconds.is_finite());
    let size = admin.data_dir.as_deref().map(FileSize::of).transpose();
    match size {
        Ok(size) => HttpResponse::Ok().json(Storage {
            oldest_version,
            newest_version: version,
            oldest_block_height,
            newest_block_height: block_height,
            file_bytes: size.map(|size| size.file_bytes),
            disk_bytes: size.map(|size| size.disk_bytes),
            usage: Usage::of(&meters, limit_bytes),
            is_window_limited: admin.node.is_window_limited(),
            is_limit_exceeded: meters.pruner.limit_exceeded > 0,
            full_in_seconds: full_in.map(|seconds| seconds as u64),
        }),
        Err(cause) => error_response(
            StatusCode::INTERNAL_SERVER_ERROR,
            ErrorCode::InternalError,
            format!("the size of the ledger file cannot be read: {cause}"),
        ),
    }
}
