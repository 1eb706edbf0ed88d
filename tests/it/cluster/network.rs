//! Network namespaces of this machine, which `tests/network/switch.py` joins with delay, loss and
//! partitions.

use ledger_test_support::{
    http::HttpClient,
    node::{TestNode, skip, until},
};
use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

/// Program that joins the namespaces.
const SWITCH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/network/switch.py");

/// Number of addresses of clients.
const CLIENT_ADDRESSES: usize = 55;

/// One direction between two nodes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Link {
    pub delay_ms: u32,
    /// Maximum of the random part of the delay.
    pub jitter_ms: u32,
    /// Probability of a loss. A link that loses everything is cut.
    pub loss: f64,
}

impl Link {
    /// A link that transmits nothing.
    pub const CUT: Self = Self {
        delay_ms: 0,
        jitter_ms: 0,
        loss: 1.0,
    };
}

/// A node's part of the network.
struct Place {
    host: String,
    /// File that names the namespace.
    namespace: String,
}

/// A process that is killed when it is dropped.
pub struct Process(Child);

impl Process {
    /// Starts a process.
    pub fn spawn(command: &mut Command) -> Self {
        Self(command.spawn().unwrap())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Errors mean that the process has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The program that joins the namespaces.
struct Switch {
    _process: Process,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Switch {
    fn read_line(&mut self) -> Option<String> {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        line.strip_suffix('\n').map(str::to_owned)
    }
}

/// Namespaces with links between all of them. They end with the processes in them.
pub struct Network {
    places: Vec<Place>,
    clients: String,
    switch: Mutex<Switch>,
}

impl Network {
    /// Creates the namespaces.
    ///
    /// Prints that the test is skipped, and returns `None`, without the rights of root.
    ///
    /// # Panics
    ///
    /// Panics instead of returning `None` if the environment variable `CI` is set.
    pub fn new(nodes: usize) -> Option<Arc<Self>> {
        let mut child = Command::new("python3")
            .args([SWITCH, &nodes.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut switch = Switch {
            commands: child.stdin.take().unwrap(),
            answers: BufReader::new(child.stdout.take().unwrap()),
            _process: Process(child),
        };
        let mut places = Vec::new();
        loop {
            let Some(line) = switch.read_line() else {
                return skip("needs the rights of root, to create network namespaces");
            };
            if line == "ready" {
                break;
            }
            let (host, namespace) = line.split_once(' ').unwrap();
            places.push(Place {
                host: host.to_owned(),
                namespace: namespace.to_owned(),
            });
        }
        let clients = places.pop().unwrap().host;
        Some(Arc::new(Self {
            places,
            clients,
            switch: Mutex::new(switch),
        }))
    }

    /// Returns the address of a node.
    pub fn host(&self, node: usize) -> &str {
        &self.places[node].host
    }

    /// Returns the command that executes `inner` in the namespace of a node.
    pub fn wrap(&self, node: usize, inner: &Command) -> Command {
        let namespace = format!("--net={}", self.places[node].namespace);
        TestNode::wrapped(&["nsenter", &namespace], inner)
    }

    /// Returns a client with an address of its own.
    pub fn client(&self, number: usize) -> HttpClient {
        assert!(number < CLIENT_ADDRESSES, "{number}");
        let (network, first) = self.clients.rsplit_once('.').unwrap();
        let last = first.parse::<usize>().unwrap() + number;
        HttpClient::from_address(format!("{network}.{last}").parse().unwrap())
    }

    /// Sets the direction from one node to another one.
    pub fn set(&self, from: usize, to: usize, link: Link) {
        self.command(&from.to_string(), &to.to_string(), link);
    }

    /// Sets all links between nodes.
    pub fn set_all(&self, link: Link) {
        self.command("*", "*", link);
    }

    fn command(&self, from: &str, to: &str, link: Link) {
        let Link {
            delay_ms,
            jitter_ms,
            loss,
        } = link;
        let line = format!("link {from} {to} {delay_ms} {jitter_ms} {loss}\n");
        let mut switch = self.switch.lock().unwrap();
        switch.commands.write_all(line.as_bytes()).unwrap();
        assert_eq!(switch.read_line().as_deref(), Some("ok"));
    }
}

/// Starts a program that answers a request of another namespace.
#[tokio::test]
#[ignore = "needs root and TUN devices"]
async fn delays_and_cuts_what_nodes_send_each_other() {
    const DELAY: Duration = Duration::from_millis(60);
    let Some(network) = Network::new(2) else {
        return;
    };
    let node = |number: usize, program: &str| {
        let mut inner = Command::new("python3");
        inner.args(["-c", program, network.host(1)]);
        network.wrap(number, &inner)
    };
    let _server = Process::spawn(&mut node(1, SERVER));
    let client = || {
        let began = Instant::now();
        let output = node(0, CLIENT).output().unwrap();
        (output.stdout == b"pong", began.elapsed())
    };
    until("an answer", || async { client().0.then_some(()) }).await;

    network.set_all(Link {
        delay_ms: DELAY.as_millis() as u32,
        ..Link::default()
    });
    let (is_answered, elapsed) = client();
    // A connection, and the answer after it.
    assert!(is_answered && elapsed >= 4 * DELAY, "{elapsed:?}");

    network.set_all(Link::default());
    network.set(1, 0, Link::CUT);
    assert!(!client().0, "one direction is cut");
    network.set_all(Link::default());
    assert!(client().0, "healed");
}

/// Answers one word to each connection.
const SERVER: &str = "
import socket, sys
listener = socket.create_server((sys.argv[1], 7000))
while True:
    connection, _ = listener.accept()
    connection.sendall(connection.recv(4).replace(b'i', b'o'))
    connection.close()
";

/// Prints the answer to one word.
const CLIENT: &str = "
import socket, sys
connection = socket.create_connection((sys.argv[1], 7000), timeout=2)
connection.sendall(b'ping')
sys.stdout.write(connection.recv(4).decode())
";
