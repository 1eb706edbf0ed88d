//! What is read by name in pages: the events of a stream, the transactions of an account.

use crate::{
    Snapshot, StoreError,
    index::{
        Kind,
        key::{account_entry, position, stream_entry},
    },
    read::{
        events::{StreamEvents, StreamRows},
        pager::{Page, PageEnd, SequencePager},
    },
    tables::{digest::PREFIX_BYTES, rows::replay_protector, schema::Position},
};
use ledger_crypto::HashValue;
use ledger_types::{AccountAddress, ContractEvent, EventKey, ReplayProtector};
use std::ops::RangeInclusive;

/// A committed transaction of an account, in short.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TransactionSummary {
    /// The account.
    pub sender: AccountAddress,
    /// The transaction's version.
    pub version: u64,
    /// Its hash.
    pub hash: HashValue,
    /// What keeps it from being replayed.
    pub replay_protector: ReplayProtector,
}

/// Gives the bounds of a number among the entries of a stream.
fn stream_bound(prefix: [u8; PREFIX_BYTES]) -> impl Fn(u64, bool) -> Vec<u8> {
    move |number, is_end| {
        let place = if is_end { (u64::MAX, u32::MAX) } else { (0, 0) };
        stream_entry(&prefix, number, place).to_vec()
    }
}

/// Gives the bounds of a number among the entries of an account.
fn account_bound(prefix: [u8; PREFIX_BYTES]) -> impl Fn(u64, bool) -> Vec<u8> {
    move |number, is_end| account_entry(&prefix, number, if is_end { u64::MAX } else { 0 }).to_vec()
}

fn of_stream(bound: &dyn Fn(u64, bool) -> Vec<u8>) -> SequencePager<'_> {
    SequencePager {
        kind: Kind::Stream,
        bound,
        is_by_version: false,
    }
}

fn of_account(bound: &dyn Fn(u64, bool) -> Vec<u8>) -> SequencePager<'_> {
    SequencePager {
        kind: Kind::Account,
        bound,
        is_by_version: false,
    }
}

fn of_orderless(bound: &dyn Fn(u64, bool) -> Vec<u8>) -> SequencePager<'_> {
    SequencePager {
        is_by_version: true,
        ..of_account(bound)
    }
}

/// The page from a number on, or the newest one without it.
fn page_from(start: Option<u64>, limit: usize) -> Page {
    Page {
        first_number: start.unwrap_or_default(),
        versions: 0..=u64::MAX,
        take: if start.is_some() {
            PageEnd::Oldest
        } else {
            PageEnd::Newest
        },
        limit,
    }
}

impl Snapshot {
    /// Up to `limit` events of a stream with their versions, ascending, from number `start` or the
    /// next one that is not pruned; without `start` the newest ones.
    ///
    /// # Errors
    /// When the database fails or a row is damaged.
    pub fn events(
        &self,
        key: &EventKey,
        start: Option<u64>,
        limit: usize,
    ) -> Result<Vec<(u64, ContractEvent)>, StoreError> {
        Ok(self.stream_events(key, start, limit)?.into_events())
    }

    /// As [`Self::events`], each taken from its row with no more made of it than is needed to show it.
    ///
    /// # Errors
    /// As [`Self::events`].
    pub fn stream_events(
        &self,
        key: &EventKey,
        start: Option<u64>,
        limit: usize,
    ) -> Result<StreamEvents, StoreError> {
        let mut rows = StreamRows::new(key)?;
        let events = self.stream_page(key, start, limit, |row, place| rows.read(row, place))?;
        Ok(rows.with(events))
    }

    /// As [`Self::events`], each as its row: the version of its transaction and its BCS bytes.
    ///
    /// # Errors
    /// As [`Self::events`].
    pub fn stream_event_rows(
        &self,
        key: &EventKey,
        start: Option<u64>,
        limit: usize,
    ) -> Result<Vec<(u64, Vec<u8>)>, StoreError> {
        let rows = StreamRows::new(key)?;
        self.stream_page(key, start, limit, |row, (version, _)| {
            Ok(rows.is_of_stream(row).then(|| (version, row.to_vec())))
        })
    }

