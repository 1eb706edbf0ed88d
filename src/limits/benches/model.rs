//! Benchmark of the cost model: time that it adds to a request.
//!
//! `cargo bench -p ledger-limits --bench model -- [threads]`
//!
//! Each row repeats the calls of one request on one thread, or on `threads` of them (1 and 2 by
//! default) that share the model, the queue and the budget. The figure is nanoseconds per request
//! of a thread: the median of the rounds, with the least and the largest.

#![allow(
    clippy::print_stdout,
    reason = "the figures are the result of the program"
)]

use ledger_limits::{
    Cancel, ClientKey, ClientKeys, CostModel, Demand, FairQueue, MemoryBudget, WorkKind,
};
use std::{env, hint::black_box, net::Ipv4Addr, thread, time::Instant};

const ROUNDS: usize = 7;
const REQUESTS: u32 = 200_000;
/// Number of other clients whose jobs wait in the queue.
const WAITING_CLIENTS: u32 = 500;
/// Larger than the sum of all costs, so that nothing is rejected.
const CAPACITY: u64 = u64::MAX / 2;

struct Job;

impl Cancel for Job {
    fn is_canceled(&self) -> bool {
        false
    }
}

fn main() {
    let numbers = env::args().filter_map(|text| text.parse().ok());
    let mut threads: Vec<usize> = numbers.collect();
    if threads.is_empty() {
        threads = vec![1, 2];
    }
    println!("calls of a request                           | threads | ns (least to largest)");
    for threads in threads {
        estimate(threads);
        queue(threads, 0);
        queue(threads, WAITING_CLIENTS);
        memory(threads);
    }
}

/// Returns the clients of `count` addresses.
fn clients(count: u32) -> Vec<ClientKey> {
    let keys = ClientKeys::default();
    let addresses = (1..=count).map(|number| Ipv4Addr::from_bits(number).into());
    addresses.map(|address| keys.key_of(address)).collect()
}

/// Measures the estimate of a page of 25 rows, and the record of its measured duration.
fn estimate(threads: usize) {
    let model = CostModel::default();
    report("estimate, record", threads, |_| {
        let estimate = model.estimate(WorkKind::Page, black_box(Demand::rows(25)));
        model.record(estimate, black_box(140));
    });
}

/// Measures a job that waits, and is taken and settled, while `waiting` other clients wait.
fn queue(threads: usize, waiting: u32) {
    let queue = FairQueue::new(CAPACITY, usize::MAX);
    for client in clients(waiting) {
        queue.push_continued(client, CAPACITY / 1_000_000, Job);
    }
    let own = clients(threads as u32);
    let name = format!("push, pop, settle beside {waiting} clients");
    report(&name, threads, |thread| {
        assert!(queue.try_push(own[thread], 100, Job).is_ok());
        let (charge, job) = queue.pop().expect("a job waits");
        black_box(job);
        queue.settle(charge, 140);
    });
}

/// Measures a response of 64 KiB.
fn memory(threads: usize) {
    let budget = MemoryBudget::new(usize::MAX / 16);
    let handles: Vec<_> = (0..threads).map(|_| budget.for_thread()).collect();
    let own = clients(threads as u32);
    report("lease, release memory", threads, |thread| {
        let lease = handles[thread].lease(own[thread]);
        assert!(lease.try_grow(black_box(64 * 1024)));
    });
}

/// Runs `request` on each thread, and prints the time that it takes.
fn report(name: &str, threads: usize, request: impl Fn(usize) + Sync) {
    let mut rounds: Vec<f64> = (0..ROUNDS).map(|_| round(threads, &request)).collect();
    rounds.sort_unstable_by(f64::total_cmp);
    let (least, median, most) = (rounds[0], rounds[ROUNDS / 2], rounds[ROUNDS - 1]);
    println!("{name:44} | {threads:7} | {median:.0} ({least:.0} to {most:.0})");
}

/// Returns the mean time of a request, in nanoseconds.
fn round(threads: usize, request: &(impl Fn(usize) + Sync)) -> f64 {
    let begun = Instant::now();
    thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || (0..REQUESTS).for_each(|_| request(thread)));
        }
    });
    begun.elapsed().as_nanos() as f64 / f64::from(REQUESTS)
}
