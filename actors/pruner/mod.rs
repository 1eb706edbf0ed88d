//! The pruner: requests that storage removes versions below the prune horizon, in bounded steps.
//!
//! The pruner starts no step while disk space is low. A step writes new pages before it frees old
//! ones, and the freed pages stay in the ledger's file, so a step only reduces the free disk
//! space.

mod directory_limit;
pub(crate) mod meter;
mod window;

use crate::{
    PrunerConfig,
    protocol::{
        broadcast::{BlockCommitted, SetPaused},
        pruner::{CheckDirectory, PruneDone},
        storage::PruneStep,
    },
    runtime::{
        actor::{Actor, ActorMessage as _, Handler},
        mailbox::Recipient,
        timer::{TimedActor, Timer},
    },
    state::directory_size::DirectorySize,
};
use directory_limit::{DirectoryLimit, VERSIONS_MIN};
use ledger_store::{PruneBound, UsageMeter};
use ledger_types::LedgerInfo;
use meter::PrunerMeter;
use std::{sync::Arc, time::Duration};
use window::{Newest, Window};

/// Time between two checkpoints that the pruner requests while the directory exceeds its limit.
///
/// Under load there are checkpoints anyway. On an idle node each one shows how much the versions
/// that were removed before it have freed.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// The recipient of the pruner's messages.
#[derive(Debug)]
pub(crate) struct PrunerPeers {
    pub(crate) storage: Recipient<PruneStep>,
}

/// The pruner actor. It receives notifications of committed blocks and of completed steps.
#[derive(Debug)]
pub(crate) struct Pruner {
    window: Window,
    limit: Option<DirectoryLimit>,
    /// Size of database and log, measured at checkpoints.
    usage: UsageMeter,
    size: DirectorySize,
    peers: PrunerPeers,
    meter: Arc<PrunerMeter>,
    is_limit_exceeded: bool,
    is_paused: bool,
}

impl Pruner {
    /// Creates a pruner of the ledger that `ledger_info` describes. `usage` is the size of the
    /// store.
    pub(crate) fn new(
        config: PrunerConfig,
        ledger_info: &LedgerInfo,
        usage: UsageMeter,
        size: DirectorySize,
        peers: PrunerPeers,
        meter: Arc<PrunerMeter>,
    ) -> Self {
        let limit = match config.enabled {
            true => DirectoryLimit::new(config.window_bytes, config.batch_versions),
            false => None,
        };
        Self {
            limit,
            window: Window::new(config, ledger_info),
            usage,
            size,
            peers,
            meter,
            is_limit_exceeded: false,
            is_paused: false,
        }
    }

    /// Compares the directory with its limit, starts a step if one is due, and updates the metrics.
    fn work(&mut self) {
        if let Some(limit) = &mut self.limit {
            limit.update(self.usage.usage(), self.size.saved_pool_bytes());
            self.window.set_fitting_versions(limit.fitting_versions());
        }
        if !self.is_paused
            && let Some(bound) = self.window.next_step()
        {
            self.send_step(bound, false);
        }
        self.report_limit();
        let lag = usize::try_from(self.window.lag_versions()).unwrap_or(usize::MAX);
        self.meter.lag_versions.set(lag);
    }

    fn send_step(&self, bound: PruneBound, is_checkpoint: bool) {
        self.peers.storage.send(PruneStep {
            bound,
            versions_max: self.window.step_versions(),
            timed_versions: self.window.timed_versions(),
            is_checkpoint,
        });
    }

