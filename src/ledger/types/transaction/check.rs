//! Verification of the signatures of transactions.
//!
//! The Ed25519 signatures of all transactions become equations, which are checked as one batch
//! ([`ledger_crypto::ed25519::batch`]). All other signatures are verified directly. A single
//! transaction is a batch of one, so both cases share one path and one verdict.
//!
//! If a signer may sign either of two messages, the batch has the equations of the likelier one.
//! The other message is verified alone, and only if the first does not verify.

use super::{
    AccountAuthenticator, AnyPublicKey, AnySignature, MultiEd25519PublicKey, MultiEd25519Signature,
    MultiKey, SignedTransaction, TransactionAuthenticator, message::Messages,
};
use crate::{AccountAddress, Discard, Parameters, ValidationStatus, Vendor};
use ledger_crypto::{
    DecodedKeys, Ed25519PublicKey, Ed25519Signature, SignatureError,
    ecdsa::{EcdsaError, secp256k1, secp256r1},
    ed25519::{Equation, batch},
    multi_ed25519::{self, MultiEd25519Error},
    webauthn::WebAuthnError,
};
use std::{fmt, ops::Range};

/// Maximum length of the bitmap of a set, in bytes: one bit per key.
const BITMAP_BYTES_MAX: usize = MultiKey::KEYS_MAX / 8;

/// Checks the size, the form, and the signatures of each transaction.
///
/// Returns one verdict per transaction, in order, which does not depend on the other transactions.
/// Size and form are checked first, because they bound the cost of the rest. `keys` caches the
/// Ed25519 keys of earlier calls.
pub fn check_all(
    transactions: &[SignedTransaction],
    vendor: &Vendor,
    parameters: &Parameters,
    keys: &mut DecodedKeys,
) -> Vec<Result<(), Discard>> {
    let mut batch_input = EquationBatch {
        keys,
        equations: Vec::new(),
    };
    let checks: Vec<Result<PartialCheck<'_>, Discard>> = transactions
        .iter()
        .map(|transaction| {
            parameters.check_transaction_size(transaction.size_bytes())?;
            transaction.authenticator.check_form()?;
            PartialCheck::begin(transaction, vendor, &mut batch_input)
        })
        .collect();
    let results = batch::check(&batch_input.equations);
    checks
        .into_iter()
        .map(|check| check?.finish(&results))
        .collect()
}

/// Equations to check as one batch, and the cache of decoded keys.
struct EquationBatch<'k> {
    keys: &'k mut DecodedKeys,
    equations: Vec<Equation>,
}

/// A partly verified transaction. Only its equations in the batch are unchecked.
struct PartialCheck<'a> {
    messages: Messages,
    signers: Vec<SignerCheck<'a>>,
}

/// A partly verified signer. Only its equations in the batch are unchecked.
struct SignerCheck<'a> {
    signer: Signer<'a>,
    /// Indices of the signer's equations in the batch.
    equations: Range<usize>,
    /// `true` if the equations are for the alternative message. If they do not hold, the main
    /// message may still verify.
    may_sign_main: bool,
}

impl<'a> PartialCheck<'a> {
    /// Verifies all signatures of a transaction, except for its Ed25519 equations, which it adds to
    /// the batch.
    ///
    /// # Errors
    ///
    /// Returns the discard status of the first invalid signature. The batch is then unchanged.
    fn begin(
        transaction: &'a SignedTransaction,
        vendor: &Vendor,
        batch_input: &mut EquationBatch<'_>,
    ) -> Result<Self, Discard> {
        let messages = Messages::of(transaction, vendor);
        let start = batch_input.equations.len();
        let checks: Result<Vec<_>, Discard> = signers(&transaction.authenticator)
            .map(|signer| signer.begin_check(&messages, batch_input))
            .collect();
        match checks {
            Ok(signers) => Ok(Self { messages, signers }),
            Err(discard) => {
                batch_input.equations.truncate(start);
                Err(discard)
            }
        }
    }

