//! Attacks during `ledger-node bench`: committed transfers per second with and without each one.
//!
//! Each attack has a node of its own, with the default settings except for those that the attack
//! needs. The bench runs alternately without and with the attack on that node, and each attack
//! prints one row of a table. Its throughput depends on the machine, and is printed only. A run
//! fails if the bench reports an error under an attack, if the node responds to an attack with
//! anything that is not documented, or if it does not serve a new client afterwards.
//!
//! Each attack has a fixed rate, so that a lower throughput is not merely the processor time of the
//! attacker, which has a column of its own.
//!
//! Attacks on the clock are not among them: a running binary reads the clock of the machine.
//! `actors/tests/clock.rs` has them, with and without load.
//!
//! `benches/attacks` is the command. `ATTACK_SECS` is the length of each run (5), `ROUNDS` the
//! number of runs without and with each attack (3), and `ATTACKS` selects attacks by parts of their
//! names, with commas between.

mod arguments;
mod attacker;
mod bench;
mod bodies;
mod connections;
mod figures;
mod hangups;
mod large_reads;
mod requests;
mod second_signatures;
mod target;

use crate::hostile::{counted, until_counted, until_open};
use attacker::{Attacker, Preparation};
use figures::{Attacked, Figures, print_heading, print_untested};
use futures::future::BoxFuture;
use ledger_client::load::ResourceUsage;
use ledger_test_support::{
    TestAccount,
    http::{HttpClient, NodeClient},
    node::within_patience,
};
use std::{env, sync::Arc, time::Instant};
use target::Target;

/// Number of connections that may stay open between two runs: those of the clients of this process.
const CONNECTIONS_BETWEEN_RUNS: u64 = 8;

/// A kind of attack.
struct Attack {
    name: &'static str,
    /// Starts the node; `None` without the rights that the attack needs.
    start: fn() -> BoxFuture<'static, Option<Target>>,
    /// Prepares the attack, and returns it.
    prepare: fn(Arc<Attacker>) -> Preparation,
    /// Responses that must occur.
    expected: &'static [&'static str],
    /// Responses that may also occur.
    possible: &'static [&'static str],
}

/// All kinds of attacks.
const ATTACKS: [Attack; 12] = [
    Attack {
        name: "HTTP/1.0 requests",
        start: target::default_settings,
        prepare: requests::http_1_0,
        expected: &["HTTP/1.0 200, closed", "HTTP/1.0 200, kept"],
        possible: &[],
    },
    Attack {
        name: "idle connections",
        start: target::default_settings,
        prepare: connections::idle,
        expected: &[],
        possible: &["closed"],
    },
    Attack {
        name: "slow heads",
        start: target::default_settings,
        prepare: connections::slow_heads,
        expected: &[],
        possible: &["408"],
    },
    Attack {
        name: "second signatures, one each",
        start: target::default_settings,
        prepare: second_signatures::alone,
        expected: &["400 invalid_transaction_update"],
        possible: &[],
    },
    Attack {
        name: "second signatures, in batches",
        start: target::default_settings,
        prepare: second_signatures::in_batches,
        expected: &["206, 9 of invalid_transaction_update", "400 invalid_input"],
        possible: &[],
    },
    Attack {
        name: "large GETs without further threads",
        start: target::without_threads,
        prepare: large_reads::large_reads,
        expected: &["200"],
        possible: &["503 internal_error"],
    },
    Attack {
        name: "a log at debug that is not read",
        start: target::with_piped_log,
        prepare: requests::logged,
        expected: &["200"],
        possible: &["line of the log lost"],
    },
    Attack {
        name: "more connections than open files",
        start: target::with_few_open_files,
        prepare: connections::above_limit,
        expected: &["admin 200"],
        possible: &[],
    },
    Attack {
        name: "SIGHUP",
        start: target::default_settings,
        prepare: hangups::hangups,
        expected: &["line of the log"],
        possible: &[],
    },
    Attack {
        name: "chunked bodies with large later chunks",
        start: target::with_little_memory_for_bodies,
        prepare: bodies::chunked,
        expected: &["400 web_framework_error", "503 internal_error"],
        possible: &[],
    },
    Attack {
        name: "more than 128 arguments",
        start: target::default_settings,
        prepare: arguments::too_many,
        expected: &["400 invalid_input"],
        possible: &[],
    },
    Attack {
        name: "GETs that vary Accept",
        start: target::default_settings,
        prepare: requests::varied_accept,
        expected: &["200"],
        possible: &[],
    },
];

