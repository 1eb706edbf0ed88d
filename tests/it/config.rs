//! The command `config`, and starts with an invalid configuration.

mod check;

use ledger_test_support::node::{TestNode, binary, within_patience};
use std::{fs, process::Output};

/// Converts the output of a command to text.
fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Checks that a command ended with the exit code of an invalid configuration and a message with
/// `parts`.
fn check_rejected(output: &Output, parts: &[&str]) {
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    for part in parts {
        assert!(message.contains(part), "{part:?} is not in {message:?}");
    }
}

#[test]
fn prints_each_value_with_its_origin() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("node.toml");
    fs::write(&file, "[wait]\ntimeout_ms = 250\ncapacity = 7\n").unwrap();
    let output = binary()
        .args(["config", "--set", "wait.capacity=8", "--config"])
        .arg(&file)
        .env("LEDGER_NODE__CHAIN__ID", "9")
        .output()
        .unwrap();
    assert!(output.status.success());
    let printed = text(&output.stdout);
    let line = |start: &str| {
        printed
            .lines()
            .find(|line| line.starts_with(start))
            .unwrap_or_else(|| panic!("no {start} in {printed}"))
    };
    assert!(line("timeout_ms = 250 ").contains("node.toml, line 2"));
    assert!(line("capacity = 8 ").contains("--set"));
    assert!(line("id = 9 ").contains("LEDGER_NODE__CHAIN__ID"));
    assert!(line("readers = ").contains("default"));
    let values: toml::Table = printed.parse().unwrap();
    assert_eq!(values["wait"]["timeout_ms"].as_integer(), Some(250));
}

#[tokio::test]
async fn rejects_an_invalid_configuration_with_exit_code_2() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("bad.toml");
    fs::write(&file, "[mempool]\ncapacity_transactions = 0\n").unwrap();
    let run = async |arguments: &[&str]| {
        let mut command = tokio::process::Command::from(binary());
        command
            .args(["run", "--data-dir"])
            .arg(directory.path().join("data"))
            .args(arguments)
            .kill_on_drop(true);
        // A configuration that is accepted starts a node, which does not end.
        let output = within_patience("the end of the start", command.output()).await;
        output.unwrap()
    };
    check_rejected(
        &run(&["--config", file.to_str().unwrap()]).await,
        &[
            "mempool.capacity_transactions",
            "bad.toml, line 2",
            "from 1 to",
        ],
    );
    check_rejected(
        &run(&["--set", "mempool.size=1"]).await,
        &["mempool.size", "--set", "capacity_bytes"],
    );
    check_rejected(
        &run(&["--config", "/nowhere.toml"]).await,
        &["/nowhere.toml"],
    );
    check_rejected(
        &run(&["--set", "sequencer.mode=raft"]).await,
        &["sequencer.mode", "solo", "bft"],
    );
    check_rejected(
        &run(&["--set", "chain.genesis=/nowhere.toml"]).await,
        &["chain.genesis", "/nowhere.toml"],
    );
    check_rejected(
        &run(&["--set", "api.workers=513"]).await,
        &["api.workers", "from 0 to 512"],
    );
    assert!(
        !directory.path().join("data").exists(),
        "a rejected start created a data directory"
    );
}

/// Checks that `config` prints the values and rejects these settings with the message of `run`.
fn check_rejected_by_both(settings: &[&str], parts: &[&str]) {
    let directory = tempfile::tempdir().unwrap();
    let command = |name: &str| {
        let mut command = binary();
        command.arg(name).arg("--data-dir").arg(directory.path());
        for setting in ["api.listen=127.0.0.1:0", "admin.listen=127.0.0.1:0"]
            .iter()
            .chain(settings)
        {
            command.args(["--set", setting]);
        }
        command.output().unwrap()
    };
    let (config, run) = (command("config"), command("run"));
    check_rejected(&run, parts);
    check_rejected(&config, parts);
    assert_eq!(text(&config.stderr), text(&run.stderr), "{settings:?}");
    assert!(text(&config.stdout).contains("[wait]"), "{settings:?}");
}

/// The command `config`, because `run` does not end if it starts.
#[test]
fn rejects_a_capacity_of_the_mempool_that_no_start_can_read() {
    const MAX: u64 = 16 * 1024 * 1024 * 1024;
    let config = |bytes: u64| {
        let setting = format!("mempool.capacity_bytes={bytes}");
        let output = binary().args(["config", "--set", &setting]).output();
        output.unwrap()
    };
    assert!(config(MAX).status.success());
    check_rejected(
        &config(MAX + 1),
        &["mempool.capacity_bytes", "from 1 to 17179869184"],
    );
}

