//! Transactions without valid signatures, blocks without execution, and a manual clock, for tests
//! of several actors.

#[allow(dead_code)] // The tests of the whole node use more of it.
mod hand_clock;
#[allow(dead_code)] // The tests of the whole node use more of it.
pub(crate) mod wallet;

use crate::{
    SequencerConfig,
    runtime::clock::{Clock, ClockReading, LedgerClock},
};
pub(crate) use hand_clock::HandClock;
use ledger_crypto::{Ed25519PublicKey, Ed25519Signature, HashValue};
pub(crate) use ledger_test_support::FAR_FUTURE_SECS;
use ledger_test_support::{TransactionBuilder, development_chain, function_call};
use ledger_types::{
    AccountAddress, Accumulator, BlockHeader, ChainTip, CheckedTransaction, DiscardedTransaction,
    ExecutedBlock, ExecutedTransaction, ExecutionStatus, LedgerInfo, StateKey, Transaction,
    TransactionInfo, ValidationStatus, Vendor, WriteOp, WriteSet, transaction::TransactionInfoV0,
};
use std::{collections::BTreeMap, sync::Arc};

/// A transaction without a valid signature. [`Draft::checked`] marks it as checked, so that the
/// pool accepts it.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) sender: u64,
    pub(crate) number: u64,
    /// Nonce of an orderless transaction.
    pub(crate) nonce: Option<u64>,
    pub(crate) price: u64,
    pub(crate) expiration_secs: u64,
    pub(crate) max_gas: u64,
    /// Argument of the call, which makes payloads differ.
    pub(crate) argument: Vec<u8>,
    /// Fill byte of the signature, which makes authenticators and hashes differ.
    pub(crate) signature: u8,
}

pub(crate) fn draft(sender: u64, number: u64) -> Draft {
    Draft {
        sender,
        number,
        nonce: None,
        price: 100,
        expiration_secs: FAR_FUTURE_SECS,
        max_gas: 1_000,
        argument: Vec::new(),
        signature: 0,
    }
}

/// Returns a draft with a nonce instead of a sequence number.
pub(crate) fn orderless(sender: u64, nonce: u64) -> Draft {
    Draft {
        nonce: Some(nonce),
        ..draft(sender, u64::MAX)
    }
}

impl Draft {
    pub(crate) fn price(self, price: u64) -> Self {
        Self { price, ..self }
    }

    pub(crate) fn expires_at(self, expiration_secs: u64) -> Self {
        Self {
            expiration_secs,
            ..self
        }
    }

    pub(crate) fn signature(self, signature: u8) -> Self {
        Self { signature, ..self }
    }

    pub(crate) fn argument(self, argument: &[u8]) -> Self {
        Self {
            argument: argument.to_vec(),
            ..self
        }
    }

    pub(crate) fn checked(self) -> Arc<CheckedTransaction> {
        let call = function_call("0x1::coin::transfer", &[], vec![self.argument]);
        let mut builder = TransactionBuilder::call(
            &development_chain(),
            AccountAddress::from_low_u64(self.sender),
            call,
        )
        .max_gas_amount(self.max_gas)
        .gas_unit_price(self.price)
        .expiration_secs(self.expiration_secs);
        if let Some(nonce) = self.nonce {
            builder = builder.nonce(nonce);
        }
        let signed = builder.sequence_number(self.number).with_signature(
            Ed25519PublicKey([1; 32]),
            Ed25519Signature([self.signature; 64]),
        );
        Arc::new(CheckedTransaction::new_unchecked(
            signed,
            &Vendor::default(),
        ))
    }
}

/// Returns a block that executed and discarded these transactions. Its first version is
/// `height * 1000`.
pub(crate) fn block(
    height: u64,
    executed: &[Arc<CheckedTransaction>],
    discarded: &[(Arc<CheckedTransaction>, ValidationStatus)],
) -> Arc<ExecutedBlock> {
    let header = BlockHeader {
        parent_hash: HashValue::ZERO,
        height,
        epoch: 1,
        round: height,
        proposer: AccountAddress::from_low_u64(0),
        timestamp_usecs: height * 1_000,
        payload_root: HashValue::ZERO,
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
        });
    let first_version = height * 1_000;
    let tip = ChainTip {
        height,
        block_hash: header.hash(&Vendor::default()),
        version: first_version + (transactions.len() as u64).saturating_sub(1),
        epoch: header.epoch,
        timestamp_usecs: header.timestamp_usecs,
        accumulator: Accumulator::default(),
    };
    Arc::new(ExecutedBlock {
        header,
        first_version,
        transactions,
        discarded: discarded.collect(),
        certificate: bytes::Bytes::new(),
        tip,
    })
}

/// Returns the block with further transactions that it omitted because it was full.
pub(crate) fn leaving_out(
    block: Arc<ExecutedBlock>,
    left_out: &[Arc<CheckedTransaction>],
) -> Arc<ExecutedBlock> {
    let mut block = Arc::unwrap_or_clone(block);
    let positions = (block.transactions.len() + block.discarded.len()) as u32..;
    let left_out = positions.zip(left_out);
    let left_out = left_out
        .map(|(position, left_out)| DiscardedTransaction::not_included(position, left_out.hash()));
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
pub(crate) fn block_writing(
    height: u64,
    writes: &[(StateKey, Option<bytes::Bytes>)],
) -> ExecutedBlock {
    let mut block = (*block(height, &[draft(1, height).checked()], &[])).clone();
    let writes: BTreeMap<_, _> = writes
        .iter()
        .map(|(key, value)| {
            let write = value.clone().map_or(WriteOp::Delete, WriteOp::Put);
            (key.clone(), write)
        })
        .collect();
    block.transactions[0].writes = WriteSet::from_ascending(writes.into_iter().collect());
    block
}

/// Returns the ledger information of a chain whose newest version is `version`.
pub(crate) fn ledger_info(version: u64) -> LedgerInfo {
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

/// Returns the ledger clock of a chain that has only genesis.
pub(crate) fn ledger_clock(clock: &HandClock) -> LedgerClock {
    LedgerClock::new(clock.clock(), &SequencerConfig::default(), 0)
}
