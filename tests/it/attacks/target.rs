//! The nodes under attack.

use crate::{
    log_reader::{lost_lines, unread_node},
    threads::node_without_threads,
};
use futures::future::{BoxFuture, FutureExt as _, ready};
use ledger_test_support::node::TestNode;
use std::{
    io::{PipeReader, Read as _},
    ops::Deref,
    sync::{Arc, Condvar, Mutex},
    thread,
};
use tempfile::TempDir;

/// Hard limit on open files of [`with_few_open_files`]: more than the bench has connections, and
/// few enough that the attack exceeds them immediately.
const OPEN_FILES: &str = "-n 300";
/// Memory for bodies of [`with_little_memory_for_bodies`]. Three quarters of it hold less than half
/// of the bodies that the attack sends concurrently.
const BODIES: &str = "api.bodies_bytes_max=16777216";

/// A node, and the reader of its log if that is a pipe.
pub struct Target {
    node: TestNode,
    log_reader: Option<Arc<LogReader>>,
}

impl Deref for Target {
    type Target = TestNode;

    fn deref(&self) -> &TestNode {
        &self.node
    }
}

impl From<TestNode> for Target {
    fn from(node: TestNode) -> Self {
        Self {
            node,
            log_reader: None,
        }
    }
}

impl Target {
    /// Returns the log, or an empty text if it is a pipe.
    pub fn log(&self) -> String {
        match self.log_reader {
            None => self.node.log(),
            Some(_) => String::new(),
        }
    }

    /// Pauses or resumes reading the log.
    pub fn pause_log(&self, is_paused: bool) {
        self.log_reader.as_ref().unwrap().pause(is_paused);
    }

    /// Returns the number of lines of the log that were lost.
    pub async fn lost_lines(&self) -> u64 {
        lost_lines(&self.node).await
    }
}

/// Starts a node with the default settings.
pub fn default_settings() -> BoxFuture<'static, Option<Target>> {
    ready_target(TestNode::start(&[]))
}

/// Starts a node with little memory for bodies.
pub fn with_little_memory_for_bodies() -> BoxFuture<'static, Option<Target>> {
    ready_target(TestNode::start(&[BODIES]))
}

/// Starts a node under a low limit on open files.
pub fn with_few_open_files() -> BoxFuture<'static, Option<Target>> {
    let directory = Arc::new(TempDir::new().unwrap());
    let command = TestNode::limited(OPEN_FILES, &TestNode::command(directory.path(), &[]));
    ready_target(TestNode::spawn(command, directory, Vec::new()))
}

/// Starts a node that cannot start further threads. Returns `None` without the right to limit it.
pub fn without_threads() -> BoxFuture<'static, Option<Target>> {
    let directory = Arc::new(TempDir::new().unwrap());
    let node = node_without_threads(directory, Vec::new());
    async { Some(node.await?.into()) }.boxed()
}

/// Starts a node whose log, at debug level, is a pipe. A thread reads the pipe until it is paused.
pub fn with_piped_log() -> BoxFuture<'static, Option<Target>> {
    let (node, pipe) = unread_node();
    let log_reader = Some(LogReader::start(pipe));
    ready(Some(Target { node, log_reader })).boxed()
}

/// Returns a started node as a target.
fn ready_target(node: TestNode) -> BoxFuture<'static, Option<Target>> {
    ready(Some(node.into())).boxed()
}

/// A thread that reads a pipe and can be paused.
#[derive(Default)]
struct LogReader {
    is_paused: Mutex<bool>,
    changed: Condvar,
}

impl LogReader {
    /// Starts the thread, which ends with the pipe.
    fn start(mut pipe: PipeReader) -> Arc<Self> {
        let reader = Arc::new(Self::default());
        let this = Arc::clone(&reader);
        thread::spawn(move || {
            let mut buffer = vec![0; 64 * 1024];
            while pipe.read(&mut buffer).unwrap() > 0 {
                let is_paused = this.is_paused.lock().unwrap();
                drop(
                    this.changed
                        .wait_while(is_paused, |is_paused| *is_paused)
                        .unwrap(),
                );
            }
        });
        reader
    }

    /// Pauses or resumes the thread.
    fn pause(&self, is_paused: bool) {
        *self.is_paused.lock().unwrap() = is_paused;
        self.changed.notify_all();
    }
}
