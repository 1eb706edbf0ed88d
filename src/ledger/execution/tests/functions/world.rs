//! The chain that a case runs on, with development accounts that sign calls and with view
//! functions.

use bytes::Bytes;
use ledger_crypto::Ed25519PrivateKey;
use ledger_execution::{development_accounts, view};
use ledger_test_support::{GAS_UNIT_PRICE, MemoryChain, test_genesis};
use ledger_types::{
    AccountAddress, ChainTip, CheckedTransaction, EntryFunction, ExecutedTransaction, Parameters,
    RawTransaction, StateKey,
};
use ledger_vm::Chain;
use serde_json::Value;
use std::collections::HashMap;

/// Encodes each argument in BCS: `args![address, 5u64]`.
macro_rules! args {
    ($($value:expr),* $(,)?) => { vec![$(bcs::to_bytes(&$value).unwrap()),*] };
}
pub(crate) use args;

/// A new development chain.
pub struct World {
    pub chain: MemoryChain,
    /// The newest transaction and the chain before it.
    pub newest: Option<Newest>,
}

/// A transaction and the chain before it, for a repeated execution.
#[allow(dead_code, reason = "the bench of functions runs it again")]
pub struct Newest {
    pub tip: ChainTip,
    pub state: HashMap<StateKey, Bytes>,
    pub transaction: CheckedTransaction,
}

/// Returns the types of the events of a transaction, without the fee statement at the end.
pub fn event_types(executed: &ExecutedTransaction) -> Vec<String> {
    let mut types: Vec<String> = executed
        .events
        .iter()
        .map(|event| event.type_tag().to_string())
        .collect();
    assert_eq!(
        types.pop().as_deref(),
        Some("0x1::transaction_fee::FeeStatement"),
        "the last event is the fee statement"
    );
    types
}

impl World {
    pub fn new() -> Self {
        Self {
            chain: MemoryChain::development(),
            newest: None,
        }
    }

    /// Returns a chain on which the stores of coins have no event streams.
    pub fn without_event_handles() -> Self {
        Self::with_parameters(Parameters {
            gas_unit_price_min: 1,
            coin_event_handles: false,
            ..Parameters::default()
        })
    }

    /// Returns a chain on which transfers may pay addresses of the framework.
    pub fn with_transfers_to_framework() -> Self {
        Self::with_parameters(Parameters {
            gas_unit_price_min: 1,
            transfers_to_framework: true,
            ..Parameters::default()
        })
    }

    fn with_parameters(parameters: Parameters) -> Self {
        Self {
            chain: MemoryChain::new(&test_genesis(parameters)),
            newest: None,
        }
    }

    pub fn chain(&self) -> &Chain {
        &self.chain.chain
    }

    /// Returns the key of a development account.
    pub fn key(&self, account: usize) -> Ed25519PrivateKey {
        development_accounts().remove(account).private_key
    }

    /// Returns the address of a development account.
    pub fn address(&self, account: usize) -> AccountAddress {
        development_accounts()[account].address
    }

    /// Returns an entry function call, which is not signed.
    pub fn entry(&self, function: &str, type_args: &[&str], args: Vec<Vec<u8>>) -> EntryFunction {
        self.chain.call(function, type_args, args)
    }

    /// Runs a call signed by a development account in a block of its own.
    pub fn call(
        &mut self,
        account: usize,
        function: &str,
        type_args: &[&str],
        args: Vec<Vec<u8>>,
    ) -> ExecutedTransaction {
        let call = self.entry(function, type_args, args);
        let raw = self.chain.raw(&self.key(account), call);
        self.run(account, raw)
    }

    /// Runs a call signed by several development accounts in a block of its own.
    pub fn call_with_signers(
        &mut self,
        accounts: &[usize],
        function: &str,
        type_args: &[&str],
        args: Vec<Vec<u8>>,
    ) -> ExecutedTransaction {
        let call = self.entry(function, type_args, args);
        let keys: Vec<Ed25519PrivateKey> =
            accounts.iter().map(|account| self.key(*account)).collect();
        let raw = self.chain.raw(&keys[0], call);
        let keys: Vec<&Ed25519PrivateKey> = keys.iter().collect();
        let transaction = self.chain.sign_together(&keys, None, raw);
        self.run_checked(transaction)
    }

