//! A funded multisig account on a chain of its own, and the calls of its owners.

use ledger_crypto::{Ed25519PrivateKey, HashValue};
use ledger_execution::{development_accounts, view};
use ledger_test_support::MemoryChain;
use ledger_types::{
    AccountAddress, EntryFunction, ExecutedTransaction, ValidationStatus,
    transaction::{
        ExtraConfig, InnerPayload, Multisig, MultisigPayload, TransactionExecutable,
        TransactionPayload,
    },
};
use serde_json::Value;

/// Returns the private key of a development account.
pub fn key(number: usize) -> Ed25519PrivateKey {
    development_accounts()[number].private_key.clone()
}

/// Returns the address of a development account.
pub fn address(number: usize) -> AccountAddress {
    development_accounts()[number].address
}

pub fn bcs_of<T: serde::Serialize>(value: &T) -> Vec<u8> {
    bcs::to_bytes(value).unwrap()
}

/// Returns the payload bytes that a proposal of `call` stores.
pub fn stored_form(call: &EntryFunction) -> Vec<u8> {
    bcs_of(&MultisigPayload::EntryFunction(call.clone()))
}

/// Address without an account at genesis.
pub const UNKNOWN_ADDRESS: AccountAddress = AccountAddress::from_low_u64(0xabcdef);
/// Balance of the multisig account at the start, in the coin's smallest unit.
pub const FUNDS: u64 = 1_000_000;
/// `vm_status` of a successful transaction.
pub const SUCCESS: &str = "Executed successfully";

/// A chain with a multisig account of the development accounts 0, 1 and 2 that holds [`FUNDS`].
pub struct Vault {
    pub chain: MemoryChain,
    pub address: AccountAddress,
}

impl Vault {
    /// Creates the multisig account with this number of required signatures, and funds it.
    pub fn with_signatures_required(num_signatures_required: u64) -> Self {
        let mut vault = Self {
            chain: MemoryChain::development(),
            address: AccountAddress::ZERO,
        };
        let next = vault.view(
            "get_next_multisig_account_address",
            vec![bcs_of(&address(0))],
        );
        vault.address = next[0].as_str().unwrap().parse().unwrap();
        let owners = bcs_of(&vec![address(1), address(2)]);
        let no_metadata = bcs_of(&Vec::<String>::new());
        let arguments = vec![
            owners,
            bcs_of(&num_signatures_required),
            no_metadata.clone(),
            no_metadata,
        ];
        vault.call_successfully(0, "create_with_owners", arguments);
        let fund = vault.chain.transfer(vault.address, FUNDS);
        vault.chain.run(&key(4), fund);
        assert_eq!(vault.balance(), FUNDS);
        vault
    }

    /// Returns the balance of the multisig account, in the coin's smallest unit.
    pub fn balance(&self) -> u64 {
        self.chain.facts(&self.address).balance
    }

    /// Returns the results of a view function of `0x1::multisig_account` as JSON.
    pub fn view(&self, function: &str, args: Vec<Vec<u8>>) -> Vec<Value> {
        let function = format!("0x1::multisig_account::{function}");
        let viewed = view(
            &self.chain.chain,
            &self.chain,
            &self.chain.call(&function, &[], args),
            None,
        )
        .unwrap();
        let registry = self.chain.chain.registry();
        let values = viewed.values.iter();
        values
            .map(|(tag, bytes)| registry.value_to_json(tag, bytes).unwrap())
            .collect()
    }

    /// Returns the sequence number of the newest executed or dropped proposal.
    pub fn last_resolved_number(&self) -> Value {
        self.view("last_resolved_sequence_number", vec![bcs_of(&self.address)])
            .remove(0)
    }

    pub fn owners(&self) -> Value {
        self.view("owners", vec![bcs_of(&self.address)]).remove(0)
    }

    pub fn status(&self, executed: &ExecutedTransaction) -> String {
        self.chain.chain.vm_status(&executed.info.v0().status)
    }

    /// Returns a call of an entry function of `0x1::multisig_account`.
    pub fn call(&self, function: &str, args: Vec<Vec<u8>>) -> EntryFunction {
        self.chain
            .call(&format!("0x1::multisig_account::{function}"), &[], args)
    }

    /// Executes a call of `0x1::multisig_account` by development account `sender`. The call must
    /// succeed.
    pub fn call_successfully(&mut self, sender: usize, function: &str, args: Vec<Vec<u8>>) {
        let call = self.call(function, args);
        let executed = self.chain.run(&key(sender), call).transactions[1].clone();
        assert_eq!(self.status(&executed), SUCCESS, "{function}");
    }

