//! Reads of one version by clients.

use super::{fixture::wallets, model::StreamEvents};
use ledger_crypto::HashValue;
use ledger_execution::AccountSnapshot;
use ledger_store::{Query, Snapshot, StoreError};
use ledger_types::{EventKey, StateKey};
use ledger_vm::Chain;

/// Maximum number of versions that a listing returns.
pub(super) const LISTED_MAX: usize = 1_000;

/// Query for an account at a version, and for the lists of the same snapshot.
pub(super) struct ReadPage {
    pub(super) chain: Chain,
    pub(super) wallet: usize,
    pub(super) version: u64,
}

/// Result of a query.
#[derive(Clone, Debug)]
pub(super) enum Page {
    /// The version is in the window.
    Inside {
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
    Gone,
    /// The version is newer than the snapshot.
    Ahead,
}

impl Query for ReadPage {
    type Output = Page;

    fn run(self, snapshot: &Snapshot) -> Result<Page, StoreError> {
        let address = &wallets()[self.wallet].address;
        let key = StateKey::table_item(address, &[]);
        match snapshot.state_value(&key, self.version) {
            Err(StoreError::VersionOutOfRange {
                requested, oldest, ..
            }) => {
                return Ok(if requested < oldest {
                    Page::Gone
                } else {
                    Page::Ahead
                });
            }
            value => value?,
        };
        let state = snapshot.state_at(self.version);
        let facts = AccountSnapshot::read(&self.chain, &state, address)
            .map_err(|error| StoreError::Inconsistent(error.0))?;
        let missing =
            |what: &str| StoreError::Inconsistent(format!("no {what} of version {}", self.version));
        let transaction = snapshot.transaction(self.version)?;
        let transaction = transaction.ok_or_else(|| missing("transaction"))?;
        let block = snapshot.block_of_version(self.version)?;
        let hash = transaction.decode()?.hash;
        Ok(Page::Inside {
            balance: facts.balance,
            sequence_number: facts.sequence_number,
            hash,
            height: block.ok_or_else(|| missing("block"))?.header.height,
            account_transactions: snapshot.account_transactions(address, Some(0), LISTED_MAX)?,
            stream_events: stream_events(snapshot, self.wallet)?,
            version_by_hash: snapshot.version_by_hash(&hash)?,
        })
    }
}

/// Number of streams that are read per account. No account has more.
const STREAMS: u64 = 6;

/// Returns all events of a wallet's streams in the window.
///
/// # Errors
///
/// Returns the error of the store if a read fails.
pub(super) fn stream_events(
    snapshot: &Snapshot,
    wallet: usize,
) -> Result<StreamEvents, StoreError> {
    let mut found = StreamEvents::new();
    for creation_number in 0..STREAMS {
        let key = EventKey {
            creation_number,
            account_address: wallets()[wallet].address,
        };
        let events = snapshot.events(&key, Some(0), LISTED_MAX)?;
        let numbered = events
            .iter()
            .filter_map(|(version, event)| Some((*version, event.stream_position()?.1)));
        let numbered: Vec<_> = numbered.collect();
        if !numbered.is_empty() {
            found.insert(creation_number, numbered);
        }
    }
    Ok(found)
}
