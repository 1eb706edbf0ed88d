//! Transfers of the development accounts, signed, as BCS and as JSON.

use ledger_crypto::Ed25519PrivateKey;
use ledger_execution::development_accounts;
use ledger_types::{
    AccountAddress, EntryFunction, ModuleId, RawTransaction, SignedTransaction,
    transaction::{
        ExtraConfig, InnerPayload, TransactionAuthenticator, TransactionExecutable,
        TransactionPayload,
    },
};
use ledger_vm::Chain;
use serde_json::{Value, json};
use std::{
    sync::LazyLock,
    time::{SystemTime, UNIX_EPOCH},
};

/// When transfers expire unless a test sets another time: a day after the first one was made.
///
/// It is read from the clock once per process. Two transfers with the same fields are then the same
/// transaction, also where one second ends and another begins between them.
static EXPIRATION_TIMESTAMP_SECS: LazyLock<u64> = LazyLock::new(|| now_secs() + 24 * 60 * 60);

/// Unix time in seconds.
pub fn now_secs() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs()
}

/// What two signers do together: the first gives 1 of the chain's coin, the second 2.
pub fn exchange(chain: &Chain) -> TransactionPayload {
    let coin = chain.registry().native_coin().to_string();
    let call = chain.registry().call_from_json(
        "0x1::exchange::exchange_coins",
        &[coin.clone(), coin],
        &[json!("1"), json!("2")],
    );
    TransactionPayload::EntryFunction(call.unwrap())
}

/// A transfer by one of the development accounts.
#[derive(Clone)]
pub struct Transfer {
    /// Which development account sends it.
    pub from: usize,
    pub to: AccountAddress,
    pub amount: u64,
    pub sequence_number: u64,
    pub gas_unit_price: u64,
    pub expiration_timestamp_secs: u64,
    pub chain_id: u8,
}

impl Transfer {
    /// A transfer of 7 to `0xb0b` that is in order.
    pub fn new(from: usize, sequence_number: u64) -> Self {
        Self {
            from,
            to: AccountAddress::from_low_u64(0xb0b),
            amount: 7,
            sequence_number,
            gas_unit_price: 100,
            expiration_timestamp_secs: *EXPIRATION_TIMESTAMP_SECS,
            chain_id: 4,
        }
    }

    /// Returns a transfer of 7 to `0xb0b` that [`Transfer::payload_with_nonce`] completes. Its sequence
    /// number has no meaning, and it expires while a nonce is valid.
    pub fn orderless(from: usize) -> Self {
        Self {
            expiration_timestamp_secs: now_secs() + 50,
            ..Self::new(from, u64::MAX)
        }
    }

    pub fn key(&self) -> Ed25519PrivateKey {
        development_accounts()[self.from].private_key.clone()
    }

    pub fn sender(&self) -> AccountAddress {
        AccountAddress::from_public_key(&self.key().public_key())
    }

    pub fn sign(&self, chain: &Chain) -> SignedTransaction {
        self.sign_payload(chain, self.payload(chain))
    }

    /// Returns the payload with the call of the transfer.
    pub fn payload(&self, chain: &Chain) -> TransactionPayload {
        TransactionPayload::EntryFunction(self.call(chain))
    }

    /// Returns the payload with the call of the transfer and a nonce against replay.
    pub fn payload_with_nonce(&self, chain: &Chain, nonce: u64) -> TransactionPayload {
        TransactionPayload::Payload(InnerPayload::V1 {
            executable: TransactionExecutable::EntryFunction(self.call(chain)),
            extra_config: ExtraConfig::V1 {
                multisig_address: None,
                replay_protection_nonce: Some(nonce),
            },
        })
    }

    fn call(&self, chain: &Chain) -> EntryFunction {
        let arguments = [
            bcs::to_bytes(&self.to).unwrap(),
            bcs::to_bytes(&self.amount).unwrap(),
        ];
        EntryFunction {
            module: ModuleId {
                address: AccountAddress::ONE,
                name: format!("{}_account", chain.vendor().lower())
                    .parse()
                    .unwrap(),
            },
            function: "transfer".parse().unwrap(),
            type_args: Vec::new(),
            args: arguments.into_iter().map(Into::into).collect(),
        }
    }

    /// A call of another entry function by the same sender, its arguments in JSON.
    pub fn sign_call(
        &self,
        chain: &Chain,
        function: &str,
        arguments: &[Value],
    ) -> SignedTransaction {
        let call = chain.registry().call_from_json(function, &[], arguments);
        self.sign_payload(chain, TransactionPayload::EntryFunction(call.unwrap()))
    }

    pub fn sign_payload(&self, chain: &Chain, payload: TransactionPayload) -> SignedTransaction {
        let raw = self.raw(self.sender(), payload);
        let authenticator = TransactionAuthenticator::Ed25519 {
            public_key: self.key().public_key(),
            signature: self.key().sign(&raw.signing_message(chain.vendor())),
        };
        SignedTransaction { raw, authenticator }
    }

    /// What any account signs to send this payload on the transfer's terms.
    pub fn raw(&self, sender: AccountAddress, payload: TransactionPayload) -> RawTransaction {
        RawTransaction {
            sender,
            sequence_number: self.sequence_number,
            payload,
            max_gas_amount: 100_000,
            gas_unit_price: self.gas_unit_price,
            expiration_timestamp_secs: self.expiration_timestamp_secs,
            chain_id: self.chain_id,
        }
    }

    /// The JSON form of a submission.
    pub fn json(&self, chain: &Chain) -> Value {
        let signed = self.sign(chain);
        let TransactionAuthenticator::Ed25519 { signature, .. } = &signed.authenticator else {
            panic!("signed with one key");
        };
        json!({
            "sender": self.sender().to_long_hex(),
            "sequence_number": self.sequence_number.to_string(),
            "max_gas_amount": "100000",
            "gas_unit_price": self.gas_unit_price.to_string(),
            "expiration_timestamp_secs": self.expiration_timestamp_secs.to_string(),
            "payload": {
                "type": "entry_function_payload",
                "function": format!("0x1::{}_account::transfer", chain.vendor().lower()),
                "type_arguments": [],
                "arguments": [self.to.to_string(), self.amount.to_string()],
            },
            "signature": {
                "type": "ed25519_signature",
                "public_key": format!("0x{}", hex::encode(self.key().public_key().0)),
                "signature": format!("0x{}", hex::encode(signature.0)),
            },
        })
    }
}
