//! The creation and funding of the sending accounts.
//!
//! Keys derive from the seed of the plan. A funding account pays all sending accounts by batch
//! transfers. A faucet pays it with one request, or it is an account of the user.

use super::{account::SendingAccount, error::LoadError, plan::Plan};
use crate::{
    FaucetClient, NodeClient,
    signer::{self, Payment, Signer, Terms},
};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use ledger_crypto::{Ed25519PrivateKey, HashValue};
use ledger_types::{AccountAddress, ReplayProtector};
use std::{collections::VecDeque, time::Duration};

/// Number of accounts that one batch transfer funds. Each takes about 10,000 gas units of
/// [`BATCH_GAS`] for its storage.
const ACCOUNTS_PER_BATCH: usize = 150;

/// Maximum number of pending batch transfers. A node commonly accepts 100 from one sender.
const PENDING_BATCHES_MAX: usize = 60;

/// Maximum number of concurrent requests for accounts.
const CONCURRENT_LOOKUPS_MAX: usize = 16;

/// Maximum gas units of a batch transfer, an amount that chains commonly allow.
const BATCH_GAS: u64 = 2_000_000;

/// Minimum gas unit price of a batch transfer. The storage fee is the same at every price, so that
/// a lower price takes more gas units than a chain allows.
const BATCH_GAS_UNIT_PRICE_MIN: u64 = 100;

/// Time from the signature of a batch transfer to its expiration.
const EXPIRES_AFTER: Duration = Duration::from_secs(120);

/// The origin of the coins of a run.
#[derive(Debug, Clone)]
pub enum Funds {
    /// The faucet of a development chain.
    Faucet(FaucetClient),
    /// An account that holds coins.
    Account(Signer),
}

/// Creates and funds the accounts of a run, and returns those of each connection.
///
/// `on_funded` is called with the number of accounts that were funded since its last call.
///
/// # Errors
///
/// Returns:
///
/// * [`LoadError::Client`] if a request to the node or the faucet fails.
/// * [`LoadError::GrantOverflow`], [`LoadError::GrantTooSmall`] or [`LoadError::AccountTooPoor`] if
///   the funds do not pay for all accounts.
/// * [`LoadError::FundingFailed`] if a batch transfer fails.
/// * [`LoadError::Randomness`] if the operating system provides no randomness for a first nonce.
///
/// Accounts may be funded unless the sum overflows.
pub async fn fund_accounts(
    funds: &Funds,
    node: &NodeClient,
    plan: &Plan,
    on_funded: impl FnMut(usize),
) -> Result<Vec<Vec<SendingAccount>>, LoadError> {
    let signers: Vec<_> = (0..plan.accounts)
        .map(|index| derive_signer(plan.seed, b"account", index as u64))
        .collect();
    let addresses: Vec<_> = signers.iter().map(Signer::address).collect();
    FundingAccount::new(funds, node, plan)
        .pay_all(funds, &addresses, on_funded)
        .await?;
    let sequence_numbers = sequence_numbers(node, plan, &addresses).await?;
    let mut by_connection: Vec<Vec<_>> = (0..plan.connections).map(|_| Vec::new()).collect();
    for index in 0..plan.accounts.max(plan.connections) {
        let account = index % plan.accounts;
        by_connection[index % plan.connections].push(SendingAccount {
            signer: signers[account].clone(),
            next_protector: match sequence_numbers.get(account) {
                Some(number) => ReplayProtector::SequenceNumber(*number),
                // A random first nonce, so that the nonces of connections and of earlier runs
                // differ.
                None => ReplayProtector::Nonce(getrandom::u64().map_err(LoadError::Randomness)?),
            },
            recipient: addresses[(index + 1) % plan.accounts],
            signed_in_advance: VecDeque::new(),
        });
    }
    Ok(by_connection)
}

/// Returns the sequence number of each account, or none if transfers are orderless.
async fn sequence_numbers(
    node: &NodeClient,
    plan: &Plan,
    addresses: &[AccountAddress],
) -> Result<Vec<u64>, LoadError> {
    if plan.is_orderless {
        return Ok(Vec::new());
    }
    if !plan.has_used_accounts {
        return Ok(vec![0; addresses.len()]);
    }
    let numbers = stream::iter(addresses)
        .map(|address| node.account(address))
        .buffered(CONCURRENT_LOOKUPS_MAX)
        .map_ok(|account| account.sequence_number);
    Ok(numbers.try_collect().await?)
}

