//! Accounts whose transactions are the dearest to check: sets of as many passkeys as may sign.

use crate::kit::{Account, ChainFacts};
use bytes::Bytes;
use ledger_crypto::webauthn::{self, Assertion, AssertionSignature};
use ledger_types::{
    AccountAddress, SignedTransaction,
    transaction::{
        AccountAuthenticator, AnyPublicKey, AnySignature, MultiKey, SIGNATURES_MAX,
        TransactionAuthenticator,
    },
};
use p256::ecdsa::{SigningKey, signature::hazmat::PrehashSigner as _};
use std::sync::Arc;

/// An account of a set of [`SIGNATURES_MAX`] times the same passkey. Who sends it signs once; who checks it
/// does so for each.
#[derive(Clone, Debug)]
pub struct Passkeys {
    /// Makes its transactions, whose own signatures are not used.
    account: Account,
    key: Arc<SigningKey>,
    set: MultiKey,
}

impl Passkeys {
    /// The account number `number`; the same number is the same account.
    pub fn from_seed(number: u64) -> Self {
        let mut seed = [0x5a; 32];
        seed[..8].copy_from_slice(&number.to_le_bytes());
        let key = SigningKey::from_slice(&seed).unwrap();
        let point = key.verifying_key().to_sec1_point(false);
        let public_key = AnyPublicKey::Secp256r1Ecdsa(Bytes::copy_from_slice(point.as_bytes()));
        let set = MultiKey {
            public_keys: vec![public_key; SIGNATURES_MAX],
            signatures_required: u8::try_from(SIGNATURES_MAX).unwrap(),
        };
        let mut account = Account::from_seed(number);
        account.address = AccountAddress::new(*set.authentication_key().as_bytes());
        Self {
            account,
            key: Arc::new(key),
            set,
        }
    }

    /// What is paid by the faucet.
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// A transfer that all its passkeys sign.
    pub fn transfer(
        &self,
        chain: &ChainFacts,
        sequence_number: u64,
        to: AccountAddress,
        amount: u64,
    ) -> SignedTransaction {
        let raw = self
            .account
            .transfer(chain, sequence_number, to, amount)
            .raw;
        let signature = AnySignature::WebAuthn(self.assertion(&raw.signing_message(&chain.vendor)));
        let sender = AccountAuthenticator::MultiKey {
            public_keys: self.set.clone(),
            signatures: vec![signature; SIGNATURES_MAX],
            signatures_bitmap: Bytes::from_static(&[0xff; SIGNATURES_MAX / 8]),
        };
        SignedTransaction {
            raw,
            authenticator: TransactionAuthenticator::SingleSender {
                sender: Box::new(sender),
            },
        }
    }

    fn assertion(&self, message: &[u8]) -> Assertion {
        let challenge = webauthn::challenge(&[message]);
        let client_data = format!(
            r#"{{"type":"webauthn.get","challenge":"{challenge}","origin":"https://wallet.example"}}"#
        );
        let mut assertion = Assertion {
            signature: AssertionSignature::Secp256r1Ecdsa(Bytes::new()),
            authenticator_data: Bytes::from_static(&[0x5a; 37]),
            client_data_json: client_data.into(),
        };
        let signature: p256::ecdsa::Signature =
            self.key.sign_prehash(&assertion.signed_digest()).unwrap();
        let signature = Bytes::copy_from_slice(&signature.normalize_s().to_bytes());
        assertion.signature = AssertionSignature::Secp256r1Ecdsa(signature);
        assertion
    }
}
