use super::{error::REVERT_AFTER_SECS, memory::bytes_max, report::SettingStatus, *};
use crate::config::{Applies, Config, ConfigOptions, Kind, RawValue, SETTINGS, Setting, Value};
use ledger_actors::Node;
use ledger_api::ApiState;
use ledger_execution::{build_chain, development_genesis, execute_genesis};
use ledger_limits::KeyedLimit;
use ledger_store::{Store, StoreOptions};
use ledger_types::{Parameters, Vendor};
use std::{fs, os::unix::fs::PermissionsExt as _, path::PathBuf, sync::Arc, time::Duration};
use tempfile::TempDir;

const MEMPOOL: &str = "actors.mempool.mailbox_capacity";
const WAITS: &str = "wait.capacity";

/// A node with its run-time settings, and the directory of its files.
struct Fixture {
    node: Node,
    settings: RunTimeSettings,
    targets: Targets,
    options: ConfigOptions,
    directory: TempDir,
}

impl Fixture {
    /// Starts a node with a configuration file of this text.
    async fn start(text: &str, environment: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("node.toml");
        fs::write(&file, text).unwrap();
        let options = ConfigOptions {
            files: vec![file],
            data_dir: Some(directory.path().display().to_string()),
            ..ConfigOptions::default()
        };
        let environment = environment.iter();
        let environment = environment.map(|&(name, value)| (name.into(), value.into()));
        let config = Config::load(&options, environment).unwrap();
        let genesis = development_genesis(4, Vendor::default(), Parameters::default());
        let chain = build_chain(&genesis).unwrap();
        let ledger = directory.path().join("ledger");
        let mut store = Store::open(&ledger, &StoreOptions::default()).unwrap();
        store
            .initialize(&genesis, &execute_genesis(&genesis, &chain))
            .unwrap();
        let node = Node::start(chain, store, None, config.settings().node.clone());
        let node = node.await.unwrap();
        let targets = Targets {
            api: ApiState::new(node.handle(), config.settings().api.clone(), ""),
            node: node.handle(),
            connections: Arc::new(KeyedLimit::new(
                config.settings().api_listener.max_connections_per_address,
            )),
        };
        Self {
            settings: RunTimeSettings::new(config, false, targets.clone()),
            node,
            targets,
            options,
            directory,
        }
    }

    fn set(&self, values: &[(&str, u64)], revert_after_secs: Option<u64>) -> Result<(), String> {
        let set = values.iter().map(|&(key, value)| {
            let value = RawValue::Typed(Value::Integer(value));
            (key.to_owned(), value)
        });
        let change = Change {
            set: set.collect(),
            terms: Terms {
                revert_after_secs,
                reason: None,
            },
        };
        let changed = self.settings.change(&change, "test");
        changed.map_err(|error| error.to_string())
    }

    fn status(&self, key: &str) -> SettingStatus {
        let mut settings = self.settings.report(&[]).settings.into_iter();
        settings.find(|status| status.key == key).unwrap()
    }

    fn capacity(&self) -> usize {
        self.targets.node.mailbox("mempool").unwrap().capacity
    }

    /// Loads the configuration with a changed file as SIGHUP does.
    fn reload(&self, text: &str) {
        fs::write(&self.options.files[0], text).unwrap();
        let loaded = Config::load(&self.options, []).unwrap();
        let needs_restart = |setting: &Setting| setting.applies != Applies::Now;
        self.settings.reload(&loaded, needs_restart);
    }

    fn overrides(&self) -> PathBuf {
        self.directory.path().join("overrides.toml")
    }

    fn keep(&self, keys: &[&str], forget: &[&str], preview: bool) -> Result<Kept, String> {
        let owned = |keys: &[&str]| keys.iter().map(|&key| key.to_owned()).collect();
        let request = Keep {
            keys: owned(keys),
            forget: owned(forget),
            preview,
        };
        let kept = self.settings.keep(&request, "test");
        kept.map_err(|error| error.to_string())
    }

    /// Returns what the node shows of its limits.
    fn observed(&self) -> String {
        let Targets {
            node,
            api,
            connections,
        } = &self.targets;
        let mailboxes: Vec<_> = node.mailboxes().iter().map(|it| it.capacity).collect();
        let budgets: Vec<_> = node.budgets().iter().map(|it| it.capacity_ms).collect();
        let lanes = node.signature_lanes().map(|lane| lane.capacity_signatures);
        format!(
            "{mailboxes:?} {budgets:?} {lanes:?} {} {:?} {:?} {} {}",
            node.wait_capacity(),
            node.filter().rules(),
            api.switches.settings(),
            connections.max(),
            api.denied_addresses.networks(),
        )
    }

