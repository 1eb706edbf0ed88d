//! The declaration, the layers, and the files in `config/`.

use super::*;
use std::{fs, path::Path};

fn load(
    files: &[&Path],
    environment: &[(&str, &str)],
    set: &[&str],
) -> Result<Config, ConfigError> {
    let options = ConfigOptions {
        files: files.iter().map(|&path| path.to_owned()).collect(),
        assignments: set.iter().map(|&text| text.to_owned()).collect(),
        data_dir: None,
    };
    let environment = environment
        .iter()
        .map(|&(name, value)| (name.into(), value.into()));
    Config::load(&options, environment)
}

fn presets() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("config");
    let entries = fs::read_dir(directory).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "toml")
    });
    paths.sort();
    paths
}

fn preset(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("config")
        .join(name)
}

#[test]
fn every_default_lies_in_its_own_range() {
    for setting in SETTINGS {
        let default = setting.default();
        assert_eq!(
            setting.apply(&mut Settings::default(), &RawValue::Typed(default.clone())),
            Some(default),
            "{}",
            setting.key
        );
    }
}

#[test]
fn the_bounds_of_every_range_fit_the_declared_type() {
    for setting in SETTINGS {
        let Kind::Integer(range) = &setting.kind else {
            continue;
        };
        for bound in [*range.start(), *range.end()] {
            load(&[], &[], &[&format!("{}={bound}", setting.key)]).unwrap();
        }
        let above = format!("{}={}", setting.key, range.end() + 1);
        let error = load(&[], &[], &[&above]).unwrap_err().to_string();
        assert!(
            error.contains(setting.key) && error.contains("--set"),
            "{error}"
        );
    }
}

#[test]
fn no_key_is_declared_twice() {
    let mut keys: Vec<_> = SETTINGS.iter().map(|setting| setting.key).collect();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), SETTINGS.len());
}

#[test]
fn node_toml_is_the_declaration() {
    let text = fs::read_to_string(preset("node.toml")).unwrap();
    assert_eq!(
        text,
        defaults(),
        "make it anew: ledger-node config --defaults > config/node.toml"
    );
}

#[test]
fn node_toml_sets_every_key_to_its_default() {
    let path = preset("node.toml");
    let config = load(&[&path], &[], &[]).unwrap();
    for (setting, (value, origin)) in SETTINGS.iter().zip(&config.values) {
        assert_eq!(*value, setting.default(), "{}", setting.key);
        assert!(
            matches!(origin, Origin::File(file, _) if *file == path),
            "{}: {origin}",
            setting.key
        );
    }
}

