//! The values of the newest state that the validation of submissions reads.
//!
//! Accounts that are cached at the Head need no read. All others, and nonces, are read from the
//! store for a slice of a batch together: on the calling thread if possible, otherwise as one job.

use super::handle::{NodeHandle, point_reads};
use crate::{
    Head, NodeError,
    state::account_cache::{AccountCache, read_account_snapshot},
};
use ledger_execution::{
    AccountSnapshot, NonceSnapshot, ValidationInputs, validate_multisig_for_admission,
};
use ledger_limits::ClientKey;
use ledger_store::{Query, Snapshot, StoreError};
use ledger_types::{AccountAddress, CheckedTransaction, Discard, ReplayProtector};
use ledger_vm::Chain;
use std::sync::Arc;

/// Maximum number of accounts that are read as one job. A job of this size is a point read by its
/// estimated duration, and takes an HTTP worker about as long as a piece of its own work.
const READ_ACCOUNTS_MAX: usize = 64;

impl NodeHandle {
    /// Returns the account as validation sees it at the Head, to `client`.
    ///
    /// # Errors
    ///
    /// Returns [`NodeError`] if the storage has too many requests, the node is stopping, or the
    /// store cannot be read.
    pub async fn account_snapshot(
        &self,
        address: AccountAddress,
        client: ClientKey,
    ) -> Result<AccountSnapshot, NodeError> {
        let (_, accounts) = self.accounts_at_head(&[address], client).await?;
        Ok(accounts[0])
    }

    /// Returns the Head, and for each transaction of a slice the accounts and the nonce at its
    /// version that validation reads.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::account_snapshot`].
    pub(super) async fn validation_inputs(
        &self,
        slice: &[Arc<CheckedTransaction>],
        client: ClientKey,
    ) -> Result<(Head, Vec<ValidationInputs>), NodeError> {
        // The check of the signatures has bounded the number of signers.
        let mut addresses = Vec::with_capacity(slice.len());
        for transaction in slice {
            let authenticator = &transaction.transaction().authenticator;
            addresses.push(transaction.raw().sender);
            addresses.extend(authenticator.secondary_signer_addresses());
            addresses.extend(authenticator.fee_payer().map(|(address, _)| address));
        }
        let (head, accounts) = self.accounts_at_head(&addresses, client).await?;
        let mut accounts = accounts.into_iter();
        let mut nonces = self.nonces(slice, client).await?.into_iter();
        let inputs = slice.iter().map(|transaction| {
            let authenticator = &transaction.transaction().authenticator;
            let secondary = authenticator.secondary_signer_addresses().len();
            let mut next = || accounts.next().expect("an account of each address");
            ValidationInputs {
                sender: next(),
                secondary_signers: (0..secondary).map(|_| next()).collect(),
                fee_payer: authenticator.fee_payer().map(|_| next()),
                nonce: if is_orderless(transaction) {
                    nonces.next().expect("an entry of each nonce")
                } else {
                    None
                },
            }
        });
        Ok((head, inputs.collect()))
    }

    /// Returns whether the multisig account of each transaction admits it, in order.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::account_snapshot`].
    pub(super) async fn multisig_verdicts(
        &self,
        transactions: Vec<Arc<CheckedTransaction>>,
        client: ClientKey,
    ) -> Result<Vec<Result<(), Discard>>, NodeError> {
        let work = point_reads(client, transactions.len());
        let query = CheckMultisigs {
            chain: self.chain().clone(),
            transactions,
        };
        Ok(self.read(work, query).await?.1)
    }

    /// Returns the Head, and the accounts at its version in the order of `addresses`.
    async fn accounts_at_head(
        &self,
        addresses: &[AccountAddress],
        client: ClientKey,
    ) -> Result<(Head, Vec<AccountSnapshot>), NodeError> {
        let (version, cached) = self.node().head.with_accounts(|head, accounts| {
            let cached = addresses.iter().map(|address| accounts.get(address));
            let cached: Vec<_> = cached.collect();
            (CacheVersion::of(head, accounts), cached)
        });
        let missing = addresses.iter().zip(&cached);
        let missing = missing.filter(|(_, cached)| cached.is_none());
        let mut missing: Vec<_> = missing.map(|(address, _)| *address).collect();
        // An account that several transactions name is read once.
        missing.sort_unstable();
        missing.dedup();
        let mut read = Vec::with_capacity(missing.len());
        for part in missing.chunks(READ_ACCOUNTS_MAX) {
            read.extend(self.read_accounts(&version, part, client).await?);
        }
        let accounts = addresses.iter().zip(cached).map(|(address, cached)| {
            cached.unwrap_or_else(|| {
                let index = missing.binary_search(address);
                read[index.expect("it was missing")]
            })
        });
        let accounts = accounts.collect();
        Ok((version.head, accounts))
    }

