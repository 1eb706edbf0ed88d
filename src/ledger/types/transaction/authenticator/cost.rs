//! Estimated cost of checking the signatures of a transaction.
//!
//! The estimate is known before any check. The queues of the signature threads add up costs instead
//! of counting transactions, because one transaction may cost as much as hundreds of others.

use super::{AccountAuthenticator, AnySignature, TransactionAuthenticator, form::SIGNATURES_MAX};

/// Cost of an Ed25519 signature that is checked alone: the unit (`benches/signatures.rs`).
const ED25519: usize = 1;
/// Cost of a secp256k1 signature.
const SECP256K1: usize = 2;
/// Cost of a WebAuthn assertion.
const WEB_AUTHN: usize = 6;
/// Number of keys of a set that cost as much as one Ed25519 signature. Every key of a set is
/// examined, whether it signs or not.
const KEYS_PER_UNIT: usize = 4;

impl TransactionAuthenticator {
    /// Returns the cost of the check, in Ed25519 signatures that are checked alone. It is at least
    /// 1.
    pub fn check_cost(&self) -> usize {
        // A transaction above the limits is rejected before any signature is checked.
        if self.signature_count() > SIGNATURES_MAX
            || self.secondary_signers().len() > SIGNATURES_MAX
        {
            return ED25519;
        }
        let sender = match self.sender_account_authenticator() {
            Some(sender) => sender.check_cost(),
            None => self.signature_count(),
        };
        let secondary = self.secondary_signers().iter();
        let fee_payer = self.fee_payer().map(|(_, signer)| signer);
        let others: usize = secondary
            .chain(fee_payer)
            .map(AccountAuthenticator::check_cost)
            .sum();
        (sender + others).max(ED25519)
    }
}

impl TransactionAuthenticator {
    /// Returns the number of signatures that the transaction pays for.
    ///
    /// Each signer counts at least once, so that a simulation without signatures costs as much gas
    /// as the transaction with one signature of each signer.
    pub fn billed_signatures(&self) -> u64 {
        self.signature_counts()
            .map(|count| count.max(1) as u64)
            .sum()
    }
}

impl AccountAuthenticator {
    fn check_cost(&self) -> usize {
        match self {
            Self::SingleKey { signature, .. } => signature.check_cost(),
            Self::MultiKey {
                public_keys,
                signatures,
                ..
            } => {
                let signatures: usize = signatures.iter().map(AnySignature::check_cost).sum();
                signatures + public_keys.public_keys.len() / KEYS_PER_UNIT
            }
            _ => self.signature_count(),
        }
    }
}

impl AnySignature {
    fn check_cost(&self) -> usize {
        match self {
            Self::Secp256k1Ecdsa(_) => SECP256K1,
            Self::WebAuthn(_) => WEB_AUTHN,
            // Signatures of unsupported kinds are rejected without a check.
            Self::Ed25519(_) | Self::Keyless(_) | Self::SlhDsa(_) => ED25519,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{AnyPublicKey, MultiKey},
        *,
    };
    use crate::AccountAddress;
    use bytes::Bytes;
    use ledger_crypto::{
        Ed25519PublicKey, Ed25519Signature,
        webauthn::{Assertion, AssertionSignature},
    };

    fn single(signature: AnySignature) -> AccountAuthenticator {
        AccountAuthenticator::SingleKey {
            public_key: AnyPublicKey::Ed25519(Ed25519PublicKey([0; 32])),
            signature,
        }
    }

    fn secp256k1() -> AnySignature {
        AnySignature::Secp256k1Ecdsa(Bytes::new())
    }

    fn passkey() -> AnySignature {
        AnySignature::WebAuthn(Assertion {
            signature: AssertionSignature::Secp256r1Ecdsa(Bytes::new()),
            authenticator_data: Bytes::new(),
            client_data_json: Bytes::new(),
        })
    }

    fn set(keys: usize, signatures: Vec<AnySignature>) -> AccountAuthenticator {
        AccountAuthenticator::MultiKey {
            public_keys: MultiKey {
                public_keys: vec![AnyPublicKey::Ed25519(Ed25519PublicKey([0; 32])); keys],
                signatures_required: 1,
            },
            signatures,
            signatures_bitmap: Bytes::new(),
        }
    }

    fn cost_of_single_sender(sender: AccountAuthenticator) -> usize {
        let sender = Box::new(sender);
        TransactionAuthenticator::SingleSender { sender }.check_cost()
    }

    #[test]
    fn charges_signatures_by_kind_and_keys_of_a_set() {
        let plain = TransactionAuthenticator::Ed25519 {
            public_key: Ed25519PublicKey([0; 32]),
            signature: Ed25519Signature([0; 64]),
        };
        assert_eq!(plain.check_cost(), 1);
        assert_eq!(cost_of_single_sender(single(secp256k1())), 2);
        assert_eq!(cost_of_single_sender(single(passkey())), 6);
        assert_eq!(
            cost_of_single_sender(set(32, vec![passkey(); 32])),
            32 * 6 + 8
        );
        assert_eq!(cost_of_single_sender(set(32, vec![secp256k1()])), 2 + 8);
        assert_eq!(
            cost_of_single_sender(AccountAuthenticator::NoAccountAuthenticator),
            1
        );
    }

    #[test]
    fn adds_up_the_cost_of_all_signers() {
        let sponsored = TransactionAuthenticator::FeePayer {
            sender: Box::new(single(secp256k1())),
            secondary_signer_addresses: vec![AccountAddress::ZERO; 2],
            secondary_signers: vec![single(passkey()), set(4, vec![secp256k1()])],
            fee_payer_address: AccountAddress::ZERO,
            fee_payer_signer: Box::new(single(passkey())),
        };
        assert_eq!(sponsored.check_cost(), 2 + 6 + (2 + 1) + 6);
    }

    /// The form check rejects the transaction before any signature is checked.
    #[test]
    fn returns_the_minimum_above_the_signature_limit() {
        assert_eq!(cost_of_single_sender(set(33, vec![passkey(); 33])), 1);
    }
}
