//! Accounts that count their own sequence numbers, and stores of development chains.

use ledger_execution::{build_chain, execute_genesis};
use ledger_store::{Store, StoreOptions};
use ledger_test_support::{FAR_FUTURE_SECS, TestAccount, TransactionBuilder, test_genesis};
use ledger_types::{AccountAddress, CheckedTransaction, Parameters};
use ledger_vm::Chain;
use std::{ops::Deref, path::Path};

/// An account and the sequence number of its next transaction.
#[derive(Clone, Debug)]
pub struct Wallet {
    pub account: TestAccount,
    pub sequence_number: u64,
}

impl From<TestAccount> for Wallet {
    fn from(account: TestAccount) -> Self {
        Self {
            account,
            sequence_number: 0,
        }
    }
}

impl Deref for Wallet {
    type Target = TestAccount;

    fn deref(&self) -> &TestAccount {
        &self.account
    }
}

impl Wallet {
    /// Returns the wallet of the account with this seed, which is not on the ledger.
    pub fn new(seed: u64) -> Self {
        TestAccount::from_seed(seed).into()
    }

    /// Signs a transfer that expires far in the future, with the next sequence number.
    pub fn transfer(
        &mut self,
        chain: &Chain,
        to: AccountAddress,
        amount: u64,
    ) -> CheckedTransaction {
        self.transfer_until(chain, to, amount, FAR_FUTURE_SECS)
    }

    /// Signs a transfer that expires at `expiration_secs`, with the next sequence number.
    pub fn transfer_until(
        &mut self,
        chain: &Chain,
        to: AccountAddress,
        amount: u64,
        expiration_secs: u64,
    ) -> CheckedTransaction {
        let transfer = TransactionBuilder::transfer(chain, self.address, to, amount);
        self.sign(chain, transfer.expiration_secs(expiration_secs))
    }

    /// Signs the transaction with the next sequence number.
    pub fn sign(&mut self, chain: &Chain, builder: TransactionBuilder) -> CheckedTransaction {
        let builder = builder.sequence_number(self.sequence_number);
        self.sequence_number += 1;
        builder.sign_checked(chain, &self.account)
    }
}

/// Returns the wallets of the funded accounts of a development chain.
pub fn funded() -> Vec<Wallet> {
    let accounts = TestAccount::development().into_iter();
    accounts.map(Wallet::from).collect()
}

/// Opens the store in `directory`, and creates a development chain in it if it is empty.
pub fn development(directory: &Path) -> (Chain, Store) {
    development_with(directory, Parameters::default())
}

/// Opens the store in `directory`. If it is empty, creates a development chain with these
/// parameters in it.
pub fn development_with(directory: &Path, parameters: Parameters) -> (Chain, Store) {
    let options = StoreOptions {
        cache_bytes: 8 << 20,
    };
    let store = Store::open(directory, &options).expect("the store opens");
    initialized_with(store, parameters)
}

/// Creates a development chain in the store if it is empty.
pub fn initialized(store: Store) -> (Chain, Store) {
    initialized_with(store, Parameters::default())
}

fn initialized_with(mut store: Store, parameters: Parameters) -> (Chain, Store) {
    let genesis = test_genesis(parameters);
    let chain = build_chain(&genesis).expect("a valid genesis");
    if store.genesis().expect("a readable store").is_none() {
        store
            .initialize(&genesis, &execute_genesis(&genesis, &chain))
            .expect("a writable store");
    }
    (chain, store)
}