    /// Reports whether the limit decides the window, and whether the directory exceeds it although
    /// nothing more can be removed. The log has one line when the latter begins, and one when it
    /// ends.
    fn report_limit(&mut self) {
        let Some(limit) = &self.limit else {
            return;
        };
        let is_limited = limit.is_near() && self.window.is_below_minimums();
        self.size.set_window_limited(is_limited);
        self.meter.limited.set(usize::from(is_limited));
        let is_exceeded = limit.is_above_with_smallest_window();
        let can_fit = limit.is_above() && !is_exceeded;
        self.size.set_must_free_pages(can_fit);
        if std::mem::replace(&mut self.is_limit_exceeded, is_exceeded) == is_exceeded {
            return;
        }
        self.meter.limit_exceeded.set(usize::from(is_exceeded));
        let (directory_bytes, limit_bytes) = (limit.directory_bytes(), limit.limit_bytes());
        match is_exceeded {
            true => tracing::warn!(
                directory_bytes,
                limit_bytes,
                retained_versions = VERSIONS_MIN,
                "the data directory exceeds pruner.window_bytes with the smallest window; the node \
                 continues, and nothing more can be pruned: raise the limit"
            ),
            false => tracing::info!(
                directory_bytes,
                limit_bytes,
                "the data directory is within pruner.window_bytes again"
            ),
        }
    }
}

impl Actor for Pruner {
    const NAME: &'static str = "pruner";
    const CAPACITY: &'static str = "actors.pruner.mailbox_capacity";
    const LABELS: &'static [&'static str] = &[
        BlockCommitted::LABEL,
        SetPaused::LABEL,
        PruneDone::LABEL,
        CheckDirectory::LABEL,
    ];

    /// Starts a step if the configured window has become smaller since the last run.
    fn started(&mut self) {
        self.work();
    }
}

impl TimedActor for Pruner {
    fn timers(&self) -> Vec<Timer<Self>> {
        match self.limit {
            Some(_) => vec![Timer::every(CHECK_INTERVAL, CheckDirectory)],
            None => Vec::new(),
        }
    }
}

impl Handler<BlockCommitted> for Pruner {
    fn handle(&mut self, committed: BlockCommitted) {
        self.window.extend(Newest {
            version: committed.block.last_version(),
            timestamp_usecs: committed.block.header.timestamp_usecs,
        });
        self.work();
    }
}

impl Handler<SetPaused> for Pruner {
    fn handle(&mut self, pause: SetPaused) {
        self.is_paused = pause.0;
        self.work();
    }
}

impl Handler<PruneDone> for Pruner {
    fn handle(&mut self, done: PruneDone) {
        self.window.complete_step(done.pruned, done.timed_usecs);
        self.work();
    }
}

impl Handler<CheckDirectory> for Pruner {
    /// Requests a checkpoint while the directory exceeds its limit, no step is due, and pruning can
    /// change that.
    fn handle(&mut self, CheckDirectory(turn): CheckDirectory) {
        self.work();
        let is_above = self.limit.as_ref().is_some_and(DirectoryLimit::is_above);
        if is_above
            && !self.is_limit_exceeded
            && !self.is_paused
            && let Some(bound) = self.window.empty_step()
        {
            self.send_step(bound, true);
        }
        drop(turn);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::{
        fatal::FatalErrorReporter,
        mailbox::{Mailbox, MailboxControl as _},
    };
    use ledger_test_support::block::{block, ledger_info};
    use tokio::sync::mpsc;

    #[actix::test]
    async fn paused_pruner_starts_no_step_until_it_resumes() {
        let (step_sender, mut steps) = mpsc::unbounded_channel();
        let config = PrunerConfig {
            window_versions: 1,
            batch_versions: 1,
            ..PrunerConfig::default()
        };
        let storage = Recipient::new(move |step: PruneStep| step_sender.send(step).unwrap());
        let actor = Pruner::new(
            config,
            &ledger_info(0),
            UsageMeter::default(),
            DirectorySize::default(),
            PrunerPeers { storage },
            Arc::default(),
        );
        let pruner = Mailbox::start_here("storage", 1, actor, &FatalErrorReporter::new());
        pruner.send(SetPaused(true));
        for height in 1..=5 {
            pruner.send(BlockCommitted {
                block: block(height, &[], &[]),
                execution_usecs: 0,
                group_end: None,
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
