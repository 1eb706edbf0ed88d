//! Who signed a transaction, and how many signatures it pays for.

use crate::{AccountAddress, SignedTransaction, transaction::TransactionAuthenticator};

/// The accounts in whose name a transaction acts: the sender, then those who sign beside it. Who only
/// pays is none of them.
pub(super) fn signers(transaction: &SignedTransaction) -> Vec<AccountAddress> {
    let secondary = transaction.authenticator.secondary_signer_addresses();
    std::iter::once(transaction.raw.sender)
        .chain(secondary.iter().copied())
        .collect()
}

/// How many signatures are to be paid for: at least one of everybody who signs, so that a simulation
/// that leaves them out costs what the signed transaction will.
pub(super) fn signature_count(authenticator: &TransactionAuthenticator) -> u64 {
    let beside = authenticator.secondary_signers().len() + usize::from(authenticator.fee_payer().is_some());
    authenticator.signatures().max(1 + beside) as u64
}
