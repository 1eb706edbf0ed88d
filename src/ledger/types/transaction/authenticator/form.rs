//! Checks of an authenticator's form, which need neither state nor cryptography: the number of
//! signatures, and that their kinds are supported.

use super::{AccountAuthenticator, AnyPublicKey, AnySignature, MultiKey, TransactionAuthenticator};
use crate::{Discard, ValidationStatus};
use ledger_crypto::multi_ed25519;

/// Maximum number of signatures of a transaction, over all its signers, and maximum number of
/// secondary signers. The reference node has the same limit.
///
/// It bounds the cost of checking one transaction.
pub const SIGNATURES_MAX: usize = 32;

impl TransactionAuthenticator {
    /// Checks the number of signers and signatures, and that all kinds are supported.
    ///
    /// # Errors
    ///
    /// * `SECONDARY_KEYS_ADDRESSES_COUNT_MISMATCH` if the numbers of secondary signers and of their
    ///   addresses differ.
    /// * `INVALID_SIGNATURE` if there are more than [`SIGNATURES_MAX`] secondary signers or
    ///   signatures, or if a set has more than [`MultiKey::KEYS_MAX`] keys.
    /// * `FEATURE_UNDER_GATING` with the name of the kind if this ledger does not check a
    ///   signature.
    pub fn check_form(&self) -> Result<(), Discard> {
        let addresses = self.secondary_signer_addresses().len();
        let secondary = self.secondary_signers();
        if addresses != secondary.len() {
            return Err(Discard::with_detail(
                ValidationStatus::SecondaryKeysAddressesCountMismatch,
                format_args!(
                    "{addresses} secondary signers are named, {} sign",
                    secondary.len()
                ),
            ));
        }
        check_signature_limit(addresses, "secondary signers")?;
        check_signature_limit(self.signature_count(), "signatures")?;
        let account_authenticators = self.sender_account_authenticator().into_iter();
        let fee_payer = self.fee_payer().map(|(_, signer)| signer);
        account_authenticators
            .chain(secondary)
            .chain(fee_payer)
            .try_for_each(AccountAuthenticator::check_supported)
    }

    /// Returns the number of signatures, over all signers.
    pub fn signature_count(&self) -> usize {
        self.signature_counts().sum()
    }

    /// Returns the number of signatures of each signer: sender, secondary signers, fee payer.
    pub fn signature_counts(&self) -> impl Iterator<Item = usize> {
        let sender = match self {
            Self::Ed25519 { .. } => 1,
            Self::MultiEd25519 { signature, .. } => multi_ed25519_signature_count(&signature.0),
            Self::MultiAgent { sender, .. }
            | Self::FeePayer { sender, .. }
            | Self::SingleSender { sender } => sender.signature_count(),
        };
        let secondary = self.secondary_signers().iter();
        let fee_payer = self.fee_payer().map(|(_, signer)| signer);
        let others = secondary.chain(fee_payer);
        std::iter::once(sender).chain(others.map(AccountAuthenticator::signature_count))
    }
}

impl AccountAuthenticator {
    /// Name of an abstract account's signature in error messages.
    pub(crate) const ABSTRACT: &str = "an abstract account signature";

    /// Returns the number of signatures.
    pub(super) fn signature_count(&self) -> usize {
        match self {
            Self::Ed25519 { .. } | Self::SingleKey { .. } | Self::Abstract { .. } => 1,
            Self::MultiEd25519 { signature, .. } => multi_ed25519_signature_count(&signature.0),
            Self::MultiKey { signatures, .. } => signatures.len(),
            Self::NoAccountAuthenticator => 0,
        }
    }

    /// Rejects kinds that this ledger does not check, and sets with more than
    /// [`MultiKey::KEYS_MAX`] keys.
    fn check_supported(&self) -> Result<(), Discard> {
        let unsupported = match self {
            Self::Ed25519 { .. } | Self::MultiEd25519 { .. } | Self::NoAccountAuthenticator => None,
            Self::SingleKey {
                public_key,
                signature,
            } => public_key
                .unsupported_kind()
                .or(signature.unsupported_kind()),
            Self::MultiKey {
                public_keys,
                signatures,
                ..
            } => {
                let keys = &public_keys.public_keys;
                if keys.len() > MultiKey::KEYS_MAX {
                    let detail = format!(
                        "a set has at most {} keys, this one {}",
                        MultiKey::KEYS_MAX,
                        keys.len()
                    );
                    return Err(Discard::with_detail(
                        ValidationStatus::InvalidSignature,
                        detail,
                    ));
                }
                let unsupported_key = keys.iter().find_map(AnyPublicKey::unsupported_kind);
                unsupported_key
                    .or_else(|| signatures.iter().find_map(AnySignature::unsupported_kind))
            }
            Self::Abstract { .. } => Some(Self::ABSTRACT),
        };
        unsupported.map_or(Ok(()), |kind| Err(Discard::unsupported(kind)))
    }
}

/// Returns the number of signatures in the bytes of a MultiEd25519 signature. The division discards
/// the bitmap of 4 bytes.
fn multi_ed25519_signature_count(bytes: &[u8]) -> usize {
    bytes.len() / multi_ed25519::SIGNATURE_BYTES
}

fn check_signature_limit(number: usize, noun: &str) -> Result<(), Discard> {
    if number <= SIGNATURES_MAX {
        return Ok(());
    }
    Err(Discard::with_detail(
        ValidationStatus::InvalidSignature,
        format_args!(
            "{number} {noun} are more than the {SIGNATURES_MAX} that a transaction may have"
        ),
    ))
}
