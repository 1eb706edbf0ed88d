//! Development chains, and a chain with its state in memory.

use crate::{TestAccount, TransactionBuilder, TransactionSigner, function_call, transfer_call};
use bytes::Bytes;
use ledger_execution::{
    AccountSnapshot, ValidationInputs, build_chain, development_genesis, execute_block,
    execute_genesis, written_account,
};
use ledger_framework::{modules::fungible_asset::FungibleStore, new_chain};
use ledger_types::{
    AccountAddress, ChainTip, CheckedTransaction, EntryFunction, ExecutedBlock, Genesis,
    GenesisAccount, OrderedBlock, Parameters, RawTransaction, StateError, StateKey, StateView,
    Vendor, state::ResourceGroup,
};
use ledger_vm::Chain;
use std::{
    collections::HashMap,
    sync::{Arc, LazyLock},
};

/// Chain id of [`development_chain`].
const CHAIN_ID: u8 = 4;

/// Gas price of the transactions of [`MemoryChain::raw`], in the coin's smallest unit.
pub const GAS_UNIT_PRICE: u64 = 100;

/// Unix time of block 1 of a [`MemoryChain`], in seconds.
pub const START_SECS: u64 = 1_700_000_000;

/// Returns the chain that a node creates by default.
pub fn development_chain() -> Chain {
    // Its framework is large, and property tests need the chain for every case.
    static CHAIN: LazyLock<Chain> =
        LazyLock::new(|| new_chain(CHAIN_ID, Vendor::default(), Parameters::default()));
    CHAIN.clone()
}

/// Returns the genesis of a development chain with these parameters.
pub fn test_genesis(parameters: Parameters) -> Genesis {
    development_genesis(CHAIN_ID, Vendor::default(), parameters)
}

/// Returns the genesis of a development chain on which the accounts of the seeds below `accounts`
/// have coins.
pub fn funded_genesis(accounts: u64) -> Genesis {
    let mut genesis = test_genesis(Parameters::default());
    let funded = (0..accounts).map(|seed| GenesisAccount {
        address: TestAccount::from_seed(seed).address,
        balance: 1 << 50,
        authentication_key: None,
    });
    genesis.accounts.extend(funded);
    genesis
}

/// Returns the empty block after `tip`, one second after the block before it.
pub fn next_block(tip: &ChainTip) -> OrderedBlock {
    OrderedBlock {
        height: tip.height + 1,
        epoch: tip.epoch,
        round: tip.height + 1,
        proposer: AccountAddress::ZERO,
        timestamp_usecs: (START_SECS + tip.height) * 1_000_000,
        executed: None,
        transactions: Vec::new(),
        certificate: Bytes::new(),
    }
}

/// A chain with its blocks and its newest state in memory.
pub struct MemoryChain {
    /// The chain.
    pub chain: Chain,
    /// The newest block.
    pub tip: ChainTip,
    /// The newest state.
    pub state: HashMap<StateKey, Bytes>,
    /// All blocks, the genesis block first.
    pub blocks: Vec<ExecutedBlock>,
}

impl StateView for MemoryChain {
    fn get(&self, key: &StateKey) -> Result<Option<Bytes>, StateError> {
        Ok(self.state.get(key).cloned())
    }
}

impl MemoryChain {
    /// Creates a development chain that accepts every gas price above 0.
    pub fn development() -> Self {
        let parameters = Parameters {
            gas_unit_price_min: 1,
            ..Parameters::default()
        };
        Self::new(&test_genesis(parameters))
    }

    /// Creates the chain with this genesis.
    pub fn new(genesis: &Genesis) -> Self {
        let chain = build_chain(genesis).expect("a valid genesis");
        let block = execute_genesis(genesis, &chain);
        let mut this = Self {
            chain,
            tip: block.tip.clone(),
            state: HashMap::new(),
            blocks: Vec::new(),
        };
        this.apply(block);
        this
    }

    /// Appends a block.
    ///
    /// # Panics
    ///
    /// Panics if a write of the block does not update the facts of the account that it changes to
    /// what a look-up in the state after the write returns.
    pub fn apply(&mut self, block: ExecutedBlock) {
        for (key, op) in block.transactions.iter().flat_map(|t| t.writes.iter()) {
            let write = (key, op.value());
            let written = written_account(&self.chain, write).expect("readable groups");
            let before = written.map(|address| (address, self.facts(&address)));
            match op.value() {
                Some(value) => self.state.insert(key.clone(), value.clone()),
                None => self.state.remove(key),
            };
            if let Some((address, before)) = before {
                let after = before.after_write(&self.chain, &address, write);
                assert_eq!(
                    after.expect("readable state"),
                    self.facts(&address),
                    "account facts after a write of {key:?}"
                );
            }
        }
        self.tip = block.tip.clone();
        self.blocks.push(block);
    }

    /// Executes and appends a block, one second after the block before it.
    pub fn execute(&mut self, transactions: Vec<CheckedTransaction>) -> &ExecutedBlock {
        self.execute_at(self.next_secs(), transactions)
    }

    /// Executes and appends a block at a Unix time in seconds.
    pub fn execute_at(
        &mut self,
        secs: u64,
        transactions: Vec<CheckedTransaction>,
    ) -> &ExecutedBlock {
        let block = OrderedBlock {
            timestamp_usecs: secs * 1_000_000,
            transactions: transactions.into_iter().map(Arc::new).collect(),
            ..next_block(&self.tip)
        };
        self.execute_ordered(block)
    }

