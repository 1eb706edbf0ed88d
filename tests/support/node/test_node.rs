//! Processes of the binary, on free ports, in directories that are deleted after them.

use super::{binary, until};
use crate::http::{HttpClient, NodeClient, TestCertificate};
use std::{
    fs::{self, File},
    io::{BufRead as _, BufReader},
    net::TcpListener,
    ops::Deref,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::Arc,
};
use tempfile::TempDir;

/// A node that was ready once. It is killed when it is dropped.
#[derive(Debug)]
pub struct TestNode {
    child: Child,
    directory: Arc<TempDir>,
    settings: Vec<String>,
    /// The lines that the node printed before the ready line.
    pub greeting: Vec<String>,
    /// The client of the node. It stays valid after the end of the node.
    pub client: NodeClient,
}

impl Deref for TestNode {
    type Target = NodeClient;

    fn deref(&self) -> &NodeClient {
        &self.client
    }
}

impl TestNode {
    /// Starts a node with these settings (`key=value`) and the default ones.
    pub fn start(settings: &[&str]) -> Self {
        let settings = settings.iter().map(|&setting| setting.to_owned()).collect();
        Self::start_in(Arc::new(tempfile::tempdir().unwrap()), settings)
    }

    /// Starts a node that serves its public listener with this certificate.
    pub fn start_tls(certificate: &TestCertificate, settings: &[&str]) -> Self {
        let tls = tls_settings(&certificate.certificate_file(), &certificate.key_file());
        let settings: Vec<_> = tls
            .iter()
            .map(String::as_str)
            .chain(settings.iter().copied())
            .collect();
        Self::start(&settings)
    }

    /// Starts a node as [`TestNode::start`] does, in a directory that may hold a ledger.
    pub fn start_in(directory: Arc<TempDir>, settings: Vec<String>) -> Self {
        let command = Self::command(directory.path(), &settings);
        Self::spawn(command, directory, settings)
    }

    /// Starts a node by [`TestNode::command`], or by a command that wraps it.
    ///
    /// # Panics
    ///
    /// Panics if the node ends before it is ready.
    pub fn spawn(command: Command, directory: Arc<TempDir>, settings: Vec<String>) -> Self {
        // Not deleted before the log is printed.
        let kept = Arc::clone(&directory);
        Self::try_spawn(command, directory, settings).unwrap_or_else(|status| {
            let log = fs::read_to_string(log_file(&kept)).unwrap();
            panic!("the node ended with {status} before it was ready:\n{log}");
        })
    }

    /// Starts a node as [`TestNode::spawn`] does. Returns its exit status if it ends before it is
    /// ready.
    pub fn try_spawn(
        command: Command,
        directory: Arc<TempDir>,
        settings: Vec<String>,
    ) -> Result<Self, ExitStatus> {
        let log = File::options()
            .create(true)
            .append(true)
            .open(log_file(&directory));
        Self::try_spawn_logging_to(log.unwrap(), command, directory, settings)
    }

    /// Starts a node as [`TestNode::try_spawn`] does, with `log` as its standard error instead of
    /// the file that [`TestNode::log`] reads.
    pub fn try_spawn_logging_to(
        log: impl Into<Stdio>,
        mut command: Command,
        directory: Arc<TempDir>,
        settings: Vec<String>,
    ) -> Result<Self, ExitStatus> {
        let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        // The command holds the parent's end of a pipe.
        drop(command);
        let mut greeting = Vec::new();
        let stdout = child.stdout.take().unwrap();
        for line in BufReader::new(stdout).lines() {
            let line = line.unwrap();
            if let Some(words) = line.strip_prefix("ready ") {
                let address = |name: &str| {
                    let mut pairs = words.split(' ').filter_map(|word| word.split_once('='));
                    pairs
                        .find(|(key, _)| *key == name)
                        .map(|(_, url)| url.to_owned())
                };
                return Ok(Self {
                    client: NodeClient {
                        api: address("api").unwrap(),
                        graphql: address("graphql"),
                        faucet: address("faucet"),
                        admin: address("admin").unwrap(),
                        http: HttpClient::new(),
                    },
                    child,
                    directory,
                    settings,
                    greeting,
                });
            }
            greeting.push(line);
        }
        Err(child.wait().unwrap())
    }

    /// Returns settings with which a start fails after it has opened the ledger: two listeners have
    /// one address. No other test listens on this loopback address, so its port stays free.
    pub fn settings_of_a_late_failure() -> [String; 2] {
        let unused = TcpListener::bind("127.0.0.9:0").unwrap();
        let address = unused.local_addr().unwrap();
        ["api", "admin"].map(|name| format!("{name}.listen={address}"))
    }