/// Derives the key of an account from the seed, the purpose of the account, and its index.
fn derive_signer(seed: u64, purpose: &[u8], index: u64) -> Signer {
    let secret = HashValue::sha3_of(&[
        b"ledger-node bench",
        purpose,
        &seed.to_le_bytes(),
        &index.to_le_bytes(),
    ]);
    Signer::new(Ed25519PrivateKey::from_seed(secret.as_bytes()))
}

/// The account that pays the sending accounts.
struct FundingAccount<'a> {
    node: &'a NodeClient,
    plan: &'a Plan,
    signer: Signer,
}

impl<'a> FundingAccount<'a> {
    fn new(funds: &Funds, node: &'a NodeClient, plan: &'a Plan) -> Self {
        let signer = match funds {
            Funds::Faucet(_) => derive_signer(plan.seed, b"banker", 0),
            Funds::Account(signer) => signer.clone(),
        };
        Self { node, plan, signer }
    }

    fn gas_unit_price(&self) -> u64 {
        self.plan.gas_unit_price.max(BATCH_GAS_UNIT_PRICE_MIN)
    }

    /// Returns the sum of `count` grants and the fees of their batch transfers, or `None` if the
    /// sum exceeds 64 bits.
    fn total(&self, grant: u64, count: usize) -> Option<u64> {
        let batches = count.div_ceil(ACCOUNTS_PER_BATCH) as u64;
        // A batch may use all of its gas.
        let fees = BATCH_GAS
            .checked_mul(self.gas_unit_price())?
            .checked_mul(batches)?;
        grant.checked_mul(count as u64)?.checked_add(fees)
    }

    async fn pay_all(
        &self,
        funds: &Funds,
        addresses: &[AccountAddress],
        mut on_funded: impl FnMut(usize),
    ) -> Result<(), LoadError> {
        let grant = self.plan.grant();
        let needed = self
            .total(grant, addresses.len())
            .ok_or(LoadError::GrantOverflow)?;
        let own_address = self.signer.address();
        if let Funds::Faucet(faucet) = funds {
            let hash = faucet.fund(&own_address, needed).await?;
            // The faucet may belong to another node of the chain.
            self.node.await_committed(&hash).await?;
        }
        let held = self.node.balance(&own_address).await?;
        if held < needed {
            return Err(match funds {
                Funds::Faucet(_) => LoadError::GrantTooSmall { paid: held, needed },
                Funds::Account(_) => LoadError::AccountTooPoor {
                    address: own_address,
                    held,
                    needed,
                },
            });
        }
        let mut sequence_number = self.node.account(&own_address).await?.sequence_number;
        for group in addresses.chunks(ACCOUNTS_PER_BATCH * PENDING_BATCHES_MAX) {
            sequence_number = self.pay_group(group, grant, sequence_number).await?;
            on_funded(group.len());
        }
        Ok(())
    }

    /// Pays as many accounts as the maximum of pending batches can fund, and waits for the commits.
    ///
    /// Returns the next sequence number.
    async fn pay_group(
        &self,
        group: &[AccountAddress],
        grant: u64,
        first_sequence_number: u64,
    ) -> Result<u64, LoadError> {
        let mut sequence_number = first_sequence_number;
        let mut hashes = Vec::with_capacity(PENDING_BATCHES_MAX);
        for addresses in group.chunks(ACCOUNTS_PER_BATCH) {
            let payments: Vec<_> = addresses
                .iter()
                .map(|address| Payment {
                    recipient: *address,
                    amount: grant,
                })
                .collect();
            let call = signer::batch_transfer(&self.plan.chain.vendor, &payments);
            let terms = Terms {
                max_gas_amount: BATCH_GAS,
                gas_unit_price: self.gas_unit_price(),
                expiration_timestamp_secs: signer::unix_secs_after(EXPIRES_AFTER),
            };
            let protector = ReplayProtector::SequenceNumber(sequence_number);
            let signed = self.signer.sign(&self.plan.chain, protector, call, terms);
            hashes.push(self.node.submit(&self.plan.chain.vendor, &signed).await?);
            sequence_number += 1;
        }
        for hash in hashes {
            let committed = self.node.wait(&hash).await?;
            if !committed.success {
                return Err(LoadError::FundingFailed {
                    vm_status: committed.vm_status,
                });
            }
        }
        Ok(sequence_number)
    }
}
