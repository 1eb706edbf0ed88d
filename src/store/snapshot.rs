//! Questions answered at one moment of the ledger.

use crate::{
    StoreError,
    base::decode_write,
    digest::PREFIX_BYTES,
    index::{
        Kind,
        entry::{account_entry, hash_entry, position, sequence_number, stream_entry},
        lookup::Span,
    },
    schema::{Position, TransactionRow, account_sequence, decode},
    view::View,
};
use bytes::Bytes;
use ledger::{
    AccountAddress, BlockInfo, ContractEvent, EventKey, ExecutedTransaction, HashValue, LedgerInfo,
    StateError, StateKey, StateView, WriteSet,
};
use std::{ops::ControlFlow, sync::Arc};

/// One moment of the ledger. Pages that it reads stay on disk until it is dropped.
#[derive(Clone, Debug)]
pub struct Snapshot {
    view: Arc<View>,
    info: LedgerInfo,
}

/// A committed transaction as it was stored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredTransaction {
    /// Its version.
    pub version: u64,
    /// It and everything it did.
    pub executed: ExecutedTransaction,
}

/// What a numbered index is asked: a stream's events or an account's transactions.
struct Numbered<'a> {
    kind: Kind,
    /// The entry of a number with the least place, or with the greatest.
    bound: &'a dyn Fn(u64, bool) -> Vec<u8>,
}

impl Snapshot {
    pub(crate) fn new(view: Arc<View>, info: LedgerInfo) -> Self {
        Self { view, info }
    }

    /// The facts about the ledger at this moment.
    pub fn ledger_info(&self) -> &LedgerInfo {
        &self.info
    }

    fn has_version(&self, version: u64) -> bool {
        (self.info.oldest_version..=self.info.version).contains(&version)
    }

    /// The transaction of a version; `None` above the head or when pruned.
    ///
    /// # Errors
    /// When the database fails or a row is damaged.
    pub fn transaction(&self, version: u64) -> Result<Option<StoredTransaction>, StoreError> {
        if !self.has_version(version) {
            return Ok(None);
        }
        let Some(row) = self.view.transaction_row(version)? else {
            return Err(StoreError::Inconsistent(format!(
                "transaction {version} is missing"
            )));
        };
        let TransactionRow {
            transaction,
            info,
            accumulator_root,
        } = row;
        let executed = ExecutedTransaction {
            transaction,
            hash: info.v0().transaction_hash,
            info,
            events: self.events_of(version)?,
            writes: self.writes_of(version)?,
            accumulator_root,
        };
        Ok(Some(StoredTransaction { version, executed }))
    }

    fn events_of(&self, version: u64) -> Result<Vec<ContractEvent>, StoreError> {
        let rows = self
            .view
            .tables
            .events
            .range((version, 0)..=(version, u32::MAX))?;
        rows.map(|row| decode(row?.1.value(), format_args!("an event of version {version}")))
            .collect()
    }

    fn writes_of(&self, version: u64) -> Result<WriteSet, StoreError> {
        let rows = self
            .view
            .tables
            .writes
            .range((version, 0)..=(version, u32::MAX))?;
        let writes =
            rows.map(|row| decode_write(row?.1.value(), format_args!("a write of version {version}")));
        // The rows stand in the order in which the set had them.
        writes.collect::<Result<_, _>>().map(WriteSet::from_ascending)
    }

    /// The version of the transaction with `hash`; may be a pruned one while its index entry lives.
    ///
    /// # Errors
    /// When the database fails or a row is damaged.
    pub fn version_by_hash(&self, hash: &HashValue) -> Result<Option<u64>, StoreError> {
        let span = Span {
            low: &hash_entry(hash, 0),
            high: &hash_entry(hash, self.info.version),
            versions: 0..=self.info.version,
        };
        let found = self.view.index(Kind::Hash).newest_first(&span, |entry| {
            let version = Kind::Hash.version(entry).unwrap_or_default();
            match self.is_transaction(version, hash) {
                Ok(false) => ControlFlow::Continue(()),
                Ok(true) => ControlFlow::Break(Ok(version)),
                Err(error) => ControlFlow::Break(Err(error)),
            }
        })?;
        found.transpose()
    }

