//! Options of `bench` that it rejects before it sends a transaction.

use ledger_test_support::node::{TestNode, binary};
use std::process::Command;

/// Each of these options takes memory before the load begins.
#[test]
fn rejects_numbers_whose_memory_has_no_bound() {
    for (option, maximum) in [
        ("--pre-signed", "10000000"),
        ("--accounts", "10000000"),
        ("--batch", "10000"),
        ("--ahead", "10000"),
    ] {
        for value in [format!("{maximum}1"), u64::MAX.to_string()] {
            let output = binary().args(["bench", option, &value]).output().unwrap();
            let error = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{error}");
            assert!(error.contains(option) && error.contains(maximum), "{error}");
        }
    }
}

#[test]
fn names_a_missing_faucet() {
    let node = TestNode::start(&["faucet.enabled=false"]);
    // Nothing listens at a reserved port.
    let output = binary()
        .args([
            "bench",
            "--url",
            &node.api,
            "--faucet",
            "http://127.0.0.1:1",
        ])
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(
        error.contains("no faucet listens at http://127.0.0.1:1"),
        "{error}"
    );
}

#[test]
fn rejects_more_connections_than_it_may_have_descriptors() {
    let bench = binary();
    let output = Command::new("sh")
        .args(["-c", "ulimit -n 256; exec \"$@\"", "sh"])
        .arg(bench.get_program())
        .args(["bench", "--connections", "300"])
        .output()
        .unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("this process may have 256"), "{message}");
}

#[test]
fn rejects_a_duration_that_no_clock_can_reach() {
    for duration in ["18446744073709551615", "2592001", "1e300", "-1", "nan"] {
        let duration = format!("--duration={duration}");
        let output = binary().args(["bench", &duration]).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains("--duration"), "{message}");
    }
}

#[test]
fn rejects_contradictory_and_invalid_options() {
    for (arguments, words) in [
        (
            ["--pid", "4294967295", "--connections", "1"],
            "no such process",
        ),
        (["--rate", "1e-300", "--connections", "1"], "--rate"),
        (["--accounts", "1", "--connections", "2"], "--connections 2"),
        (["--rate", "0", "--connections", "1"], "--rate"),
        (
            ["--url", "ftp://x", "--connections", "1"],
            "http://HOST:PORT",
        ),
    ] {
        let output = binary().arg("bench").args(arguments).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.contains(words), "{message}");
    }
}
