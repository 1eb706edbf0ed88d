//! Blocks that were not executed. Hashes and row sizes are realistic, contents are made up.

use crate::{TransactionBuilder, development_chain};
use fastrand::Rng;
use ledger_crypto::{Ed25519PublicKey, Ed25519Signature, HashValue};
use ledger_types::{
    AccountAddress, Accumulator, BlockHeader, ChainTip, ContractEvent, DiscardedTransaction,
    EventKey, ExecutedBlock, ExecutedTransaction, ExecutionStatus, Genesis, LedgerRoot, Parameters,
    RecentRoots, StateKey, Transaction, TransactionInfo, TypeTag, Vendor, WriteOp, WriteSet,
    transaction::{
        BlockEndInfo, BlockEpilogue, BlockMetadata, BlockMetadataExt, GenesisPayload,
        TransactionInfoV0,
    },
};
use std::collections::{BTreeMap, HashMap};

/// Description of a user transaction.
#[derive(Clone, Debug, Default)]
pub struct TransactionSpec {
    /// Number of the sender.
    pub sender: u64,
    /// Whether it has a nonce instead of a sequence number.
    pub is_orderless: bool,
    /// Event streams, to each of which the transaction adds one event.
    pub streams: Vec<EventKey>,
    /// Whether the transaction emits a module event.
    pub module_event: bool,
    /// The writes of the transaction.
    pub writes: BTreeMap<StateKey, WriteOp>,
}

/// Size of a generated value, in bytes.
pub const VALUE_BYTES: usize = 96;

/// Returns a generated transfer: one event in a stream of each account, and three writes.
///
/// The written values are random.
pub fn transfer(sender: u64, recipient: u64, random: &mut Rng) -> TransactionSpec {
    let keys = [
        resource_key(sender, 0),
        resource_key(recipient, 0),
        resource_key(sender, 1),
    ];
    let writes = keys.map(|key| {
        let value = vec![random.u8(..); VALUE_BYTES];
        (key, WriteOp::Modify(value.into()))
    });
    TransactionSpec {
        sender,
        is_orderless: false,
        streams: vec![stream(sender, 3), stream(recipient, 2)],
        module_event: false,
        writes: writes.into(),
    }
}

/// Generator of the blocks of one chain.
#[derive(Clone, Debug, Default)]
pub struct BlockGenerator {
    vendor: Vendor,
    tip: Option<ChainTip>,
    sequence_numbers: HashMap<u64, u64>,
    /// Number of orderless transactions so far.
    nonces: u64,
    event_numbers: HashMap<EventKey, u64>,
}

/// Returns the genesis of a generated chain.
pub fn genesis() -> Genesis {
    Genesis {
        chain_id: 4,
        vendor: Vendor::default(),
        development: false,
        faucet_private_key: None,
        parameters: Parameters::default(),
        accounts: Vec::new(),
        validators: Vec::new(),
    }
}

/// Returns the account with this number.
pub fn address(number: u64) -> AccountAddress {
    AccountAddress::from_low_u64(number)
}

/// Returns an event stream of an account.
pub fn stream(account: u64, creation_number: u64) -> EventKey {
    EventKey {
        creation_number,
        account_address: address(account),
    }
}

/// Returns the key of a resource of an account, which is about as long as that of a coin store.
pub fn resource_key(account: u64, number: u64) -> StateKey {
    let tag = format!("0x1::coin::CoinStore<0x1::node_coin::Coin{number}>");
    StateKey::resource(&address(account), &tag.parse().expect("a tag"))
}

/// Returns the key of a table item.
pub fn state_key(number: u64) -> StateKey {
    StateKey::table_item(
        &address(number),
        b"0x1::coin::CoinStore<0x1::node_coin::NodeCoin>",
    )
}

impl BlockGenerator {
    /// Creates a generator of a chain without blocks.
    pub fn new() -> Self {
        Self::default()
    }

    /// Generates block 0 with these writes.
    pub fn first_block(&mut self, writes: BTreeMap<StateKey, WriteOp>) -> ExecutedBlock {
        let writes = WriteSet::from_ascending(writes.into_iter().collect());
        let payload = GenesisPayload::Direct {
            writes: writes.clone(),
            events: Vec::new(),
        };
        self.assemble(vec![(Transaction::Genesis(payload), Vec::new(), writes)])
    }

    /// Generates the next block.
    pub fn block(&mut self, specs: Vec<TransactionSpec>) -> ExecutedBlock {
        let height = self.tip.as_ref().map_or(0, |tip| tip.height + 1);
        // As on a real chain, the first version of a block has an event and a write too.
        let event = ContractEvent::V2 {
            type_tag: TypeTag::U8,
            data: height.to_le_bytes().to_vec().into(),
        };
        let time = (
            state_key(u64::MAX),
            WriteOp::Modify(height.to_le_bytes().to_vec().into()),
        );
        let writes = WriteSet::from_ascending(vec![time]);
        let mut parts = vec![(self.metadata(height), vec![event], writes)];
        for spec in specs {
            let transaction = self.user_transaction(spec.sender, spec.is_orderless);
            let events = self.events(&spec);
            parts.push((
                transaction,
                events,
                WriteSet::from_ascending(spec.writes.into_iter().collect()),
            ));
        }
        let epilogue = BlockEpilogue::V0 {
            block_id: HashValue::sha3_of(&[&height.to_le_bytes()]),
            block_end_info: BlockEndInfo::V0 {
                block_gas_limit_reached: false,
                block_output_limit_reached: false,
                block_effective_block_gas_units: height,
                block_approx_output_size: 0,
            },
        };
        parts.push((
            Transaction::BlockEpilogue(epilogue),
            Vec::new(),
            WriteSet::default(),
        ));
        self.assemble(parts)
    }

