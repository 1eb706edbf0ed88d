//! An open store, until it is split into its writer and its readers.

use crate::{
    FileSize, ScrubControl, StoreError, StoreFiles, StoreOptions, StoreReader, StoreScrubber,
    StoreWriter,
    directory::{
        error::io_error,
        format::create_tables_if_empty,
        inspect::decode_genesis,
        open::{self, OpenDatabase},
    },
    index::compaction::CompactionConfig,
    io::memory_file::MemoryFile,
    tables::{
        digest::DigestKey,
        schema::{META, META_GENESIS},
    },
    wal::WalConfig,
    write::{
        open::{StoreLocation, open_writer},
        recovery::LogReplay,
    },
};
use ledger_crypto::HashValue;
use ledger_types::{ExecutedBlock, Genesis};
use redb::{ReadableDatabase, backends::InMemoryBackend};
use std::{path::Path, sync::Arc};

/// An open store.
///
/// It locks its directory before it reads anything there. The directory is unlocked when the store,
/// its writer, and all readers and snapshots are dropped.
#[derive(Debug)]
pub struct Store {
    pub(crate) writer: StoreWriter,
    log_replay: Option<LogReplay>,
    scrubber: StoreScrubber,
}

impl Store {
    /// Opens the store in `directory`, which is created if it is absent.
    ///
    /// # Errors
    ///
    /// * [`StoreError::Foreign`] if the directory or its database has other content.
    /// * [`StoreError::NewerFormat`] or [`StoreError::OlderFormat`] for a format that this program
    ///   does not read.
    /// * [`StoreError::InUse`] if the directory is open, here or in another process.
    /// * [`StoreError::Damaged`] if the files are not a complete ledger.
    /// * [`StoreError::Directory`] if a file cannot be created, opened, read, or written.
    /// * [`StoreError::Database`] if the database fails while it is read.
    pub fn open(directory: &Path, options: &StoreOptions) -> Result<Self, StoreError> {
        Self::open_checked(directory, options, 0)
    }

    /// Opens the store in `directory`, and first verifies its database file.
    ///
    /// If the file takes at most `check_bytes_max` bytes on the disk, each page is compared with
    /// its checksum, without changing the file. This takes about a second per gigabyte.
    ///
    /// redb compares a checksum only here and after a crash, not when it reads a page later. Damage
    /// in a file that was not verified causes errors, panics of redb, or wrong results.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Store::open`], and [`StoreError::Damaged`] if a checksum does not
    /// match.
    pub fn open_checked(
        directory: &Path,
        options: &StoreOptions,
        check_bytes_max: u64,
    ) -> Result<Self, StoreError> {
        let (database, lock) = open::open_file(directory, options, check_bytes_max)?;
        Self::with_database(database, StoreLocation::Directory(directory, lock))
    }

    /// Opens the store in `directory` without changing it: the write-ahead log is applied in
    /// memory, and so are all further writes.
    ///
    /// Compares all pages of the database with their checksums first. `control` is called after
    /// each read of this comparison.
    ///
    /// # Errors
    ///
    /// * [`StoreError::Directory`] if a file is absent or cannot be read.
    /// * [`StoreError::Database`] if a page does not match its checksum, if `control` ends the
    ///   comparison, or if the log needs more memory than [`OVERLAY_BYTES_MAX`].
    /// * The other errors of [`Store::open`].
    ///
    /// [`OVERLAY_BYTES_MAX`]: crate::OVERLAY_BYTES_MAX
    pub fn open_unchanged(
        directory: &Path,
        options: &StoreOptions,
        control: &Arc<dyn ScrubControl>,
    ) -> Result<Self, StoreError> {
        let (database, lock) = open::open_unchanged(directory, options, control)?;
        Self::with_database(database, StoreLocation::Unchanged(directory, lock))
    }

