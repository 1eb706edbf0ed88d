//! What the recorded nodes go through, and what they say meanwhile that must hold from then on.

use super::{
    super::told::{Ends, number},
    recorder::Recorder,
};
use crate::kit::{NodeClient, TestAccount, TestNode, until};
use ledger_crypto::HashValue;
use ledger_vm::Chain;
use std::process::Stdio;

/// How many clients transfer at once.
const CLIENTS: u64 = 4;
/// What each is funded with.
const FUNDS: u64 = 1_000_000_000_000;
/// The exit code of a process that the recorder has ended.
const EXIT_RECORDER: i32 = 98;
/// Log lines at a start, before and after the ready line.
const POOL_RESTORED: &str = "the saved pool is restored";
const POOL_REMOVED: &str = "the file of the restored mempool is removed";
/// A window that every life fills, in steps.
const WINDOW: [&str; 2] = ["pruner.window_versions=60", "pruner.batch_versions=10"];

/// One process, from its start to its end.
#[derive(Clone, Copy, Debug)]
pub enum Life {
    /// Makes a ledger with the first version of the framework, works, and is stopped with a pool that waits.
    Parking,
    /// Takes in the pool that was saved, works, and is killed.
    Killed,
    /// Takes on a framework upgrade, and is stopped with an empty pool.
    Upgraded,
    /// Works a little, and is stopped.
    Short,
    /// Ends at once after the step whose line begins so.
    KilledAfter(&'static str),
}

impl Life {
    pub const ALL: [Self; 4] = [Self::Parking, Self::Killed, Self::Upgraded, Self::Short];
}

/// What a node has said.
#[derive(Clone, Debug)]
pub enum Promise {
    /// The node printed its ready line: there is a ledger.
    Ready,
    /// The node removed the saved pool that it restored, if there was one.
    PoolRemoved,
    /// The transaction is committed.
    Committed { hash: HashValue, version: u64 },
    /// The ledger has come so far.
    Ends(Ends),
    /// The chain has so many framework upgrades.
    Upgrades(usize),
    /// The pool is saved.
    Saved(Vec<HashValue>),
}

/// Promises, each with the position in the record at which it was heard.
#[derive(Debug)]
struct Heard<'a> {
    recorder: &'a Recorder,
    promises: Vec<(u64, Promise)>,
}

impl Heard<'_> {
    fn note(&mut self, promise: Promise) {
        self.promises.push((self.recorder.position(), promise));
    }
}

/// Lets the lives be lived one after the other; gives what was promised.
pub async fn run(recorder: &Recorder, lives: &[Life]) -> Vec<(u64, Promise)> {
    let mut heard = Heard {
        recorder,
        promises: Vec::new(),
    };
    let mut parked = Vec::new();
    for &life in lives {
        if let Life::KilledAfter(line) = life {
            let mut command = recorder.command(&[], Some(line));
            let ended = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
            assert_eq!(
                ended.unwrap().code(),
                Some(EXIT_RECORDER),
                "never came to {line}"
            );
            // Whatever it had taken in died with it.
            parked.clear();
            continue;
        }
        parked = live(life, &mut heard, parked).await;
    }
    heard.promises
}

/// The settings of a life, of a ledger with its newest block at `height`.
fn settings(life: Life, height: u64) -> Vec<String> {
    let mut settings: Vec<_> = WINDOW.iter().map(|&setting| setting.to_owned()).collect();
    match life {
        Life::Parking => settings.push("chain.framework_upgrades=1@0".to_owned()),
        Life::Upgraded => {
            settings.push(format!("chain.framework_upgrades=1@0,2@{}", height + 1_000));
        }
        _ => {}
    }
    settings
}

/// Lives one life; gives the hashes of what is left waiting in the pool, if it was saved.
async fn live(life: Life, heard: &mut Heard<'_>, parked: Vec<HashValue>) -> Vec<HashValue> {
    let height = heard
        .promises
        .iter()
        .rev()
        .find_map(|(_, promise)| match promise {
            Promise::Ends(ends) => Some(ends.height),
            _ => None,
        });
    let settings = settings(life, height.unwrap_or(0));
    let command = heard.recorder.command(&settings, None);
    let mut node = TestNode::spawn(command, heard.recorder.directory(), settings);
    heard.note(Promise::Ready);
    until("the file of the restored pool to be removed", || async {
        let log = node.log();
        let count = |line: &str| log.matches(line).count();
        (count(POOL_RESTORED) == count(POOL_REMOVED)).then_some(())
    })
    .await;
    heard.note(Promise::PoolRemoved);
    if matches!(life, Life::Upgraded) {
        heard.note(Promise::Upgrades(2));
    }
    let chain = node.chain().await;
    let parker = TestAccount::from_seed(CLIENTS);
    for number in 0..=CLIENTS {
        node.fund(&TestAccount::from_seed(number), FUNDS).await;
    }
    if !parked.is_empty() {
        transfer(&node, &chain, CLIENTS, heard).await;
        for hash in &parked {
            let answer = node.try_wait_until_known(hash).await.unwrap();
            assert_eq!(answer.status, 200, "{}", answer.text);
        }
    }
    let rounds = if matches!(life, Life::Short) { 2 } else { 8 };
    for _ in 0..rounds {
        for number in 0..CLIENTS {
            transfer(&node, &chain, number, heard).await;
        }
    }
    let mut waiting = Vec::new();
    if matches!(life, Life::Parking | Life::Killed) {
        let next = node.sequence_number(&parker.address).await;
        for later in 1..=2 {
            let transaction = parker.transfer(&chain, next + later, parker.address, 1);
            waiting.push(node.submit(&transaction).await);
        }
    }
    if matches!(life, Life::Killed) {
        node.kill();
        return Vec::new();
    }
    let status = node.stop("TERM");
    assert!(status.success(), "{}", node.log());
    if !waiting.is_empty() {
        heard.note(Promise::Saved(waiting.clone()));
    }
    waiting
}

/// Transfers and waits; notes what is said.
async fn transfer(node: &NodeClient, chain: &Chain, client: u64, heard: &mut Heard<'_>) {
    let account = TestAccount::from_seed(client);
    let next = node.sequence_number(&account.address).await;
    let hash = node
        .submit(&account.transfer(chain, next, account.address, 1))
        .await;
    let answer = node.try_wait_until_known(&hash).await.unwrap();
    assert_eq!(answer.status, 200, "{}", answer.text);
    let version = number(&answer.json["version"]);
    heard.note(Promise::Committed { hash, version });
    heard.note(Promise::Ends(Ends::of(&node.get("/v1").await.json)));
}