    /// Runs a transaction signed by a development account in a block of its own.
    pub fn run(&mut self, account: usize, raw: RawTransaction) -> ExecutedTransaction {
        let transaction = self.chain.sign(&self.key(account), raw);
        self.run_checked(transaction)
    }

    fn run_checked(&mut self, transaction: CheckedTransaction) -> ExecutedTransaction {
        self.newest = Some(Newest {
            tip: self.chain.tip.clone(),
            state: self.chain.state.clone(),
            transaction: transaction.clone(),
        });
        let block = self.chain.execute(vec![transaction]);
        assert_eq!(block.discarded, [], "the prologue rejected the transaction");
        block.transactions[1].clone()
    }

    /// Runs a call that prepares a case.
    ///
    /// # Panics
    ///
    /// Panics if the call fails.
    pub fn call_ok(
        &mut self,
        account: usize,
        function: &str,
        type_args: &[&str],
        args: Vec<Vec<u8>>,
    ) -> ExecutedTransaction {
        let executed = self.call(account, function, type_args, args);
        let status = self.chain().vm_status(&executed.info.v0().status);
        assert_eq!(status, "Executed successfully", "{function}");
        executed
    }

    /// Returns the values of a view function in JSON.
    ///
    /// # Panics
    ///
    /// Panics with the text of the failure if the function fails.
    pub fn view(&self, function: &str, type_args: &[&str], args: Vec<Vec<u8>>) -> Vec<Value> {
        self.try_view(function, type_args, args)
            .unwrap_or_else(|text| panic!("{function}: {text}"))
    }

    /// Returns the values of a view function in JSON, or the text of its failure.
    pub fn try_view(
        &self,
        function: &str,
        type_args: &[&str],
        args: Vec<Vec<u8>>,
    ) -> Result<Vec<Value>, String> {
        let call = self.entry(function, type_args, args);
        let viewed = view(self.chain(), &self.chain, &call, None).map_err(|error| match error {
            ledger_execution::ViewError::Failed(status) => status.vm_status(self.chain()),
            other => other.to_string(),
        })?;
        let registry = self.chain().registry();
        Ok(viewed
            .values
            .iter()
            .map(|(tag, bytes)| registry.value_to_json(tag, bytes).unwrap())
            .collect())
    }

    /// Returns the balance of a development account, in the smallest unit of the chain's coin.
    pub fn balance(&self, account: usize) -> u64 {
        self.chain.facts(&self.address(account)).balance
    }

    fn fee_statement(&self, executed: &ExecutedTransaction) -> Value {
        let statement = executed.events.last().unwrap();
        self.chain()
            .registry()
            .value_to_json(statement.type_tag(), statement.data())
            .unwrap()
    }

    /// Returns the gas units of a transaction without those for storage.
    #[allow(dead_code, reason = "the bench of functions compares it with time")]
    pub fn gas_without_storage(&self, executed: &ExecutedTransaction) -> u64 {
        let statement = self.fee_statement(executed);
        let storage_fee: u64 = statement["storage_fee_octas"]
            .as_str()
            .unwrap()
            .parse()
            .unwrap();
        executed.info.v0().gas_used - storage_fee.div_ceil(GAS_UNIT_PRICE)
    }

    /// Returns the fee of a transaction with storage, minus the storage refund, in the smallest
    /// unit of the chain's coin.
    pub fn net_fee(&self, executed: &ExecutedTransaction) -> i128 {
        let statement = self.fee_statement(executed);
        let refund: i128 = statement["storage_fee_refund_octas"]
            .as_str()
            .unwrap()
            .parse()
            .unwrap();
        i128::from(executed.info.v0().gas_used) * i128::from(GAS_UNIT_PRICE) - refund
    }
}
