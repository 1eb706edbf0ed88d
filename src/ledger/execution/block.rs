//! Execution of a block: the metadata transaction, the user transactions in order, the epilogue.
//!
//! A block has two limits: gas and output bytes. The first transaction that reaches a limit is the
//! last one that the block executes. The block lists the remaining ordered transactions as left
//! out, and a later block may include them.

pub(crate) mod replay;

use super::{
    finalize::{ExecutedOutput, Output, finalize},
    user::{Outcome, execute_user},
    validate::ExecutionMode,
};
use bytes::Bytes;
use ledger_crypto::HashValue;
use ledger_framework::modules::{
    block::{BlockResource, NewBlockEvent},
    features,
    fungible_asset::ConcurrentSupply,
    object::user_derived_addresses,
    timestamp::CurrentTimeMicroseconds,
};
use ledger_types::{
    AccountAddress, BlockHeader, ChainTip, CheckedTransaction, Discard, DiscardedTransaction,
    ExecutedBlock, ExecutionStatus, LedgerRoot, OrderedBlock, SignedTransaction, StateError,
    StateView, Transaction,
    accumulator::root_of,
    transaction::{BlockEndInfo, BlockEpilogue, BlockMetadata, BlockMetadataExt},
};
use ledger_vm::{BlockState, Chain, Context, Environment, VmError};
use std::sync::Arc;

/// An error that prevents the execution of a block. Nothing of the block may be committed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ExecuteError {
    /// The state cannot be read.
    #[error(transparent)]
    State(#[from] StateError),
    /// The block does not follow the tip, or the state violates an invariant of the framework.
    #[error("block {height}: {reason}")]
    Invariant {
        /// Height of the block.
        height: u64,
        /// The violated invariant.
        reason: String,
    },
    /// The header that the validators decided names another result of an earlier block than this
    /// node has. The state of this node is wrong, or that of two thirds of the validators.
    #[error("the validators decided block {height} with the result {decided}; this node has {own}")]
    Diverged {
        /// Height of the decided block.
        height: u64,
        /// The decided result.
        decided: LedgerRoot,
        /// The result of this node.
        own: LedgerRoot,
    },
}

/// Number of keys that a transfer changes: the account of the sender, and two stores.
const TRANSFER_KEYS: usize = 3;

/// Executes `block` on `view`, the state at `tip`.
///
/// The result is deterministic: the same state, tip, and block give the same hashes.
///
/// # Errors
///
/// * [`ExecuteError::State`] if the state cannot be read.
/// * [`ExecuteError::Invariant`] if the height of the block is not that of the tip plus one, its
///   time is not above that of the tip, or its metadata or epilogue transaction fails.
/// * [`ExecuteError::Diverged`] if the block names another result of an earlier block than `tip`.
///   Nothing was executed then.
pub fn execute_block(
    chain: &Chain,
    tip: &ChainTip,
    view: &dyn StateView,
    block: OrderedBlock,
) -> Result<ExecutedBlock, ExecuteError> {
    let header = header(chain, tip, &block)?;
    let mut execution = BlockExecution::new(chain, &header, view, &block.transactions);
    let is_decided = !block.certificate.is_empty();
    let body = |transaction: &CheckedTransaction| {
        if is_decided {
            transaction.encoded()
        } else {
            Bytes::new()
        }
    };
    execution.execute_metadata(&header)?;
    for (position, transaction) in (0u32..).zip(block.transactions) {
        let hash = transaction.hash();
        if execution.is_full() {
            execution.discarded.push(DiscardedTransaction::not_included(
                position,
                hash,
                body(&transaction),
            ));
            continue;
        }
        if let Some(discard) = execution.execute_user(&transaction)? {
            execution.discarded.push(DiscardedTransaction {
                position,
                hash,
                status_code: discard.status.code(),
                transaction: body(&transaction),
            });
        }
    }
    execution.execute_epilogue(header.height)?;
    let mut accumulator = tip.accumulator.clone();
    let transactions = finalize(chain, &mut accumulator, execution.outputs);
    let version = tip.version + transactions.len() as u64;
    let root = LedgerRoot {
        version,
        accumulator_root: transactions
            .last()
            .expect("a block has a metadata transaction")
            .accumulator_root,
    };
    let tip = ChainTip {
        height: header.height,
        block_hash: execution.hash,
        version,
        epoch: header.epoch,
        timestamp_usecs: header.timestamp_usecs,
        accumulator,
        roots: tip
            .roots
            .followed_by(root, chain.parameters().root_delay_blocks),
    };
    Ok(ExecutedBlock {
        first_version: tip.version + 1 - transactions.len() as u64,
        header,
        transactions,
        discarded: execution.discarded,
        certificate: block.certificate,
        tip,
    })
}

