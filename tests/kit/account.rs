//! Accounts that sign.

use ledger_crypto::Ed25519PrivateKey;
use ledger_types::{
    AccountAddress, EntryFunction, Identifier, ModuleId, RawTransaction, SignedTransaction, Vendor,
    transaction::{TransactionAuthenticator, TransactionPayload},
};
use std::time::{SystemTime, UNIX_EPOCH};

/// What signatures are for.
#[derive(Clone, Debug)]
pub struct ChainFacts {
    pub id: u8,
    pub vendor: Vendor,
    pub gas_unit_price: u64,
}

/// An account with its key.
#[derive(Clone, Debug)]
pub struct Account {
    pub address: AccountAddress,
    pub key: Ed25519PrivateKey,
}

impl Account {
    /// The account number `number`; the same number is the same account.
    pub fn from_seed(number: u64) -> Self {
        let mut seed = [0x5a; 32];
        seed[..8].copy_from_slice(&number.to_le_bytes());
        let key = Ed25519PrivateKey::from_seed(&seed);
        Self {
            address: AccountAddress::from_public_key(&key.public_key()),
            key,
        }
    }

    /// A signed transfer of the chain's coin that expires in ten minutes.
    pub fn transfer(
        &self,
        chain: &ChainFacts,
        sequence_number: u64,
        to: AccountAddress,
        amount: u64,
    ) -> SignedTransaction {
        let name = |text: &str| Identifier::new(text).unwrap();
        let call = EntryFunction {
            module: ModuleId {
                address: AccountAddress::ONE,
                name: name(&format!("{}_account", chain.vendor.lower())),
            },
            function: name("transfer"),
            type_args: vec![],
            args: vec![
                bcs::to_bytes(&to).unwrap().into(),
                bcs::to_bytes(&amount).unwrap().into(),
            ],
        };
        self.call(chain, sequence_number, call)
    }

    /// A signed call of a function that expires in ten minutes.
    pub fn call(
        &self,
        chain: &ChainFacts,
        sequence_number: u64,
        call: EntryFunction,
    ) -> SignedTransaction {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap()
            .as_secs();
        let raw = RawTransaction {
            sender: self.address,
            sequence_number,
            payload: TransactionPayload::EntryFunction(call),
            max_gas_amount: 100_000,
            gas_unit_price: chain.gas_unit_price,
            expiration_timestamp_secs: now + 600,
            chain_id: chain.id,
        };
        self.sign(chain, raw)
    }

    /// The transaction with the account's signature.
    pub fn sign(&self, chain: &ChainFacts, raw: RawTransaction) -> SignedTransaction {
        let signature = self.key.sign(&raw.signing_message(&chain.vendor));
        SignedTransaction {
            raw,
            authenticator: TransactionAuthenticator::Ed25519 {
                public_key: self.key.public_key(),
                signature,
            },
        }
    }
}
