//! Accounts whose signatures are the most expensive to check: sets of the maximum number of
//! passkeys.

use bytes::Bytes;
use ledger_test_support::{TestAccount, TestKey, TransactionBuilder, seed};
use ledger_types::{
    AccountAddress, SignedTransaction,
    transaction::{AccountAuthenticator, MultiKey, SIGNATURES_MAX},
};
use ledger_vm::Chain;
use std::sync::Arc;

/// An account with a set of [`SIGNATURES_MAX`] times the same passkey.
///
/// Its client signs each transaction once, and the node checks every signature.
#[derive(Clone, Debug)]
pub struct Passkeys {
    /// The address of the account, and a key that signs nothing.
    account: TestAccount,
    key: Arc<TestKey>,
    set: MultiKey,
}

impl Passkeys {
    /// Returns the account of the passkey that is derived from `number`.
    pub fn from_seed(number: u64) -> Self {
        let key = Arc::new(TestKey::passkey_from(&seed(number)));
        let set = MultiKey {
            public_keys: vec![key.public_key(); SIGNATURES_MAX],
            signatures_required: u8::try_from(SIGNATURES_MAX).unwrap(),
        };
        let mut account = TestAccount::from_seed(number);
        account.address = AccountAddress::new(*set.authentication_key().as_bytes());
        Self { account, key, set }
    }

    /// Returns the account that the faucet funds.
    pub fn account(&self) -> &TestAccount {
        &self.account
    }

    /// Signs a transfer with all passkeys.
    pub fn transfer(
        &self,
        chain: &Chain,
        sequence_number: u64,
        to: AccountAddress,
        amount: u64,
    ) -> SignedTransaction {
        TransactionBuilder::transfer(chain, self.account.address, to, amount)
            .sequence_number(sequence_number)
            .sign_with(|message| AccountAuthenticator::MultiKey {
                public_keys: self.set.clone(),
                signatures: vec![self.key.sign(message); SIGNATURES_MAX],
                signatures_bitmap: Bytes::from_static(&[0xff; SIGNATURES_MAX / 8]),
            })
    }
}
