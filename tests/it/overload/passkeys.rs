//! Accounts whose signatures are the most expensive to check: sets of the maximum number of
//! passkeys.

use bytes::Bytes;
use ledger_test_support::{TestKey, TransactionSigner, seed};
use ledger_types::{
    AccountAddress,
    transaction::{AccountAuthenticator, MultiKey, SIGNATURES_MAX},
};

/// An account with a set of [`SIGNATURES_MAX`] times the same passkey.
///
/// Its client signs each transaction once, and the node checks every signature.
pub struct Passkeys {
    key: TestKey,
    set: MultiKey,
}

impl Passkeys {
    /// Returns the account of the passkey that is derived from `number`.
    pub fn from_seed(number: u64) -> Self {
        let key = TestKey::passkey_from(&seed(number));
        let set = MultiKey {
            public_keys: vec![key.public_key(); SIGNATURES_MAX],
            signatures_required: u8::try_from(SIGNATURES_MAX).unwrap(),
        };
        Self { key, set }
    }
}

impl TransactionSigner for Passkeys {
    fn address(&self) -> AccountAddress {
        AccountAddress::new(*self.set.authentication_key().as_bytes())
    }

    fn authenticate(&self, message: &[u8]) -> AccountAuthenticator {
        AccountAuthenticator::MultiKey {
            public_keys: self.set.clone(),
            signatures: vec![self.key.sign(message); SIGNATURES_MAX],
            signatures_bitmap: Bytes::from_static(&[0xff; SIGNATURES_MAX / 8]),
        }
    }
}
