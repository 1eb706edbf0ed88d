//! A chain for random calls: its accounts, the forms of their transactions, and the recorded
//! results.

use crate::programs::census::Census;
use fastrand::Rng;
use ledger_execution::{development_accounts, execute_block, view};
use ledger_framework::modules::{
    account::resource_address,
    multisig_account::TransactionExecutionSucceeded,
    object::{named_address, user_derived_address},
};
use ledger_test_support::{MemoryChain, TransactionBuilder, next_block, test_genesis};
use ledger_types::{
    AccountAddress, CheckedTransaction, ContractEvent, EntryFunction, ExecutedTransaction,
    OrderedBlock, Parameters,
    transaction::{Multisig, MultisigPayload, TransactionPayload},
};
use serde_json::Value;
use std::{collections::BTreeMap, sync::Arc};

/// Number of development accounts that take part.
pub const ACCOUNTS: usize = 4;
/// Gas prices of the transactions, in the coin's smallest unit.
const GAS_UNIT_PRICES: [u64; 2] = [100, 150];
/// Type of the chain's coin.
pub const NATIVE: &str = "0x1::node_coin::NodeCoin";

/// Encodes each argument in BCS and returns the encoded arguments as a vector.
macro_rules! args {
    ($($value:expr),* $(,)?) => { vec![$(bcs::to_bytes(&$value).unwrap()),*] };
}
pub(crate) use args;

/// A payload with its sender and signers.
///
/// `key` is the development account whose key signs for `sender`. The accounts of
/// `secondary_signers` sign too.
pub struct CallRequest {
    pub key: usize,
    pub sender: AccountAddress,
    pub secondary_signers: Vec<usize>,
    pub payload: TransactionPayload,
}

/// The form of a transaction: its fee payer and its replay protection.
#[derive(Clone, Copy, Default)]
pub struct Form {
    /// Development account that pays the fee instead of the sender.
    pub fee_payer: Option<usize>,
    /// Nonce that replaces the sequence number.
    pub nonce: Option<u64>,
}

/// A store beside the primary store of its owner.
#[derive(Clone, Copy)]
pub struct SecondaryStore {
    pub address: AccountAddress,
    /// Address of the metadata of the store's asset.
    pub asset: AccountAddress,
}

/// A chain on which random calls are executed.
pub struct Program {
    pub chain: MemoryChain,
    pub random: Rng,
    /// Multisig account of accounts 0, 1 and 2. It requires two approvals at the start.
    pub multisig: AccountAddress,
    /// Secondary stores that were created, including removed ones.
    pub stores: Vec<SecondaryStore>,
    /// Objects created at generated addresses, including deleted ones.
    pub generated: Vec<AccountAddress>,
    /// Ordered transactions of each block after genesis.
    ordered: Vec<Vec<Arc<CheckedTransaction>>>,
    /// Sum of all fees minus storage refunds, in the coin's smallest unit.
    fees: i128,
    /// Number of successful calls of each entry function.
    pub succeeded: BTreeMap<String, u64>,
    /// Number of executed orderless transactions.
    pub orderless: u64,
    /// Number of executed transactions with a fee payer.
    pub sponsored: u64,
}

/// Returns the address of a development account.
pub fn account(number: usize) -> AccountAddress {
    development_accounts()[number].address
}

/// Returns the type of the coin that a development account manages.
pub fn coin_of(number: usize) -> String {
    format!("{}::m::C", account(number))
}

/// Returns the type of the coin whose capabilities its development account may destroy.
pub fn abandoned_coin_of(number: usize) -> String {
    format!("{}::m::GivenUp", account(number))
}

/// Returns the address of the asset that a development account manages.
pub fn asset_of(number: usize) -> AccountAddress {
    named_address(account(number), b"A")
}

/// Returns the address of the named object of a development account.
pub fn object_of(number: usize) -> AccountAddress {
    named_address(account(number), b"o")
}

/// Returns the resource account of a development account, whose key signs for it.
pub fn resource_account_of(number: usize) -> AccountAddress {
    resource_address(account(number), b"r")
}