    /// Opens the store in `backend`, with its write-ahead log in `log`.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Store::open`].
    pub fn open_backend(
        backend: impl redb::StorageBackend,
        log: impl redb::StorageBackend,
        options: &StoreOptions,
    ) -> Result<Self, StoreError> {
        let database = open::open_backend(backend, options)?;
        Self::with_database(database, StoreLocation::Backend(Arc::new(log)))
    }

    /// Opens an empty store in memory. Its content ends with its writer, readers and snapshots.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Store::open`], which a store in memory has no reason for.
    pub fn in_memory(options: &StoreOptions) -> Result<Self, StoreError> {
        Self::open_backend(InMemoryBackend::new(), MemoryFile::default(), options)
    }

    /// Opens the store in `backend`, with `secret` as the digest key of an empty one.
    ///
    /// With a fixed key, the same work makes the same bytes, so that a run is repeatable. Anyone
    /// who knows the key can choose names with colliding digests.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Store::open_backend`].
    pub fn open_backend_with_secret(
        backend: impl redb::StorageBackend,
        log: impl redb::StorageBackend,
        options: &StoreOptions,
        secret: [u8; 16],
    ) -> Result<Self, StoreError> {
        let database = open::open_backend(backend, options)?;
        create_tables_if_empty(&database.database, DigestKey::from_bytes(secret))?;
        Self::with_database(database, StoreLocation::Backend(Arc::new(log)))
    }

    /// Returns the free pages of the database in `directory` to the file system.
    ///
    /// Applies the write-ahead log first. Then pages at the end of the file move to free pages
    /// before them, and the file is cut. The duration grows with the size of the used pages. If the
    /// process ends meanwhile, the ledger is complete, and the next opening reads all of it.
    ///
    /// # Errors
    ///
    /// * [`StoreError::Directory`] if there is no database in `directory`, or if a file cannot be
    ///   read or written.
    /// * [`StoreError::Database`] if the database fails.
    /// * The errors of [`Store::open`].
    pub fn compact(directory: &Path, options: &StoreOptions) -> Result<Compacted, StoreError> {
        let size = || FileSize::of(directory).map_err(io_error(directory));
        let before = size()?;
        drop(Self::open(directory, options)?);
        open::compact_file(directory, options)?;
        let after = size()?;
        Ok(Compacted { before, after })
    }

    /// Returns the replay of the write-ahead log when this store was opened, or `None` if the log
    /// was closed or the store was empty.
    pub fn log_replay(&self) -> Option<&LogReplay> {
        self.log_replay.as_ref()
    }

    /// Returns the files of the store, which any thread can compare with their paths.
    pub fn files(&self) -> StoreFiles {
        self.writer.files()
    }

    /// Creates the store of an open database, with its scrubber.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Store::open`].
    fn with_database(
        database: OpenDatabase,
        location: StoreLocation<'_>,
    ) -> Result<Self, StoreError> {
        let (disk, disk_status) = (Arc::clone(&database.disk), database.disk_status.clone());
        let (writer, log_replay) = open_writer(database, location)?;
        let latest_view = writer.applier.views().clone();
        let scrubber = StoreScrubber::new(
            disk,
            disk_status,
            latest_view,
            writer.wal.scrubber(),
            writer.usage.meter(),
        );
        Ok(Self {
            writer,
            log_replay,
            scrubber,
        })
    }

    /// Returns a scrubber of the database and the write-ahead log.
    pub fn scrubber(&self) -> StoreScrubber {
        self.scrubber.clone()
    }

    /// Returns the genesis of the ledger, or `None` if nothing is committed.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails, and [`StoreError::Inconsistent`] if
    /// the stored genesis cannot be decoded.
    pub fn genesis(&self) -> Result<Option<Genesis>, StoreError> {
        let transaction = self.writer.applier.database()?.database.begin_read()?;
        let meta = transaction.open_table(META)?;
        let Some(genesis) = meta.get(META_GENESIS)? else {
            return Ok(None);
        };
        decode_genesis(genesis.value()).map(Some)
    }

