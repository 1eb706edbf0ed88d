//! JSON form of the header of a block and of the votes that decided it.

use super::{HexBytes, JsonString};
use ledger_crypto::HashValue;
use ledger_types::{AccountAddress, BlockHeader, CommitCertificate, CommitSignature, LedgerRoot};
use ledger_vm::Chain;
use schemars::JsonSchema;
use serde::Serialize;

/// Voting power of a validator: all have the same weight.
const VOTING_POWER: u64 = 1;

/// The header of a block, the votes that decided it, and the validators of the chain.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "BlockCertificate")]
pub(crate) struct BlockCertificateJson {
    block_height: JsonString<u64>,
    block_hash: JsonString<HashValue>,
    header: BlockHeaderJson,
    /// The header in BCS. The block hash is the SHA3-256 hash of the block prefix and these bytes.
    header_bytes: HexBytes,
    /// Hash of the genesis block, which each vote names. Absent on a chain of one node.
    #[serde(skip_serializing_if = "Option::is_none")]
    genesis_hash: Option<JsonString<HashValue>>,
    /// The votes. Absent for genesis, and on a chain of one node.
    #[serde(skip_serializing_if = "Option::is_none")]
    certificate: Option<CertificateJson>,
    /// The validators, in the order of their turns. Empty on a chain of one node.
    validators: Vec<ValidatorJson>,
    /// Sum of the voting powers that decides a block: more than two thirds. 0 on a chain of one
    /// node.
    quorum: JsonString<u64>,
}

/// The part of a block that its hash covers.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "BlockHeader")]
struct BlockHeaderJson {
    parent_hash: JsonString<HashValue>,
    epoch: JsonString<u64>,
    round: JsonString<u64>,
    proposer: JsonString<AccountAddress>,
    /// Block time, in microseconds since the Unix epoch.
    timestamp: JsonString<u64>,
    payload_root: JsonString<HashValue>,
    executed: LedgerRootJson,
}

/// The ledger after an earlier block: the result that the validators have agreed on.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "LedgerRoot")]
struct LedgerRootJson {
    version: JsonString<u64>,
    accumulator_root_hash: JsonString<HashValue>,
}

/// The votes of a quorum.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CommitCertificate")]
struct CertificateJson {
    /// Round of the votes, at or after the round of the header.
    round: u32,
    signatures: Vec<CommitSignatureJson>,
}

/// The vote of a validator.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CommitSignature")]
struct CommitSignatureJson {
    validator: JsonString<AccountAddress>,
    /// The signed bytes: the vote prefix, the genesis hash, and the vote in BCS.
    message: HexBytes,
    signature: HexBytes,
}

/// A validator of the chain.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Validator")]
struct ValidatorJson {
    address: JsonString<AccountAddress>,
    public_key: HexBytes,
    voting_power: JsonString<u64>,
}

impl BlockCertificateJson {
    /// Creates the view of a block. `header_bytes` is the header in BCS.
    pub fn new(
        chain: &Chain,
        header: &BlockHeader,
        header_bytes: Vec<u8>,
        certificate: Option<&CommitCertificate>,
    ) -> Self {
        let LedgerRoot {
            version,
            accumulator_root,
        } = header.executed;
        let validators = chain.validators();
        let quorum = match validators.is_empty() {
            true => 0,
            false => validators.quorum() as u64 * VOTING_POWER,
        };
        let validators = validators.as_slice().iter();
        let certificate = certificate.zip(chain.genesis_hash());
        Self {
            block_height: JsonString(header.height),
            block_hash: JsonString(header.hash(chain.vendor())),
            header: BlockHeaderJson {
                parent_hash: JsonString(header.parent_hash),
                epoch: JsonString(header.epoch),
                round: JsonString(header.round),
                proposer: JsonString(header.proposer),
                timestamp: JsonString(header.timestamp_usecs),
                payload_root: JsonString(header.payload_root),
                executed: LedgerRootJson {
                    version: JsonString(version),
                    accumulator_root_hash: JsonString(accumulator_root),
                },
            },
            header_bytes: HexBytes(header_bytes.into()),
            genesis_hash: chain.genesis_hash().map(JsonString),
            certificate: certificate.map(|(certificate, genesis_hash)| {
                CertificateJson::new(chain, certificate, genesis_hash)
            }),
            validators: validators
                .map(|validator| ValidatorJson {
                    address: JsonString(validator.address),
                    public_key: HexBytes(validator.public_key.0.to_vec().into()),
                    voting_power: JsonString(VOTING_POWER),
                })
                .collect(),
            quorum: JsonString(quorum),
        }
    }
}

impl CertificateJson {
    fn new(chain: &Chain, certificate: &CommitCertificate, genesis_hash: HashValue) -> Self {
        let signature = |signed: &CommitSignature| {
            let vote = certificate.vote(signed.validator);
            CommitSignatureJson {
                validator: JsonString(signed.validator),
                message: HexBytes(vote.signing_message(chain.vendor(), genesis_hash).into()),
                signature: HexBytes(signed.signature.0.to_vec().into()),
            }
        };
        Self {
            round: certificate.round,
            signatures: certificate.signatures.iter().map(signature).collect(),
        }
    }
}
