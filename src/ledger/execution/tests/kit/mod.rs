//! A chain in memory: genesis, accounts with keys, and blocks executed one after the other.

use bytes::Bytes;
use ledger_crypto::Ed25519PrivateKey;
use ledger_execution::{
    AccountSnapshot, ValidationInputs, build_chain, development_genesis, execute_block,
    execute_genesis,
};
use ledger_types::{
    AccountAddress, ChainTip, CheckedTransaction, EntryFunction, ExecutedBlock, Genesis,
    OrderedBlock, Parameters, RawTransaction, SignedTransaction, StateError, StateKey, StateView,
    TypeTag, Vendor,
    transaction::{
        AccountAuthenticator, ExtraConfig, InnerPayload, MultisigPayload, TransactionAuthenticator,
        TransactionExecutable, TransactionPayload,
    },
};
use ledger_vm::Chain;
use std::{collections::HashMap, sync::Arc};

/// A chain with its whole state in memory.
pub struct MemoryChain {
    pub chain: Chain,
    pub tip: ChainTip,
    pub state: HashMap<StateKey, Bytes>,
    pub blocks: Vec<ExecutedBlock>,
}

impl StateView for MemoryChain {
    fn get(&self, key: &StateKey) -> Result<Option<Bytes>, StateError> {
        Ok(self.state.get(key).cloned())
    }
}

/// What the kit's transactions offer for a gas unit.
pub const GAS_UNIT_PRICE: u64 = 100;

/// Unix seconds that the chain's first blocks have.
pub const START_SECS: u64 = 1_700_000_000;

/// The next block after `tip`, empty, a second after it.
pub fn next_block(tip: &ChainTip) -> OrderedBlock {
    OrderedBlock {
        height: tip.height + 1,
        epoch: tip.epoch,
        round: tip.height + 1,
        proposer: AccountAddress::ZERO,
        timestamp_usecs: (START_SECS + tip.height) * 1_000_000,
        transactions: Vec::new(),
        certificate: Bytes::new(),
    }
}

impl MemoryChain {
    pub fn development() -> Self {
        let parameters = Parameters {
            gas_unit_price_min: 1,
            ..Parameters::default()
        };
        Self::new(&development_genesis(4, Vendor::default(), parameters))
    }

    pub fn new(genesis: &Genesis) -> Self {
        let chain = build_chain(&genesis).unwrap();
        let block = execute_genesis(&genesis, &chain);
        let mut this = Self {
            chain,
            tip: block.tip.clone(),
            state: HashMap::new(),
            blocks: Vec::new(),
        };
        this.apply(block);
        this
    }

    pub fn apply(&mut self, block: ExecutedBlock) {
        for (key, op) in block.transactions.iter().flat_map(|t| t.writes.iter()) {
            let before = key.address().map(|address| (address, self.facts(&address)));
            match op.value() {
                Some(value) => self.state.insert(key.clone(), value.clone()),
                None => self.state.remove(key),
            };
            // What a node notes of accounts by what is written is what is there then.
            if let Some((address, before)) = before {
                let after = before.after_write(&self.chain, &address, (key, op.value()));
                assert_eq!(
                    after.unwrap(),
                    self.facts(&address),
                    "after a write of {key:?}"
                );
            }
        }
        self.tip = block.tip.clone();
        self.blocks.push(block);
    }

    /// Executes the next block, a second after the last one.
    pub fn execute(&mut self, transactions: Vec<CheckedTransaction>) -> &ExecutedBlock {
        let block = OrderedBlock {
            transactions: transactions.into_iter().map(Arc::new).collect(),
            ..next_block(&self.tip)
        };
        let executed = execute_block(&self.chain, &self.tip, &*self, block).unwrap();
        self.apply(executed);
        self.blocks.last().unwrap()
    }

