//! The command `genesis`, and the chain that it makes.

use ledger_test_support::node::{TestNode, binary};
use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, process::Output};

/// Runs a subcommand of `genesis` in a directory.
fn genesis(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = binary();
    command
        .current_dir(directory)
        .arg("genesis")
        .args(arguments);
    command.output().unwrap()
}

/// Returns the output of a successful command.
fn printed(output: &Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Checks that a command ended with exit code 1 and a message with `parts`.
fn check_failed(output: &Output, parts: &[&str]) {
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    for part in parts {
        assert!(message.contains(part), "{part:?} is not in {message:?}");
    }
}

#[tokio::test]
async fn a_node_starts_the_chain_that_new_writes_and_show_describes() {
    let directory = tempfile::tempdir().unwrap();
    let new = printed(&genesis(
        directory.path(),
        &[
            "new",
            "--chain-id",
            "77",
            "--key",
            "treasury.key=1_000_000",
            "--account",
            "0xb0b=5",
        ],
    ));
    let words = [
        "wrote genesis.toml",
        "chain id 77",
        "vendor word NODE",
        "genesis hash 0x",
        "supply: 2 accounts hold 1000005 of the coin's smallest unit",
        "order: one node orders the blocks",
        "gas unit price 100 to 10000000000",
        "deposits and withdrawals of coins: event streams of each new store",
    ];
    for part in words {
        assert!(new.contains(part), "{part:?} is not in {new}");
    }
    let shown = printed(&genesis(directory.path(), &["show", "genesis.toml"]));
    assert_eq!(new, format!("wrote genesis.toml\n{shown}"));
    let key = fs::metadata(directory.path().join("treasury.key")).unwrap();
    assert_eq!(key.permissions().mode() & 0o777, 0o600);

    let file = directory.path().join("genesis.toml");
    let node = TestNode::start(&[&format!("chain.genesis={}", file.display())]);
    let block = node.get("/v1/blocks/by_height/0").await.json;
    let hash = block["block_hash"].as_str().unwrap();
    assert!(shown.contains(&format!("genesis hash {hash}\n")), "{shown}");
    let treasury = binary()
        .current_dir(directory.path())
        .args(["account", "address", "--key", "treasury.key"])
        .output()
        .unwrap();
    let treasury = printed(&treasury);
    assert!(
        shown.contains(&format!("account {} holds 1000000", treasury.trim())),
        "{shown}"
    );
    assert_eq!(
        node.balance(&treasury.trim().parse().unwrap()).await,
        1_000_000
    );
}

#[test]
fn bench_pays_its_accounts_with_a_key_on_a_chain_without_a_faucet() {
    let directory = tempfile::tempdir().unwrap();
    let keys = ["rich.key=1_000_000_000_000", "poor.key=5"];
    let [rich, poor] = keys.map(|key| ["--key", key]);
    let new = [&["new", "--chain-id", "77"][..], &rich, &poor].concat();
    printed(&genesis(directory.path(), &new));
    let file = directory.path().join("genesis.toml");
    let node = TestNode::start(&[&format!("chain.genesis={}", file.display())]);
    let bench = |key: &str| {
        let mut command = binary();
        command.current_dir(directory.path());
        command.args(["bench", "--url", &node.api, "--key", key]);
        command.args(["--accounts", "5", "--connections", "2", "--transfers", "20"]);
        command.output().unwrap()
    };
    let report = printed(&bench("rich.key"));
    assert!(report.contains("20"), "{report}");
    check_failed(&bench("poor.key"), &["holds 5 of the", "fewer accounts"]);
}

#[test]
fn new_replaces_no_file_and_makes_no_chain_without_coins_by_mistake() {
    let directory = tempfile::tempdir().unwrap();
    let new = |arguments: &[&str]| {
        genesis(
            directory.path(),
            &[&["new", "--chain-id", "7"], arguments].concat(),
        )
    };
    check_failed(
        &new(&[]),
        &["nobody would hold coins", "--key", "--no-coins"],
    );
    check_failed(&new(&["--account", "0x1=5"]), &["0x1", "reserved"]);
    let none = printed(&new(&["--no-coins"]));
    assert!(none.contains("supply: nobody holds coins"), "{none}");
    check_failed(&new(&["--no-coins"]), &["genesis.toml exists", "--out"]);
    let without_handles = ["--coin-event-handles", "false"];
    let other = ["--out", "other.toml", "--account", "0xb0b=5"];
    printed(&new(&[&without_handles[..], &other].concat()));
    let checked = printed(&genesis(directory.path(), &["check", "other.toml"]));
    assert!(
        checked.contains("other.toml starts this chain:\nchain id 7"),
        "{checked}"
    );
    let handles = "deposits and withdrawals of coins: events of transactions only";
    assert!(checked.contains(handles), "{checked}");
    let id = genesis(
        directory.path(),
        &["new", "--chain-id", "256", "--no-coins"],
    );
    let message = String::from_utf8(id.stderr).unwrap();
    assert!(
        message.contains("--chain-id") && message.contains("1..=255"),
        "{message}"
    );
}

#[test]
fn new_lists_the_validators_in_the_order_of_the_options() {
    // Public keys of the secrets 1 and 2 of RFC 8032.
    const KEYS: [&str; 2] = [
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
    ];
    let directory = tempfile::tempdir().unwrap();
    let new = |out: &str, keys: &[&str]| {
        let keys = keys.iter().flat_map(|&key| ["--validator", key]);
        let mut arguments = vec!["new", "--chain-id", "7", "--no-coins", "--out", out];
        arguments.extend(keys);
        genesis(directory.path(), &arguments)
    };
    let prefixed = format!("0x{}", KEYS[1]);
    let two = printed(&new("two.toml", &[KEYS[0], &prefixed]));
    assert!(
        two.contains("order: 2 validators agree on the blocks"),
        "{two}"
    );
    let text = fs::read_to_string(directory.path().join("two.toml")).unwrap();
    let values: toml::Table = text.parse().unwrap();
    let listed: Vec<_> = values["validators"].as_array().unwrap().iter().collect();
    let listed: Vec<_> = listed.iter().map(|key| key.as_str().unwrap()).collect();
    assert_eq!(listed, KEYS.map(|key| format!("0x{key}")), "{text}");
    let shown = printed(&genesis(directory.path(), &["show", "two.toml"]));
    assert_eq!(two, format!("wrote two.toml\n{shown}"));
    let one = printed(&new("one.toml", &[KEYS[0]]));
    assert!(
        one.contains("order: 1 validator decides the blocks"),
        "{one}"
    );
    let twice = new("twice.toml", &[KEYS[0], KEYS[0]]);
    check_failed(&twice, &["validator 0x", "is listed twice"]);
    let short = new("short.toml", &[&KEYS[0][2..]]);
    let message = String::from_utf8(short.stderr).unwrap();
    assert_eq!(short.status.code(), Some(2), "{message}");
    assert!(message.contains("--validator"), "{message}");
    for name in ["twice.toml", "short.toml"] {
        assert!(!directory.path().join(name).exists(), "{name}");
    }
}

#[test]
fn check_names_each_fault_with_its_line() {
    let directory = tempfile::tempdir().unwrap();
    let check = |text: &str| {
        fs::write(directory.path().join("genesis.toml"), text).unwrap();
        genesis(directory.path(), &["check", "genesis.toml"])
    };
    check_failed(
        &check("chain_id = 300\n"),
        &[
            "genesis.toml: line 1, column",
            "chain_id = 300: it is an integer from 1 to 255",
        ],
    );
    check_failed(
        &check("chain_id = 7\n[parameters]\nblock_gas_max = 1\nroot_delay_blocks = 65\n"),
        &[
            "genesis.toml: line 3: block_gas_max is too low",
            "\ngenesis.toml: line 4: root_delay_blocks must be 2 to 64",
            "\ngenesis.toml: nobody holds coins",
            "accounts = []",
        ],
    );
    check_failed(
        &genesis(directory.path(), &["check", "nowhere.toml"]),
        &["nowhere.toml: the file cannot be read: No such file"],
    );
}