#[test]
fn every_preset_loads() {
    let paths = presets();
    assert!(paths.len() >= 2, "{paths:?}");
    for path in paths {
        load(&[&path], &[], &[]).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn the_sdk_preset_lets_100_000_000_pay_for_the_default_gas_of_the_sdk() {
    const SDK_MAX_GAS_AMOUNT: u64 = 2_000_000;
    let config = load(&[&preset("sdk.toml")], &[], &[]).unwrap();
    let chain = &config.settings().chain;
    assert_eq!((chain.id, chain.vendor.upper()), (4, "APTOS"));
    assert!(chain.gas_unit_price_min * SDK_MAX_GAS_AMOUNT < 100_000_000);
}

#[test]
fn a_stronger_layer_wins() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = directory.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let first = write(
        "a.toml",
        "[wait]\ntimeout_ms = 1\ncapacity = 1\n[chain]\nid = 9\n",
    );
    let second = write("b.toml", "wait.timeout_ms = 2\nwait.capacity = 2\n");
    let config = load(
        &[&first, &second],
        &[
            ("LEDGER_NODE__WAIT__TIMEOUT_MS", "3"),
            ("LEDGER_NODE__PRUNER__ENABLED", "false"),
        ],
        &["wait.timeout_ms=4"],
    )
    .unwrap();
    let settings = config.settings();
    assert_eq!(settings.node.wait.timeout_ms, 4);
    assert_eq!(settings.node.wait.capacity, 2);
    assert_eq!(settings.chain.id, 9);
    assert!(!settings.node.pruner.enabled);
    assert_eq!(config.origin("wait.timeout_ms"), Some(&Origin::Set));
    assert_eq!(config.origin("chain.id"), Some(&Origin::File(first, 5)));
    assert_eq!(config.origin("chain.vendor"), Some(&Origin::Default));
}

#[test]
fn errors_name_key_place_and_range() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("bad.toml");
    let message = |text: &str| {
        fs::write(&path, text).unwrap();
        load(&[&path], &[], &[]).unwrap_err().to_string()
    };
    let all = |message: String, parts: &[&str]| {
        for part in parts {
            assert!(message.contains(part), "{part:?} is not in {message:?}");
        }
    };
    let name = path.display().to_string();
    all(
        message("[wait]\ncapacity = 0\n"),
        &["wait.capacity", "= 0", &name, "line 2", "from 1 to 1000000"],
    );
    all(
        message("[wait]\ncapacity = -3\n"),
        &["wait.capacity", "-3", "from 1 to"],
    );
    all(
        message("[wait]\ncapacity = \"7\"\n"),
        &["wait.capacity", "\"7\"", "integer"],
    );
    all(
        message("[wait]\ncapacity = [7]\n"),
        &["wait.capacity", "array", "integer"],
    );
    all(
        message("[wait]\ncapicity = 7\n"),
        &["unknown key wait.capicity", &name, "timeout_ms, capacity"],
    );
    all(
        message("[weight]\nx = 7\n"),
        &["unknown key weight.x", "actors.mempool"],
    );
    all(
        message("[sequencer]\nmode = \"bft\"\n"),
        &["sequencer.mode", "\"bft\"", "expected \"solo\""],
    );
    all(
        message("\n[mempol]\n"),
        &["unknown key mempol", "line 2", "actors.mempool"],
    );
    all(
        message("[foo.bar]\n"),
        &["unknown key foo.bar", "actors.mempool"],
    );
    all(message("[log]\nformat = {}\n"), &["log.format", "table"]);
    all(message("[wait]\nnot toml"), &[&name, "line 2, column"]);
    let environment = load(&[], &[("LEDGER_NODE__API__LISTEN", "8080")], &[]).unwrap_err();
    all(
        environment.to_string(),
        &["api.listen", "LEDGER_NODE__API__LISTEN", "IP:PORT"],
    );
    let environment = load(&[], &[("LEDGER_NODE__API", "x")], &[]).unwrap_err();
    all(
        environment.to_string(),
        &["unknown key api", "LEDGER_NODE__API"],
    );
    let set = load(&[], &[], &["chain.vendor=A1"]).unwrap_err();
    all(set.to_string(), &["chain.vendor", "--set", "letters"]);
    let set = load(&[], &[], &["chain.vendor"]).unwrap_err();
    all(set.to_string(), &["chain.vendor", "key=value"]);
    let set = load(&[], &[], &["chain.id=+5"]).unwrap_err();
    all(set.to_string(), &["chain.id", "+5", "integer"]);
}

#[test]
fn a_section_without_keys_is_no_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("empty.toml");
    fs::write(&path, "[actors]\n[mempool]\n[actors.storage]\n").unwrap();
    load(&[&path], &[], &[]).unwrap();
}

#[test]
fn a_log_level_is_made_of_levels() {
    let level = |text: &str| load(&[], &[], &[&format!("log.level={text}")]);
    for good in [
        "info",
        "OFF",
        "warn,ledger_actors=debug",
        "a::b=trace,error",
    ] {
        level(good).unwrap_or_else(|error| panic!("{error}"));
    }
    for bad in [
        "",
        "inof",
        "info,",
        ",info",
        "info,a=",
        "a=inof",
        "=info",
        "info,ledger_actors",
    ] {
        let message = level(bad).unwrap_err().to_string();
        assert!(
            message.contains("log.level") && message.contains("off, error"),
            "{message}"
        );
    }
}

#[test]
fn the_rendered_configuration_reads_back_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let config = load(
        &[],
        &[],
        &[
            "chain.vendor=APTOS",
            "storage.data_dir=a \"b\"\\c",
            "log.level=warn",
        ],
    )
    .unwrap();
    let path = directory.path().join("rendered.toml");
    fs::write(&path, config.render()).unwrap();
    let again = load(&[&path], &[], &[]).unwrap();
    let values = |config: &Config| -> Vec<_> {
        config
            .values
            .iter()
            .map(|(value, _)| value.clone())
            .collect()
    };
    assert_eq!(values(&again), values(&config));
}