/// Returns the addresses of the stores that the transactions probably access, by owner: those of
/// the signers, and of the addresses among the arguments.
fn native_stores(
    transactions: &[Arc<CheckedTransaction>],
) -> impl Iterator<Item = (AccountAddress, AccountAddress)> {
    let mut owners = Vec::with_capacity(2 * transactions.len());
    for transaction in transactions {
        let SignedTransaction { raw, authenticator } = transaction.transaction();
        owners.push(raw.sender);
        owners.extend(authenticator.secondary_signer_addresses());
        owners.extend(authenticator.fee_payer().map(|(payer, _)| payer));
        let arguments = raw.entry_function().into_iter().flat_map(|call| &call.args);
        owners.extend(
            arguments
                .filter_map(|argument| Some(AccountAddress::new(argument[..].try_into().ok()?))),
        );
    }
    let stores = user_derived_addresses(&owners, AccountAddress::NATIVE_ASSET);
    owners.into_iter().zip(stores)
}

/// Returns the header of `block`.
///
/// # Errors
///
/// Returns [`ExecuteError::Invariant`] if the height does not follow the tip or the time does not
/// increase, and [`ExecuteError::Diverged`] if the block names another result than the tip.
fn header(
    chain: &Chain,
    tip: &ChainTip,
    block: &OrderedBlock,
) -> Result<BlockHeader, ExecuteError> {
    let invariant = |reason: String| {
        Err(ExecuteError::Invariant {
            height: block.height,
            reason,
        })
    };
    if block.height != tip.height + 1 {
        return invariant(format!("does not follow height {}", tip.height));
    }
    if block.timestamp_usecs <= tip.timestamp_usecs {
        return invariant(format!(
            "its time {} us is not above its parent's",
            block.timestamp_usecs
        ));
    }
    let own = tip.roots.delayed();
    if let Some(decided) = block.executed.filter(|decided| *decided != own) {
        return Err(ExecuteError::Diverged {
            height: block.height,
            decided,
            own,
        });
    }
    let hashes = block
        .transactions
        .iter()
        .map(|transaction| transaction.hash());
    Ok(BlockHeader {
        parent_hash: tip.block_hash,
        height: block.height,
        epoch: block.epoch,
        round: block.round,
        proposer: block.proposer,
        timestamp_usecs: block.timestamp_usecs,
        payload_root: root_of(hashes, &chain.vendor().seeds().transaction_accumulator),
        executed: own,
    })
}

/// A block during its execution.
struct BlockExecution<'a> {
    chain: &'a Chain,
    hash: HashValue,
    state: BlockState<'a>,
    outputs: Vec<ExecutedOutput>,
    discarded: Vec<DiscardedTransaction>,
    height: u64,
    timestamp_usecs: u64,
    /// Sum of all fees minus all refunds, in the coin's smallest unit. The epilogue burns it.
    fees: i128,
    /// Execution and IO gas of the executed user transactions, in gas units.
    work_units: u64,
    /// Output of all executed transactions, in bytes.
    output_bytes: u64,
}

