//! A transfer with the sequence number that the user has chosen. A repetition of its command does
//! not transfer again, because the ledger commits at most one transaction with a number.

use super::{CliError, outcome};
use crate::cli::output;
use ledger_client::{ClientError, NodeClient, NumberedTransaction, signer};
use ledger_types::{AccountAddress, SignedTransaction, Vendor};
use serde_json::Value;
use std::{io, time::Duration};

/// Pause while another transaction with the same sequence number is pending.
const PENDING_PAUSE: Duration = Duration::from_millis(200);

/// Error codes of a submission whose sequence number belongs to another transaction that is not
/// committed yet: that of an interrupted command, for example.
const PENDING_CODES: [&str; 2] = ["invalid_transaction_update", "sequence_number_too_old"];

/// A signed transfer with the sequence number that the user has chosen.
pub struct NumberedTransfer {
    /// The word of the chain.
    pub vendor: Vendor,
    /// Account that receives the amount.
    pub to: AccountAddress,
    /// Amount, in the coin's smallest unit.
    pub amount: u64,
    /// The transaction.
    pub signed: SignedTransaction,
}

impl NumberedTransfer {
    /// Submits the transfer and prints it when it is committed. If an earlier transfer with this
    /// content has used the number, prints that one instead.
    ///
    /// Waits while another transaction with the number is pending, until this one has expired.
    ///
    /// # Errors
    ///
    /// Returns [`CliError::Fatal`] if a transaction with another content has used the number, if
    /// the transfer failed, or if the node rejects it or does not respond.
    pub async fn submit(&self, node: &NodeClient) -> Result<(), CliError> {
        loop {
            let error = match node.submit_and_wait(&self.vendor, &self.signed).await {
                Ok(committed) => {
                    print_hash(&self.signed.hash(&self.vendor).to_string())?;
                    return outcome::report(&committed);
                }
                Err(error) => error,
            };
            // Of several causes to reject a submission, the node names one. A used number may be
            // another one.
            if let Ok(Some(used_by)) = self.used_by(node).await {
                return self.report(&used_by);
            }
            if !is_number_pending(&error) || self.is_expired() {
                return Err(error.into());
            }
            tokio::time::sleep(PENDING_PAUSE).await;
        }
    }

    /// Returns the committed transaction that has used the number.
    async fn used_by(&self, node: &NodeClient) -> Result<Option<NumberedTransaction>, ClientError> {
        let raw = &self.signed.raw;
        node.numbered_transaction(&raw.sender, raw.sequence_number)
            .await
    }

    /// Returns whether the transfer has expired by the clock of this machine.
    fn is_expired(&self) -> bool {
        signer::unix_secs_after(Duration::ZERO) >= self.signed.raw.expiration_timestamp_secs
    }

    /// Prints the transaction that has used the number, if it is a transfer with this content.
    ///
    /// # Errors
    ///
    /// Returns [`CliError::Fatal`] if it has another content, or if the transfer failed.
    fn report(&self, used_by: &NumberedTransaction) -> Result<(), CliError> {
        if !self.has_content_of(&used_by.payload) {
            return Err(CliError::Fatal(format!(
                "sequence number {} of {} is used by another transaction, {}; nothing was \
                 transferred",
                self.signed.raw.sequence_number, self.signed.raw.sender, used_by.hash
            )));
        }
        print_hash(&used_by.hash)?;
        outcome::report(&used_by.outcome)
    }

    /// Returns whether a payload, in the JSON form of the interface, transfers the same amount to
    /// the same account.
    fn has_content_of(&self, payload: &Value) -> bool {
        let function = format!("0x1::{}_account::transfer", self.vendor.lower());
        let argument = |index: usize| payload["arguments"][index].as_str();
        let to = argument(0).and_then(|text| text.parse().ok());
        let amount = argument(1).and_then(|text| text.parse().ok());
        payload["function"] == function && to == Some(self.to) && amount == Some(self.amount)
    }
}

/// Prints the hash of a committed transaction.
fn print_hash(hash: &str) -> io::Result<()> {
    output::line(&format!("transaction {hash}"))
}

/// Returns whether the node rejected a submission because another transaction with its sequence
/// number is pending.
fn is_number_pending(error: &ClientError) -> bool {
    let ClientError::Rejected {
        error_code: Some(code),
        ..
    } = error
    else {
        return false;
    };
    PENDING_CODES.contains(&code.as_str())
}
