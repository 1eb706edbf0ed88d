use super::*;
use crate::{
    admin::ReloadLock,
    compose::{admin_gate::admin_gate, genesis::configured_genesis, ledger::open_ledger},
    tunable::Targets,
};
use ledger_actors::Node;
use ledger_api::ApiState;
use ledger_limits::KeyedLimit;
use std::{cell::Cell, fs, sync::Arc, time::Duration};
use tokio::{sync::mpsc, time::timeout};

#[test]
fn rejects_a_genesis_file_that_a_start_would_reject() {
    let options = ConfigOptions {
        assignments: vec!["chain.genesis=/nowhere".to_owned()],
        ..ConfigOptions::default()
    };
    assert!(load(&options, &with(&[])).is_err());
}

#[test]
fn rejects_a_configuration_that_is_not_a_regular_file() {
    let options = ConfigOptions {
        files: vec!["/dev/null".into()],
        regular_files_only: true,
        ..ConfigOptions::default()
    };
    let loaded = load(&options, &with(&[]));
    let error = loaded.err().map(|error| error.to_string());
    let expected = "cannot read /dev/null: it is not a regular file, but a directory, pipe or \
                    device; write the content to a file";
    assert_eq!(error.as_deref(), Some(expected));
}

/// Configuration files with these texts, and the values that they set.
struct Files {
    _directory: tempfile::TempDir,
    options: ConfigOptions,
}

impl Files {
    fn new(texts: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let names = (0..texts.len()).map(|index| directory.path().join(index.to_string()));
        let files = Self {
            options: ConfigOptions {
                files: names.collect(),
                ..ConfigOptions::default()
            },
            _directory: directory,
        };
        files.write(texts);
        files
    }

    fn write(&self, texts: &[&str]) {
        for (path, text) in self.options.files.iter().zip(texts) {
            fs::write(path, text).unwrap();
        }
    }

    fn config(&self) -> Config {
        Config::load(&self.options, []).unwrap()
    }
}

#[test]
fn rejects_every_incomplete_form_of_a_file_that_lacks_a_protective_setting() {
    const TEXT: &str = "[log]\nlevel = \"warn\"\n[admin]\ntoken_file = \"token\"\n\
                        [filter]\nrules = \"deny sender 0x1,deny sender 0x2\"\n";
    let files = Files::new(&[TEXT]);
    let running = files.config();
    let mut valid = 0;
    // All but the last, which lacks only the end of a line.
    for end in 0..TEXT.len() - 1 {
        files.write(&[&TEXT[..end]]);
        let Ok(config) = Config::load(&files.options, []) else {
            continue;
        };
        valid += 1;
        let checked = check_removals(&files.options.files, &running, &config);
        let message = checked.unwrap_err().to_string();
        assert!(message.contains("no longer set in"), "{end}: {message}");
    }
    assert!(valid > 5, "{valid}");
    files.write(&[TEXT]);
    check_removals(&files.options.files, &running, &files.config()).unwrap();
}

#[test]
fn removes_protective_settings_by_an_empty_value() {
    let files = Files::new(&["[filter]\nrules = \"deny all\"\n"]);
    let running = files.config();
    files.write(&["[filter]\nrules = \"\"\n"]);
    check_removals(&files.options.files, &running, &files.config()).unwrap();
}

#[test]
fn takes_a_protective_setting_from_another_file_only_if_its_value_is_the_same() {
    let rules = |text: &str| format!("[filter]\nrules = {text:?}\n");
    let [none, some, other] = [rules(""), rules("deny all"), rules("deny sender 0x1")];
    let check = |before: [&str; 2], after: [&str; 2]| {
        let files = Files::new(&before);
        let running = files.config();
        files.write(&after);
        check_removals(&files.options.files, &running, &files.config())
    };
    // The second file may be incomplete.
    check([&none, &some], [&none, ""]).unwrap_err();
    check([&none, &some], [&other, ""]).unwrap_err();
    // Moved.
    check([&none, &some], [&some, ""]).unwrap();
    check([&some, ""], ["", &other]).unwrap();
}

#[tokio::test]
async fn runs_one_more_reload_for_all_signals_during_a_reload() {
    let (send_signal, mut signals) = mpsc::unbounded_channel();
    let (finish_reload, mut finished) = mpsc::unbounded_channel();
    let reloads = Cell::new(0);
    let running = reload_on_each(
        async || signals.recv().await.unwrap(),
        async || {
            reloads.set(reloads.get() + 1);
            finished.recv().await.unwrap();
        },
    );
    let mut running = pin!(running);
    for (signals, expected) in [(0, 0), (1, 1), (1, 1), (3, 1)] {
        for _ in 0..signals {
            send_signal.send(()).unwrap();
        }
        assert!(futures::poll!(&mut running).is_pending());
        assert_eq!(reloads.get(), expected);
    }
    for expected in [2, 2] {
        finish_reload.send(()).unwrap();
        assert!(futures::poll!(&mut running).is_pending());
        assert_eq!(reloads.get(), expected);
    }
    send_signal.send(()).unwrap();
    assert!(futures::poll!(&mut running).is_pending());
    assert_eq!(reloads.get(), 3);
}