/// The options of a run, from the environment.
struct Plan {
    length_secs: u64,
    rounds: u64,
    /// Parts of names of attacks, with commas between; empty for all.
    selected: String,
}

impl Plan {
    /// Reads the options.
    fn from_environment() -> Self {
        let number = |name, default| env::var(name).map_or(default, |text| text.parse().unwrap());
        Self {
            length_secs: number("ATTACK_SECS", 5),
            rounds: number("ROUNDS", 3),
            selected: env::var("ATTACKS").unwrap_or_default(),
        }
    }

    /// Returns whether the attack is selected.
    fn has(&self, attack: &Attack) -> bool {
        self.selected
            .split(',')
            .any(|part| attack.name.contains(part))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a long run, whose command is benches/attacks"]
async fn commits_during_each_attack() {
    let plan = Plan::from_environment();
    let mut violations = Vec::new();
    print_heading();
    for attack in ATTACKS.iter().filter(|attack| plan.has(attack)) {
        let Some(figures) = measure(attack, &plan).await else {
            print_untested(attack.name);
            continue;
        };
        figures.print();
        violations.extend(figures.violations(attack));
    }
    assert_eq!(violations, [""; 0]);
}

/// Runs the bench without and with the attack. Returns `None` if the node cannot be started with
/// the rights of this process.
async fn measure(attack: &Attack, plan: &Plan) -> Option<Figures> {
    let target = Arc::new((attack.start)().await?);
    let mut figures = Figures::new(attack.name);
    for round in 0..plan.rounds {
        // Alternately, so that neither is always the run on the larger ledger.
        for is_attacked in [round % 2 == 1, round % 2 == 0] {
            if is_attacked {
                let run = attacked_run(attack, &target, plan, round).await;
                figures.with.push(run);
            } else {
                let bench = bench::start(&target, plan.length_secs);
                figures.without.push(bench::report(bench).await);
            }
            until_open(&target, CONNECTIONS_BETWEEN_RUNS).await;
        }
    }
    let log = target.log();
    for fault in ["panicked", "Too many open files"] {
        figures.faults.extend(log.contains(fault).then_some(fault));
    }
    Some(figures)
}

/// Runs the bench with the attack, which begins during its warm-up.
async fn attacked_run(attack: &Attack, target: &Arc<Target>, plan: &Plan, round: u64) -> Attacked {
    let attacker = Attacker::new(target, round).await;
    let assault = (attack.prepare)(Arc::clone(&attacker)).await;
    let bench = bench::start(target, plan.length_secs);
    // The connections of the bench are open before the attack may prevent others from being
    // accepted.
    until_counted(target, "open", bench::CONNECTIONS).await;
    let (start, used_before) = (Instant::now(), ResourceUsage::now(None).own_cpu);
    let measured = async {
        let report = bench::report(bench).await;
        let open_connections = counted(target, "open").await;
        let (elapsed, used) = (start.elapsed(), ResourceUsage::now(None).own_cpu);
        attacker.end();
        (report, open_connections, elapsed, used)
    };
    let ((report, open_connections, elapsed, used), ()) = tokio::join!(measured, assault);
    serve_new_client(target, round).await;
    Attacked {
        report,
        tally: attacker.tally(),
        open_connections,
        elapsed,
        processor_time: used - used_before,
    }
}

/// Checks that the node commits a transfer of a client with new connections.
async fn serve_new_client(target: &Target, round: u64) {
    let account = TestAccount::from_seed(attacker::CLIENT_SEED + round);
    let client = NodeClient {
        http: HttpClient::new(),
        ..target.client.clone()
    };
    within_patience("the commit of a new client", async {
        client.fund(&account, 1_000_000_000).await;
        let transfer = account.transfer(&client.chain().await, 0, account.address, 1);
        let committed = client.submit_and_wait(&transfer).await;
        assert_eq!(committed["success"], true, "{committed}");
    })
    .await;
}
