//! Accounts with one ed25519 key.

use crate::{TransactionBuilder, TransactionSigner};
use ledger_crypto::Ed25519PrivateKey;
use ledger_execution::development_accounts;
use ledger_types::{
    AccountAddress, EntryFunction, RawTransaction, SignedTransaction,
    transaction::AccountAuthenticator,
};
use ledger_vm::Chain;

/// An account that signs with one ed25519 key.
#[derive(Clone, Debug)]
pub struct TestAccount {
    /// The address of the account.
    pub address: AccountAddress,
    /// The private key of the account.
    pub key: Ed25519PrivateKey,
}

impl TestAccount {
    /// Returns the account whose address derives from `key`.
    pub fn new(key: Ed25519PrivateKey) -> Self {
        Self {
            address: AccountAddress::from_public_key(&key.public_key()),
            key,
        }
    }

    /// Returns the account of the key that is derived from `number`.
    pub fn from_seed(number: u64) -> Self {
        Self::new(Ed25519PrivateKey::from_seed(&seed(number)))
    }

    /// Returns the funded accounts of a development chain.
    pub fn development() -> Vec<Self> {
        let accounts = development_accounts().into_iter();
        accounts
            .map(|account| Self::new(account.private_key))
            .collect()
    }

    /// Signs a transfer of `amount`, in the coin's smallest unit.
    pub fn transfer(
        &self,
        chain: &Chain,
        sequence_number: u64,
        to: AccountAddress,
        amount: u64,
    ) -> SignedTransaction {
        TransactionBuilder::transfer(chain, self.address, to, amount)
            .sequence_number(sequence_number)
            .sign(self)
    }

    /// Signs a call of an entry function.
    pub fn call(
        &self,
        chain: &Chain,
        sequence_number: u64,
        call: EntryFunction,
    ) -> SignedTransaction {
        TransactionBuilder::call(chain, self.address, call)
            .sequence_number(sequence_number)
            .sign(self)
    }

    /// Signs `raw`.
    pub fn sign(&self, chain: &Chain, raw: RawTransaction) -> SignedTransaction {
        TransactionBuilder::from_raw(chain, raw).sign(self)
    }
}

impl TransactionSigner for TestAccount {
    fn address(&self) -> AccountAddress {
        self.address
    }

    fn authenticate(&self, message: &[u8]) -> AccountAuthenticator {
        self.key.authenticate(message)
    }
}

/// Returns the seed of a private key that is derived from `number`.
pub fn seed(number: u64) -> [u8; 32] {
    let mut seed = [0x5a; 32];
    seed[..8].copy_from_slice(&number.to_le_bytes());
    seed
}