/// Returns the default configuration with these assignments (`key=value`).
fn with(assignments: &[&str]) -> Config {
    let options = ConfigOptions {
        assignments: assignments.iter().copied().map(str::to_owned).collect(),
        ..ConfigOptions::default()
    };
    Config::load(&options, []).unwrap()
}

fn change(key: &'static str, old: &str, new: &str) -> Change {
    let [old, new] = [old, new].map(|text| Value::Text(text.to_owned()));
    Change { key, old, new }
}

#[test]
fn finds_no_changes_in_equal_configurations() {
    let changes = Changes::between(&with(&[]), &with(&["wait.timeout_ms=1_000"]));
    assert_eq!((changes.reloaded, changes.needs_restart), (vec![], vec![]));
}

#[test]
fn leaves_run_time_settings_to_their_owner() {
    let running = with(&["filter.rules=deny all"]);
    let changes = Changes::between(
        &running,
        &with(&["admin.token_file=secret", "log.level=debug"]),
    );
    assert_eq!(changes.reloaded, [change(TOKEN_FILE, "", "secret")]);
    assert_eq!(changes.needs_restart, [] as [&str; 0]);
}

#[test]
fn applies_other_files_of_the_certificate_but_not_a_switch_to_or_from_tls() {
    let tls = |name: &str| {
        let [certificate, key] =
            ["certificate", "private_key"].map(|setting| format!("api.tls_{setting}={name}.pem"));
        with(&[&certificate, &key])
    };
    let changes = Changes::between(&tls("a"), &tls("b"));
    let keys = [TlsSettings::API.certificate, TlsSettings::API.private_key];
    let expected = keys.map(|key| change(key, "a.pem", "b.pem"));
    assert_eq!(changes.reloaded, expected);
    assert_eq!(changes.needs_restart, [] as [&str; 0]);
    for (running, loaded) in [(tls("a"), with(&[])), (with(&[]), tls("a"))] {
        let changes = Changes::between(&running, &loaded);
        assert_eq!(changes.reloaded, []);
        assert_eq!(changes.needs_restart, keys);
    }
}

#[test]
fn names_every_other_changed_setting_as_one_that_needs_a_restart() {
    let changed = with(&["wait.timeout_ms=7", "storage.data_dir=other"]);
    let changes = Changes::between(&with(&[]), &changed);
    assert_eq!(changes.reloaded, []);
    assert_eq!(
        changes.needs_restart,
        ["wait.timeout_ms", "storage.data_dir"]
    );
}

#[actix_web::test]
async fn waits_for_another_reload_of_the_certificate() {
    let directory = tempfile::tempdir().unwrap();
    let options = ConfigOptions {
        data_dir: Some(directory.path().display().to_string()),
        ..ConfigOptions::default()
    };
    let config = Config::load(&options, []).unwrap();
    let settings = config.settings();
    let ledger = open_ledger(settings, configured_genesis(&config).unwrap()).unwrap();
    let node = Node::start(ledger.chain, ledger.store, None, settings.node.clone());
    let node = node.await.unwrap();
    let lock = ReloadLock::default();
    let reloader = Reloader {
        options,
        targets: ReloadTargets {
            settings: RunTimeSettings::new(
                config.clone(),
                false,
                Targets {
                    node: node.handle(),
                    api: ApiState::new(node.handle(), settings.api.clone(), ""),
                    connections: Arc::new(KeyedLimit::new(1)),
                },
            ),
            certificates: Certificates {
                api: None,
                admin: None,
                lock: lock.clone(),
            },
            admin_gate: admin_gate(settings, None).unwrap(),
        },
    };
    let guard = lock.acquire().await;
    {
        let mut reload = pin!(reloader.reload());
        let waited = timeout(Duration::from_millis(500), &mut reload).await;
        assert!(waited.is_err(), "a reload under way was not waited for");
        drop(guard);
        reload.await;
    }
    // The thread that reads the files has the lock.
    let guard = lock.acquire().await;
    let (_, guard) = reloader.load(guard).await.unwrap();
    assert!(lock.try_acquire().is_none());
    drop(guard);
    assert!(lock.try_acquire().is_some());
    node.stop().await.unwrap();
}

#[test]
fn keeps_the_token_of_a_listener_that_other_machines_reach() {
    // The loaded configuration has a local address, and the running listener has another one.
    let load = |running: &[&str]| load(&ConfigOptions::default(), &with(running));
    let error = load(&["admin.listen=0.0.0.0:9101"]).err();
    let message = error.expect("there is no token").to_string();
    assert!(message.contains("admin.token_file"), "{message}");
    assert!(load(&[]).is_ok());
}
