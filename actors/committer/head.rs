//! The newest durable moment of the ledger, as one immutable value.

use ledger::LedgerInfo;

/// The newest durable moment of the ledger.
#[derive(Debug)]
pub struct Head {
    ledger_info: LedgerInfo,
}

impl Head {
    /// What every answer carries in its headers.
    pub fn ledger_info(&self) -> &LedgerInfo {
        &self.ledger_info
    }
}
