//! Who signed a transaction, and with how many signatures.

use crate::{
    AccountAddress, SignedTransaction,
    transaction::{AccountAuthenticator, TransactionAuthenticator},
};

/// The bytes of a signature in a list of ed25519 signatures.
const ED25519_SIGNATURE_BYTES: usize = 64;

/// The accounts in whose name a transaction acts: the sender, then those who sign beside it. Who only
/// pays is none of them.
pub(super) fn signers(transaction: &SignedTransaction) -> Vec<AccountAddress> {
    let secondary = transaction.authenticator.secondary_signer_addresses();
    std::iter::once(transaction.raw.sender)
        .chain(secondary.iter().copied())
        .collect()
}

/// How many signatures are to be checked. What a simulation leaves out counts as one, so that it costs
/// what the signed transaction will.
pub(super) fn signature_count(authenticator: &TransactionAuthenticator) -> u64 {
    let sender = match authenticator {
        TransactionAuthenticator::Ed25519 { .. } => 1,
        TransactionAuthenticator::MultiEd25519 { signature, .. } => in_list(signature.0.len()),
        TransactionAuthenticator::MultiAgent { sender, .. }
        | TransactionAuthenticator::FeePayer { sender, .. }
        | TransactionAuthenticator::SingleSender { sender } => of_account(sender),
    };
    let fee_payer = authenticator
        .fee_payer()
        .map_or(0, |(_, signer)| of_account(signer));
    let secondary: u64 = authenticator.secondary_signers().iter().map(of_account).sum();
    sender + secondary + fee_payer
}

fn of_account(authenticator: &AccountAuthenticator) -> u64 {
    match authenticator {
        AccountAuthenticator::MultiEd25519 { signature, .. } => in_list(signature.0.len()),
        AccountAuthenticator::MultiKey { signatures, .. } => signatures.len() as u64,
        AccountAuthenticator::Ed25519 { .. }
        | AccountAuthenticator::SingleKey { .. }
        | AccountAuthenticator::NoAccountAuthenticator
        | AccountAuthenticator::Abstract { .. } => 1,
    }
}

/// The signatures in a list of so many bytes; the bitmap behind them is shorter than one.
fn in_list(bytes: usize) -> u64 {
    (bytes / ED25519_SIGNATURE_BYTES) as u64
}
