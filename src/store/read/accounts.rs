//! Reads of the transactions of an account, in pages.

use super::{
    pager::{Page, PageEnd, SequencePager},
    snapshot::Snapshot,
};
use crate::{StoreError, index::Kind, tables::rows::replay_protector};
use ledger_crypto::HashValue;
use ledger_types::{AccountAddress, ReplayProtector};
use std::ops::RangeInclusive;

/// A summary of a committed transaction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TransactionSummary {
    /// The account that sent the transaction.
    pub sender: AccountAddress,
    /// The version of the transaction.
    pub version: u64,
    /// The hash of the transaction.
    pub hash: HashValue,
    /// The sequence number or nonce of the transaction.
    pub replay_protector: ReplayProtector,
}

impl Snapshot {
    /// Returns the versions of up to `limit` transactions of an account, ascending.
    ///
    /// The page starts at a sequence number, or at the next one that is not pruned. Without one, it
    /// has the newest transactions. Transactions with a nonce are not included.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails, and [`StoreError::Inconsistent`] if
    /// a row is damaged.
    pub fn account_transactions(
        &self,
        sender: &AccountAddress,
        start_sequence_number: Option<u64>,
        limit: usize,
    ) -> Result<Vec<u64>, StoreError> {
        let page = Page::from_number(start_sequence_number, limit);
        let summaries = self
            .sequential(sender)
            .page(&page, |entry| self.summary(sender, entry, is_sequential))?;
        Ok(summaries
            .into_iter()
            .map(|summary| summary.version)
            .collect())
    }

    /// Returns the sequence number of an account's first transaction that is not pruned, or `None`
    /// if there is none.
    ///
    /// Transactions with a nonce do not count.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails.
    pub fn first_account_transaction(
        &self,
        sender: &AccountAddress,
    ) -> Result<Option<u64>, StoreError> {
        self.sequential(sender).first_retained()
    }

    /// Returns the hash of the transaction of an account that used a sequence number or nonce, or
    /// `None` if it is pruned or not found.
    ///
    /// The transaction of a nonce is searched among the account's newest `orderless_max` orderless
    /// ones, because the index has no nonces.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails, and [`StoreError::Inconsistent`] if
    /// a row is damaged.
    pub fn hash_by_protector(
        &self,
        sender: &AccountAddress,
        protector: ReplayProtector,
        orderless_max: usize,
    ) -> Result<Option<HashValue>, StoreError> {
        let is_used = |found: &ReplayProtector| *found == protector;
        let (pager, page) = match protector {
            ReplayProtector::SequenceNumber(number) => {
                let page = Page {
                    first_number: number,
                    last_number: number,
                    ..Page::from_number(None, 1)
                };
                (self.sequential(sender), page)
            }
            ReplayProtector::Nonce(_) => (
                self.orderless(sender),
                Page::from_number(None, orderless_max),
            ),
        };
        let summaries = pager.page_until(
            &page,
            |entry| self.summary(sender, entry, |_| true),
            |summary| is_used(&summary.replay_protector),
        )?;
        let mut used = summaries.into_iter();
        let used = used.find(|summary| is_used(&summary.replay_protector));
        Ok(used.map(|summary| summary.hash))
    }

    /// Returns up to `limit` summaries of an account's transactions in `versions`, ascending by
    /// version, with sequence numbers and with nonces.
    ///
    /// Reads `limit` entries of each of the two, so at most twice `limit` rows. Finding a version
    /// among the sequence numbers decodes no row.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails, and [`StoreError::Inconsistent`] if
    /// a row is damaged.
    pub fn transaction_summaries(
        &self,
        sender: &AccountAddress,
        versions: RangeInclusive<u64>,
        end: PageEnd,
        limit: usize,
    ) -> Result<Vec<TransactionSummary>, StoreError> {
        let page = Page {
            first_number: 0,
            last_number: u64::MAX,
            versions,
            end,
            limit,
        };
        let orderless = self.orderless(sender);
        let mut summaries = self
            .sequential(sender)
            .page(&page, |entry| self.summary(sender, entry, is_sequential))?;
        summaries.extend(orderless.page(&page, |entry| {
            self.summary(sender, entry, |protector| !is_sequential(protector))
        })?);
        summaries.sort_unstable_by_key(|summary| summary.version);
        match end {
            PageEnd::Oldest => summaries.truncate(limit),
            PageEnd::Newest => drop(summaries.drain(..summaries.len().saturating_sub(limit))),
        }
        Ok(summaries)
    }

    fn sequential(&self, sender: &AccountAddress) -> SequencePager<'_> {
        SequencePager::of_account(self, self.view.digest_key.account(sender))
    }

    fn orderless(&self, sender: &AccountAddress) -> SequencePager<'_> {
        SequencePager::of_orderless(self, self.view.digest_key.orderless(sender))
    }

    /// Returns the summary of the row that an entry names, or `None` if the row has another sender
    /// or another kind of replay protector.
    fn summary(
        &self,
        sender: &AccountAddress,
        entry: &[u8],
        is_of_kind: impl Fn(&ReplayProtector) -> bool,
    ) -> Result<Option<TransactionSummary>, StoreError> {
        let Some(version) = Kind::Account.version(entry) else {
            return Ok(None);
        };
        let Some(row) = self.view.transaction_row(version)? else {
            return Ok(None);
        };
        let found = replay_protector(&row.transaction);
        let found = found.filter(|(found, protector)| found == sender && is_of_kind(protector));
        Ok(found.map(|(sender, replay_protector)| TransactionSummary {
            sender,
            version,
            hash: row.info.v0().transaction_hash,
            replay_protector,
        }))
    }
}

fn is_sequential(protector: &ReplayProtector) -> bool {
    matches!(protector, ReplayProtector::SequenceNumber(_))
}
