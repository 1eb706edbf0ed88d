//! The durable memory of a validator, in a file of its own beside the ledger.
//!
//! It holds what a validator must not forget before it speaks: the newest height for which it may
//! have signed, the blocks that were proposed at that height, and the decided blocks that are not
//! in the ledger yet. The rest of the past is in the ledger.
//!
//! A copy of the ledger does not contain the file. So a validator that was restored from one has
//! no record of a height, or one above its ledger, and knows that it must not sign yet.

use crate::{
    StoreError,
    tables::codec::{decode, encode},
};
use ledger_crypto::HashValue;
use ledger_types::{AccountAddress, CommitCertificate};
use redb::{
    Builder, Database, ReadableDatabase, ReadableTable, StorageBackend, TableDefinition,
    TableError, WriteTransaction,
};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Name of the file in the validator's directory.
pub const CONSENSUS_LOG_FILE: &str = "consensus.redb";

/// Memory for cached pages, in bytes. The file holds the blocks of a few heights, and each is read
/// from it only after a start.
const CACHE_BYTES: usize = 1024 * 1024;

/// Format of the file.
const FORMAT: u64 = 1;

/// Single numbers: the format, and the newest height that may be signed.
const META: TableDefinition<&str, u64> = TableDefinition::new("meta");
/// Height, round and block hash of a proposal to a [`ProposalRow`].
const PROPOSALS: TableDefinition<(u64, u32, [u8; 32]), &[u8]> = TableDefinition::new("proposals");
/// Height and block hash to the block.
const BLOCKS: TableDefinition<(u64, [u8; 32]), &[u8]> = TableDefinition::new("blocks");
/// Height of a decided block to its certificate.
const DECIDED: TableDefinition<u64, &[u8]> = TableDefinition::new("decided");

/// `META` key of the format.
const META_FORMAT: &str = "format";
/// `META` key of the newest height for which the validator may have signed.
const META_SIGNED_HEIGHT: &str = "signed_height";

/// The part of a proposal that its key lacks.
#[derive(Serialize, Deserialize)]
struct ProposalRow {
    valid_round: Option<u32>,
    proposer: AccountAddress,
}

/// A block that was proposed and is not decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedProposal {
    /// Height of the block.
    pub height: u64,
    /// Round of the proposal.
    pub round: u32,
    /// Round in which two thirds voted for the block, if it was proposed again.
    pub valid_round: Option<u32>,
    /// Proposer of the round.
    pub proposer: AccountAddress,
    /// Hash of the block.
    pub hash: HashValue,
    /// The block.
    pub block: Vec<u8>,
}

/// A decided block that may not be in the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedDecision {
    /// Proof of the decision.
    pub certificate: CommitCertificate,
    /// The block.
    pub block: Vec<u8>,
}

/// The file. Each write is durable when it returns.
#[derive(Debug)]
pub struct ConsensusLog {
    database: Database,
}

impl ConsensusLog {
    /// Opens the file in `directory`. Returns `None` if there is none.
    ///
    /// # Errors
    ///
    /// * [`StoreError::Database`] if the file cannot be opened or is in use.
    /// * [`StoreError::NewerFormat`] if a newer program wrote it, and [`StoreError::Damaged`] if it
    ///   has no format.
    pub fn open(directory: &Path) -> Result<Option<Self>, StoreError> {
        let path = directory.join(CONSENSUS_LOG_FILE);
        if !path.exists() {
            return Ok(None);
        }
        Self::with_database(builder().open(path)?, directory).map(Some)
    }

    /// Opens the log in `backend`, which [`Self::create_backend`] filled.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::open`].
    pub fn open_backend(backend: impl StorageBackend) -> Result<Self, StoreError> {
        Self::with_database(builder().create_with_backend(backend)?, Path::new(""))
    }

    fn with_database(database: Database, directory: &Path) -> Result<Self, StoreError> {
        let log = Self { database };
        match log.number(META_FORMAT)? {
            Some(FORMAT) => Ok(log),
            Some(found) => Err(StoreError::NewerFormat {
                directory: directory.to_owned(),
                found,
                known: FORMAT,
            }),
            None => Err(StoreError::Damaged {
                directory: directory.to_owned(),
                reason: format!("{CONSENSUS_LOG_FILE} has no format number"),
            }),
        }
    }

    /// Creates the file in `directory`, with a record that every height up to `signed_height` may
    /// have been signed.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the file exists with other content or cannot be written.
    pub fn create(directory: &Path, signed_height: u64) -> Result<Self, StoreError> {
        Self::fill(
            builder().create(directory.join(CONSENSUS_LOG_FILE))?,
            signed_height,
        )
    }

    /// Creates the log in an empty `backend`.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::create`].
    pub fn create_backend(
        backend: impl StorageBackend,
        signed_height: u64,
    ) -> Result<Self, StoreError> {
        Self::fill(builder().create_with_backend(backend)?, signed_height)
    }