#[test]
fn config_rejects_what_a_start_rejects() {
    check_rejected_by_both(
        &["pruner.window_bytes=67108864", "pruner.enabled=false"],
        &["pruner.window_bytes = 67108864", "pruner.enabled = false"],
    );
    check_rejected_by_both(
        &["chain.genesis=/nowhere.toml"],
        &["chain.genesis = \"/nowhere.toml\" (--set)", "No such file"],
    );
    check_rejected_by_both(
        &["api.tls_certificate=/nowhere.pem"],
        &["api.tls_certificate is set and api.tls_private_key is not"],
    );
    check_rejected_by_both(
        &["api.tls_certificate=/no.pem", "api.tls_private_key=/no.key"],
        &["api.tls_certificate = \"/no.pem\" (--set)", "No such file"],
    );
    check_rejected_by_both(
        &["admin.token_file=/nowhere"],
        &["admin.token_file = \"/nowhere\" (--set)", "No such file"],
    );
    check_rejected_by_both(
        &["admin.listen=0.0.0.0:0"],
        &["admin.listen = \"0.0.0.0:0\"", "admin.token_file"],
    );
}

#[test]
fn every_command_rejects_options_that_it_does_not_use_or_cannot_use() {
    let run = |arguments: &[&str]| binary().args(arguments).output().unwrap();
    for command in [
        ["account", "show", "0x1"].as_slice(),
        &["account", "new"],
        &["bench"],
    ] {
        for option in [
            ["--set", "nonsense.key=1"],
            ["--config", "nope.toml"],
            ["--data-dir", "data"],
        ] {
            check_rejected(&run(&[command, &option].concat()), &[option[0]]);
            check_rejected(
                &run(&[&option, command].concat()),
                &[option[0], command[0], "reads no configuration"],
            );
        }
    }
    for printed in ["--defaults", "--schema"] {
        let output = run(&["config", printed, "--set", "nonsense.key=1"]);
        check_rejected(&output, &["--set has no effect on config", printed]);
    }
    let contradiction = ["pruner.window_bytes=67108864", "pruner.enabled=false"];
    for command in ["run", "config", "compact", "verify"] {
        check_rejected(
            &run(&[command, "--set", "nonsense.key=1"]),
            &["nonsense.key"],
        );
        check_rejected(&run(&[command, "--config", "nope.toml"]), &["nope.toml"]);
        let [limit, off] = contradiction;
        check_rejected(
            &run(&[command, "--set", limit, "--set", off]),
            &["window_bytes"],
        );
    }
}

#[test]
fn lists_and_prints_presets_that_a_node_loads_from_any_directory() {
    let directory = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let output = binary()
            .current_dir(directory.path())
            .args(arguments)
            .output();
        output.unwrap()
    };
    let list = text(&run(&["config", "presets"]).stdout);
    for line in [
        "sdk            A development chain for the unmodified SDKs",
        "production     A node on a network",
        "small-machine  One core and little memory",
        "many-pollers   Many clients in long polls",
    ] {
        assert!(list.contains(line), "{line:?} is not in {list}");
    }
    let sdk = text(&run(&["config", "presets", "sdk"]).stdout);
    assert!(sdk.parse::<toml::Table>().unwrap()["chain"]["vendor"].as_str() == Some("APTOS"));
    let loaded = text(&run(&["config", "--preset", "sdk", "--set", "chain.id=9"]).stdout);
    for line in ["vendor = \"APTOS\"  # preset sdk, line ", "id = 9  # --set"] {
        assert!(loaded.contains(line), "{line:?} is not in {loaded}");
    }
    let unknown = run(&["run", "--preset", "nope"]);
    check_rejected(
        &unknown,
        &["nope", "sdk, production, small-machine, many-pollers"],
    );
    let unused = run(&["bench", "--preset", "sdk"]);
    check_rejected(&unused, &["--preset"]);
    let unused = run(&["--preset", "sdk", "bench"]);
    check_rejected(&unused, &["--preset", "reads no configuration"]);
}

