//! Signed transfers of the development accounts, in BCS and in JSON.

use ledger_test_support::{
    FAR_FUTURE_SECS, TestAccount, TestSigner, TransactionBuilder, now_secs, orderless_payload,
    transfer_call,
};
use ledger_types::{
    AccountAddress, RawTransaction, SignedTransaction,
    transaction::{TransactionAuthenticator, TransactionPayload},
};
use ledger_vm::Chain;
use serde_json::{Value, json};

/// Returns a call of two signers, in which the first one pays 1 of the chain's coin and the second
/// one pays 2.
pub fn exchange(chain: &Chain) -> TransactionPayload {
    let coin = chain.registry().native_coin().to_string();
    let call = chain.registry().call_from_json(
        &"0x1::exchange::exchange_coins".parse().unwrap(),
        &[coin.clone(), coin],
        &[json!("1"), json!("2")],
    );
    TransactionPayload::EntryFunction(call.unwrap())
}

/// A transfer by one of the development accounts.
#[derive(Clone)]
pub struct Transfer {
    /// Number of the development account that sends the transfer.
    pub from: usize,
    pub to: AccountAddress,
    pub amount: u64,
    pub sequence_number: u64,
    pub gas_unit_price: u64,
    pub expiration_timestamp_secs: u64,
    pub chain_id: u8,
}

impl Transfer {
    /// Returns a valid transfer of 7 to `0xb0b`.
    pub fn new(from: usize, sequence_number: u64) -> Self {
        Self {
            from,
            to: AccountAddress::from_low_u64(0xb0b),
            amount: 7,
            sequence_number,
            gas_unit_price: 100,
            expiration_timestamp_secs: FAR_FUTURE_SECS,
            chain_id: 4,
        }
    }

    /// Returns a transfer of 7 to `0xb0b` that [`Transfer::payload_with_nonce`] completes. Its
    /// sequence number has no meaning, and it expires while a nonce is valid.
    pub fn orderless(from: usize) -> Self {
        Self {
            expiration_timestamp_secs: now_secs() + 50,
            ..Self::new(from, u64::MAX)
        }
    }

    /// Returns the account that sends the transfer.
    pub fn account(&self) -> TestAccount {
        TestAccount::development().swap_remove(self.from)
    }

    /// Returns the signer for the account that sends the transfer.
    pub fn signer(&self) -> TestSigner {
        TestSigner::Ed25519(self.account().key)
    }

    pub fn sender(&self) -> AccountAddress {
        self.account().address
    }

    pub fn sign(&self, chain: &Chain) -> SignedTransaction {
        self.sign_payload(chain, self.payload(chain))
    }

    /// Returns the payload with the call of the transfer.
    pub fn payload(&self, chain: &Chain) -> TransactionPayload {
        TransactionPayload::EntryFunction(transfer_call(chain.vendor(), self.to, self.amount))
    }

    /// Returns the payload with the call of the transfer and a nonce against replay.
    pub fn payload_with_nonce(&self, chain: &Chain, nonce: u64) -> TransactionPayload {
        orderless_payload(self.payload(chain), nonce)
    }

    /// Signs the transfer with a nonce against replay.
    pub fn sign_with_nonce(&self, chain: &Chain, nonce: u64) -> SignedTransaction {
        self.sign_payload(chain, self.payload_with_nonce(chain, nonce))
    }

    /// Signs a call of another entry function by the same sender, with arguments in JSON.
    pub fn sign_call(
        &self,
        chain: &Chain,
        function: &str,
        arguments: &[Value],
    ) -> SignedTransaction {
        let function = function.parse().unwrap();
        let call = chain.registry().call_from_json(&function, &[], arguments);
        self.sign_payload(chain, TransactionPayload::EntryFunction(call.unwrap()))
    }

    pub fn sign_payload(&self, chain: &Chain, payload: TransactionPayload) -> SignedTransaction {
        self.builder(chain, self.sender(), payload)
            .sign(&self.account())
    }

    /// Returns the transaction with this sender and payload, and the other fields of the transfer.
    pub fn raw(
        &self,
        chain: &Chain,
        sender: AccountAddress,
        payload: TransactionPayload,
    ) -> RawTransaction {
        self.builder(chain, sender, payload).build()
    }

    fn builder(
        &self,
        chain: &Chain,
        sender: AccountAddress,
        payload: TransactionPayload,
    ) -> TransactionBuilder {
        TransactionBuilder::new(chain, sender, payload)
            .sequence_number(self.sequence_number)
            .gas_unit_price(self.gas_unit_price)
            .expiration_secs(self.expiration_timestamp_secs)
            .chain_id(self.chain_id)
    }

    /// Returns the JSON form of a submission.
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
                "public_key": format!("0x{}", hex::encode(self.account().key.public_key().0)),
                "signature": format!("0x{}", hex::encode(signature.0)),
            },
        })
    }
}
