//! The BCS bodies of answers (rest-behaviour section 5); the order of variants and fields is the
//! wire's.

use ledger::{
    AccountAddress, BlockInfo, ContractEvent, ExecutedTransaction, HashValue, LedgerInfo, ReplayProtector,
    SignedTransaction, Transaction, TransactionInfo, WriteSet,
};
use ledger_store::{StoredTransaction, TransactionSummary};
use serde::Serialize;

/// The index of a validator among the roles of a node.
const ROLE_VALIDATOR: u8 = 0;

/// The facts about the ledger. `node_role` is an enum of one byte on the wire.
#[derive(Serialize)]
pub(crate) struct IndexBcs {
    chain_id: u8,
    epoch: u64,
    ledger_version: u64,
    oldest_ledger_version: u64,
    ledger_timestamp: u64,
    node_role: u8,
    oldest_block_height: u64,
    block_height: u64,
}

impl From<&LedgerInfo> for IndexBcs {
    fn from(info: &LedgerInfo) -> Self {
        Self {
            chain_id: info.chain_id,
            epoch: info.epoch,
            ledger_version: info.version,
            oldest_ledger_version: info.oldest_version,
            ledger_timestamp: info.timestamp_usecs,
            node_role: ROLE_VALIDATOR,
            oldest_block_height: info.oldest_block_height,
            block_height: info.block_height,
        }
    }
}

/// The gas estimate; the wire carries only the usual one.
#[derive(Serialize)]
pub(crate) struct GasEstimateBcs {
    pub gas_estimate: u64,
}

/// A transaction, committed or pending.
#[derive(Serialize)]
pub(crate) enum TransactionBcs<'a> {
    OnChain(OnChainBcs<'a>),
    Pending(&'a SignedTransaction),
}

/// A committed transaction with everything it did.
#[derive(Serialize)]
pub(crate) struct OnChainBcs<'a> {
    version: u64,
    transaction: &'a Transaction,
    info: &'a TransactionInfo,
    events: &'a [ContractEvent],
    accumulator_root_hash: HashValue,
    changes: &'a WriteSet,
}

impl<'a> OnChainBcs<'a> {
    pub fn new(version: u64, executed: &'a ExecutedTransaction) -> Self {
        Self {
            version,
            transaction: &executed.transaction,
            info: &executed.info,
            events: &executed.events,
            accumulator_root_hash: executed.accumulator_root,
            changes: &executed.writes,
        }
    }
}

/// A block, with its transactions where they were asked for.
#[derive(Serialize)]
pub(crate) struct BlockBcs<'a> {
    block_height: u64,
    block_hash: HashValue,
    block_timestamp: u64,
    first_version: u64,
    last_version: u64,
    transactions: Option<Vec<OnChainBcs<'a>>>,
}

impl<'a> BlockBcs<'a> {
    pub fn new(block: &BlockInfo, transactions: Option<&'a [StoredTransaction]>) -> Self {
        let on_chain = |stored: &'a StoredTransaction| OnChainBcs::new(stored.version, &stored.executed);
        Self {
            block_height: block.header.height,
            block_hash: block.hash,
            block_timestamp: block.header.timestamp_usecs,
            first_version: block.first_version,
            last_version: block.last_version,
            transactions: transactions.map(|all| all.iter().map(on_chain).collect()),
        }
    }
}

/// A transaction of an account in short.
#[derive(Serialize)]
pub(crate) enum SummaryBcs {
    V1 {
        sender: AccountAddress,
        version: u64,
        transaction_hash: HashValue,
        replay_protector: ReplayProtector,
    },
}

impl From<&TransactionSummary> for SummaryBcs {
    fn from(summary: &TransactionSummary) -> Self {
        Self::V1 {
            sender: summary.sender,
            version: summary.version,
            transaction_hash: summary.hash,
            replay_protector: summary.replay_protector,
        }
    }
}

/// An event in a listing.
#[derive(Serialize)]
pub(crate) struct VersionedEventBcs<'a> {
    transaction_version: u64,
    event: &'a ContractEvent,
}

impl<'a> VersionedEventBcs<'a> {
    pub fn new(transaction_version: u64, event: &'a ContractEvent) -> Self {
        Self {
            transaction_version,
            event,
        }
    }
}
