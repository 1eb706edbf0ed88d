//! The threads of a node that are behind queues, and the monitor of their progress.

use super::{
    handle::{NodeHandle, NodeParts},
    meters::Meters,
    parts::{Services, Workers},
    renderers::RenderersGuard,
    stalls::StallMonitor,
};
use crate::{runtime::fatal::FatalErrorReporter, signatures::ShutdownGuard};
use std::{io, thread::JoinHandle, time::Duration};

/// The threads of a node behind queues, and the guards that keep some of them alive.
#[derive(Debug)]
pub(super) struct Threads {
    handles: Vec<JoinHandle<()>>,
    _signatures: ShutdownGuard,
    _renderers: RenderersGuard,
}

impl Threads {
    /// Starts the threads.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system if a thread cannot be started.
    pub(super) fn spawn(
        workers: Workers,
        services: Services,
        handle: &NodeHandle,
    ) -> io::Result<Self> {
        let NodeParts {
            chain,
            config,
            mailboxes,
            queues,
            reporter,
            stalls,
            ..
        } = handle.node();
        let meters = &mailboxes.meters;
        let mut handles = workers.spawn(reporter, meters)?;
        if let Some(scrubber) = services.scrubber {
            handles.push(scrubber.spawn(reporter)?);
        }
        let watches = stalls.watches();
        let (signatures, checking) = services
            .signatures
            .start_threads(chain, reporter, watches)?;
        handles.extend(checking);
        let (turns, meter) = (&services.renderer_turns, &meters.renderers);
        let rendering = &queues.renderers;
        handles.extend(rendering.spawn(&config.work, turns, reporter, meter)?);
        Ok(Self {
            handles,
            _signatures: signatures,
            _renderers: services.renderers,
        })
    }

    /// Drops the guards, and returns the threads, which end when their queues are disconnected.
    pub(super) fn release(self) -> Vec<JoinHandle<()>> {
        self.handles
    }
}

impl Workers {
    /// Starts the threads.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system if a thread cannot be started.
    fn spawn(
        self,
        reporter: &FatalErrorReporter,
        meters: &Meters,
    ) -> io::Result<Vec<JoinHandle<()>>> {
        let mut threads = vec![
            self.executor.spawn(reporter, &meters.executor)?,
            self.writer.spawn(reporter, &meters.writer)?,
            self.applier.spawn(reporter, &meters.applier)?,
            self.point_reader.spawn(reporter, &meters.point_reader)?,
        ];
        if let Some(log) = self.consensus_log {
            threads.push(log.spawn(reporter, &meters.consensus_log)?);
        }
        for reader in self.readers {
            threads.push(reader.spawn(reporter, &meters.readers)?);
        }
        Ok(threads)
    }
}

/// Watches the actors and threads, and starts the monitor of their progress.
///
/// # Errors
///
/// Returns the error of the operating system if the thread cannot be started.
pub(super) fn watch(handle: &NodeHandle) -> io::Result<StallMonitor> {
    let NodeParts {
        config,
        mailboxes,
        reporter,
        stalls,
        ..
    } = handle.node();
    mailboxes.watch(stalls);
    let limit = Duration::from_secs(config.stalls.secs);
    StallMonitor::start(stalls.clone(), limit, reporter)
}
