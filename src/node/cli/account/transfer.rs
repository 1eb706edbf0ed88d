//! `account transfer`: signs a transfer, and submits it in a request that waits for its commit.

use super::{CliError, key, numbered::NumberedTransfer, outcome};
use crate::cli::{
    client::{NODE_URL, client_chain},
    output,
    trust::TrustOptions,
};
use ledger_api::submission_json;
use ledger_client::{
    NodeClient,
    signer::{self, Signer, Terms},
};
use ledger_types::{AccountAddress, ReplayProtector};
use std::time::Duration;

/// The options of `account transfer`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// URL of the node
    #[arg(long, value_name = "URL", default_value = NODE_URL)]
    url: String,
    #[command(flatten)]
    trust: TrustOptions,
    /// File with the sender's private key in hex, readable by its owner only; - for standard input
    #[arg(long, value_name = "FILE")]
    key: String,
    /// Maximum gas units; the sender's balance must cover this times the price, and the amount
    #[arg(long, value_name = "UNITS", default_value_t = 200_000)]
    max_gas_amount: u64,
    /// Price of a gas unit, in the coin's smallest unit [default: the node's estimate]
    #[arg(long, value_name = "PRICE")]
    gas_unit_price: Option<u64>,
    /// Seconds until the transfer expires
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    expires_after: u64,
    /// Nonce to use instead of the account's sequence number, so that the transfer neither waits
    /// for others of the account nor delays them; rejected if it was used recently
    #[arg(long)]
    nonce: Option<u64>,
    /// Sequence number to use instead of the account's next one, so that the command can be
    /// repeated: if a transfer of the same amount to the same account has used the number, prints
    /// that one
    #[arg(long, value_name = "NUMBER", conflicts_with = "nonce")]
    sequence_number: Option<u64>,
    /// Print the signed transaction as the JSON body of a submission, and do not submit it
    #[arg(long)]
    print: bool,
    /// Account that receives the amount
    to: AccountAddress,
    /// Amount, in the coin's smallest unit
    amount: u64,
}

/// Signs and submits the transfer, and waits for its commit. Prints the hash and the outcome.
///
/// The hash is printed first, so that a user who interrupts the command can look it up. With a
/// chosen sequence number it is printed after the commit, because an earlier transfer may have used
/// the number.
///
/// # Errors
///
/// Returns [`CliError::Fatal`] if the node rejects the transfer or does not respond, if the
/// transfer fails or expires, or if another transaction has used its sequence number.
pub async fn execute(arguments: Arguments) -> Result<(), CliError> {
    let signer = Signer::new(key::read(&arguments.key)?);
    let node = NodeClient::new(&arguments.url, &arguments.trust.roots()?)?;
    let chain = node.ledger().await?.chain;
    let gas_unit_price = match arguments.gas_unit_price {
        Some(price) => price,
        None => node.gas_unit_price().await?,
    };
    let protector = match (arguments.nonce, arguments.sequence_number) {
        (Some(nonce), _) => ReplayProtector::Nonce(nonce),
        (None, Some(number)) => ReplayProtector::SequenceNumber(number),
        (None, None) => {
            ReplayProtector::SequenceNumber(node.account(&signer.address()).await?.sequence_number)
        }
    };
    let terms = Terms {
        max_gas_amount: arguments.max_gas_amount,
        gas_unit_price,
        expiration_timestamp_secs: signer::unix_secs_after(Duration::from_secs(
            arguments.expires_after,
        )),
    };
    let call = signer::transfer(&chain.vendor, arguments.to, arguments.amount);
    let signed = signer.sign(&chain, protector, call, terms);
    if arguments.print {
        return Ok(output::line(&submission_json(
            &client_chain(&chain),
            &signed,
        ))?);
    }
    if arguments.sequence_number.is_some() {
        let transfer = NumberedTransfer {
            vendor: chain.vendor,
            to: arguments.to,
            amount: arguments.amount,
            signed,
        };
        return transfer.submit(&node).await;
    }
    output::line(&format!("transaction {}", signed.hash(&chain.vendor)))?;
    outcome::report(&node.submit_and_wait(&chain.vendor, &signed).await?)
}
