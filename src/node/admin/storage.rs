//! `/storage`: the readable versions, and the size of the ledger file.
//!
//! Once the window is full, `disk_bytes` no longer grows, because the pages that pruning frees are
//! reused. Free pages within the file are not counted: that would read the whole file.

use super::context::{Admin, error_response};
use actix_web::{HttpResponse, http::StatusCode, web::Data};
use ledger_api::ErrorCode;
use ledger_store::FileSize;
use ledger_types::LedgerInfo;
use serde::Serialize;

/// Readable versions, and size of the ledger file in bytes.
#[derive(Debug, Serialize)]
struct Storage {
    oldest_version: u64,
    newest_version: u64,
    oldest_block_height: u64,
    newest_block_height: u64,
    file_bytes: u64,
    disk_bytes: u64,
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
    match FileSize::of(&admin.data_dir) {
        Ok(FileSize {
            file_bytes,
            disk_bytes,
        }) => HttpResponse::Ok().json(Storage {
            oldest_version,
            newest_version: version,
            oldest_block_height,
            newest_block_height: block_height,
            file_bytes,
            disk_bytes,
        }),
        Err(cause) => error_response(
            StatusCode::INTERNAL_SERVER_ERROR,
            ErrorCode::InternalError,
            format!(
                "the size of the ledger file in {} cannot be read: {cause}",
                admin.data_dir.display()
            ),
        ),
    }
}
