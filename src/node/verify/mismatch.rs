//! The first difference between a directory and what its content leads to, in words.

use ledger_types::{StateKey, StateKeyParts, WriteOp};
use std::fmt::{self, Display};

/// Maximum number of bytes of a value in a message. The rest is left out.
const VALUE_BYTES_MAX: usize = 256;

/// A stored value that is not the computed one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mismatch {
    /// Version of the value, or the first version of its block.
    pub version: u64,
    /// The part of the ledger that has the value, with its key.
    pub part: String,
    /// The stored value.
    pub stored: String,
    /// The computed value.
    pub computed: String,
}

impl Mismatch {
    /// Compares a stored value with the computed one.
    ///
    /// # Errors
    ///
    /// Returns a mismatch of `part` if they differ.
    pub fn check<T: PartialEq>(
        version: u64,
        part: impl Display,
        stored: &T,
        computed: &T,
        words: impl Fn(&T) -> String,
    ) -> Result<(), Self> {
        if stored == computed {
            return Ok(());
        }
        Err(Self {
            version,
            part: part.to_string(),
            stored: words(stored),
            computed: words(computed),
        })
    }
}

impl Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            version,
            part,
            stored,
            computed,
        } = self;
        write!(
            f,
            "version {version}, {part}: stored is {stored}, computed is {computed}"
        )
    }
}

/// Returns the words for a state key.
pub fn key_words(key: &StateKey) -> String {
    match key.decode() {
        Ok(StateKeyParts::Module(id)) => format!("the module {id}"),
        Ok(StateKeyParts::Resource { address, tag }) => format!("the resource {tag} of {address}"),
        Ok(StateKeyParts::ResourceGroup { address, tag }) => {
            format!("the resource group {tag} of {address}")
        }
        Ok(StateKeyParts::TableItem { handle, key }) => {
            format!("the item 0x{} of the table {handle}", hex::encode(key))
        }
        Err(_) => format!("the state key {key:?}"),
    }
}

/// Returns the words for a write.
pub fn write_words(write: &WriteOp) -> String {
    match write {
        WriteOp::Create(value) => format!("created with the value {}", bytes_words(value)),
        WriteOp::Modify(value) => format!("changed to the value {}", bytes_words(value)),
        WriteOp::Delete => "deleted".to_owned(),
    }
}

/// Returns bytes in hexadecimal, cut off behind [`VALUE_BYTES_MAX`].
fn bytes_words(bytes: &[u8]) -> String {
    match bytes.get(..VALUE_BYTES_MAX) {
        Some(begin) if begin.len() < bytes.len() => {
            format!("0x{}… ({} bytes)", hex::encode(begin), bytes.len())
        }
        _ => format!("0x{}", hex::encode(bytes)),
    }
}