    /// Whether the transaction of `version` has `hash`; of a pruned one only the index can tell,
    /// and it does so by the first bytes.
    fn is_transaction(&self, version: u64, hash: &HashValue) -> Result<bool, StoreError> {
        if version < self.info.oldest_version {
            return Ok(true);
        }
        let row = self.view.transaction_row(version)?;
        Ok(row.is_some_and(|row| row.info.v0().transaction_hash == *hash))
    }

    /// The block of a height; `None` above the head or when pruned.
    ///
    /// # Errors
    /// When the database fails or a row is damaged.
    pub fn block(&self, height: u64) -> Result<Option<BlockInfo>, StoreError> {
        if !(self.info.oldest_block_height..=self.info.block_height).contains(&height) {
            return Ok(None);
        }
        self.view.block(height)
    }

    /// The block that a version is in; `None` above the head or when pruned.
    ///
    /// # Errors
    /// When the database fails or a row is damaged.
    pub fn block_of_version(&self, version: u64) -> Result<Option<BlockInfo>, StoreError> {
        if !self.has_version(version) {
            return Ok(None);
        }
        self.view.block_of_version(version)
    }

    /// The value of `key` after `version`.
    ///
    /// # Errors
    /// [`StoreError::NoSuchMoment`] when `version` is above the head or pruned; else when the
    /// database fails or a row is damaged.
    pub fn state_value(&self, key: &StateKey, version: u64) -> Result<Option<Bytes>, StoreError> {
        if !self.has_version(version) {
            return Err(StoreError::NoSuchMoment {
                asked: version,
                oldest: self.info.oldest_version,
                newest: self.info.version,
            });
        }
        self.view.state_value(key, version)
    }

