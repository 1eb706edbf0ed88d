//! The cost of a transfer as the ledger grows.
//!
//! `cargo bench -p ledger-store --bench growth -- [total] [accounts] [per_commit] [window]`
//!
//! Commits `total` made-up transfers between random accounts, `per_commit` in a block and a commit,
//! and prunes beside them if a `window` of versions is given. A transfer is a transaction, two
//! stream events, three writes, and entries of four kinds of indices. Times include commits and
//! prunes, but not the generation of blocks.

#![allow(clippy::print_stdout)]

use fastrand::Rng;
use ledger_crypto::HashValue;
use ledger_store::{PageEnd, Snapshot, Store, StoreError, StoreOptions};
use ledger_test_support::generated::{
    BlockGenerator, VALUE_BYTES, address, genesis, resource_key, state_key, stream, transfer,
};
use ledger_types::{EventKey, ExecutedBlock, WriteOp};
use std::{
    collections::BTreeMap,
    fs,
    hint::black_box,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

const OPTIONS: StoreOptions = StoreOptions {
    cache_bytes: 1 << 30,
};
/// Number of look-ups in a measurement, which reports their mean time.
const LOOKUPS: u64 = 4_000;
/// Number of resources of one account, which are written over the whole run and listed at the end.
const MANY_RESOURCES: u64 = 10_000;
/// Number of that account.
const MANY: u64 = u64::MAX;
/// Maximum number of versions in a step of pruning.
const PRUNE_VERSIONS: u64 = 5_000;

/// The arguments of the command line.
struct Arguments {
    total: u64,
    accounts: u64,
    per_commit: u64,
    window: Option<u64>,
}

impl Arguments {
    fn read() -> Self {
        // Cargo adds `--bench`, which is not a number.
        let mut numbers = std::env::args()
            .skip(1)
            .filter_map(|argument| argument.parse().ok());
        Self {
            total: numbers.next().unwrap_or(100_000),
            accounts: numbers.next().unwrap_or(10_000),
            per_commit: numbers.next().unwrap_or(1_000),
            window: numbers.next(),
        }
    }
}

/// A sample of committed transactions, which are looked up at the end.
struct Sample {
    hashes: Vec<HashValue>,
}

impl Sample {
    fn add(&mut self, block: &ExecutedBlock) {
        self.hashes
            .push(block.transactions[block.transactions.len() / 2].hash);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = Arguments::read();
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("ledger");
    let mut generator = BlockGenerator::new();
    let mut store = Store::open(&path, &OPTIONS)?;
    store.initialize(&genesis(), &generator.first_block(BTreeMap::new()))?;
    let (mut writer, reader) = store.split();
    let mut random = Rng::with_seed(42);
    let mut sample = Sample { hashes: Vec::new() };
    let commits = arguments.total.div_ceil(arguments.per_commit);
    let fifth = commits.div_ceil(5);
    let (mut committing, mut pruning, mut on_cpu) =
        (Duration::ZERO, Duration::ZERO, Duration::ZERO);
    let mut latencies = Vec::new();
    for commit in 1..=commits {
        let specs = (0..arguments.per_commit).map(|_| {
            let sender = random.u64(..arguments.accounts);
            let recipient = random.u64(..arguments.accounts);
            transfer(sender, recipient, &mut random)
        });
        let mut specs: Vec<_> = specs.collect();
        let many = (commit - 1) * MANY_RESOURCES / commits..commit * MANY_RESOURCES / commits;
        let written = many.map(|number| {
            (
                resource_key(MANY, number),
                WriteOp::Create(vec![1; VALUE_BYTES].into()),
            )
        });
        specs[0].writes.extend(written);
        let block = generator.block(specs);
        sample.add(&block);
        let block = [Arc::new(block)];
        let (started, cpu) = (Instant::now(), cpu_time()?);
        writer.commit(&block)?;
        latencies.push(started.elapsed());
        committing += started.elapsed();
        on_cpu += cpu_time()?.saturating_sub(cpu);
        if let Some(window) = arguments.window {
            let started = Instant::now();
            let head = reader.snapshot()?.ledger_info().version;
            while !writer
                .prune(head.saturating_sub(window), PRUNE_VERSIONS)?
                .done
            {}
            pruning += started.elapsed();
        }
        if commit % fifth == 0 || commit == commits {
            let count = latencies.len() as u64 * arguments.per_commit;
            latencies.sort_unstable();
            println!(
                "{:>10} transfers: {:>7.0}/s, {:.1} us of CPU each, commit p50 {:.2?} p99 {:.2?} max {:.2?}, prune {:.2} us per transfer, {:.0} bytes on disk per transfer",
                commit * arguments.per_commit,
                count as f64 / committing.as_secs_f64(),
                on_cpu.as_secs_f64() * 1e6 / count as f64,
                latencies[latencies.len() / 2],
                latencies[latencies.len() * 99 / 100],
                latencies[latencies.len() - 1],
                pruning.as_secs_f64() * 1e6 / count as f64,
                bytes_on_disk(&path)? as f64 / (commit * arguments.per_commit) as f64,
            );
            latencies.clear();
            (committing, pruning, on_cpu) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
        }
    }
    look_up(&reader.snapshot()?, &mut random, &arguments, &sample)?;
    list_many(&reader.snapshot()?)?;
    reopen(&path, directory.path(), || drop((writer, reader)))?;
    Ok(())
}

/// Returns the CPU time of this thread, which does not depend on other load of the machine.
fn cpu_time() -> Result<Duration, Box<dyn std::error::Error>> {
    let text = fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanos = text.split_whitespace().next().unwrap_or_default();
    Ok(Duration::from_nanos(nanos.parse()?))
}

fn bytes_on_disk(path: &Path) -> std::io::Result<u64> {
    use std::os::unix::fs::MetadataExt;
    const BLOCK_BYTES: u64 = 512;
    let mut blocks = 0;
    for entry in fs::read_dir(path)? {
        blocks += entry?.metadata()?.blocks();
    }
    Ok(blocks * BLOCK_BYTES)
}

fn look_up(
    snapshot: &Snapshot,
    random: &mut Rng,
    arguments: &Arguments,
    sample: &Sample,
) -> Result<(), StoreError> {
    let info = *snapshot.ledger_info();
    let versions = info.version - info.oldest_version + 1;
    let mut time = |name: &str, question: &mut dyn FnMut(&mut Rng) -> Result<(), StoreError>| {
        let started = Instant::now();
        for _ in 0..LOOKUPS {
            question(random)?;
        }
        let mean = started.elapsed().as_secs_f64() * 1e6 / LOOKUPS as f64;
        println!("{mean:>8.1} us {name}");
        Ok::<_, StoreError>(())
    };
    let accounts = arguments.accounts;
    let event_stream = |number: u64| -> EventKey { stream(number, 3) };
    time("transaction by version", &mut |random| {
        let version = info.oldest_version + random.u64(..versions);
        snapshot.transaction(version).map(|found| {
            black_box(found);
        })
    })?;
    time("version by hash, of a sample", &mut |random| {
        let hash = &sample.hashes[random.usize(..sample.hashes.len())];
        snapshot.version_by_hash(hash).map(|found| {
            black_box(found);
        })
    })?;
    time("version by hash, unknown", &mut |random| {
        let hash = HashValue::sha3_of(&[&random.u64(..).to_le_bytes()]);
        snapshot.version_by_hash(&hash).map(|found| {
            black_box(found);
        })
    })?;
    time("newest state", &mut |random| {
        let key = resource_key(random.u64(..accounts), 0);
        snapshot.state_value(&key, info.version).map(|found| {
            black_box(found);
        })
    })?;
    time("state at a random version", &mut |random| {
        let (key, version) = (
            resource_key(random.u64(..accounts), 0),
            info.oldest_version + random.u64(..versions),
        );
        snapshot.state_value(&key, version).map(|found| {
            black_box(found);
        })
    })?;
    time("unknown state key", &mut |random| {
        let key = state_key(u64::MAX - random.u64(..accounts));
        snapshot.state_value(&key, info.version).map(|found| {
            black_box(found);
        })
    })?;
    time("the two slots of an account", &mut |random| {
        let account = address(random.u64(..accounts));
        snapshot
            .state_keys(&account, info.version, None)
            .map(|entries| {
                black_box(entries.count());
            })
    })?;
    time(
        "the two slots of an account at a random version",
        &mut |random| {
            let account = address(random.u64(..accounts));
            let version = info.oldest_version + random.u64(..versions);
            snapshot.state_keys(&account, version, None).map(|entries| {
                black_box(entries.count());
            })
        },
    )?;
    time(
        "newest 100 summaries of an account until a version",
        &mut |random| {
            let account = address(random.u64(..accounts));
            let end = info.oldest_version + random.u64(..versions);
            let found = snapshot.transaction_summaries(&account, 0..=end, PageEnd::Newest, 100)?;
            black_box(found);
            Ok(())
        },
    )?;
    time(
        "100 summaries of an account from a version",
        &mut |random| {
            let account = address(random.u64(..accounts));
            let start = info.oldest_version + random.u64(..versions);
            let found =
                snapshot.transaction_summaries(&account, start..=u64::MAX, PageEnd::Oldest, 100)?;
            black_box(found);
            Ok(())
        },
    )?;
    time("block of a version", &mut |random| {
        let version = info.oldest_version + random.u64(..versions);
        snapshot.block_of_version(version).map(|found| {
            black_box(found);
        })
    })?;
    time("newest 25 transactions of an account", &mut |random| {
        let found = snapshot.account_transactions(&address(random.u64(..accounts)), None, 25)?;
        black_box(found);
        Ok(())
    })?;
    time(
        "25 transactions of an account from number 2",
        &mut |random| {
            let found =
                snapshot.account_transactions(&address(random.u64(..accounts)), Some(2), 25)?;
            black_box(found);
            Ok(())
        },
    )?;
    time("newest 25 events of a stream", &mut |random| {
        let found = snapshot.events(&event_stream(random.u64(..accounts)), None, 25)?;
        black_box(found);
        Ok(())
    })
}

/// Lists the account with many resources.
fn list_many(snapshot: &Snapshot) -> Result<(), StoreError> {
    let started = Instant::now();
    let entries = snapshot.state_keys(&address(MANY), snapshot.ledger_info().version, None)?;
    let listed =
        entries.filter(|entry| entry.as_ref().is_ok_and(|entry| entry.key_value.is_some()));
    let count = listed.count();
    let elapsed = started.elapsed().as_secs_f64();
    println!("{:>8.1} ms the {count} slots of one account", elapsed * 1e3);
    Ok(())
}

/// Opens the closed directory, and a copy that was made while it was open, as a killed process
/// leaves it.
fn reopen(
    path: &Path,
    parent: &Path,
    close: impl FnOnce(),
) -> Result<(), Box<dyn std::error::Error>> {
    let killed = parent.join("killed");
    fs::create_dir(&killed)?;
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let copy = killed.join(entry.file_name());
        fs::copy(entry.path(), &copy)?;
        // Sync now: opening the store would wait for the write-back of the copy.
        fs::File::open(copy)?.sync_all()?;
    }
    close();
    for (name, path) in [("after a stop", path), ("after a kill", killed.as_path())] {
        let started = Instant::now();
        let store = Store::open(path, &OPTIONS)?;
        println!(
            "{:>8.1} ms to open {name}",
            started.elapsed().as_secs_f64() * 1e3
        );
        drop(store);
    }
    Ok(())
}
