//! Blocks without execution.

use crate::draft::draft;
use bytes::Bytes;
use ledger_crypto::HashValue;
use ledger_types::{
    AccountAddress, Accumulator, BlockHeader, ChainTip, CheckedTransaction, DiscardedTransaction,
    ExecutedBlock, ExecutedTransaction, ExecutionStatus, LedgerInfo, LedgerRoot, RecentRoots,
    StateKey, Transaction, TransactionInfo, ValidationStatus, Vendor, WriteOp, WriteSet,
    transaction::TransactionInfoV0,
};
use std::{collections::BTreeMap, sync::Arc};

/// Returns a block that executed and discarded these transactions. Its first version is
/// `height * 1000`.
pub fn block(
    height: u64,
    executed: &[Arc<CheckedTransaction>],
    discarded: &[(Arc<CheckedTransaction>, ValidationStatus)],
) -> Arc<ExecutedBlock> {
    let root = LedgerRoot {
        version: 0,
        accumulator_root: HashValue::ZERO,
    };
    let header = BlockHeader {
        parent_hash: HashValue::ZERO,
        height,
        epoch: 1,
        round: height,
        proposer: AccountAddress::from_low_u64(0),
        timestamp_usecs: height * 1_000,
        payload_root: HashValue::ZERO,
        executed: root,
    };
    let transactions: Vec<_> = executed
        .iter()
        .map(|transaction| executed_transaction(transaction))
        .collect();
    let discarded = discarded
        .iter()
        .zip(0u32..)
        .map(|((transaction, status), position)| DiscardedTransaction {
            position,
            hash: transaction.hash(),
            status_code: status.code(),
            transaction: Bytes::new(),
        });
    let first_version = height * 1_000;
    let tip = ChainTip {
        height,
        block_hash: header.hash(&Vendor::default()),
        version: first_version + (transactions.len() as u64).saturating_sub(1),
        epoch: header.epoch,
        timestamp_usecs: header.timestamp_usecs,
        accumulator: Accumulator::default(),
        roots: RecentRoots::of_genesis(root),
    };
    Arc::new(ExecutedBlock {
        header,
        first_version,
        transactions,
        discarded: discarded.collect(),
        certificate: Bytes::new(),
        tip,
    })
}

/// Returns the block with further transactions that it omitted because it was full.
pub fn leaving_out(
    block: Arc<ExecutedBlock>,
    left_out: &[Arc<CheckedTransaction>],
) -> Arc<ExecutedBlock> {
    let mut block = Arc::unwrap_or_clone(block);
    let positions = (block.transactions.len() + block.discarded.len()) as u32..;
    let left_out = positions.zip(left_out);
    let left_out = left_out.map(|(position, left_out)| {
        DiscardedTransaction::not_included(position, left_out.hash(), Bytes::new())
    });
    block.discarded.extend(left_out);
    Arc::new(block)
}

fn executed_transaction(transaction: &CheckedTransaction) -> ExecutedTransaction {
    let info = TransactionInfoV0 {
        gas_used: 1,
        status: ExecutionStatus::Success,
        transaction_hash: transaction.hash(),
        event_root_hash: HashValue::ZERO,
        state_change_hash: HashValue::ZERO,
        state_checkpoint_hash: None,
        auxiliary_info_hash: None,
    };
    ExecutedTransaction {
        transaction: Transaction::User(transaction.shared()),
        hash: transaction.hash(),
        info: TransactionInfo::V0(info),
        events: Vec::new(),
        writes: WriteSet::default(),
        accumulator_root: HashValue::ZERO,
    }
}

/// Returns a block that writes these values in one transaction.
pub fn block_writing(height: u64, writes: &[(StateKey, Option<Bytes>)]) -> ExecutedBlock {
    let mut block = (*block(height, &[draft(1, height).checked()], &[])).clone();
    let writes: BTreeMap<_, _> = writes
        .iter()
        .map(|(key, value)| {
            let write = value.clone().map_or(WriteOp::Delete, WriteOp::Create);
            (key.clone(), write)
        })
        .collect();
    block.transactions[0].writes = WriteSet::from_ascending(writes.into_iter().collect());
    block
}

/// Returns the ledger information of a chain whose newest version is `version`.
pub fn ledger_info(version: u64) -> LedgerInfo {
    LedgerInfo {
        chain_id: 4,
        epoch: 1,
        version,
        oldest_version: 0,
        block_height: 0,
        oldest_block_height: 0,
        timestamp_usecs: 0,
    }
}