/// Returns the address of the primary store of `owner` for `asset`.
pub fn primary_store(owner: AccountAddress, asset: AccountAddress) -> AccountAddress {
    user_derived_address(owner, asset)
}

/// Returns the call of an executed multisig payload if `event` is its success event.
fn stored_call(event: &ContractEvent) -> Option<EntryFunction> {
    if event.type_tag().to_string() != "0x1::multisig_account::TransactionExecutionSucceeded" {
        return None;
    }
    let event: TransactionExecutionSucceeded = bcs::from_bytes(event.data()).unwrap();
    match bcs::from_bytes(event.transaction_payload.as_ref()).unwrap() {
        MultisigPayload::EntryFunction(call) => Some(call),
        MultisigPayload::Script(_) => None,
    }
}

/// Returns a development chain with or without event streams of stores.
fn new_chain(coin_event_handles: bool) -> MemoryChain {
    MemoryChain::new(&test_genesis(Parameters {
        gas_unit_price_min: 1,
        coin_event_handles,
        ..Parameters::default()
    }))
}

impl Program {
    /// Creates a chain on which every account manages two coins and an asset, and owns a named
    /// object, a registry and a resource account. Three accounts own a multisig account. The stores
    /// of coins have event streams if `seed` is even.
    pub fn new(seed: u64) -> Self {
        let mut program = Self {
            chain: new_chain(seed.is_multiple_of(2)),
            random: Rng::with_seed(seed),
            multisig: AccountAddress::ZERO,
            stores: Vec::new(),
            generated: Vec::new(),
            ordered: Vec::new(),
            fees: 0,
            succeeded: BTreeMap::new(),
            orderless: 0,
            sponsored: 0,
        };
        let next = "0x1::multisig_account::get_next_multisig_account_address";
        let next_address = program.view(next, &[], args![account(0)]);
        program.multisig = next_address[0].as_str().unwrap().parse().unwrap();
        let owners = vec![account(1), account(2)];
        let no_metadata = Vec::<Vec<u8>>::new();
        let create = "0x1::multisig_account::create_with_owners";
        program.call_successfully(
            0,
            create,
            &[],
            args![owners, 2u64, no_metadata, no_metadata],
        );
        for number in 0..ACCOUNTS {
            program.prepare(number);
        }
        let fund = "0x1::node_account::transfer";
        program.call_successfully(0, fund, &[], args![program.multisig, 5_000_000_000u64]);
        program
    }

    fn prepare(&mut self, number: usize) {
        for coin in [coin_of(number), abandoned_coin_of(number)] {
            let initialize = "0x1::managed_coin::initialize";
            self.call_successfully(number, initialize, &[&coin], args!["C", "C", 6u8, true]);
            let mint = "0x1::managed_coin::mint";
            self.call_successfully(
                number,
                mint,
                &[&coin],
                args![account(number), 10_000_000u64],
            );
        }
        let create = "0x1::managed_fungible_asset::create";
        let maximum = (number == 1).then_some(u128::from(u64::MAX) * 3);
        self.call_successfully(number, create, &[], args!["A", "A", 6u8, "", "", maximum]);
        self.call_successfully(
            number,
            "0x1::managed_object::create_named",
            &[],
            args![b"o".to_vec()],
        );
        self.call_successfully(number, "0x1::registry::initialize", &[], args![]);
        let create = "0x1::resource_account::create_resource_account_and_fund";
        let no_key = Vec::<u8>::new();
        self.call_successfully(
            number,
            create,
            &[],
            args![b"r".to_vec(), no_key, 5_000_000_000u64],
        );
        let mint = "0x1::managed_fungible_asset::mint";
        self.call_successfully(
            number,
            mint,
            &[],
            args![asset_of(number), account(number), 10_000_000u64],
        );
    }

    /// Returns a call of an entry function.
    pub fn call(&self, function: &str, type_args: &[&str], args: Vec<Vec<u8>>) -> EntryFunction {
        self.chain.call(function, type_args, args)
    }