    async fn stop(self) {
        self.node.stop().await.unwrap();
    }
}

#[actix_web::test]
async fn each_run_time_setting_changes_a_limit_of_the_node() {
    // What the node does not show: tests of `it` see their effect.
    const OTHERS: [&str; 4] = [
        "api.max_body_bytes",
        "api.max_in_flight",
        "api.max_in_flight_per_address",
        "log.level",
    ];
    let fixture = Fixture::start("", &[]).await;
    let at_start = fixture.observed();
    for setting in SETTINGS.iter().filter(|it| it.applies == Applies::Now) {
        let value = match (&setting.kind, setting.default()) {
            (Kind::Integer(range), _) => Value::Integer(*range.start()),
            (_, Value::Boolean(switch)) => Value::Boolean(!switch),
            (Kind::FilterRules, _) => Value::Text("deny all".to_owned()),
            (Kind::LogLevel, _) => Value::Text("warn".to_owned()),
            (Kind::Networks, _) => Value::Text("192.0.2.0/24".to_owned()),
            (kind, _) => panic!("{} is {kind}", setting.key),
        };
        let change = Change::of_one(setting.key, value.clone());
        fixture.settings.change(&change, "test").unwrap();
        let status = fixture.status(setting.key);
        assert_eq!((&status.value, status.is_changed), (&value, true));
        let is_other = fixture.observed() != at_start;
        assert_eq!(is_other, !OTHERS.contains(&setting.key), "{}", setting.key);
        fixture.settings.undo("test").unwrap();
        assert_eq!(fixture.observed(), at_start, "{}", setting.key);
        assert!(!fixture.status(setting.key).is_changed);
    }
    fixture.stop().await;
}

#[actix_web::test]
async fn changes_all_settings_or_none() {
    let fixture = Fixture::start("", &[]).await;
    let at_start = fixture.observed();
    for (bad, expected) in [
        (
            ("wait.capacity", 0),
            "wait.capacity = 0 is not allowed: expected an integer from 1 to 10000000",
        ),
        (
            ("wait.timeout_ms", 7),
            "wait.timeout_ms is no run-time setting: it changes at the next start",
        ),
        (
            ("admin.token_file", 7),
            "admin.token_file is no run-time setting: it changes by SIGHUP",
        ),
        (
            ("wait.nothing", 7),
            "there is no setting wait.nothing; GET /settings lists all",
        ),
    ] {
        let error = fixture.set(&[(MEMPOOL, 7), bad], None).unwrap_err();
        assert_eq!(error, expected);
        assert_eq!(fixture.observed(), at_start);
    }
    for secs in [REVERT_AFTER_SECS.start() - 1, REVERT_AFTER_SECS.end() + 1] {
        let error = fixture.set(&[(MEMPOOL, 7)], Some(secs)).unwrap_err();
        assert!(error.contains("from 10 to 3600"), "{error}");
    }
    assert!(fixture.set(&[], None).is_err());
    assert_eq!(fixture.observed(), at_start);
    assert!(fixture.settings.report(&[]).undo.is_none());
    fixture.stop().await;
}

#[actix_web::test]
async fn reverts_a_change_that_is_not_confirmed_in_time() {
    let fixture = Fixture::start("", &[]).await;
    let before = fixture.capacity();
    tokio::time::pause();
    let settings = fixture.settings.clone();
    let task = actix_web::rt::spawn(async move { settings.revert_unconfirmed().await });
    let pass = async |secs| tokio::time::sleep(Duration::from_secs(secs)).await;

    fixture.set(&[(MEMPOOL, 7)], Some(300)).unwrap();
    pass(299).await;
    assert_eq!(fixture.capacity(), 7);
    assert!(fixture.status(MEMPOOL).reverts_at_unix_ms.is_some());
    pass(2).await;
    assert_eq!(fixture.capacity(), before);
    let report = fixture.settings.report(&[]);
    assert!(report.pending.is_none() && report.undo.is_none());

    fixture.set(&[(MEMPOOL, 8)], Some(300)).unwrap();
    fixture.settings.confirm("test").unwrap();
    pass(400).await;
    assert_eq!(fixture.capacity(), 8);

    // An undo takes back a pending change too.
    fixture.set(&[(MEMPOOL, 9)], Some(300)).unwrap();
    fixture.settings.undo("test").unwrap();
    assert_eq!(fixture.capacity(), 8);
    fixture.set(&[(MEMPOOL, 10)], Some(3_600)).unwrap();
    pass(400).await;
    assert_eq!(fixture.capacity(), 10, "the deadline of an undone change");
    task.abort();
    tokio::time::resume();
    fixture.stop().await;
}

