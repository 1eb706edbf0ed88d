use super::*;
use crate::config::{Config, ConfigOptions, Preset};
use jsonschema::Validator;
use std::{collections::BTreeMap, fs, path::Path};

fn validator() -> Validator {
    let schema = serde_json::from_str(&schema()).unwrap();
    jsonschema::draft202012::new(&schema).unwrap()
}

/// Returns whether the loader accepts a file with this text, and whether the schema does.
fn verdicts(validator: &Validator, text: &str) -> (bool, bool) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("node.toml");
    fs::write(&path, text).unwrap();
    let options = ConfigOptions {
        files: vec![path],
        ..ConfigOptions::default()
    };
    let table: toml::Table = text.parse().unwrap();
    let json = serde_json::to_value(table).unwrap();
    (
        Config::load(&options, []).is_ok(),
        validator.is_valid(&json),
    )
}

/// Returns the text of a file that sets one key.
fn assignment(key: &str, value: &str) -> String {
    format!("{key} = {value}\n")
}

#[test]
fn node_schema_json_is_the_printed_schema() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/node.schema.json");
    assert_eq!(
        fs::read_to_string(path).unwrap(),
        schema() + "\n",
        "print it anew: ledger-node config --schema > config/node.schema.json"
    );
}

#[test]
fn schema_is_valid_in_its_draft() {
    let schema = serde_json::from_str(&schema()).unwrap();
    assert!(jsonschema::draft202012::meta::is_valid(&schema));
}

#[test]
fn schema_accepts_all_defaults_and_every_preset() {
    let validator = validator();
    let defaults = crate::config::defaults();
    for text in Preset::ALL
        .map(|preset| preset.text)
        .into_iter()
        .chain([&*defaults])
    {
        assert_eq!(verdicts(&validator, text), (true, true), "{text}");
    }
}

#[test]
fn schema_and_loader_accept_the_same_values() {
    let good = [
        ("storage.data_dir", vec!["'data'", "'/srv/a b'"]),
        ("chain.genesis", vec!["''", "'genesis.toml'"]),
        ("chain.id", vec!["1", "255", "0x10", "1_0"]),
        ("chain.gas_unit_price_min", vec!["0", "10000000000"]),
        ("chain.coin_event_handles", vec!["true", "false"]),
        ("chain.transfers_to_framework", vec!["true", "false"]),
        ("chain.vendor", vec!["'NODE'", "'a'", "'ABCDEFGHIJKLMNOP'"]),
        (
            "chain.framework_upgrades",
            vec!["''", "'1@0'", "'2@1000,3@5000'", "' 2@1 , 3@5 '"],
        ),
        (
            "api.listen",
            vec![
                "'127.0.0.1:0'",
                "'255.1.20.199:65535'",
                "'[::1]:8080'",
                "'[fe80::1%2]:80'",
                "'1.2.3.4:00080'",
            ],
        ),
        ("graphql.listen", vec!["''", "'0.0.0.0:8090'"]),
        (
            "api.trusted_proxies",
            vec!["''", "'127.0.0.1'", "'10.0.0.0/8 , ::1,2001:db8::/32'"],
        ),
        ("api.compression_enabled", vec!["true", "false"]),
        ("sequencer.mode", vec!["'solo'"]),
        ("process.scheduling", vec!["'batch'", "'inherit'"]),
        (
            "filter.rules",
            vec![
                "''",
                "'deny all'",
                "'allow sender 0x1, deny sender ab ,deny  module 0x1::m,'",
                "'allow function 0x1::m::f, deny all,'",
            ],
        ),
        (
            "faucet.hosts",
            vec!["''", "'wallet.example'", "'a_b, c-d , 10.0.0.7'"],
        ),
        (
            "faucet.origins",
            vec![
                "''",
                "'*'",
                "'https://wallet.example, http://10.0.0.7:3000,http://[::1]:1'",
            ],
        ),
        (
            "log.level",
            vec![
                "'info'",
                "'OFF'",
                "'warn,ledger_actors=debug'",
                "'a::b=trace,error'",
                "'3'",
            ],
        ),
        ("pruner.window_versions", vec!["1", "9223372036854775807"]),
        ("actors.mempool.mailbox_capacity", vec!["1", "10000000"]),
    ];
    let validator = validator();
    for (key, values) in good {
        for value in values {
            let text = assignment(key, value);
            assert_eq!(verdicts(&validator, &text), (true, true), "{text}");
        }
    }
}