    /// Returns a call that a development account sends.
    pub fn request(
        &self,
        number: usize,
        function: &str,
        type_args: &[&str],
        args: Vec<Vec<u8>>,
    ) -> CallRequest {
        CallRequest {
            key: number,
            sender: account(number),
            secondary_signers: Vec::new(),
            payload: TransactionPayload::EntryFunction(self.call(function, type_args, args)),
        }
    }

    /// Returns a call with two signers: the first account sends it, the second one is a secondary
    /// signer.
    pub fn request_of_two(
        &self,
        numbers: [usize; 2],
        function: &str,
        type_args: &[&str],
        args: Vec<Vec<u8>>,
    ) -> CallRequest {
        CallRequest {
            secondary_signers: vec![numbers[1]],
            ..self.request(numbers[0], function, type_args, args)
        }
    }

    /// Returns the multisig payload that account `number` sends.
    ///
    /// Without `call`, the payload is the one that the next proposal stores.
    pub fn multisig_request(&self, number: usize, call: Option<EntryFunction>) -> CallRequest {
        CallRequest {
            key: number,
            sender: account(number),
            secondary_signers: Vec::new(),
            payload: TransactionPayload::Multisig(Multisig {
                multisig_address: self.multisig,
                payload: call.map(MultisigPayload::EntryFunction),
            }),
        }
    }

    /// Executes a call in a block of its own.
    ///
    /// Returns `None` if the prologue rejects the transaction.
    pub fn run(&mut self, request: CallRequest) -> Option<ExecutedTransaction> {
        self.run_as(request, Form::default())
    }

    /// Executes a call as [`Self::run`] does, in a random form.
    ///
    /// A quarter of the transactions have a random fee payer. A third have a nonce, which may have
    /// been used before.
    pub fn run_in_any_form(&mut self, request: CallRequest) -> Option<ExecutedTransaction> {
        let random = &mut self.random;
        let form = Form {
            fee_payer: (random.u8(..4) == 0).then(|| random.usize(..ACCOUNTS)),
            nonce: (random.u8(..3) == 0).then(|| random.u64(..500)),
        };
        self.run_as(request, form)
    }

    /// Executes a call as [`Self::run`] does, in the form `form`.
    pub fn run_as(&mut self, request: CallRequest, form: Form) -> Option<ExecutedTransaction> {
        let sequence_number = self.chain.facts(&request.sender).sequence_number;
        let builder = TransactionBuilder::new(&self.chain.chain, request.sender, request.payload)
            .sequence_number(sequence_number)
            .max_gas_amount(200_000)
            // A storage deposit may be charged at one price and refunded at the other one.
            .gas_unit_price(self.random.choice(GAS_UNIT_PRICES).unwrap());
        let mut raw = builder.build();
        if let Some(nonce) = form.nonce {
            raw = self.chain.orderless(raw, nonce);
        }
        let key = |number: usize| development_accounts().remove(number).private_key;
        let secondary_signers: Vec<_> = request
            .secondary_signers
            .iter()
            .map(|number| key(*number))
            .collect();
        let sender = key(request.key);
        let keys: Vec<_> = std::iter::once(&sender).chain(&secondary_signers).collect();
        let fee_payer = form.fee_payer.map(key);
        let checked = if keys.len() == 1 && fee_payer.is_none() {
            self.chain.sign(&sender, raw)
        } else {
            self.chain.sign_together(&keys, fee_payer.as_ref(), raw)
        };
        self.ordered.push(vec![Arc::new(checked.clone())]);
        let block = self.chain.execute(vec![checked]);
        if !block.discarded.is_empty() {
            return None;
        }
        let executed = block.transactions[1].clone();
        self.record(&executed);
        Some(executed)
    }

