//! An opened data directory, until it is split into its writer and its readers.

use crate::{
    StoreError, StoreOptions, StoreReader, StoreWriter,
    directory::{format::create_tables_if_empty, open},
    index::compaction::CompactionConfig,
    tables::{
        digest::DigestKey,
        schema::{META, META_GENESIS},
    },
    write::{
        open::{StoreLocation, load},
        writer::CommitKind,
    },
};
use ledger_crypto::HashValue;
use ledger_types::{ExecutedBlock, Genesis};
use redb::ReadableDatabase;
use std::{path::Path, sync::Arc};

/// An opened data directory, exclusively ours from before anything in it is looked at. It is free again when
/// the store, its writer and every reader and snapshot are dropped.
#[derive(Debug)]
pub struct Store {
    pub(crate) writer: StoreWriter,
}

impl Store {
    /// Opens the ledger in `directory`, which is created if absent.
    ///
    /// # Errors
    /// When the directory holds something else, another format, damage, or is open already, here
    /// or in another process.
    pub fn open(directory: &Path, options: &StoreOptions) -> Result<Self, StoreError> {
        Self::open_checked(directory, options, 0)
    }

    /// As [`Store::open`]; a file that takes at most `check_bytes_max` on the disk is compared with the checksums
    /// in it first, as a whole and without changing anything. Costs about a second for each gigabyte.
    ///
    /// What is read later is not compared again: the database has a checksum for each page and compares it
    /// only here, and after a crash. Damage in a file that was not compared gives errors, panics of the
    /// database, or other answers.
    ///
    /// # Errors
    /// As [`Store::open`]; [`StoreError::Damaged`] when the file does not match.
    pub fn open_checked(
        directory: &Path,
        options: &StoreOptions,
        check_bytes_max: u64,
    ) -> Result<Self, StoreError> {
        let (database, lock) = open::open_file(directory, options, check_bytes_max)?;
        let writer = load(database, StoreLocation::Directory(directory, lock))?;
        Ok(Self { writer })
    }