    /// Returns the verdict of the transaction. `results` has the result of each equation of the
    /// batch.
    fn finish(self, results: &[bool]) -> Result<(), Discard> {
        self.signers.iter().try_for_each(|check| {
            let signer = &check.signer;
            if results[check.equations.clone()].iter().all(|&holds| holds) {
                Ok(())
            } else if check.may_sign_main {
                signer.verify(&self.messages.main)
            } else {
                Err(signer.discard(&SignatureError::Mismatch.into()))
            }
        })
    }
}

/// The role of a signer in a transaction.
#[derive(Clone, Copy)]
enum Role {
    Sender,
    Secondary(AccountAddress),
    FeePayer(AccountAddress),
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sender => f.write_str("the sender"),
            Self::Secondary(address) => write!(f, "the secondary signer {address}"),
            Self::FeePayer(address) => write!(f, "the fee payer {address}"),
        }
    }
}

/// The signature of one account. The transaction forms without an account authenticator map to the
/// first two variants.
#[derive(Clone, Copy)]
enum Signature<'a> {
    Ed25519(&'a Ed25519PublicKey, &'a Ed25519Signature),
    MultiEd25519(&'a MultiEd25519PublicKey, &'a MultiEd25519Signature),
    SingleKey(&'a AnyPublicKey, &'a AnySignature),
    MultiKey(&'a MultiKey, &'a [AnySignature], &'a [u8]),
    /// No signature.
    Absent,
    /// Signature that only the code of the account could verify.
    Abstract,
}

/// An account that must sign the transaction, with its signature.
#[derive(Clone, Copy)]
struct Signer<'a> {
    role: Role,
    signature: Signature<'a>,
}

/// Returns the signers in wire order: sender, secondary signers, fee payer.
fn signers(authenticator: &TransactionAuthenticator) -> impl Iterator<Item = Signer<'_>> {
    let sender = match authenticator {
        TransactionAuthenticator::Ed25519 {
            public_key,
            signature,
        } => Signature::Ed25519(public_key, signature),
        TransactionAuthenticator::MultiEd25519 {
            public_key,
            signature,
        } => Signature::MultiEd25519(public_key, signature),
        TransactionAuthenticator::MultiAgent { sender, .. }
        | TransactionAuthenticator::FeePayer { sender, .. }
        | TransactionAuthenticator::SingleSender { sender } => sender.as_ref().into(),
    };
    let signer = |role, signature| Signer { role, signature };
    let addresses = authenticator.secondary_signer_addresses().iter();
    let secondary = addresses
        .zip(authenticator.secondary_signers())
        .map(move |(address, secondary)| signer(Role::Secondary(*address), secondary.into()));
    let fee_payer = authenticator.fee_payer();
    let fee_payer = fee_payer.map(|(address, payer)| signer(Role::FeePayer(address), payer.into()));
    std::iter::once(signer(Role::Sender, sender))
        .chain(secondary)
        .chain(fee_payer)
}

impl<'a> From<&'a AccountAuthenticator> for Signature<'a> {
    fn from(authenticator: &'a AccountAuthenticator) -> Self {
        match authenticator {
            AccountAuthenticator::Ed25519 {
                public_key,
                signature,
            } => Self::Ed25519(public_key, signature),
            AccountAuthenticator::MultiEd25519 {
                public_key,
                signature,
            } => Self::MultiEd25519(public_key, signature),
            AccountAuthenticator::SingleKey {
                public_key,
                signature,
            } => Self::SingleKey(public_key, signature),
            AccountAuthenticator::MultiKey {
                public_keys,
                signatures,
                signatures_bitmap,
            } => Self::MultiKey(public_keys, signatures, signatures_bitmap),
            AccountAuthenticator::NoAccountAuthenticator => Self::Absent,
            AccountAuthenticator::Abstract { .. } => Self::Abstract,
        }
    }
}