    /// Returns the command that starts a node in `directory` on free ports.
    pub fn command(directory: &Path, settings: &[String]) -> Command {
        let mut command = binary();
        command
            .arg("run")
            .arg("--data-dir")
            .arg(directory.join("data"));
        let ports = ["api", "faucet", "admin"].map(|name| format!("{name}.listen=127.0.0.1:0"));
        for setting in ports.iter().chain(settings) {
            command.args(["--set", setting]);
        }
        command
    }

    /// Returns the command that executes `inner` by a wrapper. `wrapper` is its program and its
    /// arguments before `inner`.
    pub fn wrapped(wrapper: &[&str], inner: &Command) -> Command {
        let mut command = Command::new(wrapper[0]);
        command.args(&wrapper[1..]).arg(inner.get_program());
        copy_arguments(inner, command)
    }

    /// Returns the command `inner` with another program.
    pub fn with_program(program: &Path, inner: &Command) -> Command {
        copy_arguments(inner, Command::new(program))
    }

    /// Returns the command that executes `inner` under a limit, given as options of `ulimit`.
    pub fn limited(limit: &str, inner: &Command) -> Command {
        let script = format!("ulimit {limit}; exec \"$@\"");
        Self::wrapped(&["sh", "-c", &script, "sh"], inner)
    }

    /// Returns the directory of the node.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Returns the directory of the node, which a next node can start in.
    pub fn shared_directory(&self) -> Arc<TempDir> {
        Arc::clone(&self.directory)
    }

    /// Returns the settings that are not the default ones.
    pub fn settings(&self) -> &[String] {
        &self.settings
    }

    /// Returns the process id.
    pub fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the log, which is complete after the start and after the end. The line of a request
    /// may be written after its response; see [`TestNode::logged`].
    pub fn log(&self) -> String {
        fs::read_to_string(log_file(&self.directory)).unwrap()
    }

    /// Returns the log once it contains `words`.
    pub async fn logged(&self, words: &str) -> String {
        until(&format!("{words:?} in the log"), || {
            let log = self.log();
            async move { log.contains(words).then_some(log) }
        })
        .await
    }

    /// Kills the process.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends a signal to the process and waits until it has ended.
    pub fn stop(&mut self, signal: &str) -> ExitStatus {
        self.signal(signal);
        self.child.wait().unwrap()
    }

    /// Sends a signal to the process.
    pub fn signal(&self, signal: &str) {
        let sent = Command::new("kill")
            .args(["-s", signal, &self.child.id().to_string()])
            .status()
            .unwrap();
        assert!(sent.success());
    }

    /// Starts a new process in the same directory. This one must have ended.
    pub fn restart(self) -> Self {
        Self::start_in(Arc::clone(&self.directory), self.settings.clone())
    }

    /// Starts a new process as [`TestNode::restart`] does, with other settings.
    pub fn restart_with(self, settings: &[&str]) -> Self {
        let settings = settings.iter().map(|&setting| setting.to_owned()).collect();
        Self::start_in(Arc::clone(&self.directory), settings)
    }

    /// Starts a new process as [`TestNode::restart`] does, under a limit on the size of a file.
    pub fn restart_with_file_size_limit(self, file_bytes_max: u64) -> Self {
        let inner = Self::command(self.directory.path(), &self.settings);
        // `ulimit -f` counts blocks of 512 bytes.
        let limited = Self::limited(&format!("-f {}", file_bytes_max / 512), &inner);
        Self::spawn(limited, Arc::clone(&self.directory), self.settings.clone())
    }

    /// Returns the exit status if the process has ended.
    pub fn try_ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// Waits until the process has ended without a signal.
    ///
    /// # Panics
    ///
    /// Panics if it takes too long.
    pub async fn ended_within_patience(&mut self) -> ExitStatus {
        until("the node to end", || {
            let ended = self.child.try_wait().unwrap();
            async move { ended }
        })
        .await
    }
}

impl Drop for TestNode {
    #[expect(
        clippy::print_stderr,
        reason = "the log is a part of the test's failure"
    )]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("log of the node:\n{}", self.log());
        }
        // Errors mean that the process has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the settings that name the files of a certificate and its key.
pub fn tls_settings(certificate: &Path, key: &Path) -> [String; 2] {
    [
        format!("api.tls_certificate={}", certificate.display()),
        format!("api.tls_private_key={}", key.display()),
    ]
}

/// Returns `to` with the arguments and the environment of `from`.
fn copy_arguments(from: &Command, mut to: Command) -> Command {
    to.args(from.get_args());
    for (name, value) in from.get_envs() {
        match value {
            Some(value) => to.env(name, value),
            None => to.env_remove(name),
        };
    }
    to
}

fn log_file(directory: &TempDir) -> PathBuf {
    directory.path().join("node.err")
}
