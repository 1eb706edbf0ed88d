//! Many chains in one process, at the same time and one after another.

use crate::sender::Sender;
use ledger_test_chain::TestChain;
use std::{
    env,
    sync::{
        Barrier,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::Instant,
};

/// Number of chains of each test without the variable `CHAINS`.
const CHAINS: u64 = 16;

/// Returns the number of chains of each test.
fn chains() -> u64 {
    env::var("CHAINS").map_or(CHAINS, |text| text.parse().expect("a number"))
}

/// Pays on a chain, and asserts that nobody paid on it before.
fn pay(chain: &TestChain) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let committed = Sender::new(chain).pay(0, 1_000).await;
        assert_eq!(committed["success"], true, "{committed}");
        assert_eq!(
            committed["version"], "2",
            "the first transaction of a block"
        );
    });
}

#[test]
fn chains_run_at_the_same_time() {
    let count = chains();
    let all_run = &Barrier::new(count as usize);
    thread::scope(|scope| {
        for _ in 0..count {
            scope.spawn(move || {
                let chain = TestChain::start();
                all_run.wait();
                pay(&chain);
            });
        }
    });
}

#[test]
#[expect(clippy::print_stderr, reason = "the figure of a long run")]
fn chains_run_one_after_another_on_each_core() {
    let (begun, started, count) = (Instant::now(), AtomicU64::new(0), chains());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while started.fetch_add(1, Relaxed) < count {
                    pay(&TestChain::start());
                }
            });
        }
    });
    let secs = begun.elapsed().as_secs_f64();
    eprintln!("{count} chains with a payment each: {secs:.1} s");
}