    /// Creates a proposal that stores `payload`.
    pub fn propose(&mut self, sender: usize, payload: &[u8]) {
        let args = vec![bcs_of(&self.address), bcs_of(&payload)];
        self.call_successfully(sender, "create_transaction", args);
    }

    /// Creates a proposal that stores only the hash of `payload`.
    pub fn propose_hash(&mut self, sender: usize, payload: &[u8]) {
        let hash = HashValue::sha3_of(&[payload]).as_bytes().to_vec();
        let args = vec![bcs_of(&self.address), bcs_of(&hash)];
        self.call_successfully(sender, "create_transaction_with_hash", args);
    }

    /// Approves or rejects the proposal with the sequence number `number`.
    pub fn vote(&mut self, sender: usize, number: u64, approved: bool) {
        let args = vec![bcs_of(&self.address), bcs_of(&number), bcs_of(&approved)];
        self.call_successfully(sender, "vote_transaction", args);
    }

    /// Returns a multisig payload in the older wire form.
    pub fn payload(&self, call: Option<EntryFunction>) -> TransactionPayload {
        TransactionPayload::Multisig(Multisig {
            multisig_address: self.address,
            payload: call.map(MultisigPayload::EntryFunction),
        })
    }

    /// Returns a multisig payload in the newer wire form.
    pub fn inner_payload(&self, call: Option<EntryFunction>) -> TransactionPayload {
        TransactionPayload::Payload(InnerPayload::V1 {
            executable: call.map_or(
                TransactionExecutable::Empty,
                TransactionExecutable::EntryFunction,
            ),
            extra_config: ExtraConfig::V1 {
                multisig_address: Some(self.address),
                replay_protection_nonce: None,
            },
        })
    }

    /// Executes a payload in a block of its own.
    ///
    /// # Errors
    ///
    /// Returns the status if the prologue rejects the transaction.
    pub fn try_send(
        &mut self,
        sender: usize,
        payload: TransactionPayload,
        max_gas_amount: u64,
    ) -> Result<ExecutedTransaction, ValidationStatus> {
        let mut raw = self
            .chain
            .raw(&key(sender), self.chain.transfer(UNKNOWN_ADDRESS, 0));
        raw.payload = payload;
        raw.max_gas_amount = max_gas_amount;
        let signed = self.chain.sign(&key(sender), raw);
        let block = self.chain.execute(vec![signed]);
        match block.discarded.first() {
            Some(discarded) => Err(ValidationStatus::from_code(discarded.status_code).unwrap()),
            None => Ok(block.transactions[1].clone()),
        }
    }

    /// Executes a payload with a limit of 200,000 gas units. The prologue must accept it.
    pub fn send(&mut self, sender: usize, payload: TransactionPayload) -> ExecutedTransaction {
        self.try_send(sender, payload, 200_000).unwrap()
    }

    /// Returns the status with which the prologue rejects a payload. It must reject the payload.
    pub fn rejection_status(
        &mut self,
        sender: usize,
        payload: TransactionPayload,
    ) -> ValidationStatus {
        self.try_send(sender, payload, 200_000).unwrap_err()
    }

    /// Returns the names and data of all events except the fee statement.
    pub fn events(&self, executed: &ExecutedTransaction) -> Vec<(String, Value)> {
        let registry = self.chain.chain.registry();
        let (statement, events) = executed.events.split_last().unwrap();
        assert_eq!(
            statement.type_tag().to_string(),
            "0x1::transaction_fee::FeeStatement"
        );
        let with_json_data = events.iter().map(|event| {
            let data = registry
                .value_to_json(event.type_tag(), event.data())
                .unwrap();
            (event.type_tag().to_string(), data)
        });
        with_json_data.collect()
    }

    pub fn event_names(&self, executed: &ExecutedTransaction) -> Vec<String> {
        self.events(executed)
            .into_iter()
            .map(|(name, _)| name)
            .collect()
    }

    /// Returns the abort location, error type and error code of the failed payload, from the last
    /// event.
    pub fn execution_error(&self, executed: &ExecutedTransaction) -> (String, String, String) {
        assert_eq!(self.status(executed), SUCCESS);
        let (name, data) = self.events(executed).pop().unwrap();
        assert_eq!(name, "0x1::multisig_account::TransactionExecutionFailed");
        let text = |field: &str| data["execution_error"][field].as_str().unwrap().to_owned();
        (
            text("abort_location"),
            text("error_type"),
            text("error_code"),
        )
    }
}