impl<'a> BlockExecution<'a> {
    /// Begins the execution of the block with `header` on `view`, the state before it.
    fn new(
        chain: &'a Chain,
        header: &BlockHeader,
        view: &'a dyn StateView,
        transactions: &[Arc<CheckedTransaction>],
    ) -> Self {
        Self {
            chain,
            hash: header.hash(chain.vendor()),
            state: BlockState::new(view)
                .with_capacity(TRANSFER_KEYS * transactions.len())
                .with_native_stores(native_stores(transactions)),
            outputs: Vec::with_capacity(transactions.len() + 2),
            discarded: Vec::new(),
            height: header.height,
            timestamp_usecs: header.timestamp_usecs,
            fees: 0,
            work_units: 0,
            output_bytes: 0,
        }
    }
}

impl BlockExecution<'_> {
    /// Returns whether the executed transactions have reached the gas limit of a block.
    fn gas_limit_reached(&self) -> bool {
        self.work_units >= self.chain.parameters().block_gas_max
    }

    /// Returns whether the executed transactions have reached the output limit of a block.
    fn output_limit_reached(&self) -> bool {
        self.output_bytes >= self.chain.parameters().block_output_bytes_max
    }

    /// Returns whether the remaining ordered transactions are omitted.
    ///
    /// Returns `false` until a user transaction has been executed after the metadata, whatever the
    /// limits, so that every block makes progress.
    fn is_full(&self) -> bool {
        self.outputs.len() > 1 && (self.gas_limit_reached() || self.output_limit_reached())
    }

    fn environment(&self, transaction_hash: HashValue) -> Environment {
        Environment {
            height: self.height,
            timestamp_usecs: self.timestamp_usecs,
            transaction_hash,
        }
    }

    /// Applies the writes of an executed transaction to the state and records its output.
    fn apply_output(&mut self, transaction: Transaction, hash: HashValue, output: Output) {
        self.state.apply(&output.writes);
        self.output_bytes = self.output_bytes.saturating_add(output.bytes() as u64);
        self.outputs.push(ExecutedOutput {
            transaction,
            hash,
            output,
        });
    }

    /// Executes a user transaction, and records its output unless it is rejected.
    ///
    /// Returns the reason of a rejection.
    ///
    /// # Errors
    ///
    /// Returns [`ExecuteError::State`] if the state cannot be read.
    fn execute_user(
        &mut self,
        transaction: &CheckedTransaction,
    ) -> Result<Option<Discard>, ExecuteError> {
        let hash = transaction.hash();
        let environment = self.environment(hash);
        match execute_user(
            self.chain,
            &self.state,
            transaction,
            environment,
            ExecutionMode::Commit,
            None,
        )? {
            Outcome::Executed {
                output,
                work_units,
                fee,
            } => {
                self.fees += fee;
                self.work_units = self.work_units.saturating_add(work_units);
                self.apply_output(Transaction::User(transaction.shared()), hash, output);
                Ok(None)
            }
            Outcome::Discarded(discard) => Ok(Some(discard)),
        }
    }

    /// Executes a metadata or epilogue transaction, which is free of gas.
    ///
    /// # Errors
    ///
    /// * [`ExecuteError::State`] if the state cannot be read.
    /// * [`ExecuteError::Invariant`] if `body` fails with any other error.
    fn execute_system(
        &mut self,
        height: u64,
        transaction: Transaction,
        body: impl FnOnce(&mut Context<'_>) -> Result<(), VmError>,
    ) -> Result<(), ExecuteError> {
        let hash = transaction.hash(self.chain.vendor());
        let mut context = Context::unmetered(self.chain, &self.state, self.environment(hash));
        body(&mut context).map_err(|failure| match failure {
            VmError::State(error) => ExecuteError::State(error),
            other => ExecuteError::Invariant {
                height,
                reason: format!("its own transaction failed: {other:?}"),
            },
        })?;
        let (writes, events) = context.finish();
        self.apply_output(
            transaction,
            hash,
            Output {
                gas_used: 0,
                status: ExecutionStatus::Success,
                events,
                writes,
            },
        );
        Ok(())
    }

    /// Executes the block metadata transaction, which sets the time and the height of the ledger.
    fn execute_metadata(&mut self, header: &BlockHeader) -> Result<(), ExecuteError> {
        let metadata = BlockMetadata {
            id: self.hash,
            epoch: header.epoch,
            round: header.round,
            proposer: header.proposer,
            previous_block_votes_bitvec: previous_votes(self.chain),
            failed_proposer_indices: Vec::new(),
            timestamp_usecs: header.timestamp_usecs,
        };
        let event = new_block_event(header, &metadata);
        let version_at = |height| self.chain.parameters().framework_version(height);
        let has_upgrade = version_at(header.height) != version_at(header.height - 1);
        let extended = BlockMetadataExt::V1 {
            metadata,
            randomness: None,
        };
        self.execute_system(
            header.height,
            Transaction::BlockMetadataExt(extended),
            |context| {
                let at = AccountAddress::ONE;
                context.write_resource(
                    at,
                    &[],
                    &CurrentTimeMicroseconds {
                        microseconds: header.timestamp_usecs,
                    },
                )?;
                let mut resource: BlockResource = context
                    .read_resource(at, &[])?
                    .ok_or_else(|| StateError("genesis wrote no block resource".to_owned()))?;
                resource.height = header.height;
                context.emit_to(&mut resource.new_block_events, &event)?;
                context.write_resource(at, &[], &resource)?;
                if has_upgrade {
                    features::write(context)?;
                }
                Ok(())
            },
        )
    }

    /// Executes the block epilogue transaction, which burns the fees of the block.
    ///
    /// One change of the supply per block keeps the user transactions independent of one another.
    fn execute_epilogue(&mut self, height: u64) -> Result<(), ExecuteError> {
        let block_end_info = BlockEndInfo::V0 {
            block_gas_limit_reached: self.gas_limit_reached(),
            block_output_limit_reached: self.output_limit_reached(),
            block_effective_block_gas_units: self.work_units,
            block_approx_output_size: self.output_bytes,
        };
        let epilogue = BlockEpilogue::V0 {
            block_id: self.hash,
            block_end_info,
        };
        let fees = self.fees;
        self.execute_system(height, Transaction::BlockEpilogue(epilogue), |context| {
            if fees == 0 {
                Ok(())
            } else {
                burn_fees(context, fees)
            }
        })
    }
}