    /// Commits block 0 with its genesis, durably.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::NotEmpty`] if the store has a genesis, [`StoreError::Gap`] if `block`
    /// is not block 0, and [`StoreError::Inconsistent`] if its parts contradict each other, without
    /// writing anything. Returns [`StoreError::Database`] if the database fails, which poisons the
    /// writer.
    pub fn initialize(
        &mut self,
        genesis: &Genesis,
        block: &ExecutedBlock,
    ) -> Result<(), StoreError> {
        if self.height().is_some() {
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

    /// Returns the height of the newest block, or `None` if nothing is committed.
    pub fn height(&self) -> Option<u64> {
        let view = self.writer.applier.views().get()?;
        Some(view.head.tip.height)
    }

    /// Replaces the stored genesis, durably, by one with other framework upgrades.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Empty`] if nothing is committed, and [`StoreError::OtherGenesis`] if
    /// `genesis` differs in more than upgrades above the height of the newest block, without
    /// writing anything. Returns [`StoreError::Database`] if the database fails, which poisons the
    /// writer.
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
                "it differs in more than framework_upgrades".to_owned(),
            ));
        }
        let json = genesis_json(genesis)?;
        self.writer.poison_on_error(|writer| {
            let database = writer.applier.database()?;
            let transaction = database.begin_checkpoint()?;
            transaction
                .open_table(META)?
                .insert(META_GENESIS, json.as_slice())?;
            database.commit_durably(transaction)
        })
    }

    /// Returns the usage of the database file.
    ///
    /// Reads the whole file, so this is for a store without load, or for a copy of one. A running
    /// node reports only [`FileSize`](crate::FileSize).
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails.
    pub fn usage(&mut self) -> Result<Usage, StoreError> {
        // Only a write transaction counts the allocated pages. Dropping it aborts it.
        let stats = self
            .writer
            .applier
            .database()?
            .begin_checkpoint()?
            .stats()?;
        Ok(Usage {
            used_pages: stats.allocated_pages(),
            page_bytes: stats.page_size(),
            stored_bytes: stats.stored_bytes(),
        })
    }

    /// Makes the store flush and merge after a few entries instead of thousands.
    ///
    /// A short test then covers all levels of runs. Many small runs cost more than a few large
    /// ones.
    #[doc(hidden)]
    pub fn compact_eagerly(&mut self) {
        self.set_configuration(WalConfig::SMALL, CompactionConfig::SMALL);
    }

    /// Sets the configurations of log and compaction.
    #[cfg(test)]
    pub(crate) fn configure(&mut self, wal: WalConfig, compaction: CompactionConfig) {
        self.set_configuration(wal, compaction);
    }

    fn set_configuration(&mut self, wal: WalConfig, compaction: CompactionConfig) {
        if let Ok(mut database) = self.writer.applier.database() {
            database.compaction.config = compaction;
        }
        self.writer.wal_config = wal;
    }

    /// Splits the store into its writer and a reader, which can be cloned.
    pub fn split(self) -> (StoreWriter, StoreReader) {
        let reader = StoreReader::new(self.writer.applier.views().clone());
        (self.writer, reader)
    }
}

/// Sizes of the database file before and after [`Store::compact`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Compacted {
    /// The size before.
    pub before: FileSize,
    /// The size after.
    pub after: FileSize,
}

/// Usage of the database file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Usage {
    /// Number of pages that hold content or become free after the next commits.
    pub used_pages: u64,
    /// Size of a page, in bytes.
    pub page_bytes: usize,
    /// Size of all keys and values, in bytes. The rest of the used pages is structure and free
    /// space inside pages.
    pub stored_bytes: u64,
}

fn genesis_json(genesis: &Genesis) -> Result<Vec<u8>, StoreError> {
    serde_json::to_vec(genesis)
        .map_err(|error| StoreError::Inconsistent(format!("the genesis has no JSON form: {error}")))
}
