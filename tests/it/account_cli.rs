//! The `account` commands, as a user runs them.

use ledger_client::{NodeClient, http::TrustedRoots, signer::private_key_text};
use ledger_test_support::{
    TestAccount,
    node::{TestNode, binary, until},
};
use ledger_types::AccountAddress;
use std::{
    fs,
    io::{BufRead, BufReader, Write as _},
    mem,
    net::{TcpListener, TcpStream},
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Output, Stdio},
    thread,
};

/// Runs a subcommand of `account`.
fn account(arguments: &[&str]) -> Output {
    binary().arg("account").args(arguments).output().unwrap()
}

/// Returns the output of a successful command.
fn printed(output: &Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Returns the value of `name value` in the output of a command.
fn value<'a>(printed: &'a str, name: &str) -> &'a str {
    printed
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
        .unwrap_or_else(|| panic!("no {name} in {printed}"))
}

/// Creates a file that only its owner can read, and returns its path.
fn private_file(directory: &Path, text: &str) -> String {
    let path = directory.join("text");
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn creates_funds_and_shows_accounts_and_transfers() {
    let node = TestNode::start(&[]);
    let faucet = node.faucet.as_deref().unwrap();
    let key_file = node.directory().join("alice.key");
    let key_file = key_file.to_str().unwrap();

    let alice = printed(&account(&["new", "--out", key_file]));
    let alice = value(&alice, "address").to_owned();
    let mode = fs::metadata(key_file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let again = account(&["new", "--out", key_file]);
    assert_eq!(again.status.code(), Some(1), "a key file was overwritten");

    let bob = printed(&account(&["new"]));
    let (bob, bob_key) = (value(&bob, "address"), value(&bob, "private key"));
    let bob_file = private_file(node.directory(), bob_key);

    printed(&account(&["fund", "--faucet", faucet, &alice, "500000000"]));
    let transfer = printed(&account(&[
        "transfer",
        "--url",
        &node.api,
        "--key",
        key_file,
        bob,
        "100000000",
    ]));
    assert!(transfer.contains("committed at version "), "{transfer}");
    assert!(transfer.contains("Executed successfully"), "{transfer}");

    let state = printed(&account(&["show", "--url", &node.api, bob]));
    assert_eq!(value(&state, "balance"), "100000000");
    assert_eq!(value(&state, "sequence_number"), "0");
    let back = printed(&account(&[
        "transfer", "--url", &node.api, "--key", &bob_file, &alice, "1000",
    ]));
    assert!(back.contains("committed"), "{back}");
    let state = printed(&account(&["show", "--url", &node.api, bob]));
    assert_eq!(value(&state, "sequence_number"), "1");
}

#[test]
fn prints_the_address_of_a_key_and_whether_it_was_ever_seen() {
    let node = TestNode::start(&[]);
    let key = node.directory().join("alice.key");
    let key = key.to_str().unwrap();
    let new = printed(&account(&["new", "--out", key]));
    let address = printed(&account(&["address", "--key", key]));
    assert_eq!(address.trim(), value(&new, "address"));
    let show = || printed(&account(&["show", "--url", &node.api, address.trim()]));
    let unseen = "never seen on this chain";
    assert!(show().contains(unseen), "{}", show());
    let faucet = node.faucet.as_deref().unwrap();
    printed(&account(&["fund", "--faucet", faucet, address.trim(), "5"]));
    assert!(!show().contains(unseen), "{}", show());
}

#[test]
fn names_the_cause_of_a_failed_command() {
    let node = TestNode::start(&[]);
    let key = private_file(node.directory(), &"11".repeat(32));
    let check_failure = |arguments: &[&str], parts: &[&str]| {
        let output = account(arguments);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{message}");
        for part in parts {
            assert!(message.contains(part), "{part:?} is not in {message:?}");
        }
    };
    let to = "0x77";
    check_failure(
        &["transfer", "--url", &node.api, "--key", &key, to, "1"],
        &["400", "INSUFFICIENT_BALANCE_FOR_TRANSACTION_FEE"],
    );
    check_failure(
        &["transfer", "--url", &node.api, "--key", "/nowhere", to, "1"],
        &["--key", "the name of a key file", "No such file"],
    );
    let unused = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let unused = format!("http://{unused}");
    check_failure(
        &["show", "--url", &unused, to],
        &["no response from", &unused, "refused"],
    );
    check_failure(
        &["fund", "--faucet", &unused, to, "1"],
        &[
            "no faucet listens at",
            &unused,
            "refused",
            "development chain",
            "--faucet",
            "account transfer --key FILE",
        ],
    );
    check_failure(&["show", "--url", "ftp://x", to], &["http://HOST:PORT"]);
    // The admin listener responds, but is not a node.
    check_failure(&["show", "--url", &node.admin, to], &["404"]);
}

/// Forwards requests to the node, and cuts the connection instead of the response to the first
/// submission. Returns its address.
fn proxy_that_loses_a_response(node: &TestNode) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let authority = node.authority().to_owned();
    // Ends with the process of the test.
    thread::spawn(move || {
        let mut has_lost = false;
        for client in listener.incoming() {
            let (client, node) = (client.unwrap(), TcpStream::connect(&authority).unwrap());
            let (mut from_client, mut from_node) = (BufReader::new(&client), BufReader::new(&node));
            while let Some(request) = read_message(&mut from_client) {
                (&node).write_all(&request).unwrap();
                let response = read_message(&mut from_node).unwrap();
                if request.starts_with(b"POST") && !mem::replace(&mut has_lost, true) {
                    break;
                }
                (&client).write_all(&response).unwrap();
            }
        }
    });
    format!("http://{address}")
}

/// Reads a head and a body of its length. Returns `None` at the end of the connection.
fn read_message(stream: &mut impl BufRead) -> Option<Vec<u8>> {
    let (mut message, mut body_bytes) = (Vec::new(), 0);
    loop {
        let begin = message.len();
        if stream.read_until(b'\n', &mut message).ok()? == 0 {
            return None;
        }
        let line = String::from_utf8_lossy(&message[begin..]).to_ascii_lowercase();
        if let Some(length) = line.strip_prefix("content-length:") {
            body_bytes = length.trim().parse().unwrap();
        }
        if line == "\r\n" {
            break;
        }
    }
    let begin = message.len();
    message.resize(begin + body_bytes, 0);
    stream.read_exact(&mut message[begin..]).ok()?;
    Some(message)
}

/// The client repeats the bytes, and the node has committed them already: it returns the outcome.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn prints_the_version_of_a_transfer_whose_response_was_lost() {
    let node = TestNode::start(&[]);
    let sender = TestAccount::from_seed(7);
    node.fund(&sender, 500_000_000).await;
    let key = private_file(node.directory(), &private_key_text(&sender.key));
    let proxy = proxy_that_loses_a_response(&node);
    let to = "0x7a";
    let transfer = printed(&account(&[
        "transfer", "--url", &proxy, "--key", &key, to, "1000",
    ]));
    let hash = value(&transfer, "transaction");
    let committed = node.get(&format!("/v1/transactions/by_hash/{hash}")).await;
    let version = committed.json["version"].as_str().unwrap();
    let words = format!("committed at version {version}: Executed successfully");
    assert!(transfer.contains(&words), "{transfer}");
    let to = AccountAddress::from_low_u64(0x7a);
    assert_eq!(node.balance(&to).await, 1_000, "transferred twice");
}