    /// Executes the next block at this time, in Unix seconds.
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
        let executed = execute_block(&self.chain, &self.tip, &*self, block).unwrap();
        self.apply(executed);
        self.blocks.last().unwrap()
    }

    /// The time of the next block, in Unix seconds.
    pub fn next_secs(&self) -> u64 {
        START_SECS + self.tip.height
    }

    pub fn facts(&self, address: &AccountAddress) -> AccountSnapshot {
        AccountSnapshot::read(&self.chain, self, address).unwrap()
    }

    /// What the checks of a submission know of it now.
    pub fn transaction_facts(&self, transaction: &CheckedTransaction) -> ValidationInputs {
        ValidationInputs::read(&self.chain, self, transaction.transaction()).unwrap()
    }

    pub fn call(&self, function: &str, type_args: &[&str], args: Vec<Vec<u8>>) -> EntryFunction {
        let (module, name) = function.rsplit_once("::").unwrap();
        EntryFunction {
            module: module.parse().unwrap(),
            function: name.parse().unwrap(),
            type_args: type_args
                .iter()
                .map(|text| text.parse::<TypeTag>().unwrap())
                .collect(),
            args: args.into_iter().map(Bytes::from).collect(),
        }
    }

    pub fn transfer(&self, to: AccountAddress, amount: u64) -> EntryFunction {
        let function = format!("0x1::{}_account::transfer", self.chain.vendor().lower());
        self.call(
            &function,
            &[],
            vec![bcs::to_bytes(&to).unwrap(), bcs::to_bytes(&amount).unwrap()],
        )
    }

    /// A transaction with the sender's next sequence number and generous limits.
    pub fn raw(&self, key: &Ed25519PrivateKey, call: EntryFunction) -> RawTransaction {
        let sender = AccountAddress::from_public_key(&key.public_key());
        RawTransaction {
            sender,
            sequence_number: self.facts(&sender).sequence_number,
            payload: TransactionPayload::EntryFunction(call),
            max_gas_amount: 2_000_000,
            gas_unit_price: GAS_UNIT_PRICE,
            expiration_timestamp_secs: START_SECS + 1_000_000,
            chain_id: self.chain.id(),
        }
    }

    /// The same with a nonce in place of the sequence number, and an expiration that lets it have one.
    pub fn orderless(&self, raw: RawTransaction, nonce: u64) -> RawTransaction {
        let (executable, multisig_address) = match raw.payload {
            TransactionPayload::EntryFunction(call) => {
                (TransactionExecutable::EntryFunction(call), None)
            }
            TransactionPayload::Multisig(multisig) => {
                let executable = match multisig.payload {
                    Some(MultisigPayload::EntryFunction(call)) => {
                        TransactionExecutable::EntryFunction(call)
                    }
                    Some(MultisigPayload::Script(script)) => TransactionExecutable::Script(script),
                    None => TransactionExecutable::Empty,
                };
                (executable, Some(multisig.multisig_address))
            }
            other => panic!("no call to give a nonce to: {other:?}"),
        };
        RawTransaction {
            sequence_number: u64::MAX,
            expiration_timestamp_secs: self.next_secs() + 60,
            payload: TransactionPayload::Payload(InnerPayload::V1 {
                executable,
                extra_config: ExtraConfig::V1 {
                    multisig_address,
                    replay_protection_nonce: Some(nonce),
                },
            }),
            ..raw
        }
    }

    /// What `keys` sign together, the sender's first, each for the account that was made from it, and
    /// `fee_payer` pays, who is none of them.
    pub fn sign_together(
        &self,
        keys: &[&Ed25519PrivateKey],
        fee_payer: Option<&Ed25519PrivateKey>,
        raw: RawTransaction,
    ) -> CheckedTransaction {
        let address = |key: &Ed25519PrivateKey| AccountAddress::from_public_key(&key.public_key());
        let secondary_signer_addresses: Vec<_> = keys[1..].iter().map(|key| address(key)).collect();
        let (secondary, vendor) = (&secondary_signer_addresses, self.chain.vendor());
        let message = match fee_payer {
            Some(payer) => raw.fee_payer_signing_message(secondary, address(payer), vendor),
            None => raw.multi_agent_signing_message(secondary, vendor),
        };
        let signed = |key: &Ed25519PrivateKey| AccountAuthenticator::Ed25519 {
            public_key: key.public_key(),
            signature: key.sign(&message),
        };
        let sender = Box::new(signed(keys[0]));
        let secondary_signers = keys[1..].iter().map(|key| signed(key)).collect();
        let authenticator = match fee_payer {
            Some(payer) => TransactionAuthenticator::FeePayer {
                sender,
                secondary_signer_addresses,
                secondary_signers,
                fee_payer_address: address(payer),
                fee_payer_signer: Box::new(signed(payer)),
            },
            None => TransactionAuthenticator::MultiAgent {
                sender,
                secondary_signer_addresses,
                secondary_signers,
            },
        };
        CheckedTransaction::check(
            SignedTransaction { raw, authenticator },
            self.chain.vendor(),
            self.chain.parameters(),
        )
        .unwrap()
    }

    pub fn sign(&self, key: &Ed25519PrivateKey, raw: RawTransaction) -> CheckedTransaction {
        let signature = key.sign(&raw.signing_message(self.chain.vendor()));
        let authenticator = TransactionAuthenticator::Ed25519 {
            public_key: key.public_key(),
            signature,
        };
        CheckedTransaction::check(
            SignedTransaction { raw, authenticator },
            self.chain.vendor(),
            self.chain.parameters(),
        )
        .unwrap()
    }

    /// Signs and executes one call in a block of its own.
    pub fn run(&mut self, key: &Ed25519PrivateKey, call: EntryFunction) -> &ExecutedBlock {
        let transaction = self.sign(key, self.raw(key, call));
        self.execute(vec![transaction])
    }
}
