//! Blocks, by height or by a version in them.

use super::{ErrorCode, Operation, StatusCode, Success, Tag, error, json, parameter, schema};
use crate::model::json::BlockJson;

fn block(id: &'static str, summary: &'static str, description: &'static str) -> Operation {
    let example = json!({
        "block_height": "0",
        "block_hash": format!("0x{:064x}", 0xb10c),
        "block_timestamp": "1767225600000000",
        "first_version": "0",
        "last_version": "0",
    });
    let success = Success::ok("The block.")
        .json(schema::<BlockJson<'static>>(), example)
        .bcs("A BCS struct with the same members; `transactions` is an option of a vector of transactions on chain.")
        .link("first_transaction", "get_transaction_by_version", &[("txn_version", "$response.body#/first_version")])
        .link("its_transactions", "get_transactions", &[("start", "$response.body#/first_version")])
        .link("its_places", "get_auxiliary_info", &[("start_version", "$response.body#/first_version")]);
    Operation::new(id, Tag::Blocks, summary, description)
        .parameter(parameter::query(
            "with_transactions",
            "Whether the block brings its transactions; it does not without it.",
            parameter::flag(),
            true,
        ))
        .success(success)
}

/// `GET /v1/blocks/by_height/{block_height}`
pub(crate) fn by_height() -> Operation {
    block(
        "get_block_by_height",
        "A block by its height",
        "The block at a height; the first has height 0. With `with_transactions` it brings its first 10,000 \
         transactions, or those of its first 8 MiB where that is less: where the version of the last one is below \
         `last_version`, the listing of transactions has the rest.",
    )
    .parameter(parameter::path(
        "block_height",
        "The height of the block.",
        parameter::u64_number(),
        0,
    ))
    .errors(&[
        error(StatusCode::NOT_FOUND, ErrorCode::BlockNotFound, "The height is above the newest block's."),
        error(StatusCode::GONE, ErrorCode::BlockPruned, "The height is below the oldest block that the node keeps."),
    ])
}

/// `GET /v1/blocks/by_version/{version}`
pub(crate) fn by_version() -> Operation {
    block(
        "get_block_by_version",
        "The block of a version",
        "The block that holds the transaction of a version; `with_transactions` as for a block by its height.",
    )
    .parameter(parameter::path(
        "version",
        "A version in the block.",
        parameter::u64_number(),
        0,
    ))
    .errors(&[
        error(StatusCode::NOT_FOUND, ErrorCode::VersionNotFound, "The version is above the newest one."),
        error(StatusCode::GONE, ErrorCode::VersionPruned, "The version is below the oldest that the node keeps."),
    ])
}