/// The repetition has the same bytes, so it is accepted again.
#[tokio::test]
async fn submitting_a_committed_transaction_again_returns_its_outcome() {
    let node = TestNode::start(&[]);
    let sender = TestAccount::from_seed(7);
    node.fund(&sender, 500_000_000).await;
    let chain = node.chain().await;
    let signed = sender.transfer(&chain, 0, sender.address, 1);
    let client = NodeClient::new(&node.api, &TrustedRoots::new(None).unwrap()).unwrap();
    let submit = || client.submit_and_wait(chain.vendor(), &signed);
    let (first, again) = (submit().await.unwrap(), submit().await.unwrap());
    assert!(first.success);
    assert_eq!(first.version, again.version);
    let other = sender.transfer(&chain, 0, sender.address, 2);
    let error = client.submit_and_wait(chain.vendor(), &other).await;
    let message = error.unwrap_err().to_string();
    assert!(message.contains("SEQUENCE_NUMBER_TOO_OLD"), "{message}");
}

/// A funded sender, and the options of its transfers with sequence number 0.
struct NumberedSender {
    node: TestNode,
    sender: TestAccount,
    options: Vec<String>,
}

impl NumberedSender {
    async fn start() -> Self {
        let node = TestNode::start(&[]);
        let sender = TestAccount::from_seed(7);
        node.fund(&sender, 500_000_000).await;
        let key = private_file(node.directory(), &private_key_text(&sender.key));
        let options = ["transfer", "--url", &node.api, "--key", &key];
        let mut options: Vec<_> = options.map(str::to_owned).into();
        options.extend(["--sequence-number".to_owned(), "0".to_owned()]);
        Self {
            node,
            sender,
            options,
        }
    }

