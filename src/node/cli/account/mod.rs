//! `account`: a small client of a node and a faucet.

mod new;
mod numbered;
mod outcome;
mod transfer;

use super::{
    CliError,
    client::{FAUCET_URL, NODE_URL},
    key, output,
    trust::TrustOptions,
};
use clap::Subcommand;
use ledger_client::{FaucetClient, NodeClient, signer::Signer};
use ledger_types::AccountAddress;

/// The subcommands of `account`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Create a private key and print it with its address
    New(new::Arguments),
    /// Request coins from the faucet of a development chain
    Fund {
        /// URL of the faucet
        #[arg(long, value_name = "URL", default_value = FAUCET_URL)]
        faucet: String,
        #[command(flatten)]
        trust: TrustOptions,
        /// Account that receives the coins
        address: AccountAddress,
        /// Amount, in the coin's smallest unit
        amount: u64,
    },
    /// Sign a transfer, submit it, and wait for its commit
    Transfer(transfer::Arguments),
    /// Print the address of a key
    Address {
        /// File with the private key in hex, readable by its owner only; - for standard input
        #[arg(long, value_name = "FILE")]
        key: String,
    },
    /// Print the balance, sequence number and authentication key of an account
    Show {
        /// URL of the node
        #[arg(long, value_name = "URL", default_value = NODE_URL)]
        url: String,
        #[command(flatten)]
        trust: TrustOptions,
        /// Address of the account
        address: AccountAddress,
    },
}

/// Runs the subcommand.
///
/// # Errors
///
/// Returns [`CliError::Fatal`] if an option cannot be used, if the node or the faucet rejects a
/// request or does not respond, or if a transfer fails.
pub fn execute(command: Command) -> Result<(), CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        match command {
            Command::New(arguments) => new::execute(&arguments),
            Command::Fund {
                faucet,
                trust,
                address,
                amount,
            } => {
                fund(
                    &FaucetClient::new(&faucet, &trust.roots()?)?,
                    &address,
                    amount,
                )
                .await
            }
            Command::Address { key } => {
                let address = Signer::new(key::read(&key)?).address();
                Ok(output::line(&address.to_long_hex().to_string())?)
            }
            Command::Transfer(arguments) => transfer::execute(arguments).await,
            Command::Show {
                url,
                trust,
                address,
            } => show(&NodeClient::new(&url, &trust.roots()?)?, &address).await,
        }
    })
}

/// Requests coins for an account, and prints the hash of the transaction.
async fn fund(
    faucet: &FaucetClient,
    address: &AccountAddress,
    amount: u64,
) -> Result<(), CliError> {
    let hash = faucet.fund(address, amount).await?;
    Ok(output::line(&format!(
        "funded {address}\ntransaction {hash}"
    ))?)
}

/// Prints the state of an account.
async fn show(node: &NodeClient, address: &AccountAddress) -> Result<(), CliError> {
    let account = node.account(address).await?;
    let balance = node.balance(address).await?;
    let unseen = match balance > 0 || node.exists(address).await? {
        true => "",
        false => "\nnever seen on this chain; the first transfer to the address creates its store",
    };
    Ok(output::line(&format!(
        "address {}\nbalance {balance}\nsequence_number {}\nauthentication_key {}{unseen}",
        address.to_long_hex(),
        account.sequence_number,
        account.authentication_key
    ))?)
}