#[test]
fn schema_and_loader_reject_the_same_values() {
    let bad = [
        ("storage.data_dir", vec!["''", "3", "true", "{}", "-3"]),
        (
            "chain.genesis",
            vec!["1", "false", "['genesis.toml']", "-1"],
        ),
        (
            "chain.id",
            vec!["0", "256", "-1", "'4'", "4.5", "true", "[4]"],
        ),
        (
            "chain.vendor",
            vec!["''", "'A1'", "'ABCDEFGHIJKLMNOPQ'", "' A'", "4"],
        ),
        (
            "chain.framework_upgrades",
            vec!["'1'", "'1@'", "'+1@0'", "'1@0,'", "'1@0;2@1'", "'a@1'"],
        ),
        (
            "api.listen",
            vec![
                "''",
                "'8080'",
                "'localhost:8080'",
                "'127.0.0.1'",
                "'127.0.0.1:65536'",
                "'256.0.0.1:80'",
                "'01.0.0.1:80'",
                "'1.2.3:80'",
                "'::1:80'",
                "8080",
            ],
        ),
        ("graphql.listen", vec!["' '", "':8090'"]),
        (
            "api.trusted_proxies",
            vec![
                "'proxy'",
                "'10.0.0.0/33'",
                "'10.0.0/8'",
                "'::/129'",
                "'127.0.0.1,'",
                "' '",
            ],
        ),
        ("api.compression_enabled", vec!["1", "'true'", "'yes'"]),
        ("sequencer.mode", vec!["'raft'", "'SOLO'", "''"]),
        ("process.scheduling", vec!["'fifo'"]),
        (
            "filter.rules",
            vec![
                "'refuse all'",
                "'deny'",
                "'deny everyone'",
                "'deny sender'",
                "'deny sender 0xg'",
                "'deny module 0x1'",
                "'deny module 1::m'",
                "'deny function 0x1::m'",
                "'deny all, allow sender 0x1'",
                "'deny all,,'",
                "['deny all']",
            ],
        ),
        ("faucet.hosts", vec!["' '", "'a,'", "'a:80'", "'a b'"]),
        (
            "faucet.origins",
            vec![
                "'wallet.example'",
                "'https://'",
                "'https://wallet.example/'",
                "'https://wallet.example,'",
                "'https://wallet.example:65536'",
                "'ftp://wallet.example'",
                "'null'",
            ],
        ),
        (
            "log.level",
            vec![
                "''",
                "'inof'",
                "'info,'",
                "',info'",
                "'info,a='",
                "'=info'",
                "'info, warn'",
            ],
        ),
        ("pruner.window_versions", vec!["0"]),
        ("actors.mempool.mailbox_capacity", vec!["0", "10000001"]),
        ("actors.mempool", vec!["3", "{ capacity = 3 }"]),
        ("actors", vec!["3", "'x'"]),
        ("wait", vec!["{ timeout = 3 }", "[]"]),
        ("wait.timeout_ms", vec!["{}", "1979-05-27"]),
        ("waiting", vec!["{}", "1"]),
        ("log.level.http", vec!["'info'"]),
    ];
    let validator = validator();
    for (key, values) in bad {
        for value in values {
            let text = assignment(key, value);
            assert_eq!(verdicts(&validator, &text), (false, false), "{text}");
        }
    }
}

#[test]
fn schema_and_loader_have_the_same_ranges() {
    let validator = validator();
    for setting in SETTINGS {
        let (Kind::Integer(range) | Kind::OptionalInteger(range)) = &setting.kind else {
            continue;
        };
        let mut values = BTreeMap::from([(*range.start(), true), (*range.end(), true)]);
        if matches!(setting.kind, Kind::OptionalInteger(_)) {
            values.extend([(0, true), (1, false)]);
        }
        if let Some(below) = range.start().checked_sub(1) {
            values.insert(below, false);
        }
        if i64::try_from(range.end() + 1).is_ok() {
            values.insert(range.end() + 1, false);
        }
        for (value, is_allowed) in values {
            let text = assignment(setting.key, &value.to_string());
            assert_eq!(
                verdicts(&validator, &text),
                (is_allowed, is_allowed),
                "{text}"
            );
        }
    }
}

#[test]
fn every_default_is_valid() {
    let validator = validator();
    for setting in SETTINGS {
        let text = assignment(setting.key, &setting.default().to_string());
        assert_eq!(verdicts(&validator, &text), (true, true), "{text}");
    }
}
