//! `account`: a small client for people.

mod key;
mod new;
mod terminal;
mod transfer;

use super::{Failure, trust::TrustOptions};
use crate::output;
use clap::Subcommand;
use ledger_client::{FaucetClient, NodeClient};
use ledger_types::AccountAddress;

/// Where a node listens by default.
const URL: &str = "http://127.0.0.1:8080";
/// Where a faucet listens by default.
const FAUCET_URL: &str = "http://127.0.0.1:8081";

/// What to do with accounts.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Make a key and print its address and private key
    New(new::Arguments),
    /// Ask the faucet of a development chain for coins
    Fund {
        /// The faucet
        #[arg(long, value_name = "URL", default_value = FAUCET_URL)]
        faucet: String,
        #[command(flatten)]
        trust: TrustOptions,
        /// Who gets them
        address: AccountAddress,
        /// How many, in the coin's smallest unit
        amount: u64,
    },
    /// Sign a transfer, submit it, and wait until it is committed
    Transfer(transfer::Arguments),
    /// Print what the ledger knows of an account
    Show {
        /// The node
        #[arg(long, value_name = "URL", default_value = URL)]
        url: String,
        #[command(flatten)]
        trust: TrustOptions,
        /// The account
        address: AccountAddress,
    },
}

/// Does what the command asks for.
///
/// # Errors
/// What stopped it, in words.
pub fn execute(command: Command) -> Result<(), Failure> {
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
            Command::Transfer(arguments) => transfer::execute(arguments).await,
            Command::Show {
                url,
                trust,
                address,
            } => show(&NodeClient::new(&url, &trust.roots()?)?, &address).await,
        }
    })
}

async fn fund(faucet: &FaucetClient, address: &AccountAddress, amount: u64) -> Result<(), Failure> {
    let hash = faucet.fund(address, amount).await?;
    Ok(output::line(&format!(
        "funded {address}\ntransaction {hash}"
    ))?)
}

async fn show(node: &NodeClient, address: &AccountAddress) -> Result<(), Failure> {
    let account = node.account(address).await?;
    let balance = node.balance(address).await?;
    Ok(output::line(&format!(
        "address {}\nbalance {balance}\nsequence_number {}\nauthentication_key {}",
        address.to_long_hex(),
        account.sequence_number,
        account.authentication_key
    ))?)
}