impl<'a> Signer<'a> {
    /// Verifies the signature, except for its Ed25519 equations, which it adds to the batch.
    fn begin_check(
        self,
        messages: &Messages,
        batch_input: &mut EquationBatch<'_>,
    ) -> Result<SignerCheck<'a>, Discard> {
        let start = batch_input.equations.len();
        let zero_payer = match self.role {
            Role::Sender | Role::Secondary(_) => messages.zero_payer.as_deref(),
            Role::FeePayer(_) => None,
        };
        // SDKs let the other signers sign before the fee payer is known, so the message with the
        // zero address is tried first.
        let may_sign_main =
            zero_payer.is_some_and(|message| self.add_equations(message, batch_input).is_ok());
        if !may_sign_main {
            self.add_equations(&messages.main, batch_input)?;
        }
        Ok(SignerCheck {
            signer: self,
            equations: start..batch_input.equations.len(),
            may_sign_main,
        })
    }

    /// Verifies the signature over `message`, outside the batch.
    fn verify(&self, message: &[u8]) -> Result<(), Discard> {
        let mut batch_input = EquationBatch {
            keys: &mut DecodedKeys::default(),
            equations: Vec::new(),
        };
        self.add_equations(message, &mut batch_input)?;
        if batch::check(&batch_input.equations)
            .iter()
            .all(|&holds| holds)
        {
            Ok(())
        } else {
            Err(self.discard(&SignatureError::Mismatch.into()))
        }
    }

    /// Verifies the signature over `message`, except for its Ed25519 equations, which it adds to
    /// the batch. If it fails, it adds none.
    fn add_equations(
        &self,
        message: &[u8],
        batch_input: &mut EquationBatch<'_>,
    ) -> Result<(), Discard> {
        let EquationBatch { keys, equations } = batch_input;
        let added = match self.signature {
            Signature::Ed25519(key, signature) => key
                .equation_with_cache(keys, &[message], signature)
                .map(|equation| equations.push(equation))
                .map_err(SignatureFault::from),
            Signature::MultiEd25519(key, signature) => {
                multi_ed25519(key, signature, message).map(|all| equations.extend(all))
            }
            Signature::SingleKey(key, signature) => {
                single_key(key, signature, message, keys).map(|equation| equations.extend(equation))
            }
            Signature::MultiKey(set, signatures, bitmap) => {
                multi_key(set, signatures, bitmap, message, keys).map(|all| equations.extend(all))
            }
            Signature::Absent => {
                return Err(Discard::with_detail(
                    ValidationStatus::InvalidSignature,
                    "the transaction has no signature",
                ));
            }
            Signature::Abstract => {
                return Err(Discard::unsupported(AccountAuthenticator::ABSTRACT));
            }
        };
        added.map_err(|fault| self.discard(&fault))
    }

    fn discard(&self, fault: &SignatureFault) -> Discard {
        Discard::with_detail(
            ValidationStatus::InvalidSignature,
            format_args!("{}: {fault}", self.role),
        )
    }
}

/// Returns the equations of a MultiEd25519 signature.
fn multi_ed25519(
    key: &MultiEd25519PublicKey,
    signature: &MultiEd25519Signature,
    message: &[u8],
) -> Result<Vec<Equation>, SignatureFault> {
    let signature = multi_ed25519::MultiEd25519Signature::from_bytes(&signature.0)?;
    let key = multi_ed25519::MultiEd25519PublicKey::from_bytes(&key.0)?;
    Ok(key.equations(&[message], &signature)?)
}

/// Verifies a signature of any kind, or returns its equation if the kind is Ed25519.
fn single_key(
    key: &AnyPublicKey,
    signature: &AnySignature,
    message: &[u8],
    keys: &mut DecodedKeys,
) -> Result<Option<Equation>, SignatureFault> {
    match (key, signature) {
        (AnyPublicKey::Ed25519(key), AnySignature::Ed25519(signature)) => {
            return Ok(Some(key.equation_with_cache(
                keys,
                &[message],
                signature,
            )?));
        }
        (AnyPublicKey::Secp256k1Ecdsa(key), AnySignature::Secp256k1Ecdsa(signature)) => {
            secp256k1::verify(key, &[message], signature)?;
        }
        (AnyPublicKey::Secp256r1Ecdsa(key), AnySignature::WebAuthn(assertion)) => {
            assertion.verify(key, &[message])?;
        }
        _ => return Err(SignatureFault::KindMismatch),
    }
    Ok(None)
}