    fn record(&mut self, executed: &ExecutedTransaction) {
        let Some(user) = executed.transaction.as_user() else {
            panic!("not a user transaction: {executed:?}");
        };
        let registry = self.chain.chain.registry();
        let json = |event: &ContractEvent| registry.value_to_json(event.type_tag(), event.data());
        let statement = json(executed.events.last().unwrap()).unwrap();
        let refund: i128 = statement["storage_fee_refund_octas"]
            .as_str()
            .unwrap()
            .parse()
            .unwrap();
        self.fees +=
            i128::from(executed.info.v0().gas_used) * i128::from(user.raw.gas_unit_price) - refund;
        for event in &executed.events {
            let address = |field: &str| {
                json(event).unwrap()[field]
                    .as_str()
                    .unwrap()
                    .parse()
                    .unwrap()
            };
            match event.type_tag().to_string().as_str() {
                "0x1::managed_fungible_asset::StoreCreation" => self.stores.push(SecondaryStore {
                    address: address("store"),
                    asset: address("metadata"),
                }),
                "0x1::managed_object::ObjectCreation" => self.generated.push(address("object")),
                _ => {}
            }
        }
        let stored = executed.events.iter().find_map(stored_call);
        let called = user.raw.entry_function().or(stored.as_ref());
        if user.raw.payload.replay_protection_nonce().is_some() {
            self.orderless += 1;
        }
        if user.authenticator.fee_payer().is_some() {
            self.sponsored += 1;
        }
        if let Some(call) = called
            && executed.info.v0().status.is_success()
        {
            let name = format!("{}::{}", call.module, call.function);
            *self.succeeded.entry(name).or_default() += 1;
        }
    }

    /// Executes a call by a development account. The call must succeed.
    pub fn call_successfully(
        &mut self,
        number: usize,
        function: &str,
        type_args: &[&str],
        args: Vec<Vec<u8>>,
    ) {
        let request = self.request(number, function, type_args, args);
        self.run_successfully(request);
    }

    /// Executes a call that must succeed.
    pub fn run_successfully(&mut self, request: CallRequest) {
        let payload_text = format!("{:?}", request.payload);
        let executed = self
            .run(request)
            .unwrap_or_else(|| panic!("rejected: {payload_text}"));
        let status = self.chain.chain.vm_status(&executed.info.v0().status);
        assert_eq!(status, "Executed successfully", "{payload_text}");
    }

    /// Returns the results of a view function as JSON.
    pub fn view(&self, function: &str, type_args: &[&str], args: Vec<Vec<u8>>) -> Vec<Value> {
        let call = self.call(function, type_args, args);
        let viewed = view(&self.chain.chain, &self.chain, &call, None)
            .unwrap_or_else(|error| panic!("{function} {call:?}: {error:?}"));
        let registry = self.chain.chain.registry();
        let json = |(tag, bytes): &(_, bytes::Bytes)| registry.value_to_json(tag, bytes).unwrap();
        viewed.values.iter().map(json).collect()
    }

    /// Executes `count` empty blocks, which advances the time of the chain.
    pub fn wait_blocks(&mut self, count: usize) {
        for _ in 0..count {
            self.ordered.push(Vec::new());
            self.chain.execute(Vec::new());
        }
    }

    /// Checks that all supplies are equal to the counted sums, and returns the census.
    ///
    /// The supply of the chain's coin must be the supply of genesis minus the fees.
    pub fn assert_conserved(&self) -> Census {
        let census = Census::of(&self.chain);
        census.assert_supplies_hold();
        let genesis = new_chain(self.chain.chain.parameters().coin_event_handles);
        let genesis_supply = Census::of(&genesis).native_supply(&genesis);
        let current_supply = census.native_supply(&self.chain);
        assert_eq!(
            genesis_supply as i128 - self.fees,
            current_supply as i128,
            "the supply of the chain's coin"
        );
        census
    }

    /// Executes the ordered transactions of all blocks from genesis, including the rejected ones,
    /// and checks that blocks and state are the same.
    pub fn assert_replay_is_equal(&self) {
        let mut replay = new_chain(self.chain.chain.parameters().coin_event_handles);
        for (block, transactions) in self.chain.blocks[1..].iter().zip(&self.ordered) {
            let ordered = OrderedBlock {
                transactions: transactions.clone(),
                ..next_block(&replay.tip)
            };
            let executed = execute_block(&replay.chain, &replay.tip, &replay, ordered).unwrap();
            assert_eq!(&executed, block);
            replay.apply(executed);
        }
        assert_eq!(replay.state, self.chain.state);
    }
}