    fn fill(database: Database, signed_height: u64) -> Result<Self, StoreError> {
        let transaction = database.begin_write()?;
        {
            let mut meta = transaction.open_table(META)?;
            meta.insert(META_FORMAT, FORMAT)?;
            meta.insert(META_SIGNED_HEIGHT, signed_height)?;
            transaction.open_table(PROPOSALS)?;
            transaction.open_table(BLOCKS)?;
            transaction.open_table(DECIDED)?;
        }
        transaction.commit()?;
        Ok(Self { database })
    }

    /// Returns the newest height for which this validator may have signed.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the file cannot be read.
    pub fn signed_height(&self) -> Result<u64, StoreError> {
        Ok(self.number(META_SIGNED_HEIGHT)?.unwrap_or(u64::MAX))
    }

    /// Records that this validator may sign for `height`.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the file cannot be written.
    pub fn record_height(&self, height: u64) -> Result<(), StoreError> {
        self.write(|transaction| {
            transaction
                .open_table(META)?
                .insert(META_SIGNED_HEIGHT, height)?;
            Ok(())
        })
    }

    /// Adds a proposal, and the block if it is new.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the file cannot be written.
    pub fn add_proposal(&self, proposal: &LoggedProposal) -> Result<(), StoreError> {
        let hash = *proposal.hash.as_bytes();
        let row = encode(&ProposalRow {
            valid_round: proposal.valid_round,
            proposer: proposal.proposer,
        })?;
        self.write(|transaction| {
            let key = (proposal.height, proposal.round, hash);
            transaction
                .open_table(PROPOSALS)?
                .insert(key, row.as_slice())?;
            let mut blocks = transaction.open_table(BLOCKS)?;
            if blocks.get((proposal.height, hash))?.is_none() {
                blocks.insert((proposal.height, hash), proposal.block.as_slice())?;
            }
            Ok(())
        })
    }

    /// Records that a proposed block is decided, and removes all other proposals up to its height.
    ///
    /// Also removes the decided blocks up to `ledger_height`, which the ledger holds durably.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Inconsistent`] if the block is not among the proposals, and
    /// [`StoreError::Database`] if the file cannot be written. Nothing was recorded.
    pub fn decide(
        &self,
        certificate: &CommitCertificate,
        ledger_height: u64,
    ) -> Result<(), StoreError> {
        let (height, hash) = (certificate.height, *certificate.block_hash.as_bytes());
        let row = encode(certificate)?;
        self.write(|transaction| {
            let mut decided = transaction.open_table(DECIDED)?;
            decided.insert(height, row.as_slice())?;
            decided.retain_in(..=ledger_height, |_, _| false)?;
            let mut proposals = transaction.open_table(PROPOSALS)?;
            proposals.retain_in(..=(height, u32::MAX, [u8::MAX; 32]), |_, _| false)?;
            let mut blocks = transaction.open_table(BLOCKS)?;
            if blocks.get((height, hash))?.is_none() {
                return Err(StoreError::Inconsistent(format!(
                    "the decided block {height} was not proposed to this node"
                )));
            }
            let is_other = |at: u64, block: [u8; 32]| at == height && block != hash;
            blocks.retain_in(..=(height, [u8::MAX; 32]), |(at, block), _| {
                at > ledger_height && !is_other(at, block)
            })?;
            Ok(())
        })
    }

    /// Returns the proposals of a height, in the order of their rounds.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] or [`StoreError::Inconsistent`] if they cannot be read.
    pub fn proposals(&self, height: u64) -> Result<Vec<LoggedProposal>, StoreError> {
        let transaction = self.database.begin_read()?;
        let blocks = transaction.open_table(BLOCKS)?;
        let range = (height, 0, [0; 32])..=(height, u32::MAX, [u8::MAX; 32]);
        let mut proposals = Vec::new();
        for row in transaction.open_table(PROPOSALS)?.range(range)? {
            let (key, value) = row?;
            let (height, round, hash) = key.value();
            let row: ProposalRow = decode(value.value(), "a proposal")?;
            let block = blocks.get((height, hash))?.ok_or_else(|| absent(height))?;
            proposals.push(LoggedProposal {
                height,
                round,
                valid_round: row.valid_round,
                proposer: row.proposer,
                hash: HashValue::new(hash),
                block: block.value().to_vec(),
            });
        }
        Ok(proposals)
    }

    /// Returns the decided blocks from `first` on that follow one another without a gap.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] or [`StoreError::Inconsistent`] if they cannot be read.
    pub fn decisions_from(&self, first: u64) -> Result<Vec<LoggedDecision>, StoreError> {
        let transaction = self.database.begin_read()?;
        let blocks = transaction.open_table(BLOCKS)?;
        let mut decisions = Vec::new();
        for (height, row) in (first..).zip(transaction.open_table(DECIDED)?.range(first..)?) {
            let (key, value) = row?;
            if key.value() != height {
                break;
            }
            let certificate: CommitCertificate = decode(value.value(), "a certificate")?;
            let hash = *certificate.block_hash.as_bytes();
            let block = blocks.get((height, hash))?.ok_or_else(|| absent(height))?;
            decisions.push(LoggedDecision {
                certificate,
                block: block.value().to_vec(),
            });
        }
        Ok(decisions)
    }