    /// Executes and appends an ordered block.
    pub fn execute_ordered(&mut self, block: OrderedBlock) -> &ExecutedBlock {
        let executed = execute_block(&self.chain, &self.tip, &*self, block);
        self.apply(executed.expect("a block that follows the newest one"));
        self.blocks.last().expect("a block was appended")
    }

    /// Returns the block at `height` as validators decide it, with the result in its header.
    ///
    /// # Panics
    ///
    /// Panics if the block discarded a transaction.
    pub fn decided_block(&self, height: u64) -> OrderedBlock {
        let block = &self.blocks[height as usize];
        assert!(block.discarded.is_empty(), "a transaction was discarded");
        let users = block
            .transactions
            .iter()
            .filter_map(|executed| executed.transaction.as_user());
        let header = &block.header;
        OrderedBlock {
            height,
            epoch: header.epoch,
            round: header.round,
            proposer: header.proposer,
            timestamp_usecs: header.timestamp_usecs,
            executed: Some(header.executed),
            transactions: users
                .map(|user| CheckedTransaction::new_unchecked(user.clone(), self.chain.vendor()))
                .map(Arc::new)
                .collect(),
            certificate: block.certificate.clone(),
        }
    }

    /// Replaces the balance of an account, as a fault of a disk or a program would.
    pub fn replace_balance(&mut self, address: &AccountAddress, balance: u64) {
        let store = self.facts(address).store;
        let registry = self.chain.registry();
        let tag = registry.tag_bytes_of::<FungibleStore>(&[]);
        let slot = self.state.get_mut(&registry.group_key(&store));
        let slot = slot.expect("the account has a store");
        let mut group = ResourceGroup::decode(slot).expect("a resource group");
        let member = group.get(&tag).expect("the object is a store");
        let mut store: FungibleStore = bcs::from_bytes(member).expect("a store");
        store.balance = balance;
        let member = bcs::to_bytes(&store).expect("a store has a BCS form");
        group.insert(&tag, member.into());
        *slot = group.encode();
    }

    /// Returns the Unix time of the next block, in seconds.
    pub fn next_secs(&self) -> u64 {
        START_SECS + self.tip.height
    }

    /// Returns what validation reads of an account.
    pub fn facts(&self, address: &AccountAddress) -> AccountSnapshot {
        AccountSnapshot::read(&self.chain, self, address).expect("readable state")
    }

    /// Returns what validation reads of the accounts of a transaction.
    pub fn transaction_facts(&self, transaction: &CheckedTransaction) -> ValidationInputs {
        ValidationInputs::read(&self.chain, self, transaction.transaction())
            .expect("readable state")
    }

    /// Returns a call of a function, as [`function_call`] does.
    pub fn call(&self, function: &str, type_args: &[&str], args: Vec<Vec<u8>>) -> EntryFunction {
        function_call(function, type_args, args)
    }

    /// Returns the call that pays `amount` of the coin, in its smallest unit.
    pub fn transfer(&self, to: AccountAddress, amount: u64) -> EntryFunction {
        transfer_call(self.chain.vendor(), to, amount)
    }

    /// Returns a call with the next sequence number of the sender and a high gas limit.
    pub fn raw(&self, sender: &impl TransactionSigner, call: EntryFunction) -> RawTransaction {
        let sender = sender.address();
        TransactionBuilder::call(&self.chain, sender, call)
            .sequence_number(self.facts(&sender).sequence_number)
            .max_gas_amount(2_000_000)
            .gas_unit_price(GAS_UNIT_PRICE)
            .expiration_secs(START_SECS + 1_000_000)
            .build()
    }

    /// Returns the transaction with a nonce instead of its sequence number, and an expiration that
    /// the chain accepts for a nonce.
    pub fn orderless(&self, raw: RawTransaction, nonce: u64) -> RawTransaction {
        TransactionBuilder::from_raw(&self.chain, raw)
            .nonce(nonce)
            .expiration_secs(self.next_secs() + 60)
            .build()
    }

    /// Signs the transaction.
    pub fn sign(&self, signer: &impl TransactionSigner, raw: RawTransaction) -> CheckedTransaction {
        TransactionBuilder::from_raw(&self.chain, raw).sign_checked(&self.chain, signer)
    }

    /// Signs the transaction for several signers, the sender first, and for a fee payer if there is
    /// one.
    pub fn sign_together<S: TransactionSigner>(
        &self,
        signers: &[&S],
        fee_payer: Option<&S>,
        raw: RawTransaction,
    ) -> CheckedTransaction {
        let builder = TransactionBuilder::from_raw(&self.chain, raw);
        let signed = builder.sign_together(signers, fee_payer);
        CheckedTransaction::check(signed, self.chain.vendor(), self.chain.parameters())
            .expect("the signatures are valid")
    }

    /// Signs a call and executes it in a block of its own.
    pub fn run(&mut self, signer: &impl TransactionSigner, call: EntryFunction) -> &ExecutedBlock {
        let transaction = self.sign(signer, self.raw(signer, call));
        self.execute(vec![transaction])
    }
}
