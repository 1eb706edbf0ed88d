//! `/storage`: what can be read of the ledger, and what that takes on the disk.
//!
//! Where the window is full, `disk_bytes` stands still: what pruning frees is used again. The pages in use
//! within the file are not counted, which would read all of it.

use super::context::{Admin, refusal};
use actix_web::{HttpResponse, http::StatusCode, web::Data};
use ledger_api::ErrorCode;
use ledger_store::FileSize;
use ledger_types::LedgerInfo;
use serde::Serialize;

/// The window and the file.
#[derive(Debug, Serialize)]
struct Storage {
    oldest_version: u64,
    newest_version: u64,
    oldest_block_height: u64,
    newest_block_height: u64,
    file_bytes: u64,
    disk_bytes: u64,
}

/// `GET /storage`.
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
        Err(cause) => refusal(
            StatusCode::INTERNAL_SERVER_ERROR,
            ErrorCode::InternalError,
            format!(
                "the file in {} cannot be looked at: {cause}",
                admin.data_dir.display()
            ),
        ),
    }
}