    /// Reads accounts that are not cached as the store has them at the version of the cache.
    async fn read_accounts(
        &self,
        version: &CacheVersion,
        addresses: &[AccountAddress],
        client: ClientKey,
    ) -> Result<Vec<AccountSnapshot>, NodeError> {
        let node = self.node();
        let query = ReadAccountSnapshots {
            chain: node.chain.clone(),
            addresses: addresses.to_vec(),
        };
        let ledger_info = version.head.ledger_info();
        let read = node
            .inline_reader
            .read_unchanged(query, ledger_info, version.complete_from);
        let answer = match read {
            Ok(answer) => answer,
            Err(query) => {
                let work = point_reads(client, addresses.len());
                self.read(work, query).await
            }
        };
        Ok(answer?.1)
    }

    /// Returns the ledger's record of the nonce of each orderless transaction, in order. Nonces are
    /// not cached.
    async fn nonces(
        &self,
        slice: &[Arc<CheckedTransaction>],
        client: ClientKey,
    ) -> Result<Vec<Option<NonceSnapshot>>, NodeError> {
        let orderless = slice.iter().filter(|transaction| is_orderless(transaction));
        let transactions: Vec<_> = orderless.cloned().collect();
        if transactions.is_empty() {
            return Ok(Vec::new());
        }
        let work = point_reads(client, transactions.len());
        let query = ReadNonces {
            chain: self.chain().clone(),
            transactions,
        };
        Ok(self.read(work, query).await?.1)
    }
}

fn is_orderless(transaction: &CheckedTransaction) -> bool {
    let protector = transaction.raw().replay_protector();
    matches!(protector, ReplayProtector::Nonce(_))
}

/// The version at which accounts were looked up in the cache.
struct CacheVersion {
    head: Head,
    /// Height of the first block from which on the cache holds every changed account. An account
    /// outside the cache is unchanged since that block.
    complete_from: u64,
}

impl CacheVersion {
    fn of(head: Head, accounts: &AccountCache) -> Self {
        Self {
            head,
            complete_from: accounts.complete_from(),
        }
    }
}

/// The query of accounts.
struct ReadAccountSnapshots {
    chain: Chain,
    addresses: Vec<AccountAddress>,
}

impl Query for ReadAccountSnapshots {
    type Output = Vec<AccountSnapshot>;

    fn run(self, snapshot: &Snapshot) -> Result<Self::Output, StoreError> {
        let accounts = self.addresses.iter();
        accounts
            .map(|address| read_account_snapshot(&self.chain, snapshot, address))
            .collect()
    }
}

/// The query of the ledger's records of the nonces of orderless transactions.
struct ReadNonces {
    chain: Chain,
    transactions: Vec<Arc<CheckedTransaction>>,
}

impl Query for ReadNonces {
    type Output = Vec<Option<NonceSnapshot>>;

    fn run(self, snapshot: &Snapshot) -> Result<Self::Output, StoreError> {
        snapshot.read_state(snapshot.ledger_info().version, |state| {
            let transactions = self.transactions.iter();
            transactions
                .map(|transaction| {
                    NonceSnapshot::read(&self.chain, state, transaction.transaction())
                })
                .collect()
        })
    }
}

/// The query whether multisig accounts admit transactions of their owners.
///
/// Only multisig payloads need the state of an account that does not sign.
struct CheckMultisigs {
    chain: Chain,
    transactions: Vec<Arc<CheckedTransaction>>,
}

impl Query for CheckMultisigs {
    type Output = Vec<Result<(), Discard>>;

    fn run(self, snapshot: &Snapshot) -> Result<Self::Output, StoreError> {
        let info = snapshot.ledger_info();
        snapshot.read_state(info.version, |state| {
            let transactions = self.transactions.iter();
            transactions
                .map(|transaction| {
                    validate_multisig_for_admission(&self.chain, state, info, transaction)
                })
                .collect()
        })
    }
}
