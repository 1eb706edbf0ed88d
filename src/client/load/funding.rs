//! The sending accounts: derived from the seed, and funded through the faucet with one request:
//! it pays a banker, who pays everyone by batch transfers.

use super::{plan::Plan, random, requests::Transfer};
use crate::commands::Failure;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use indicatif::{ProgressBar, ProgressStyle};
use ledger::{AccountAddress, HashValue, ReplayProtector, crypto::Ed25519PrivateKey};
use ledger_client::{
    FaucetClient, NodeClient,
    signer::{self, Payment, Signer, Terms},
};
use std::{collections::VecDeque, time::Duration};

/// How many accounts one batch transfer funds: each takes about 10,000 gas units for its room, of
/// [`BATCH_GAS`].
const FUNDED_PER_BATCH: usize = 150;
/// How many batch transfers are pending at once; a node commonly takes 100 of one sender.
const BATCHES_PENDING: usize = 60;
/// How many accounts are looked up at once.
const LOOK_UPS_PENDING: usize = 16;
/// The gas units that a batch transfer allows itself: an amount that chains commonly grant.
const BATCH_GAS: u64 = 2_000_000;
/// What a batch transfer offers for a gas unit at least: the fee for storage is the same at every
/// price, so at a lower one it would take more units than may be asked for.
const BATCH_PRICE_MIN: u64 = 100;
/// When a batch transfer expires.
const EXPIRES_AFTER: Duration = Duration::from_secs(120);

/// A sending account, as one connection uses it. Only orderless transfers let several connections
/// use the same one.
#[derive(Debug)]
pub struct BenchAccount {
    pub signer: Signer,
    /// What protects its next transfer.
    pub next: ReplayProtector,
    /// Whom it pays.
    pub pays: AccountAddress,
    /// Its next transfers, as far as they are signed before the load.
    pub signed: VecDeque<Transfer>,
}

/// Makes the accounts, funds them, and divides them among the connections.
///
/// # Errors
/// When faucet or node refuse, or the faucet does not pay enough.
pub async fn fund(
    faucet: &str,
    node: &NodeClient,
    plan: &Plan,
) -> Result<Vec<Vec<BenchAccount>>, Failure> {
    let signers: Vec<_> = (0..plan.accounts)
        .map(|index| derive(plan.seed, b"account", index as u64))
        .collect();
    let addresses: Vec<_> = signers.iter().map(Signer::address).collect();
    Banker::new(node, plan)
        .pay_all(&FaucetClient::new(faucet)?, &addresses)
        .await?;
    let next = first_protectors(node, plan, &addresses).await?;
    let mut shares: Vec<Vec<_>> = (0..plan.connections).map(|_| Vec::new()).collect();
    for index in 0..plan.accounts.max(plan.connections) {
        shares[index % plan.connections].push(BenchAccount {
            signer: signers[index % plan.accounts].clone(),
            next: match next.get(index % plan.accounts) {
                Some(next) => *next,
                // Begins anywhere, so that neither other connections nor earlier runs have used it.
                None => ReplayProtector::Nonce(random()?),
            },
            pays: addresses[(index + 1) % plan.accounts],
            signed: VecDeque::new(),
        });
    }
    Ok(shares)
}

/// The sequence number of each account; none where nonces protect the transfers.
async fn first_protectors(
    node: &NodeClient,
    plan: &Plan,
    addresses: &[AccountAddress],
) -> Result<Vec<ReplayProtector>, Failure> {
    if plan.orderless {
        return Ok(Vec::new());
    }
    if !plan.accounts_used_before {
        return Ok(vec![ReplayProtector::SequenceNumber(0); addresses.len()]);
    }
    let numbers = stream::iter(addresses)
        .map(|address| node.account(address))
        .buffered(LOOK_UPS_PENDING)
        .map_ok(|account| ReplayProtector::SequenceNumber(account.sequence_number));
    Ok(numbers.try_collect().await?)
}

fn derive(seed: u64, purpose: &[u8], index: u64) -> Signer {
    let secret = HashValue::sha3_of(&[
        b"ledger-node bench",
        purpose,
        &seed.to_le_bytes(),
        &index.to_le_bytes(),
    ]);
    Signer::new(Ed25519PrivateKey::from_seed(secret.as_bytes()))
}

/// Pays the accounts out of what the faucet paid it.
struct Banker<'a> {
    node: &'a NodeClient,
    plan: &'a Plan,
    signer: Signer,
}

impl<'a> Banker<'a> {
    fn new(node: &'a NodeClient, plan: &'a Plan) -> Self {
        Self {
            node,
            plan,
            signer: derive(plan.seed, b"banker", 0),
        }
    }

    fn gas_unit_price(&self) -> u64 {
        self.plan.gas_unit_price.max(BATCH_PRICE_MIN)
    }

    async fn pay_all(
        &self,
        faucet: &FaucetClient,
        addresses: &[AccountAddress],
    ) -> Result<(), Failure> {
        let grant = self.plan.grant();
        let batches = addresses.len().div_ceil(FUNDED_PER_BATCH) as u64;
        // A batch may use all the gas it allows itself.
        let fees = BATCH_GAS
            .checked_mul(self.gas_unit_price())
            .and_then(|fee| fee.checked_mul(batches));
        let total = grant
            .checked_mul(addresses.len() as u64)
            .zip(fees)
            .and_then(|(grants, fees)| grants.checked_add(fees))
            .ok_or_else(|| {
                Failure::Fatal("the accounts would need more than there can be".to_owned())
            })?;
        let banker = self.signer.address();
        faucet.fund(&banker, total).await?;
        let held = self.node.balance(&banker).await?;
        if held < total {
            return Err(Failure::Fatal(format!(
                "the faucet paid {held} of the {total} that the accounts need; raise faucet.amount_max"
            )));
        }
        let mut sequence_number = self.node.account(&banker).await?.sequence_number;
        let progress = funding_bar(addresses.len());
        for group in addresses.chunks(FUNDED_PER_BATCH * BATCHES_PENDING) {
            sequence_number = self.pay_group(group, grant, sequence_number).await?;
            progress.inc(group.len() as u64);
        }
        progress.finish_and_clear();
        Ok(())
    }

    /// Pays as many accounts as fit into the batches that may be pending; gives the next number.
    async fn pay_group(
        &self,
        group: &[AccountAddress],
        grant: u64,
        first_sequence_number: u64,
    ) -> Result<u64, Failure> {
        let mut sequence_number = first_sequence_number;
        let mut hashes = Vec::with_capacity(BATCHES_PENDING);
        for addresses in group.chunks(FUNDED_PER_BATCH) {
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
                return Err(Failure::Fatal(format!(
                    "funding the accounts failed: {}",
                    committed.vm_status
                )));
            }
        }
        Ok(sequence_number)
    }
}

/// Shown on a terminal only.
fn funding_bar(accounts: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("funding accounts {wide_bar} {pos}/{len}")
        .expect("the template is valid");
    ProgressBar::new(accounts as u64).with_style(style)
}