#[test]
fn takes_options_before_and_after_the_command() {
    let output = binary()
        .args([
            "--set",
            "chain.id=9",
            "--set",
            "wait.capacity=7",
            "--data-dir",
            "a",
        ])
        .args(["config", "--set", "wait.capacity=8"])
        .output()
        .unwrap();
    let printed: toml::Table = text(&output.stdout).parse().unwrap();
    assert_eq!(printed["chain"]["id"].as_integer(), Some(9));
    assert_eq!(printed["wait"]["capacity"].as_integer(), Some(8));
    assert_eq!(printed["storage"]["data_dir"].as_str(), Some("a"));
}

#[test]
fn names_the_variable_that_a_misspelled_one_means() {
    for (misspelled, meant) in [
        (
            "LEDGER_NODE_WAIT__TIMEOUT_MS",
            "LEDGER_NODE__WAIT__TIMEOUT_MS",
        ),
        (
            "LEDGER_NODE_MEMPOOL_TTL_SECS",
            "LEDGER_NODE__MEMPOOL__TTL_SECS",
        ),
        (
            "LEDGER_NODE__MEMPOOL_TTL_SECS",
            "LEDGER_NODE__MEMPOOL__TTL_SECS",
        ),
    ] {
        // `run` is last, because it does not end by itself if it starts.
        for command in ["config", "compact", "verify", "run"] {
            let output = binary().arg(command).env(misspelled, "5").output().unwrap();
            check_rejected(&output, &[misspelled, meant]);
        }
    }
    let output = binary()
        .arg("config")
        .env("LEDGER_NODE_SERVICE_HOST", "10.0.0.1")
        .env("LEDGER_NODE_PORT_8080_TCP_ADDR", "10.0.0.1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn rejects_settings_that_contradict_the_genesis_file() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("genesis.toml");
    fs::write(&file, "chain_id = 77\nvendor = \"OTHER\"\naccounts = []\n").unwrap();
    let run = |set: &str| {
        let settings = [format!("chain.genesis={}", file.display()), set.to_owned()];
        TestNode::command(directory.path(), &settings)
            .output()
            .unwrap()
    };
    check_rejected(
        &run("chain.id=4"),
        &["chain.id = 4", "--set", "genesis.toml", "77"],
    );
    check_rejected(&run("chain.vendor=NODE"), &["chain.vendor = NODE", "OTHER"]);
    check_rejected(
        &run("chain.coin_event_handles=false"),
        &["chain.coin_event_handles = false", "says true"],
    );
    check_rejected(
        &run("faucet.enabled=true"),
        &["faucet.enabled", "development chain"],
    );
}

#[test]
fn names_an_invalid_genesis_file_without_its_key() {
    const KEY: &str = "5d996aa76b3212142792d9130796cd2e11e3c445a93118c08414df4f66bc60ec";
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("genesis.toml");
    let run = |text: &str| {
        fs::write(&file, text).unwrap();
        let settings = [format!("chain.genesis={}", file.display())];
        TestNode::command(directory.path(), &settings)
            .output()
            .unwrap()
    };
    let start = "chain_id = 7\ndevelopment = true\n";
    let misspelt = run(&format!("{start}faucet_privat_key = \"{KEY}\"\n"));
    check_rejected(
        &misspelt,
        &["genesis.toml", "line 3, column 1", "faucet_privat_key"],
    );
    assert!(
        !text(&misspelt.stderr).contains(KEY),
        "{}",
        text(&misspelt.stderr)
    );
    let unclosed = run(&format!("{start}faucet_private_key = \"{KEY}\n"));
    check_rejected(&unclosed, &["genesis.toml", "line 3"]);
    assert!(
        !text(&unclosed.stderr).contains(KEY),
        "{}",
        text(&unclosed.stderr)
    );
    check_rejected(
        &run(&format!("{start}faucet_private_key = \"{KEY}\"\n")),
        &["genesis.toml", "account of the faucet key"],
    );
    let reserved = run(&format!(
        "{start}[[accounts]]\naddress = \"0x1\"\nbalance = 1\n"
    ));
    check_rejected(&reserved, &["genesis.toml", "0x1", "reserved"]);
}

#[test]
fn rejects_a_directory_of_another_chain() {
    let mut node = TestNode::start(&[]);
    node.stop("TERM");
    let settings = ["chain.id=9".to_owned()];
    let output = TestNode::command(node.directory(), &settings)
        .output()
        .unwrap();
    check_rejected(
        &output,
        &[
            "another genesis",
            "chain id 4, configured is 9",
            "--data-dir",
        ],
    );
}
