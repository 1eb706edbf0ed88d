//! The pruner: has the storage remove what is older than the window, one bounded step at a time.

mod window;

use crate::{
    PrunerConfig,
    committer::messages::BlockCommitted,
    mailbox::{Port, receives_mail},
    storage::messages::{Prune, PruneDone},
};
use actix::{Actor, Context, Handler};
use ledger::LedgerInfo;
use window::Window;

/// The actor's name.
pub(crate) const NAME: &str = "pruner";

/// The actor. It has no messages of its own: it hears of new blocks and of steps that are done.
#[derive(Debug)]
pub(crate) struct Pruner {
    window: Window,
    storage: Port<Prune>,
}

impl Pruner {
    /// A pruner of the ledger that `ledger_info` tells of.
    pub(crate) fn new(config: PrunerConfig, ledger_info: &LedgerInfo, storage: Port<Prune>) -> Self {
        Self {
            window: Window::new(config, ledger_info),
            storage,
        }
    }

    fn step_if_due(&mut self) {
        if let Some(below_version) = self.window.next_step() {
            self.storage.tell(Prune {
                below_version,
                versions_max: self.window.step_versions(),
            });
        }
    }
}

impl Actor for Pruner {
    type Context = Context<Self>;

    /// The window may have become smaller since the last run.
    fn started(&mut self, _: &mut Self::Context) {
        self.step_if_due();
    }
}

receives_mail!(Pruner);

impl Handler<BlockCommitted> for Pruner {
    type Result = ();

    fn handle(&mut self, committed: BlockCommitted, _: &mut Self::Context) {
        self.window.grow(committed.0.last_version());
        self.step_if_due();
    }
}

impl Handler<PruneDone> for Pruner {
    type Result = ();

    fn handle(&mut self, PruneDone(pruned): PruneDone, _: &mut Self::Context) {
        self.window.shrink(pruned.oldest_version, pruned.done);
        self.step_if_due();
    }
}
