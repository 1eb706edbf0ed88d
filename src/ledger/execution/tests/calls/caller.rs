//! A caller of failing calls, and the properties that all failed calls share.

use crate::calls::functions::{Callable, put_object};
use ledger_crypto::Ed25519PrivateKey;
use ledger_execution::{
    AccountSnapshot, ViewError, development_accounts, development_genesis, view,
};
use ledger_framework::{FRAMEWORK_VERSION, modules::object::user_derived_address};
use ledger_test_support::{GAS_UNIT_PRICE, MemoryChain};
use ledger_types::{
    AccountAddress, ContractEvent, ExecutedTransaction, FrameworkUpgrade, Parameters, StateKey,
    StructTag, Vendor,
};

/// A chain, and an account that makes calls that fail.
pub struct Caller {
    pub chain: MemoryChain,
    pub key: Ed25519PrivateKey,
    /// Number of calls made.
    pub calls: usize,
}

impl Caller {
    /// Creates a caller on a chain whose newest framework version is active, so that every function
    /// can be called.
    pub fn new() -> Self {
        let newest = FrameworkUpgrade {
            version: FRAMEWORK_VERSION,
            height: 0,
        };
        let parameters = Parameters {
            gas_unit_price_min: 1,
            framework_upgrades: vec![newest],
            ..Parameters::default()
        };
        let mut chain = MemoryChain::new(&development_genesis(4, Vendor::default(), parameters));
        put_object(&mut chain);
        Self {
            chain,
            key: development_accounts().remove(0).private_key,
            calls: 0,
        }
    }

    /// Calls the function, as a transaction or as a view, and asserts its `vm_status`.
    pub fn assert_fails(
        &mut self,
        function: &Callable,
        type_args: &[&str],
        args: Vec<Vec<u8>>,
        vm_status: &str,
    ) {
        self.calls += 1;
        let status = if function.is_entry {
            self.transact_with_all_signers(function, type_args, args)
        } else {
            self.view_status(&function.name, type_args, args)
        };
        assert_eq!(
            status,
            vm_status,
            "{} <{}>",
            function.name,
            type_args.join(", ")
        );
    }

    /// Runs a view function and returns the status of its failure.
    pub fn view_status(&self, function: &str, type_args: &[&str], args: Vec<Vec<u8>>) -> String {
        let call = self.chain.call(function, type_args, args);
        match view(&self.chain.chain, &self.chain, &call, None) {
            Ok(_) => "Executed successfully".to_owned(),
            Err(ViewError::Failed(status)) => status.vm_status(&self.chain.chain),
            Err(ViewError::State(error)) => panic!("{function}: {error}"),
        }
    }

    /// Runs a transaction with one signer and returns its status.
    pub fn transact(&mut self, function: &str, type_args: &[&str], args: Vec<Vec<u8>>) -> String {
        self.transact_with(1, function, type_args, args)
    }

    /// Runs a transaction with the number of signers that the function requires, and returns its
    /// status.
    pub fn transact_with_all_signers(
        &mut self,
        function: &Callable,
        type_args: &[&str],
        args: Vec<Vec<u8>>,
    ) -> String {
        self.transact_with(function.signers.max(1), &function.name, type_args, args)
    }

    /// Runs a transaction and returns its status. Asserts that a failed transaction pays and has no
    /// other effect.
    fn transact_with(
        &mut self,
        signers: usize,
        function: &str,
        type_args: &[&str],
        args: Vec<Vec<u8>>,
    ) -> String {
        let before = self.chain.facts(&self.sender());
        let raw = self
            .chain
            .raw(&self.key, self.chain.call(function, type_args, args));
        let transaction = if signers == 1 {
            self.chain.sign(&self.key, raw)
        } else {
            let accounts = development_accounts();
            let others = accounts[1..signers]
                .iter()
                .map(|account| &account.private_key);
            let keys: Vec<_> = std::iter::once(&self.key).chain(others).collect();
            self.chain.sign_together(&keys, None, raw)
        };
        let executed = self.chain.execute(vec![transaction]).transactions[1].clone();
        let info = executed.info.v0();
        if !info.status.is_success() {
            self.assert_only_paid(function, &before, &executed);
        }
        self.chain.chain.vm_status(&info.status)
    }

    fn sender(&self) -> AccountAddress {
        AccountAddress::from_public_key(&self.key.public_key())
    }

    fn assert_only_paid(
        &self,
        function: &str,
        before: &AccountSnapshot,
        executed: &ExecutedTransaction,
    ) {
        let info = executed.info.v0();
        let after = self.chain.facts(&self.sender());
        assert_eq!(
            after.sequence_number,
            before.sequence_number + 1,
            "{function}"
        );
        assert!(
            info.gas_used >= self.intrinsic_gas(),
            "{function}: {} gas units",
            info.gas_used
        );
        let fee = info.gas_used * GAS_UNIT_PRICE;
        assert_eq!(before.balance - after.balance, fee, "{function}");
        let types: Vec<String> = executed
            .events
            .iter()
            .map(ContractEvent::type_tag)
            .map(ToString::to_string)
            .collect();
        assert_eq!(types, ["0x1::transaction_fee::FeeStatement"], "{function}");
        let account = StructTag::framework("account", "Account", vec![]);
        let store = user_derived_address(self.sender(), AccountAddress::NATIVE_ASSET);
        let mut fee_slots = [
            StateKey::resource(&self.sender(), &account),
            self.chain.chain.registry().group_key(&store),
        ];
        let mut written: Vec<&StateKey> = executed.writes.iter().map(|(key, _)| key).collect();
        written.sort_unstable();
        fee_slots.sort_unstable();
        assert_eq!(written, fee_slots.iter().collect::<Vec<_>>(), "{function}");
    }

    /// Returns the intrinsic cost of a transaction in gas units, from the gas schedule on the
    /// ledger.
    fn intrinsic_gas(&self) -> u64 {
        let tag = StructTag::framework("gas_schedule", "GasScheduleV2", vec![]);
        let bytes = &self.chain.state[&StateKey::resource(&AccountAddress::ONE, &tag)];
        let schedule = self
            .chain
            .chain
            .registry()
            .value_to_json(&tag.into(), bytes)
            .unwrap();
        let entry = |key: &str| -> u64 {
            let mut entries = schedule["entries"].as_array().unwrap().iter();
            let entry = entries.find(|entry| entry["key"] == key).unwrap();
            entry["val"].as_str().unwrap().parse().unwrap()
        };
        entry("txn.min_transaction_gas_units").div_ceil(entry("txn.gas_unit_scaling_factor"))
    }
}
