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
/// that leaves some out costs what the transaction with one of each will.
pub(super) fn signature_count(authenticator: &TransactionAuthenticator) -> u64 {
    authenticator
        .signatures_of_each()
        .map(|count| count.max(1) as u64)
        .sum()
}
