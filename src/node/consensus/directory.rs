//! The directory of a node: its keys, its peers, a validator's memory and the engine's log.
//!
//! It is outside of the ledger's directory, so that a copy of the ledger contains neither keys nor
//! the record of the heights that were signed.

use super::{
    entry::PeerEntry,
    peers::{PeersFile, PeersFileError, peers_text},
};
use crate::access::{SecretFileError, read_secret_file};
use ledger_actors::engine::signed_height;
use ledger_bft::NetworkKey;
use ledger_client::signer::{parse_private_key, private_key_text};
use ledger_crypto::Ed25519PrivateKey;
use ledger_limits::open_regular_file;
use ledger_store::{CONSENSUS_LOG_FILE, ConsensusLog, StoreError};
use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};
use zeroize::Zeroizing;

/// File of the key that signs votes, in the text form of account keys. A full node has none.
const VALIDATOR_KEY: &str = "validator.key";
/// File of the key of connections, in the text form of account keys.
const NETWORK_KEY: &str = "network.key";
/// File of the peers.
const PEERS: &str = "peers.toml";
/// File of the engine's log.
const ENGINE_LOG: &str = "engine.log";

/// The keys of a node.
#[derive(Debug)]
pub struct Secrets {
    /// Key that signs votes. `None` for a full node.
    pub validator: Option<Ed25519PrivateKey>,
    /// Key of the engine's connections.
    pub network: NetworkKey,
    /// The same key, for the relay's connections.
    pub relay: Ed25519PrivateKey,
}

/// The reason that a directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// A key cannot be read.
    #[error("{path}: {source}")]
    Secret {
        /// Path of the file.
        path: PathBuf,
        /// The cause.
        source: SecretFileError,
    },
    /// A key is not 64 hexadecimal digits.
    #[error("{0}: a key is 64 hexadecimal digits")]
    Key(PathBuf),
    /// The key that signs votes is missing.
    #[error(
        "{0} is missing, but this is the directory of a validator; the directory of a full node is \
         created by ledger-node cluster add-full-node"
    )]
    NoValidatorKey(PathBuf),
    /// Votes are confirmed for a node without a key that signs them.
    #[error("{0} is missing, and only a validator votes")]
    NoVotes(PathBuf),
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// Path of the file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The file of peers cannot be used.
    #[error(transparent)]
    Peers(#[from] PeersFileError),
    /// The record of the signed heights cannot be used.
    #[error("{path}: {source}")]
    Log {
        /// Path of the file.
        path: PathBuf,
        /// The cause.
        source: StoreError,
    },
}

/// The directory of a node of several validators.
#[derive(Clone, Debug)]
pub struct ConsensusDirectory(PathBuf);