/// Verifies the signatures of a set, and returns the equations of the Ed25519 ones.
///
/// Two rules follow the reference node. A key that occurs twice in a set counts twice, which is the
/// choice of the account's owner. The bitmap may end in zero bytes, which SDKs write.
fn multi_key(
    set: &MultiKey,
    signatures: &[AnySignature],
    bitmap: &[u8],
    message: &[u8],
    decoded: &mut DecodedKeys,
) -> Result<Vec<Equation>, SignatureFault> {
    let (keys, required) = (&set.public_keys, usize::from(set.signatures_required));
    if keys.is_empty() || keys.len() > MultiKey::KEYS_MAX {
        return Err(SignatureFault::KeyCount);
    }
    if required == 0 || required > keys.len() {
        return Err(SignatureFault::Threshold);
    }
    if bitmap.len() > BITMAP_BYTES_MAX {
        return Err(SignatureFault::Bitmap);
    }
    let signed = |index: usize| {
        bitmap
            .get(index / 8)
            .is_some_and(|byte| byte & (0x80 >> (index % 8)) != 0)
    };
    let signers: Vec<usize> = (0..MultiKey::KEYS_MAX)
        .filter(|&index| signed(index))
        .collect();
    if signers.len() != signatures.len() || signers.iter().any(|&signer| signer >= keys.len()) {
        return Err(SignatureFault::Bitmap);
    }
    if signers.len() < required {
        return Err(SignatureFault::TooFew {
            given: signers.len(),
            required,
        });
    }
    let unsigned_keys = keys.iter().enumerate().filter(|(index, _)| !signed(*index));
    for (index, key) in unsigned_keys {
        check_key(key).map_err(|fault| fault.at_key(index))?;
    }
    let checked = signers
        .into_iter()
        .zip(signatures)
        .map(|(index, signature)| {
            single_key(&keys[index], signature, message, decoded)
                .map_err(|fault| fault.at_key(index))
        });
    let equations: Vec<Option<Equation>> = checked.collect::<Result<_, _>>()?;
    Ok(equations.into_iter().flatten().collect())
}

/// Checks that a key without a signature is valid. A set with an invalid key thus fails at the
/// first transaction of the account, not only when that key must sign.
fn check_key(key: &AnyPublicKey) -> Result<(), SignatureFault> {
    match key {
        AnyPublicKey::Ed25519(key) => Ok(key.check()?),
        AnyPublicKey::Secp256k1Ecdsa(key) => Ok(secp256k1::check_key(key)?),
        AnyPublicKey::Secp256r1Ecdsa(key) => Ok(secp256r1::check_key(key)?),
        AnyPublicKey::Keyless(_) | AnyPublicKey::FederatedKeyless(_) | AnyPublicKey::SlhDsa(_) => {
            Err(SignatureFault::Unsupported)
        }
    }
}

/// The reason for which the signature of an account does not verify.
#[derive(Debug, thiserror::Error)]
enum SignatureFault {
    #[error(transparent)]
    Ed25519(#[from] SignatureError),
    #[error(transparent)]
    MultiEd25519(#[from] MultiEd25519Error),
    #[error(transparent)]
    Ecdsa(#[from] EcdsaError),
    #[error(transparent)]
    WebAuthn(#[from] WebAuthnError),
    #[error("the kind of the signature is not the key's")]
    KindMismatch,
    #[error("a set has 1 to {max} keys", max = MultiKey::KEYS_MAX)]
    KeyCount,
    #[error("the signatures required are not between 1 and the number of keys")]
    Threshold,
    #[error(
        "the bitmap has more than {BITMAP_BYTES_MAX} bytes or does not fit the signatures and keys"
    )]
    Bitmap,
    #[error("{given} signatures of the {required} required")]
    TooFew { given: usize, required: usize },
    #[error("key {index}: {fault}")]
    InvalidKey {
        index: usize,
        fault: Box<SignatureFault>,
    },
    #[error("a kind that this ledger does not check")]
    Unsupported,
}

impl SignatureFault {
    fn at_key(self, index: usize) -> Self {
        Self::InvalidKey {
            index,
            fault: Box::new(self),
        }
    }
}
