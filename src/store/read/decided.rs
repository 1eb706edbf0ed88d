//! Decided blocks, as the validators exchange them.

use super::snapshot::Snapshot;
use crate::{
    StoreError,
    tables::{codec::encode, rows::TransactionRow},
};
use bytes::Bytes;
use ledger_types::BlockHeader;

/// A decided block: the header, the ordered transactions and the votes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredDecidedBlock {
    /// The part that the block hash covers.
    pub header: BlockHeader,
    /// Signed transactions in BCS, in the order of the block: the executed and the discarded ones.
    pub transactions: Vec<Bytes>,
    /// Proof of the consensus engine.
    pub certificate: Bytes,
}

impl Snapshot {
    /// Returns the decided block at a height.
    ///
    /// Returns `None` if the block is above the snapshot or pruned, or has no certificate: it is
    /// genesis, or this node ordered it alone.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Database`] if the database fails, and [`StoreError::Inconsistent`] if
    /// a row is missing or damaged.
    pub fn decided_block(&self, height: u64) -> Result<Option<StoredDecidedBlock>, StoreError> {
        let Some(block) = self.block(height)? else {
            return Ok(None);
        };
        if block.certificate.is_empty() {
            return Ok(None);
        }
        let mut discarded = block.discarded.into_iter().peekable();
        let mut transactions = Vec::new();
        let mut version = block.first_version;
        let versions = block.first_version..=block.last_version;
        for row in self.view.tables.transactions.range(versions)? {
            let (found, row) = row?;
            if found.value() != version {
                return Err(missing(version));
            }
            let executed = TransactionRow::decode(row.value(), version)?.transaction;
            version += 1;
            let Some(user) = executed.as_user() else {
                continue;
            };
            while let Some(next) =
                discarded.next_if(|next| next.position as usize == transactions.len())
            {
                transactions.push(next.transaction);
            }
            transactions.push(encode(user)?.into());
        }
        if version != block.last_version + 1 {
            return Err(missing(version));
        }
        transactions.extend(discarded.map(|discarded| discarded.transaction));
        Ok(Some(StoredDecidedBlock {
            header: block.header,
            transactions,
            certificate: block.certificate,
        }))
    }
}

fn missing(version: u64) -> StoreError {
    StoreError::Inconsistent(format!("transaction {version} is missing"))
}