impl ConsensusDirectory {
    /// Names a directory.
    pub fn new(path: &Path) -> Self {
        Self(path.to_owned())
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Returns the file of peers.
    pub fn peers(&self) -> PeersFile {
        PeersFile::new(self.file(PEERS))
    }

    /// Returns the path of the engine's log.
    pub fn engine_log(&self) -> PathBuf {
        self.file(ENGINE_LOG)
    }

    /// Creates the directory with new files: keys that only the owner can read, the peers, and for
    /// a validator the record that no height was signed. A full node has no `validator_seed`.
    ///
    /// # Errors
    ///
    /// Returns [`DirectoryError::File`] or [`DirectoryError::Log`] if a file exists already or
    /// cannot be written.
    pub fn create(
        &self,
        validator_seed: Option<&[u8; 32]>,
        network_seed: &[u8; 32],
        peers: Vec<PeerEntry>,
    ) -> Result<(), DirectoryError> {
        fs::create_dir_all(&self.0).map_err(|source| DirectoryError::File {
            path: self.0.clone(),
            source,
        })?;
        let seeds = [
            (VALIDATOR_KEY, validator_seed),
            (NETWORK_KEY, Some(network_seed)),
        ];
        for (name, seed) in seeds {
            if let Some(seed) = seed {
                let text = private_key_text(&Ed25519PrivateKey::from_seed(seed));
                self.write_new(name, &text, 0o600)?;
            }
        }
        let text = peers_text(peers).map_err(|cause| PeersFileError::Malformed {
            path: self.file(PEERS),
            cause,
        })?;
        self.write_new(PEERS, &text, 0o644)?;
        if validator_seed.is_some() {
            let created = ConsensusLog::create(&self.0, 0);
            created.map_err(|source| self.log_error(source))?;
        }
        Ok(())
    }

    /// Writes a file that does not exist.
    fn write_new(&self, name: &str, text: &str, mode: u32) -> Result<(), DirectoryError> {
        let path = self.file(name);
        let written = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(mode)
            .open(&path)
            .and_then(|mut file| {
                file.write_all(text.as_bytes())?;
                file.sync_all()
            });
        written.map_err(|source| DirectoryError::File { path, source })
    }

    /// Reads the keys.
    ///
    /// # Errors
    ///
    /// Returns [`DirectoryError::Secret`] or [`DirectoryError::Key`] if one cannot be used.
    pub fn secrets(&self) -> Result<Secrets, DirectoryError> {
        let network_seed = self.seed(NETWORK_KEY)?;
        Ok(Secrets {
            validator: self.validator_key()?,
            network: NetworkKey::from_seed(*network_seed),
            relay: Ed25519PrivateKey::from_seed(&network_seed),
        })
    }

    fn validator_key(&self) -> Result<Option<Ed25519PrivateKey>, DirectoryError> {
        match self.seed(VALIDATOR_KEY) {
            Ok(seed) => Ok(Some(Ed25519PrivateKey::from_seed(&seed))),
            Err(DirectoryError::Secret {
                source: SecretFileError::Unreadable(error),
                ..
            }) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the error that this is the directory of a validator without its key.
    pub fn no_validator_key(&self) -> DirectoryError {
        DirectoryError::NoValidatorKey(self.file(VALIDATOR_KEY))
    }

    fn seed(&self, name: &str) -> Result<Zeroizing<[u8; 32]>, DirectoryError> {
        let path = self.file(name);
        let read = open_regular_file(&path)
            .map_err(SecretFileError::from)
            .and_then(read_secret_file);
        let text = match read {
            Ok(text) => text,
            Err(source) => return Err(DirectoryError::Secret { path, source }),
        };
        match parse_private_key(&text) {
            Some(key) => Ok(Zeroizing::new(key.seed())),
            None => Err(DirectoryError::Key(path)),
        }
    }

    /// Opens the record of the signed heights. Returns it with the newest such height, or with
    /// `None` if the directory had no record and the file is new. `logged_height` is that of the
    /// engine's log.
    ///
    /// # Errors
    ///
    /// Returns [`DirectoryError::Log`] if the file cannot be used.
    pub fn consensus_log(
        &self,
        logged_height: Option<u64>,
    ) -> Result<(ConsensusLog, Option<u64>), DirectoryError> {
        let opened = ConsensusLog::open(&self.0).and_then(|log| match log {
            Some(log) => {
                let signed_height = signed_height(&log, logged_height)?;
                Ok((log, Some(signed_height)))
            }
            None => Ok((ConsensusLog::create(&self.0, u64::MAX)?, None)),
        });
        opened.map_err(|source| self.log_error(source))
    }

    /// Records the newest height for which this validator may have signed, whatever its logs say,
    /// and removes the engine's log. Returns the height that was recorded, or `None` if there was
    /// none.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::secrets`] if this is no node's directory,
    /// [`DirectoryError::NoVotes`] if it is not a validator's, [`DirectoryError::Log`] if the
    /// record is in use or cannot be written, and [`DirectoryError::File`] if the engine's log cannot
    /// be removed.
    pub fn confirm_height(&self, height: u64) -> Result<Option<u64>, DirectoryError> {
        if self.secrets()?.validator.is_none() {
            return Err(DirectoryError::NoVotes(self.file(VALIDATOR_KEY)));
        }
        let (log, recorded) = self.consensus_log(None)?;
        let path = self.engine_log();
        match fs::remove_file(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(DirectoryError::File { path, source });
            }
            Ok(()) | Err(_) => {}
        }
        let written = log.record_height(height);
        written.map_err(|source| self.log_error(source))?;
        Ok(recorded.filter(|recorded| *recorded != u64::MAX))
    }

    fn log_error(&self, source: StoreError) -> DirectoryError {
        DirectoryError::Log {
            path: self.file(CONSENSUS_LOG_FILE),
            source,
        }
    }
}
