//! Metrics of the blocks that validators propose.

use ledger_metrics::{Counter, Gauge, counters};

counters! {
    /// Metrics of proposed blocks, updated by the sequencer.
    pub(crate) struct ProposalMeter;

    /// Snapshot of the proposed blocks.
    #[derive(Clone, Copy, Debug)]
    pub struct ProposalStatus {
        /// Proposed blocks of heights that are not decided.
        pub undecided: Gauge,
        /// Proposed blocks that broke a rule of the chain.
        pub rejected: Counter,
    }
}
