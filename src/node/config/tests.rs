//! Tests of the table of settings, of the layers, and of the files in `config/`.

use super::*;
use std::{
    fs,
    io::{self, Write as _},
    os::fd::AsRawFd as _,
    path::{Path, PathBuf},
};

fn load(
    files: &[&Path],
    environment: &[(&str, &str)],
    set: &[&str],
) -> Result<Config, ConfigError> {
    let options = ConfigOptions {
        files: files.iter().map(|&path| path.to_owned()).collect(),
        assignments: set.iter().map(|&text| text.to_owned()).collect(),
        ..ConfigOptions::default()
    };
    let environment = environment
        .iter()
        .map(|&(name, value)| (name.into(), value.into()));
    Config::load(&options, environment)
}

fn node_toml() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("config/node.toml")
}

#[test]
fn allows_every_default() {
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
fn accepts_only_values_within_the_range() {
    for setting in SETTINGS {
        let (Kind::Integer(range) | Kind::OptionalInteger(range)) = &setting.kind else {
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

/// Returns an allowed value that is not the default, if there is one.
fn another_value(setting: &Setting) -> Value {
    let text = match (&setting.kind, setting.default()) {
        (Kind::Integer(range) | Kind::OptionalInteger(range), Value::Integer(default)) => {
            let is_minimum = default == *range.start();
            return Value::Integer(if is_minimum {
                *range.end()
            } else {
                *range.start()
            });
        }
        (Kind::Boolean, Value::Boolean(default)) => return Value::Boolean(!default),
        (Kind::Choice(words), Value::Text(default)) => words
            .iter()
            .find(|&&word| word != default)
            .unwrap_or(&words[0]),
        (Kind::Listen | Kind::OptionalListen, _) => "[::1]:9",
        (Kind::Vendor, _) => "OTHER",
        (Kind::FrameworkUpgrades, _) => "1@0,2@5",
        (Kind::FilterRules, _) => "deny all",
        (Kind::HostNames, _) => "a,b",
        (Kind::Origins, _) => "https://a",
        (Kind::Networks, _) => "10.0.0.0/8,::1/128",
        (Kind::Path | Kind::OptionalPath, _) => "other",
        (Kind::LogLevel, _) => "trace",
        (kind, default) => panic!("{kind} has the default {default}"),
    };
    Value::Text(text.to_owned())
}

#[test]
fn each_key_sets_a_field_of_its_own() {
    for setting in SETTINGS {
        let mut settings = Settings::default();
        let value = another_value(setting);
        setting
            .apply(&mut settings, &RawValue::Typed(value.clone()))
            .unwrap_or_else(|| panic!("{} = {value}", setting.key));
        for other in SETTINGS {
            let expected = match other.key == setting.key {
                true => value.clone(),
                false => other.default(),
            };
            assert_eq!(
                (other.get)(&settings),
                expected,
                "{}: {}",
                setting.key,
                other.key
            );
        }
    }
}

#[test]
fn has_no_duplicate_keys() {
    let mut keys: Vec<_> = SETTINGS.iter().map(|setting| setting.key).collect();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), SETTINGS.len());
}

#[test]
fn node_toml_is_the_printed_defaults() {
    let text = fs::read_to_string(node_toml()).unwrap();
    assert_eq!(
        text,
        defaults(),
        "`UPDATE_GOLDEN=1 cargo test --test it golden::` rewrites config/node.toml"
    );
}

#[test]
fn node_toml_sets_every_key_to_its_default() {
    let path = node_toml();
    let config = load(&[&path], &[], &[]).unwrap();
    for (setting, value, origin) in config.values() {
        assert_eq!(*value, setting.default(), "{}", setting.key);
        assert!(
            matches!(origin, Origin::File(file, _) if *file == path),
            "{}: {origin}",
            setting.key
        );
    }
}

#[test]
fn stronger_layers_override_weaker_ones() {
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
fn kept_settings_are_between_files_and_environment() {
    let directory = tempfile::tempdir().unwrap();
    let [file, kept] = ["node.toml", "overrides.toml"].map(|name| directory.path().join(name));
    // The directory of the kept settings is itself a setting of a file.
    let text = "[wait]\ncapacity = 1\n[work]\nread_budget_ms = 1\n[api]\nmax_in_flight = 1\n";
    let data_dir = format!("[storage]\ndata_dir = {:?}\n", directory.path());
    fs::write(&file, format!("{text}{data_dir}")).unwrap();
    fs::write(&kept, "wait.capacity = 2\nwork.read_budget_ms = 2\n").unwrap();
    let variable = ("LEDGER_NODE__WAIT__CAPACITY", "3");
    let config = load(&[&file], &[variable], &[]).unwrap();
    let settings = config.settings();
    assert_eq!(settings.node.wait.capacity, 3);
    assert_eq!(settings.node.work.read_budget_ms, 2);
    assert_eq!(settings.api.max_in_flight, 1);
    let origin = Origin::Override(kept.clone(), 2);
    assert_eq!(config.origin("work.read_budget_ms"), Some(&origin));
    let line = format!(
        "read_budget_ms = 2  # ms of work; kept in {}, line 2",
        kept.display()
    );
    assert!(config.render().contains(&line), "{}", config.render());

    for (text, expected) in [
        ("wait.capacity = 0\n", "line 1): expected an integer"),
        ("\nwait.timeout_ms = 7\n", "line 2) is no run-time setting"),
        ("wait.capicity = 7\n", "unknown key wait.capicity (kept in"),
        ("wait", "overrides.toml: line 1"),
    ] {
        fs::write(&kept, text).unwrap();
        let error = load(&[&file], &[], &[]).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let ignoring = ConfigOptions {
        files: vec![file],
        no_overrides: true,
        ..ConfigOptions::default()
    };
    let config = Config::load(&ignoring, []).unwrap();
    assert_eq!(config.settings().node.wait.capacity, 1);
}

#[test]
fn reads_a_pipe_unless_files_must_be_regular() {
    let (reader, mut writer) = io::pipe().unwrap();
    writer.write_all(b"[wait]\ntimeout_ms = 7\n").unwrap();
    drop(writer);
    let mut options = ConfigOptions {
        files: vec![format!("/dev/fd/{}", reader.as_raw_fd()).into()],
        regular_files_only: true,
        ..ConfigOptions::default()
    };
    let error = Config::load(&options, []).unwrap_err().to_string();
    assert!(error.contains("not a regular file"), "{error}");
    options.regular_files_only = false;
    let config = Config::load(&options, []).unwrap();
    assert_eq!(config.settings().node.wait.timeout_ms, 7);
}

#[test]
fn errors_name_key_origin_and_allowed_values() {
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
        &[
            "unknown key wait.capicity",
            &name,
            "timeout_ms, timeout_max_ms, capacity",
        ],
    );
    all(
        message("[weight]\nx = 7\n"),
        &["unknown key weight.x", "actors.mempool"],
    );
    all(
        message("[sequencer]\nmode = \"raft\"\n"),
        &["sequencer.mode", "\"raft\"", "expected \"solo\""],
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
fn names_the_variable_that_a_misspelled_one_means() {
    for setting in SETTINGS {
        let upper = setting.key.to_ascii_uppercase();
        let variable = format!("LEDGER_NODE__{}", upper.replace('.', "__"));
        let value = setting.default().to_string().replace('"', "");
        let config = load(&[], &[(&variable, &value)], &[]).unwrap();
        assert!(config.is_set(setting.key), "{variable}");
        let words = upper.replace('.', "_");
        for misspelled in [
            format!("LEDGER_NODE_{words}"),
            format!("LEDGER_NODE__{words}"),
            format!("LEDGER_NODE_{}", upper.replace('.', "__")),
            format!("LEDGER__NODE__{}", upper.replace(['.', '_'], "__")),
            variable.to_ascii_lowercase(),
        ] {
            let error = load(&[], &[(&misspelled, "x")], &[]).unwrap_err();
            let message = error.to_string();
            let expected = format!(
                "{misspelled} sets nothing: that of {} is {variable}",
                setting.key
            );
            assert!(message.ends_with(&expected), "{message}");
        }
    }
}

#[test]
fn ignores_the_variables_of_kubernetes_services() {
    let mut services: Vec<_> = SETTINGS.iter().map(Setting::section).collect();
    services.dedup();
    let services = services.iter().map(|section| {
        format!(
            "LEDGER_NODE_{}",
            section.to_ascii_uppercase().replace('.', "_")
        )
    });
    for service in services.chain(["LEDGER_NODE".to_owned()]) {
        let variables = [
            "SERVICE_HOST",
            "SERVICE_PORT",
            "SERVICE_PORT_HTTP",
            "PORT",
            "PORT_8080_TCP",
            "PORT_8080_TCP_ADDR",
            "PORT_8080_TCP_PORT",
            "PORT_8080_TCP_PROTO",
        ]
        .map(|name| format!("{service}_{name}"));
        let environment = variables
            .each_ref()
            .map(|name| (name.as_str(), "tcp://10.0.0.1:8080"));
        load(&[], &environment, &[]).unwrap();
    }
}

#[test]
fn accepts_sections_without_keys() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("empty.toml");
    fs::write(&path, "[actors]\n[mempool]\n[actors.storage]\n").unwrap();
    load(&[&path], &[], &[]).unwrap();
}

#[test]
fn accepts_only_levels_as_log_level() {
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
fn loads_the_rendered_configuration_unchanged() {
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
        config.values().map(|(_, value, _)| value.clone()).collect()
    };
    assert_eq!(values(&again), values(&config));
}
