//! `cluster run`: all nodes of a directory as processes on this machine.

use super::{
    super::{CliError, output},
    arguments::RunArguments,
    targets::nodes,
};
use crate::signals::StopSignals;
use actix_web::rt::System;
use rustix::process::{Pid, Signal, kill_process};
use std::{path::Path, process::Stdio};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, BufReader},
    process::Command,
    task::JoinSet,
};

/// Runs the nodes. Their logs are on standard error, each line behind the name of its node.
/// Standard output has the ready line of each node.
///
/// # Errors
///
/// Returns [`CliError::Fatal`] if the directory has no node, one cannot be started, or one
/// ends before a signal.
pub fn execute(arguments: &RunArguments) -> Result<(), CliError> {
    let directories = nodes(&arguments.dir)?;
    System::new().block_on(async {
        let mut signals = StopSignals::start(|_, signal| {
            CliError::Fatal(format!("a second signal, {signal}, ended the stop")).exit()
        })?;
        signals.record_open();
        let mut cluster = Cluster::default();
        for directory in directories {
            cluster.start(&directory)?;
        }
        let ended = tokio::select! {
            _ = signals.first() => None,
            ended = cluster.nodes.join_next() => ended,
        };
        cluster.stop().await;
        match ended {
            None => Ok(()),
            Some(ended) => {
                let ended = ended.unwrap_or_else(|error| error.to_string());
                Err(CliError::Fatal(format!("{ended}; the others were stopped")))
            }
        }
    })
}

/// The running nodes.
#[derive(Default)]
struct Cluster {
    processes: Vec<Pid>,
    /// Waits for the end of each node, and returns its name and status.
    nodes: JoinSet<String>,
    /// Copies the output of the nodes.
    lines: JoinSet<()>,
}

impl Cluster {
    /// Starts a node, and tasks that copy its output.
    ///
    /// # Errors
    ///
    /// Returns [`CliError::Fatal`] if the process cannot be started.
    fn start(&mut self, directory: &Path) -> Result<(), CliError> {
        let name = directory
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        let mut child = Command::new(std::env::current_exe()?)
            .args(["run", "--config", "node.toml"])
            .current_dir(directory)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A signal of the terminal reaches this process, which then stops the nodes.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| CliError::fatal(format_args!("{name} does not start"), &error))?;
        if let Some(stdout) = child.stdout.take() {
            let name = name.clone();
            self.lines.spawn(copy(stdout, move |line| {
                // A node of a development chain also prints accounts.
                if line.starts_with("ready ") {
                    // The log has the line as well.
                    let _ = output::line(&format!("{name} {line}"));
                }
            }));
        }
        if let Some(stderr) = child.stderr.take() {
            let name = name.clone();
            self.lines
                .spawn(copy(stderr, move |line| output::log_line(&name, line)));
        }
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        self.processes.extend(id.and_then(Pid::from_raw));
        self.nodes.spawn(async move {
            match child.wait().await {
                Ok(status) => format!("{name} ended ({status})"),
                Err(error) => format!("{name} ended ({error})"),
            }
        });
        Ok(())
    }

    /// Stops all nodes that run, and waits for their end.
    async fn stop(self) {
        for process in self.processes {
            // An error means that the node has ended.
            let _ = kill_process(process, Signal::TERM);
        }
        self.nodes.join_all().await;
        self.lines.join_all().await;
    }
}

/// Calls `print` with each line of a stream until it ends.
async fn copy(stream: impl AsyncRead + Unpin, print: impl Fn(&str)) {
    let mut lines = BufReader::new(stream).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        print(&line);
    }
}
