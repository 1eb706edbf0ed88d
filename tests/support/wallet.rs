//! Accounts that count their own sequence numbers.

use crate::{FAR_FUTURE_SECS, TestAccount, TransactionBuilder};
use ledger_types::{AccountAddress, CheckedTransaction};
use ledger_vm::Chain;
use std::ops::Deref;

/// An account and the sequence number of its next transaction.
#[derive(Clone, Debug)]
pub struct Wallet {
    /// The account.
    pub account: TestAccount,
    /// The sequence number of the next transaction.
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

    /// Returns the wallets of the funded accounts of a development chain.
    pub fn development() -> Vec<Self> {
        let accounts = TestAccount::development().into_iter();
        accounts.map(Self::from).collect()
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