    /// Runs the command that transfers `amount` to `to`.
    fn transfer(&self, to: &str, amount: &str) -> Output {
        let options = self.options.iter().map(String::as_str);
        account(&options.chain([to, amount]).collect::<Vec<_>>())
    }

    /// Runs the command as if it were some seconds later: the transaction has other bytes.
    fn transfer_later(&self, to: &str, amount: &str) -> Output {
        let options = self.options.iter().map(String::as_str);
        let options = options.chain(["--expires-after", "50", to, amount]);
        account(&options.collect::<Vec<_>>())
    }

    async fn balance(&self, address: u64) -> u64 {
        let address = AccountAddress::from_low_u64(address);
        self.node.balance(&address).await
    }
}

#[tokio::test]
async fn a_repeated_command_with_a_sequence_number_transfers_once() {
    let sender = NumberedSender::start().await;
    let first = printed(&sender.transfer("0x7a", "1000"));
    assert!(first.contains("Executed successfully"), "{first}");
    assert_eq!(printed(&sender.transfer_later("0x7a", "1000")), first);
    assert_eq!(sender.balance(0x7a).await, 1_000, "transferred twice");
    for (to, amount) in [("0x7b", "1000"), ("0x7a", "1001")] {
        let other = sender.transfer_later(to, amount);
        let message = String::from_utf8(other.stderr).unwrap();
        assert_eq!(other.status.code(), Some(1), "{message}");
        assert!(message.contains(value(&first, "transaction")), "{message}");
    }
    assert_eq!(sender.balance(0x7a).await, 1_000, "transferred again");
    assert_eq!(sender.balance(0x7b).await, 0);
}

/// The balance no longer covers the highest fee, so that the node would reject a submission.
#[tokio::test]
async fn a_repeated_command_prints_a_transfer_that_took_the_balance() {
    let sender = NumberedSender::start().await;
    let first = printed(&sender.transfer("0x7a", "480000000"));
    let again = sender.transfer_later("0x7a", "480000000");
    assert_eq!(printed(&again), first);
}

#[tokio::test]
async fn a_repeated_command_prints_a_failed_transfer_and_fails() {
    let sender = NumberedSender::start().await;
    let first = sender.transfer("0x7a", "500000000");
    let again = sender.transfer_later("0x7a", "500000000");
    assert_eq!(first.stdout, again.stdout);
    for failed in [first, again] {
        assert_eq!(failed.status.code(), Some(1));
        let output = String::from_utf8(failed.stdout).unwrap();
        assert!(output.contains("\ncommitted at version "), "{output}");
        let message = String::from_utf8(failed.stderr).unwrap();
        assert!(message.contains("the transfer failed"), "{message}");
    }
}

/// The pending transfer waits for an earlier one until the command has been rejected.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waits_for_the_pending_transfer_of_an_interrupted_command() {
    let NumberedSender {
        node,
        sender,
        mut options,
    } = NumberedSender::start().await;
    let chain = node.chain().await;
    let to = AccountAddress::from_low_u64(0x7a);
    let interrupted = node.submit(&sender.transfer(&chain, 1, to, 1_000)).await;
    *options.last_mut().unwrap() = "1".to_owned();
    let repeated = binary()
        .arg("account")
        .args(options)
        .args(["0x7a", "1000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let url = format!("{}/metrics", node.admin);
    until("the command to be rejected", || async {
        let metrics = node.http.get(&url).await.text;
        let is_rejection = |line: &str| {
            line.starts_with("ledger_http_requests_total") && line.contains("code=\"400\"")
        };
        metrics.lines().any(is_rejection).then_some(())
    })
    .await;
    node.submit(&sender.transfer(&chain, 0, to, 1)).await;
    let output = printed(&repeated.wait_with_output().unwrap());
    assert_eq!(value(&output, "transaction"), interrupted.to_string());
    assert_eq!(node.balance(&to).await, 1_001);
}