#[actix_web::test]
async fn rejects_a_change_that_a_pending_one_excludes() {
    let fixture = Fixture::start("", &[]).await;
    fixture.set(&[(MEMPOOL, 7)], Some(60)).unwrap();
    for (key, revert) in [(MEMPOOL, None), (WAITS, Some(60))] {
        let error = fixture.set(&[(key, 8)], revert).unwrap_err();
        assert!(error.starts_with("a change of actors.mempool.mailbox_capacity is reverted in 5"));
        assert!(error.contains("POST /settings/confirm"), "{error}");
    }
    let error = fixture.keep(&[MEMPOOL], &[], false).unwrap_err();
    assert!(error.contains("reverted in"), "{error}");
    // Another setting is changed, and taken back before the pending one.
    fixture.set(&[(WAITS, 8)], None).unwrap();
    fixture.settings.undo("test").unwrap();
    assert_eq!(fixture.capacity(), 7);
    fixture.settings.undo("test").unwrap();
    assert_eq!(fixture.capacity(), 16_384);
    for error in [
        fixture.settings.confirm("test"),
        fixture.settings.undo("test"),
    ] {
        assert!(error.is_err());
    }
    fixture.stop().await;
}

#[actix_web::test]
async fn marks_and_takes_back_a_bounded_number_of_changes() {
    let fixture = Fixture::start("", &[]).await;
    for capacity in 1..=100 {
        fixture.set(&[(MEMPOOL, capacity)], None).unwrap();
    }
    let changes = fixture.settings.report(&[]).changes;
    assert_eq!(changes.len(), 64);
    let newest = &changes[0];
    assert_eq!(
        (newest.key, newest.old.as_str(), newest.new.as_str()),
        (MEMPOOL, "99", "100")
    );
    assert_eq!(newest.author, "test");
    let undone = (0..100).take_while(|_| fixture.settings.undo("test").is_ok());
    assert_eq!(undone.count(), 32);
    assert_eq!(fixture.capacity(), 100 - 32);
    fixture.stop().await;
}

#[actix_web::test]
async fn a_reload_applies_changed_files_and_drops_unconfirmed_changes() {
    let file = |waits: u64| {
        format!("[actors.mempool]\nmailbox_capacity = 5\n[wait]\ncapacity = {waits}\n")
    };
    let fixture = Fixture::start(&file(100), &[]).await;
    let waits = || fixture.targets.node.wait_capacity();

    // A confirmed change stays as long as the files have the same value.
    fixture.set(&[(WAITS, 50)], None).unwrap();
    fixture.set(&[(MEMPOOL, 7)], Some(60)).unwrap();
    fixture.reload(&file(100));
    assert_eq!((waits(), fixture.capacity()), (50, 5));
    let report = fixture.settings.report(&[]);
    assert!(report.pending.is_none() && report.undo.is_none());
    fixture.reload(&file(60));
    assert_eq!(waits(), 60);
    assert_eq!(fixture.status(WAITS).configured, Value::Integer(60));

    // A kept value is stronger than the files.
    fixture.set(&[(WAITS, 40)], None).unwrap();
    fixture.keep(&[WAITS], &[], false).unwrap();
    fixture.reload(&file(70));
    assert_eq!(waits(), 40);
    fixture.keep(&[], &[WAITS], false).unwrap();
    assert_eq!(waits(), 40, "until the next start or reload");
    assert_eq!(fixture.status(WAITS).configured, Value::Integer(70));

    // A setting that needs a restart keeps the value of the start.
    fixture.reload("[wait]\ntimeout_ms = 7\n");
    assert_eq!(
        fixture.status("wait.timeout_ms").configured,
        Value::Integer(1_000)
    );
    fixture.stop().await;
}