/// Returns the bitmap of the votes for the parent block: one bit for the only validator of a chain
/// of one node, and otherwise none, because no block fixes which votes decided its parent.
fn previous_votes(chain: &Chain) -> Vec<u8> {
    const FIRST_VALIDATOR: u8 = 0x80;
    if chain.validators().is_empty() {
        vec![FIRST_VALIDATOR]
    } else {
        Vec::new()
    }
}

fn new_block_event(header: &BlockHeader, metadata: &BlockMetadata) -> NewBlockEvent {
    NewBlockEvent {
        hash: AccountAddress::new(*metadata.id.as_bytes()),
        epoch: header.epoch,
        round: header.round,
        height: header.height,
        previous_block_votes_bitvec: metadata.previous_block_votes_bitvec.clone(),
        proposer: header.proposer,
        failed_proposer_indices: Vec::new(),
        time_microseconds: header.timestamp_usecs,
    }
}

/// Removes `fees` from the supply of the chain's coin, or adds to the supply if `fees` is negative
/// because refunds exceed charges.
///
/// # Errors
///
/// Returns [`VmError::State`] if the state cannot be read or has no supply of the coin, or if the
/// new supply is out of range.
fn burn_fees(context: &mut Context<'_>, fees: i128) -> Result<(), VmError> {
    let invalid_supply = || {
        StateError("the supply of the chain's coin does not cover the fees of a block".to_owned())
    };
    let asset = AccountAddress::NATIVE_ASSET;
    let mut supply: ConcurrentSupply = context
        .read_resource(asset, &[])?
        .ok_or_else(invalid_supply)?;
    let new_supply = if fees >= 0 {
        supply.current.value.checked_sub(fees.unsigned_abs())
    } else {
        supply.current.value.checked_add(fees.unsigned_abs())
    };
    supply.current.value = new_supply.ok_or_else(invalid_supply)?;
    context.write_resource(asset, &[], &supply)
}