    /// Returns a number of the table `META`.
    fn number(&self, key: &str) -> Result<Option<u64>, StoreError> {
        match self.database.begin_read()?.open_table(META) {
            Ok(meta) => Ok(meta.get(key)?.map(|number| number.value())),
            Err(TableError::TableDoesNotExist(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Runs `change` and commits it durably, or discards it if it fails.
    fn write(
        &self,
        change: impl FnOnce(&WriteTransaction) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let transaction = self.database.begin_write()?;
        change(&transaction)?;
        Ok(transaction.commit()?)
    }
}

fn builder() -> Builder {
    let mut builder = Builder::new();
    builder.set_cache_size(CACHE_BYTES);
    builder
}

fn absent(height: u64) -> StoreError {
    StoreError::Inconsistent(format!(
        "{CONSENSUS_LOG_FILE} lacks a block of height {height}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(number: u8) -> HashValue {
        HashValue::new([number; 32])
    }

    fn proposal(height: u64, round: u32, number: u8) -> LoggedProposal {
        LoggedProposal {
            height,
            round,
            valid_round: round.checked_sub(1),
            proposer: AccountAddress::ONE,
            hash: hash(number),
            block: vec![number; 3],
        }
    }

    fn certificate(height: u64, number: u8) -> CommitCertificate {
        CommitCertificate {
            height,
            round: 1,
            block_hash: hash(number),
            signatures: Vec::new(),
        }
    }

    /// Returns the log of a directory that the last log of it was dropped in.
    fn open(directory: &tempfile::TempDir) -> ConsensusLog {
        ConsensusLog::open(directory.path()).unwrap().unwrap()
    }

    #[test]
    fn a_directory_without_the_file_has_no_record() {
        let directory = tempfile::tempdir().unwrap();
        assert!(ConsensusLog::open(directory.path()).unwrap().is_none());
        drop(ConsensusLog::create(directory.path(), 0).unwrap());
        assert_eq!(open(&directory).signed_height().unwrap(), 0);
    }

    #[test]
    fn proposals_heights_and_decisions_outlast_a_restart() {
        let directory = tempfile::tempdir().unwrap();
        let log = ConsensusLog::create(directory.path(), 0).unwrap();
        log.record_height(7).unwrap();
        for proposal in [proposal(7, 0, 1), proposal(7, 1, 1), proposal(7, 1, 2)] {
            log.add_proposal(&proposal).unwrap();
        }
        log.add_proposal(&proposal(8, 0, 3)).unwrap();
        drop(log);

        let log = open(&directory);
        assert_eq!(log.signed_height().unwrap(), 7);
        assert_eq!(
            log.proposals(7).unwrap(),
            [proposal(7, 0, 1), proposal(7, 1, 1), proposal(7, 1, 2)]
        );
        log.decide(&certificate(7, 2), 5).unwrap();
        drop(log);

        let log = open(&directory);
        let decided = LoggedDecision {
            certificate: certificate(7, 2),
            block: vec![2; 3],
        };
        assert_eq!(log.decisions_from(7).unwrap(), [decided]);
        assert_eq!(log.proposals(7).unwrap(), []);
        assert_eq!(log.proposals(8).unwrap(), [proposal(8, 0, 3)]);
    }

    #[test]
    fn blocks_of_the_ledger_are_removed() {
        let directory = tempfile::tempdir().unwrap();
        let log = ConsensusLog::create(directory.path(), 0).unwrap();
        for height in 1..=4 {
            log.add_proposal(&proposal(height, 0, 9)).unwrap();
            log.decide(&certificate(height, 9), height - 1).unwrap();
        }
        assert_eq!(log.decisions_from(3).unwrap(), []);
        assert_eq!(log.decisions_from(4).unwrap().len(), 1);
        let transaction = log.database.begin_read().unwrap();
        let blocks = transaction.open_table(BLOCKS).unwrap();
        assert_eq!(blocks.iter().unwrap().count(), 1);
    }

    #[test]
    fn decisions_end_at_a_gap() {
        let directory = tempfile::tempdir().unwrap();
        let log = ConsensusLog::create(directory.path(), 0).unwrap();
        for height in [5, 6, 8] {
            log.add_proposal(&proposal(height, 0, 9)).unwrap();
            log.decide(&certificate(height, 9), 0).unwrap();
        }
        assert_eq!(log.decisions_from(5).unwrap().len(), 2);
        assert_eq!(log.decisions_from(4).unwrap(), []);
    }

    #[test]
    fn a_block_that_was_not_proposed_is_not_decided() {
        let directory = tempfile::tempdir().unwrap();
        let log = ConsensusLog::create(directory.path(), 0).unwrap();
        log.add_proposal(&proposal(5, 0, 1)).unwrap();
        let error = log.decide(&certificate(5, 2), 0).unwrap_err();
        assert!(matches!(error, StoreError::Inconsistent(_)), "{error}");
        assert_eq!(log.proposals(5).unwrap(), [proposal(5, 0, 1)]);
        assert_eq!(log.decisions_from(5).unwrap(), []);
    }
}