    /// Opens the ledger that `backend` holds, with its block log in `log`.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_backend(
        backend: impl redb::StorageBackend,
        log: impl redb::StorageBackend,
        options: &StoreOptions,
    ) -> Result<Self, StoreError> {
        let database = open::open_backend(backend, options)?;
        let writer = load(database, StoreLocation::Backend(Arc::new(log)))?;
        Ok(Self { writer })
    }

    /// As [`Store::open_backend`]; an empty backend gets this secret in the place of a random one, so that
    /// the same work makes the same bytes. For runs that must be repeatable: whoever knows the secret can
    /// choose names whose digests meet.
    ///
    /// # Errors
    /// As [`Store::open_backend`].
    pub fn open_backend_with_secret(
        backend: impl redb::StorageBackend,
        log: impl redb::StorageBackend,
        options: &StoreOptions,
        secret: [u8; 16],
    ) -> Result<Self, StoreError> {
        let database = open::open_backend(backend, options)?;
        create_tables_if_empty(&database.0, DigestKey::from_bytes(secret))?;
        let writer = load(database, StoreLocation::Backend(Arc::new(log)))?;
        Ok(Self { writer })
    }

    /// The genesis the ledger started with, or `None` when nothing is committed yet.
    ///
    /// # Errors
    /// When the database fails.
    pub fn genesis(&self) -> Result<Option<Genesis>, StoreError> {
        let meta = self.writer.database.begin_read()?.open_table(META)?;
        let Some(genesis) = meta.get(META_GENESIS)? else {
            return Ok(None);
        };
        serde_json::from_slice(genesis.value())
            .map(Some)
            .map_err(|error| {
                StoreError::Inconsistent(format!("the genesis is unreadable: {error}"))
            })
    }

    /// Commits block 0 together with the genesis that it came from; durable when it returns.
    ///
    /// # Errors
    /// When there is a ledger already, `block` is no block 0, or the database fails.
    pub fn initialize(
        &mut self,
        genesis: &Genesis,
        block: &ExecutedBlock,
    ) -> Result<(), StoreError> {
        if self.writer.latest_view.get().is_some() {
            return Err(StoreError::NotEmpty);
        }
        if block.height() != 0
            || block.first_version != 0
            || block.header.parent_hash != HashValue::ZERO
        {
            return Err(StoreError::Gap(
                "genesis has height 0, version 0 and no parent".to_owned(),
            ));
        }
        let json = genesis_json(genesis)?;
        self.writer
            .commit_genesis(genesis.chain_id, block, |transaction| {
                let mut meta = transaction.open_table(META)?;
                meta.insert(META_GENESIS, json.as_slice())?;
                Ok(())
            })
    }

    /// The height of the newest block, or `None` when nothing is committed yet.
    pub fn height(&self) -> Option<u64> {
        let view = self.writer.latest_view.get()?;
        Some(view.head.tip.height)
    }

    /// Puts `genesis` in the place of the stored one, which may have fewer framework upgrades and is
    /// otherwise the same; durable when it returns.
    ///
    /// # Errors
    /// When nothing is committed yet, `genesis` differs from the stored one in more than upgrades that
    /// lie ahead of the newest block, or the database fails.
    pub fn extend_genesis(&mut self, genesis: &Genesis) -> Result<(), StoreError> {
        let (Some(mut stored), Some(height)) = (self.genesis()?, self.height()) else {
            return Err(StoreError::Empty);
        };
        stored
            .parameters
            .check_upgrade_change(&genesis.parameters, height)
            .map_err(|error| StoreError::OtherGenesis(error.to_string()))?;
        stored.parameters.framework_upgrades = genesis.parameters.framework_upgrades.clone();
        if stored != *genesis {
            return Err(StoreError::OtherGenesis(
                "more than its framework upgrades".to_owned(),
            ));
        }
        let json = genesis_json(genesis)?;
        self.writer.poison_on_error(|writer| {
            let transaction = writer.begin_write(CommitKind::Checkpoint)?;
            transaction
                .open_table(META)?
                .insert(META_GENESIS, json.as_slice())?;
            writer.commit_durably(transaction)
        })
    }

    /// Has the index flush and merge after a few rows instead of thousands, so that a short run does all that it
    /// does. For tests: many small runs cost more than few large ones.
    #[doc(hidden)]
    pub fn compact_eagerly(&mut self) {
        self.writer.compaction.config = CompactionConfig::SMALL_RUNS;
    }

    /// Sets when the index works.
    #[cfg(test)]
    pub(crate) fn set_config(&mut self, config: CompactionConfig) {
        self.writer.compaction.config = config;
    }

    /// The one writer, and a reader to be cloned.
    pub fn split(self) -> (StoreWriter, StoreReader) {
        let reader = StoreReader::new(self.writer.latest_view.clone());
        (self.writer, reader)
    }
}

/// The pages of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Usage {
    /// Pages that hold something, or will be free when the next commits have passed.
    pub used_pages: u64,
    /// The size of a page, in bytes.
    pub page_bytes: usize,
    /// Keys and values, in bytes; the rest of the used pages is structure and room left in them.
    pub stored_bytes: u64,
}

impl Store {
    /// Counts what is in use. Reads the whole file, so it is for a store, or a copy of one, that does no
    /// work; a running node tells only how long its file is.
    ///
    /// # Errors
    /// When the database fails.
    pub fn usage(&mut self) -> Result<Usage, StoreError> {
        // Only a write knows the allocated pages; it is taken back when it is dropped.
        let stats = self.writer.begin_write(CommitKind::Checkpoint)?.stats()?;
        Ok(Usage {
            used_pages: stats.allocated_pages(),
            page_bytes: stats.page_size(),
            stored_bytes: stats.stored_bytes(),
        })
    }
}

fn genesis_json(genesis: &Genesis) -> Result<Vec<u8>, StoreError> {
    serde_json::to_vec(genesis)
        .map_err(|error| StoreError::Inconsistent(format!("the genesis has no JSON form: {error}")))
}
