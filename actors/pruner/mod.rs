//! The pruner: requests that storage removes versions below the prune horizon, in bounded steps.
//!
//! The pruner starts no step while disk space is low. A step writes new pages before it frees old
//! ones, and the freed pages stay in the ledger's file, so a step only reduces the free disk
//! space.

mod window;

use crate::{
    PrunerConfig,
    protocol::{
        broadcast::{BlockCommitted, SetPaused},
        pruner::PruneDone,
        storage::PruneStep,
    },
    runtime::{
        actor::{Actor, ActorMessage as _, Handler},
        mailbox::Recipient,
        timer::TimedActor,
    },
};
use ledger_types::LedgerInfo;
use window::Window;

/// The pruner actor. It receives notifications of committed blocks and of completed steps.
#[derive(Debug)]
pub(crate) struct Pruner {
    window: Window,
    storage: Recipient<PruneStep>,
    is_paused: bool,
}

impl Pruner {
    /// Creates a pruner of the ledger that `ledger_info` describes.
    pub(crate) fn new(
        config: PrunerConfig,
        ledger_info: &LedgerInfo,
        storage: Recipient<PruneStep>,
    ) -> Self {
        Self {
            window: Window::new(config, ledger_info),
            storage,
            is_paused: false,
        }
    }

    fn start_step_if_due(&mut self) {
        if self.is_paused {
            return;
        }
        if let Some(below_version) = self.window.next_step() {
            self.storage.send(PruneStep {
                below_version,
                versions_max: self.window.step_versions(),
            });
        }
    }
}

impl Actor for Pruner {
    const NAME: &'static str = "pruner";
    const CAPACITY: &'static str = "actors.pruner.mailbox_capacity";
    const LABELS: &'static [&'static str] =
        &[BlockCommitted::LABEL, SetPaused::LABEL, PruneDone::LABEL];

    /// Starts a step if the configured window has become smaller since the last run.
    fn started(&mut self) {
        self.start_step_if_due();
    }
}

impl TimedActor for Pruner {}

impl Handler<BlockCommitted> for Pruner {
    fn handle(&mut self, committed: BlockCommitted) {
        self.window.extend(committed.block.last_version());
        self.start_step_if_due();
    }
}

impl Handler<SetPaused> for Pruner {
    fn handle(&mut self, pause: SetPaused) {
        self.is_paused = pause.0;
        self.start_step_if_due();
    }
}

impl Handler<PruneDone> for Pruner {
    fn handle(&mut self, PruneDone(pruned): PruneDone) {
        self.window
            .complete_step(pruned.oldest_version, pruned.done);
        self.start_step_if_due();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        runtime::{
            fatal::FatalErrorReporter,
            mailbox::{Mailbox, MailboxControl as _},
        },
        testing::{block, ledger_info},
    };
    use tokio::sync::mpsc;

    #[actix::test]
    async fn paused_pruner_starts_no_step_until_it_resumes() {
        let (step_sender, mut steps) = mpsc::unbounded_channel();
        let config = PrunerConfig {
            enabled: true,
            window_versions: 1,
            batch_versions: 1,
        };
        let storage = Recipient::new(move |step: PruneStep| step_sender.send(step).unwrap());
        let actor = Pruner::new(config, &ledger_info(0), storage);
        let pruner = Mailbox::start_here("storage", 1, actor, &FatalErrorReporter::new());
        pruner.send(SetPaused(true));
        for height in 1..=5 {
            pruner.send(BlockCommitted {
                block: block(height, &[], &[]),
                execution_usecs: 0,
                group_write_usecs: None,
            });
        }
        while pruner.status().handled < pruner.status().protocol {
            tokio::task::yield_now().await;
        }
        assert!(steps.try_recv().is_err());
        pruner.send(SetPaused(false));
        assert!(steps.recv().await.is_some());
    }
}
