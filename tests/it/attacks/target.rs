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
    sync::Arc,
    thread,
};
use tempfile::TempDir;
use tokio::sync::{Mutex, MutexGuard};

/// Hard limit on open files of [`with_few_open_files`]: more than the bench has connections, and
/// few enough that the attack exceeds them immediately.
const OPEN_FILES: &str = "-n 300";
/// Memory for bodies of [`with_little_memory_for_bodies`]. Three quarters of it hold less than half
/// of the bodies that the attack sends concurrently.
const BODIES: &str = "api.bodies_bytes_max=16777216";

/// A node.
pub struct Target {
    node: TestNode,
    /// The gate of the reader of the log, if the log is a pipe.
    log_gate: Option<Arc<Mutex<()>>>,
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
            log_gate: None,
        }
    }
}

impl Target {
    /// Returns the log, or an empty text if it is a pipe.
    pub fn log(&self) -> String {
        match self.log_gate {
            None => self.node.log(),
            Some(_) => String::new(),
        }
    }

    /// Pauses the reader of the log until the guard is dropped.
    pub async fn pause_log(&self) -> MutexGuard<'_, ()> {
        self.log_gate.as_ref().unwrap().lock().await
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
    let gate = Arc::default();
    read_log(pipe, Arc::clone(&gate));
    let log_gate = Some(gate);
    ready(Some(Target { node, log_gate })).boxed()
}

/// Returns a started node as a target.
fn ready_target(node: TestNode) -> BoxFuture<'static, Option<Target>> {
    ready(Some(node.into())).boxed()
}

/// Reads a pipe to its end by a thread, which pauses while `gate` is locked.
fn read_log(mut pipe: PipeReader, gate: Arc<Mutex<()>>) {
    thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        while pipe.read(&mut buffer).unwrap() > 0 {
            drop(gate.blocking_lock());
        }
    });
}
