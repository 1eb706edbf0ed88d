//! Reads of the header of a block and of the votes that decided it. With both a client verifies the
//! block by itself. The reference node has no such route.

use super::blocks::{BlockHeight, at_height};
use crate::{
    context::{LedgerResponse, QueryError, RequestContext, extract::Path},
    error::{ApiError, ErrorCode},
    model::{DecimalText, json::BlockCertificateJson},
    openapi::{
        StatusCode,
        errors::error,
        operation::{Operation, Success, Tag},
        schemas::schema,
    },
};
use ledger_crypto::HashValue;
use ledger_store::{Snapshot, StoreError};
use ledger_types::{BlockHeader, CommitCertificate, Validator};
use serde::Serialize;
use serde_json::json;

/// The BCS form of the response.
#[derive(Serialize)]
struct BlockCertificateBcs<'a> {
    header: &'a BlockHeader,
    certificate: Option<&'a CommitCertificate>,
    genesis_hash: Option<HashValue>,
    validators: &'a [Validator],
}

/// The part of the response that depends on the block.
struct DecidedHeader {
    header: BlockHeader,
    header_bytes: Vec<u8>,
    certificate: Option<CommitCertificate>,
}

/// Handles `GET /v1/blocks/by_height/{block_height}/certificate`.
pub(super) async fn certificate(
    cx: RequestContext,
    Path(DecimalText(height)): Path<BlockHeight>,
) -> Result<LedgerResponse, ApiError> {
    let (ledger_info, found) = cx
        .read_few(move |snapshot| decided_header(snapshot, height))
        .await?;
    let DecidedHeader {
        header,
        header_bytes,
        certificate,
    } = found;
    let chain = cx.chain();
    cx.respond(
        ledger_info,
        || BlockCertificateJson::new(chain, &header, header_bytes, certificate.as_ref()),
        || BlockCertificateBcs {
            header: &header,
            certificate: certificate.as_ref(),
            genesis_hash: chain.genesis_hash(),
            validators: chain.validators().as_slice(),
        },
    )
}

/// Describes [`certificate`].
pub(super) fn describe_certificate() -> Operation {
    let hash = |number: u64| format!("0x{number:064x}");
    let header = json!({
        "parent_hash": hash(0xa),
        "epoch": "1",
        "round": "0",
        "proposer": "0x7a1",
        "timestamp": "1767225600000000",
        "payload_root": hash(0xb),
        "executed": {"version": "0", "accumulator_root_hash": hash(0xc)},
    });
    let example = json!({
        "block_height": "1",
        "block_hash": hash(0xb10c),
        "header": header,
        "header_bytes": "0x0a",
        "genesis_hash": hash(0xa),
        "certificate": {
            "round": 0,
            "signatures": [{"validator": "0x7a1", "message": "0x0b", "signature": "0x0c"}],
        },
        "validators": [{"address": "0x7a1", "public_key": "0x0d", "voting_power": "1"}],
        "quorum": "1",
    });
    let success = Success::ok("The header of the block, its votes, and the validators.")
        .json(schema::<BlockCertificateJson>(), example)
        .bcs(
            "BCS struct of the header, an option of the certificate (height, round, block hash, \
             and a vector of validators and signatures), an option of the genesis hash, and a \
             vector of addresses and public keys.",
        )
        .link(
            "its_block",
            "get_block_by_height",
            &[("block_height", "$response.body#/block_height")],
        );
    Operation::new(
        "get_block_certificate",
        Tag::Blocks,
        "Get the certificate of a block",
        "Returns the header of a block, the votes that decided it, and the validators, so that a \
         client can verify the block with the public keys of the genesis file. Nodes may have \
         different votes of a block. Genesis and the blocks of a chain of one node have no votes.",
    )
    .parameter(Path::<BlockHeight>::describe())
    .success(success)
    .errors(&[
        error(
            StatusCode::NOT_FOUND,
            ErrorCode::BlockNotFound,
            "The height is above the newest block height.",
        ),
        error(
            StatusCode::GONE,
            ErrorCode::BlockPruned,
            "The height is below the oldest readable block height.",
        ),
    ])
}

fn decided_header(snapshot: &Snapshot, height: u64) -> Result<DecidedHeader, QueryError> {
    let block = at_height(snapshot, height)?;
    let inconsistent =
        |error: bcs::Error| StoreError::Inconsistent(format!("block {height}: {error}"));
    let certificate = match block.certificate.is_empty() {
        true => None,
        false => Some(CommitCertificate::from_bytes(&block.certificate).map_err(inconsistent)?),
    };
    Ok(DecidedHeader {
        header_bytes: bcs::to_bytes(&block.header).map_err(inconsistent)?,
        header: block.header,
        certificate,
    })
}
