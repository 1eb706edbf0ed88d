//! Reads of one version by clients.

use super::{
    fixture::{store_of, wallets},
    model::StreamEvents,
};
use ledger_crypto::HashValue;
use ledger_execution::AccountSnapshot;
use ledger_framework::modules::object::INIT_GUID_CREATION_NUM;
use ledger_store::{Query, Snapshot, StoreError};
use ledger_types::{EventKey, StateKey};
use ledger_vm::Chain;

/// Maximum number of versions that a listing returns.
pub(super) const LISTED_MAX: usize = 1_000;

/// Query for an account at a version, and for the lists of the same snapshot.
pub(super) struct ReadAccount {
    pub(super) chain: Chain,
    pub(super) wallet: usize,
    pub(super) version: u64,
}

/// Result of a query.
#[derive(Clone, Debug)]
pub(super) enum ReadResult {
    /// The version is in the window.
    InWindow {
        balance: u64,
        sequence_number: u64,
        hash: HashValue,
        height: u64,
        /// All versions of the account's transactions in the window.
        account_transactions: Vec<u64>,
        /// All events of the wallet's streams in the window.
        stream_events: StreamEvents,
        /// Version that the snapshot returns for `hash`.
        version_by_hash: Option<u64>,
    },
    /// The version is pruned.
    Pruned,
    /// The version is newer than the snapshot.
    TooNew,
}

impl Query for ReadAccount {
    type Output = ReadResult;

    fn run(self, snapshot: &Snapshot) -> Result<ReadResult, StoreError> {
        let address = &wallets()[self.wallet].address;
        let key = StateKey::table_item(address, &[]);
        match snapshot.state_value(&key, self.version) {
            Err(StoreError::VersionOutOfRange {
                requested, oldest, ..
            }) => {
                return Ok(if requested < oldest {
                    ReadResult::Pruned
                } else {
                    ReadResult::TooNew
                });
            }
            value => value?,
        };
        let account = snapshot.read_state(self.version, |state| {
            AccountSnapshot::read(&self.chain, state, address)
        })?;
        let missing =
            |part: &str| StoreError::Inconsistent(format!("no {part} of version {}", self.version));
        let transaction = snapshot.transaction(self.version)?;
        let transaction = transaction.ok_or_else(|| missing("transaction"))?;
        let block = snapshot.block_of_version(self.version)?;
        let hash = transaction.decode()?.hash;
        Ok(ReadResult::InWindow {
            balance: account.balance,
            sequence_number: account.sequence_number,
            hash,
            height: block.ok_or_else(|| missing("block"))?.header.height,
            account_transactions: snapshot.account_transactions(address, Some(0), LISTED_MAX)?,
            stream_events: stream_events(snapshot, self.wallet)?,
            version_by_hash: snapshot.version_by_hash(&hash)?,
        })
    }
}

/// Number of streams that are read per wallet: those of its store, which are the first ones that an
/// object creates.
const STREAMS: u64 = 3;

/// Returns all events of a wallet's streams in the window.
///
/// # Errors
///
/// Returns the error of the store if a read fails.
pub(super) fn stream_events(
    snapshot: &Snapshot,
    wallet: usize,
) -> Result<StreamEvents, StoreError> {
    let mut streams = StreamEvents::new();
    for creation_number in INIT_GUID_CREATION_NUM + 1..=INIT_GUID_CREATION_NUM + STREAMS {
        let key = EventKey {
            creation_number,
            account_address: store_of(wallet),
        };
        let events = snapshot.events(&key, Some(0), LISTED_MAX)?;
        let events = events
            .iter()
            .filter_map(|(version, event)| Some((*version, event.stream_position()?.1)));
        let events: Vec<_> = events.collect();
        if !events.is_empty() {
            streams.insert(creation_number, events);
        }
    }
    Ok(streams)
}