    /// The state after `version`, which is inside the window.
    pub fn state_at(&self, version: u64) -> StateAt<'_> {
        StateAt {
            snapshot: self,
            version,
        }
    }

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
        let stream = Numbered {
            kind: Kind::Stream,
            bound: &stream_bound(self.view.digests.stream(key)),
        };
        self.page(&stream, start, limit, |entry| {
            let place: Option<Position> = position(Kind::Stream, entry);
            let Some(place) = place else { return Ok(None) };
            let event = self.view.event(place)?;
            let is_of_stream =
                |event: &ContractEvent| event.stream_position().is_some_and(|(k, _)| k == *key);
            Ok(event.filter(is_of_stream).map(|event| (place.0, event)))
        })
    }

    /// The number of a stream's first event that is not pruned; `None` when it has none left.
    ///
    /// # Errors
    /// When the database fails.
    pub fn first_event(&self, key: &EventKey) -> Result<Option<u64>, StoreError> {
        let stream = Numbered {
            kind: Kind::Stream,
            bound: &stream_bound(self.view.digests.stream(key)),
        };
        self.first_retained(&stream, 0)
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
        let prefix = self.view.digests.account(sender);
        let account = Numbered {
            kind: Kind::Account,
            bound: &|number, is_end| {
                account_entry(&prefix, number, if is_end { u64::MAX } else { 0 }).to_vec()
            },
        };
        self.page(&account, start_sequence_number, limit, |entry| {
            let Some(version) = Kind::Account.version(entry) else {
                return Ok(None);
            };
            let row = self.view.transaction_row(version)?;
            let sender_of =
                |row: TransactionRow| account_sequence(&row.transaction).map(|(sender, _)| sender);
            Ok((row.and_then(sender_of) == Some(*sender)).then_some(version))
        })
    }

    /// Up to `limit` rows of an index by number, ascending; `read` gives an entry's row, or `None`
    /// for an entry of another name with the same digest.
    fn page<T>(
        &self,
        of: &Numbered<'_>,
        start: Option<u64>,
        limit: usize,
        read: impl Fn(&[u8]) -> Result<Option<T>, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let mut page = Vec::new();
        if limit == 0 {
            return Ok(page);
        }
        let first = match start {
            Some(start) => match self.first_retained(of, start)? {
                Some(first) => first,
                None => return Ok(page),
            },
            None => 0,
        };
        let span = Span {
            low: &(of.bound)(first, false),
            high: &(of.bound)(u64::MAX, true),
            versions: self.info.oldest_version..=self.info.version,
        };
        // Numbers rise with versions, so the first entry beyond the wanted end ends the page.
        let is_ascending = start.is_some();
        let visit = |entry: &[u8]| {
            let version = of.kind.version(entry).unwrap_or_default();
            if version > self.info.version || version < self.info.oldest_version {
                let is_past = (version > self.info.version) == is_ascending;
                return if is_past {
                    ControlFlow::Break(Ok(()))
                } else {
                    ControlFlow::Continue(())
                };
            }
            match read(entry) {
                Ok(row) => page.extend(row),
                Err(error) => return ControlFlow::Break(Err(error)),
            }
            if page.len() < limit {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(Ok(()))
            }
        };
        let index = self.view.index(of.kind);
        let ended = if is_ascending {
            index.oldest_first(&span, visit)
        } else {
            index.newest_first(&span, visit)
        };
        ended?.transpose()?;
        if !is_ascending {
            page.reverse();
        }
        Ok(page)
    }

    /// The first number from `start` on whose row is in the window: numbers rise with versions, so
    /// halving finds it among entries of pruned rows that still stand in a run.
    fn first_retained(&self, of: &Numbered<'_>, start: u64) -> Result<Option<u64>, StoreError> {
        let oldest = self.info.oldest_version;
        let index = self.view.index(of.kind);
        let end = (of.bound)(u64::MAX, true);
        let probe = |number: u64| {
            let span = Span {
                low: &(of.bound)(number, false),
                high: &end,
                versions: oldest..=self.info.version,
            };
            let found = index.oldest_first(&span, |entry| {
                let version = of.kind.version(entry).unwrap_or_default();
                ControlFlow::Break((sequence_number(entry), version))
            })?;
            Ok::<_, StoreError>(found.filter(|(_, version)| *version <= self.info.version))
        };
        let Some((first, version)) = probe(start)? else {
            return Ok(None);
        };
        if version >= oldest {
            return Ok(Some(first));
        }
        // `pruned` is; `retained` is not, or lies behind the end.
        let (mut pruned, mut retained, mut answer) = (first, u64::MAX, None);
        while retained - pruned > 1 {
            let middle = pruned + (retained - pruned) / 2;
            match probe(middle)? {
                Some((number, version)) if version < oldest => pruned = number,
                Some((number, _)) => (retained, answer) = (middle, Some(number)),
                None => retained = middle,
            }
        }
        Ok(answer)
    }
}

/// Gives the bounds of a number among the entries of a stream.
fn stream_bound(prefix: [u8; PREFIX_BYTES]) -> impl Fn(u64, bool) -> Vec<u8> {
    move |number, is_end| {
        let place = if is_end { (u64::MAX, u32::MAX) } else { (0, 0) };
        stream_entry(&prefix, number, place).to_vec()
    }
}

/// The state after one version, as execution reads it.
#[derive(Clone, Copy, Debug)]
pub struct StateAt<'a> {
    snapshot: &'a Snapshot,
    version: u64,
}

impl StateView for StateAt<'_> {
    fn get(&self, key: &StateKey) -> Result<Option<Bytes>, StateError> {
        self.snapshot
            .state_value(key, self.version)
            .map_err(|error| StateError(error.to_string()))
    }
}