    /// What `read` makes of the rows of a page of a stream; `None` for a row of another stream.
    fn stream_page<T>(
        &self,
        key: &EventKey,
        start: Option<u64>,
        limit: usize,
        mut read: impl FnMut(&[u8], Position) -> Result<Option<T>, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let bound = stream_bound(self.view.digests.stream(key));
        self.page(&of_stream(&bound), &page_from(start, limit), |entry| {
            let Some(place) = position(Kind::Stream, entry) else {
                return Ok(None);
            };
            match self.view.tables.events.get(place)? {
                Some(row) => read(row.value(), place),
                None => Ok(None),
            }
        })
    }

    /// The number of a stream's first event that is not pruned, or that its next one will have where
    /// all are. `None` when it has had none: or when all were pruned by a release that did not record
    /// how many.
    ///
    /// # Errors
    /// When the database fails or a row is damaged.
    pub fn first_event(&self, key: &EventKey) -> Result<Option<u64>, StoreError> {
        let bound = stream_bound(self.view.digests.stream(key));
        match self.first_retained(&of_stream(&bound))? {
            Some(first) => Ok(Some(first)),
            None => match self.last_going(&of_stream(&bound))? {
                Some(last) => Ok(Some(last.saturating_add(1))),
                None => self.view.pruned_events_end(key),
            },
        }
    }

    /// Up to `limit` versions of an account's transactions, ascending, from a sequence number or
    /// the next one that is not pruned; without it the newest ones. Transactions with a nonce
    /// instead of a sequence number are not among them.
    ///
    /// # Errors
    /// When the database fails or a row is damaged.
    pub fn account_transactions(
        &self,
        sender: &AccountAddress,
        start_sequence_number: Option<u64>,
        limit: usize,
    ) -> Result<Vec<u64>, StoreError> {
        let bound = account_bound(self.view.digests.account(sender));
        let page = page_from(start_sequence_number, limit);
        let found = self.page(&of_account(&bound), &page, |entry| {
            self.summary(sender, entry, is_sequential)
        })?;
        Ok(found.into_iter().map(|summary| summary.version).collect())
    }

    /// The sequence number of an account's first transaction with one that is not pruned; `None` when
    /// it has none left.
    ///
    /// # Errors
    /// When the database fails.
    pub fn first_account_transaction(
        &self,
        sender: &AccountAddress,
    ) -> Result<Option<u64>, StoreError> {
        let bound = account_bound(self.view.digests.account(sender));
        self.first_retained(&of_account(&bound))
    }

    /// Up to `limit` summaries of an account's transactions within `versions`, ascending by version:
    /// those with a sequence number and those with a nonce.
    ///
    /// Both indices are asked for `limit` entries, so at most twice `limit` rows are read; finding the
    /// place of a version among sequence numbers decodes none.
    ///
    /// # Errors
    /// When the database fails or a row is damaged.
    pub fn transaction_summaries(
        &self,
        sender: &AccountAddress,
        versions: RangeInclusive<u64>,
        take: PageEnd,
        limit: usize,
    ) -> Result<Vec<TransactionSummary>, StoreError> {
        let page = Page {
            first_number: 0,
            versions,
            take,
            limit,
        };
        let sequential = account_bound(self.view.digests.account(sender));
        let orderless = account_bound(self.view.digests.orderless(sender));
        let mut all = self.page(&of_account(&sequential), &page, |entry| {
            self.summary(sender, entry, is_sequential)
        })?;
        all.extend(self.page(&of_orderless(&orderless), &page, |entry| {
            self.summary(sender, entry, |protector| !is_sequential(protector))
        })?);
        all.sort_unstable_by_key(|summary| summary.version);
        match take {
            PageEnd::Oldest => all.truncate(limit),
            PageEnd::Newest => drop(all.drain(..all.len().saturating_sub(limit))),
        }
        Ok(all)
    }

    /// The summary of the row that an entry names; `None` when that is not of `sender`, or of another kind.
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