#[actix_web::test]
async fn keeps_settings_in_the_data_directory() {
    let fixture = Fixture::start("[wait]\ncapacity = 100\n", &[]).await;
    fixture.set(&[(MEMPOOL, 7), (WAITS, 50)], None).unwrap();
    let line = format!("{MEMPOOL} = 7");
    let preview = fixture.keep(&[MEMPOOL], &[], true).unwrap();
    assert_eq!(preview.diff, [format!("+{line}")]);
    assert!(!preview.written && !fixture.overrides().exists());

    let kept = fixture.keep(&[MEMPOOL], &[], false).unwrap();
    assert_eq!((&kept.file, kept.written), (&fixture.overrides(), true));
    let metadata = fs::metadata(fixture.overrides()).unwrap();
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    let status = fixture.status(MEMPOOL);
    assert_eq!(status.kept, Some(Value::Integer(7)));
    let origin = format!("kept in {}, line 3", fixture.overrides().display());
    assert_eq!(status.origin, origin);

    let kept = fixture.keep(&[WAITS], &[MEMPOOL], false).unwrap();
    assert_eq!(
        kept.diff,
        ["+wait.capacity = 50".to_owned(), format!("-{line}")]
    );
    let config = Config::load(&fixture.options, []).unwrap();
    assert_eq!(config.settings().node.wait.capacity, 50);
    assert_eq!(config.settings().node.mailboxes.mempool, 16_384);
    let ignoring = ConfigOptions {
        no_overrides: true,
        ..fixture.options.clone()
    };
    let config = Config::load(&ignoring, []).unwrap();
    assert_eq!(config.settings().node.wait.capacity, 100);
    let error = fixture.keep(&[], &[MEMPOOL], false).unwrap_err();
    assert_eq!(error, format!("{MEMPOOL} is not kept"));
    fixture.stop().await;
}

#[actix_web::test]
async fn keeps_nothing_that_a_stronger_layer_or_a_bad_file_prevents() {
    let variable = "LEDGER_NODE__WAIT__CAPACITY";
    let fixture = Fixture::start("", &[(variable, "9")]).await;
    let error = fixture.keep(&[WAITS], &[], true).unwrap_err();
    assert!(error.contains(variable), "{error}");
    let error = fixture.keep(&["storage.data_dir"], &[], true).unwrap_err();
    assert!(error.contains("no run-time setting"), "{error}");
    assert!(fixture.keep(&[], &[], true).is_err());
    // Text of an operator is not overwritten.
    let text = "wait.capacity = 0\n";
    fs::write(fixture.overrides(), text).unwrap();
    let error = fixture.keep(&[MEMPOOL], &[], false).unwrap_err();
    assert!(error.contains("overrides.toml, line 1"), "{error}");
    assert_eq!(fs::read_to_string(fixture.overrides()).unwrap(), text);
    fs::remove_file(fixture.overrides()).unwrap();
    fs::create_dir(fixture.overrides().with_extension("toml.new")).unwrap();
    let error = fixture.keep(&[MEMPOOL], &[], false).unwrap_err();
    assert!(error.contains("cannot be written"), "{error}");
    assert!(!fixture.overrides().exists());
    fixture.stop().await;
}

#[actix_web::test]
async fn rejects_limits_above_the_memory_of_the_machine() {
    const IN_FLIGHT: &str = "api.max_in_flight";
    let fixture = Fixture::start("[api]\nmax_in_flight = 40000\n", &[]).await;
    let memory = || fixture.settings.report(&[]).memory;
    let before = memory();
    fixture.set(&[(IN_FLIGHT, 100)], None).unwrap();
    assert!(memory().limit_bytes < before.limit_bytes);
    // Back to the sum of the configuration, whatever the machine has.
    fixture.set(&[(IN_FLIGHT, 40_000)], None).unwrap();
    assert_eq!(memory().limit_bytes, before.limit_bytes);
    let machine = RunTimeSettings::on_machine(
        fixture.settings.config(),
        false,
        fixture.targets.clone(),
        Some(before.limit_bytes + 1_000_000),
    );
    let fixture = Fixture {
        settings: machine,
        ..fixture
    };
    // A request in flight takes 32 KiB.
    fixture.set(&[(IN_FLIGHT, 40_010)], None).unwrap();
    let error = fixture.set(&[(IN_FLIGHT, 41_000)], None).unwrap_err();
    let limit = before.limit_bytes + 1_000 * 32 * 1024;
    for figure in [limit, before.limit_bytes + 1_000_000] {
        assert!(error.contains(&format!("{figure} bytes")), "{error}");
    }
    assert_eq!(fixture.status(IN_FLIGHT).value, Value::Integer(40_010));
    // Nothing is recommended that would be rejected. A wait takes 512 bytes.
    let recommended = |waits| {
        fixture
            .set(&[(WAITS, waits), (IN_FLIGHT, 40_010)], None)
            .unwrap();
        let load = Load {
            key: WAITS,
            rejected_per_s: 3.0,
            busy_permille: 0,
        };
        let settings = fixture.settings.report(&[load]).settings;
        let waits = settings.into_iter().find(|status| status.key == WAITS);
        waits.unwrap().recommended.map(|of| of.value)
    };
    // The default, whose sum is that of the configuration.
    assert_eq!(recommended(100), Some(16_384));
    assert_eq!(recommended(16_384), None);
    let config = fixture.settings.config();
    assert_eq!(bytes_max(config.settings()), before.limit_bytes);
    fixture.stop().await;
}