    fn metadata(&self, height: u64) -> Transaction {
        let metadata = BlockMetadata {
            id: HashValue::sha3_of(&[&height.to_le_bytes()]),
            epoch: 1,
            round: height,
            proposer: AccountAddress::ZERO,
            previous_block_votes_bitvec: Vec::new(),
            failed_proposer_indices: Vec::new(),
            timestamp_usecs: height * 1_000,
        };
        Transaction::BlockMetadataExt(BlockMetadataExt::V1 {
            metadata,
            randomness: None,
        })
    }

    fn user_transaction(&mut self, sender: u64, is_orderless: bool) -> Transaction {
        let sender_address = address(sender);
        let transfer =
            TransactionBuilder::transfer(&development_chain(), sender_address, sender_address, 1);
        let builder = if is_orderless {
            // Descending, so that the order of nonces differs from the order of versions.
            self.nonces += 1;
            transfer.nonce(u64::MAX - self.nonces)
        } else {
            let next = self.sequence_numbers.entry(sender).or_default();
            *next += 1;
            transfer.sequence_number(*next - 1)
        };
        let signed = builder.with_signature(Ed25519PublicKey([7; 32]), Ed25519Signature([9; 64]));
        Transaction::User(signed.into())
    }

    fn events(&mut self, spec: &TransactionSpec) -> Vec<ContractEvent> {
        let mut events = Vec::new();
        for key in &spec.streams {
            let next = self.event_numbers.entry(*key).or_default();
            events.push(ContractEvent::V1 {
                key: *key,
                sequence_number: *next,
                type_tag: TypeTag::U64,
                data: next.to_le_bytes().to_vec().into(),
            });
            *next += 1;
        }
        if spec.module_event {
            events.push(ContractEvent::V2 {
                type_tag: TypeTag::Bool,
                data: vec![1].into(),
            });
        }
        events
    }

    fn assemble(
        &mut self,
        parts: Vec<(Transaction, Vec<ContractEvent>, WriteSet)>,
    ) -> ExecutedBlock {
        let (height, first_version, parent_hash, mut accumulator) = match &self.tip {
            Some(tip) => (
                tip.height + 1,
                tip.version + 1,
                tip.block_hash,
                tip.accumulator.clone(),
            ),
            None => (0, 0, HashValue::ZERO, Accumulator::default()),
        };
        let seeds = self.vendor.seeds();
        let mut transactions = Vec::with_capacity(parts.len());
        for (transaction, events, writes) in parts {
            let hash = transaction.hash(&self.vendor);
            let roots = accumulator.extend(vec![hash], &seeds.transaction_accumulator);
            let info = TransactionInfo::V0(TransactionInfoV0 {
                gas_used: 9,
                status: ExecutionStatus::Success,
                transaction_hash: hash,
                event_root_hash: HashValue::ZERO,
                state_change_hash: HashValue::ZERO,
                state_checkpoint_hash: None,
                auxiliary_info_hash: None,
            });
            transactions.push(ExecutedTransaction {
                transaction,
                hash,
                info,
                events,
                writes,
                accumulator_root: roots[0],
            });
        }
        let root = LedgerRoot {
            version: first_version + transactions.len() as u64 - 1,
            accumulator_root: transactions
                .last()
                .map_or(HashValue::ZERO, |last| last.accumulator_root),
        };
        let header = BlockHeader {
            parent_hash,
            height,
            epoch: 1,
            round: height,
            proposer: AccountAddress::ZERO,
            timestamp_usecs: height * 1_000,
            payload_root: HashValue::ZERO,
            executed: match &self.tip {
                Some(tip) => tip.roots.delayed(),
                None => root,
            },
        };
        let tip = ChainTip {
            height,
            block_hash: header.hash(&self.vendor),
            version: root.version,
            epoch: 1,
            timestamp_usecs: header.timestamp_usecs,
            accumulator,
            roots: match &self.tip {
                Some(tip) => tip
                    .roots
                    .followed_by(root, Parameters::default().root_delay_blocks),
                None => RecentRoots::of_genesis(root),
            },
        };
        self.tip = Some(tip.clone());
        ExecutedBlock {
            header,
            first_version,
            transactions,
            discarded: vec![DiscardedTransaction {
                position: 0,
                hash: HashValue::ZERO,
                status_code: height,
                transaction: bytes::Bytes::new(),
            }],
            certificate: vec![1, 2, 3].into(),
            tip,
        }
    }
}
