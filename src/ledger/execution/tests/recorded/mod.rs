//! The recorded scenario of a reference node, replayed from its signed bytes at its block times.
//!
//! Events, changes and status of each step are compared with the recorded ones; `rules.rs` has the
//! values that no two nodes share. `differences.toml` lists each remaining difference with its
//! reason. An entry without a difference fails the test. This command prints the list:
//! `cargo test -p ledger-execution --test all recorded:: -- --nocapture`
//!
//! `derive.py` makes the fixture `tests/golden/recorded/writes.jsonl.zst` from a recording. A step
//! that needs bytecode is not executed; the state that later steps use is written as recorded, so
//! that the signed bytes of those steps remain valid.

mod compare;
mod effects;
mod recording;
mod rules;

use compare::compare;
use effects::{Change, Effects, Event, Place};
use ledger_execution::development_genesis;
use ledger_test_support::differences::{Allowed, Difference};
use ledger_test_support::{MemoryChain, next_block};
use ledger_types::{
    AccountAddress, CheckedTransaction, ExecutedBlock, OrderedBlock, Parameters, SignedTransaction,
    StateKey, StructTag, TypeTag, ValidationStatus,
    state::{GroupMembers, group_members},
};
use recording::{Action, Compared, Recording, Step};
use rules::Rules;
use serde_json::Value;
use std::sync::Arc;

/// Chain id of the recorded node.
const CHAIN_ID: u8 = 4;

/// A replay of the recording.
struct Replay {
    chain: MemoryChain,
    ours: Rules,
    theirs: Rules,
    differences: Vec<Difference>,
    /// The compared steps with their effects.
    compared: Vec<(String, Effects)>,
}

impl Replay {
    /// Creates the chain with the accounts and parameters of the recorded node.
    fn new(recording: &Recording, coin_event_handles: bool) -> Self {
        let vendor = "APTOS".parse().expect("a vendor word");
        let parameters = Parameters {
            coin_event_handles,
            ..Parameters::default()
        };
        let mut genesis = development_genesis(CHAIN_ID, vendor, parameters);
        genesis.accounts = vec![recording.bank.clone()];
        let chain = MemoryChain::new(&genesis);
        let (mut ours, mut theirs) = (Rules::default(), Rules::default());
        theirs.tables.extend(recording.tables.clone());
        theirs.fund(recording.bank.address, recording.bank.balance);
        let block = &chain.blocks[0].transactions[0];
        ours.apply(None, &mut Effects::of(&chain.chain, block));
        Self {
            chain,
            ours,
            theirs,
            differences: Vec::new(),
            compared: Vec::new(),
        }
    }

    /// Replays steps of one block.
    fn block(&mut self, steps: &mut [Step]) {
        let transactions = steps.iter().filter_map(|step| match &step.action {
            Action::Execute(transaction, _) => Some(transaction),
            Action::Plant(_) => None,
        });
        let checked = transactions.filter_map(|transaction| self.check(transaction).ok());
        let next_usecs = self.chain.tip.timestamp_usecs + 1;
        let block = OrderedBlock {
            timestamp_usecs: steps[0].time_usecs.unwrap_or(next_usecs),
            transactions: checked.map(Arc::new).collect(),
            ..next_block(&self.chain.tip)
        };
        let block = self.chain.execute_ordered(block).clone();
        for step in steps {
            self.step(step, &block);
        }
    }

    /// Checks signatures.
    ///
    /// # Errors
    ///
    /// Returns the status that rejects the transaction.
    fn check(&self, transaction: &SignedTransaction) -> Result<CheckedTransaction, String> {
        let chain = &self.chain.chain;
        CheckedTransaction::check(transaction.clone(), chain.vendor(), chain.parameters())
            .map_err(|discard| format!("rejected with {}", discard.status))
    }

    /// Compares a step with the block that executed it.
    fn step(&mut self, step: &mut Step, block: &ExecutedBlock) {
        let (transaction, compared) = match &step.action {
            Action::Execute(transaction, compared) => (&**transaction, *compared),
            Action::Plant(changes) => {
                self.theirs.apply(None, &mut step.effects);
                for change in changes {
                    self.plant(change);
                }
                return;
            }
        };
        let mut ours = self.effects(transaction, block);
        self.ours.apply(Some(transaction), &mut ours);
        self.theirs.apply(Some(transaction), &mut step.effects);
        let theirs = &step.effects;
        if compared != Compared::All {
            for (owner, amount) in payments(transaction) {
                self.theirs.fund(owner, amount);
            }
        }
        let found = match compared {
            Compared::All => compare(&step.name, &ours, theirs),
            Compared::Begin => compare(&step.name, &begin(&ours, theirs), theirs),
            Compared::Success => {
                assert_eq!(ours.status, "Executed successfully", "{}", step.name);
                return;
            }
        };
        self.differences.extend(found);
        self.compared.push((step.name.clone(), ours));
    }

    /// Returns the effects of a transaction in a block. A rejected one has a status only.
    fn effects(&self, transaction: &SignedTransaction, block: &ExecutedBlock) -> Effects {
        let hash = transaction.hash(self.chain.chain.vendor());
        let executed = block.transactions.iter().find(|one| one.hash == hash);
        if let Some(executed) = executed {
            return Effects::of(&self.chain.chain, executed);
        }
        let status = match self.check(transaction) {
            Err(rejected) => rejected,
            Ok(_) => {
                let discarded = block.discarded.iter().find(|one| one.hash == hash);
                let code = discarded.expect("executed or discarded").status_code;
                let status = ValidationStatus::from_code(code).expect("a validation status");
                format!("discarded with {status}")
            }
        };
        Effects {
            status,
            ..Effects::default()
        }
    }

    /// Writes a recorded resource into the state.
    fn plant(&mut self, change: &Change) {
        let Place::Resource { address, r#type } = &change.place else {
            panic!("{} is no resource", change.place);
        };
        let tag: StructTag = r#type.parse().expect("a struct");
        let registry = self.chain.chain.registry();
        let fields = change.fields.clone().expect("a resource that was written");
        let bytes = registry.value_from_json(&TypeTag::from(tag.clone()), &Value::Object(fields));
        let bytes = bytes.unwrap_or_else(|error| panic!("{}: {error}", change.place));
        let (key, value) = match registry.group_of(&tag) {
            None => (StateKey::resource(address, &tag), bytes),
            Some(group) => {
                let key = StateKey::resource_group(address, &group);
                let slot = self.chain.state.get(&key);
                let members = slot.map(|slot| group_members(slot).expect("a resource group"));
                let mut members: GroupMembers = members.unwrap_or_default();
                members.insert(tag, bytes.into());
                (key, bcs::to_bytes(&members).expect("a map of bytes"))
            }
        };
        self.chain.state.insert(key, value.into());
    }
}

/// Returns as many events as `theirs` has, and the changes that `theirs` has.
fn begin(ours: &Effects, theirs: &Effects) -> Effects {
    let mut ours = ours.clone();
    ours.events.truncate(theirs.events.len());
    ours.changes.retain(|change| {
        let mut recorded = theirs.changes.iter();
        recorded.any(|theirs| theirs.place == change.place)
    });
    ours
}

/// Returns the recipients of a batch of transfers, each with its amount.
fn payments(transaction: &SignedTransaction) -> Vec<(AccountAddress, u64)> {
    let call = transaction.raw.entry_function().expect("a call");
    let recipients: Vec<AccountAddress> = bcs::from_bytes(&call.args[0]).expect("addresses");
    let amounts: Vec<u64> = bcs::from_bytes(&call.args[1]).expect("amounts");
    recipients.into_iter().zip(amounts).collect()
}

/// Replays the recording on a chain with or without event streams of coins. The recorded node has
/// none.
fn replay(coin_event_handles: bool) -> Replay {
    let mut recording = Recording::read();
    let mut replay = Replay::new(&recording, coin_event_handles);
    let is_same_block = |a: &Step, b: &Step| a.time_usecs.is_some() && a.time_usecs == b.time_usecs;
    for steps in recording.steps.chunk_by_mut(is_same_block) {
        replay.block(steps);
    }
    replay
}

#[test]
fn lists_every_difference_with_a_reason() {
    let replay = replay(false);
    let steps = replay.compared.iter().map(|(step, _)| step.as_str());
    let steps: Vec<&str> = steps.collect();
    assert!(steps.len() > 100, "only {} steps are compared", steps.len());
    let allowed = Allowed::read(include_str!("differences.toml"));
    allowed.assert_complete("recorded/differences.toml", &replay.differences, &steps);
}

#[test]
fn coin_event_handles_add_streams_only() {
    let (with, without) = (replay(true), replay(false));
    assert_eq!(with.compared.len(), without.compared.len());
    let both = with.compared.iter().zip(&without.compared);
    let found = both.flat_map(|((step, with), (_, without))| compare(step, with, without));
    let (of_streams, others): (Vec<_>, Vec<_>) = found.partition(|found| match &*found.kind {
        "event added" => found.item.contains(" in stream "),
        "change added" => found
            .item
            .ends_with(" 0x1::fungible_asset::FungibleAssetEvents"),
        // The streams have the next creation numbers of the store.
        "field" => found
            .item
            .ends_with(" 0x1::object::ObjectCore.guid_creation_num"),
        _ => false,
    });
    let others: Vec<_> = others.iter().map(Difference::to_string).collect();
    assert!(others.is_empty(), "other effects:\n{}", others.join("\n"));
    for (step, with) in &with.compared {
        let is_module_event = |event: &&Event| event.r#type == "0x1::fungible_asset::Deposit";
        let is_stream_event = |event: &&Event| {
            event
                .r#type
                .starts_with("0x1::fungible_asset::DepositEvent in ")
        };
        let of_coins = with.events.iter().filter(is_module_event).count();
        let streamed = with.events.iter().filter(is_stream_event).count();
        let is_of_an_asset = step.starts_with("fa_transfer") && !step.ends_with("_apt")
            || step.starts_with("fa_dispatchable");
        let expected = if is_of_an_asset { 0 } else { of_coins };
        assert_eq!(streamed, expected, "{step}");
    }
    assert!(!of_streams.is_empty(), "no streams");
}

#[test]
fn detects_a_change_of_any_fact() {
    let mut recording = Recording::read();
    let step = recording
        .steps
        .iter_mut()
        .find(|step| step.name == "coin_mint");
    let theirs = &mut step.expect("the step").effects;
    Rules::default().apply(None, theirs);
    type Mutation = (&'static str, fn(&mut Effects));
    let changes: [Mutation; 11] = [
        ("status Out of gas", |ours| {
            ours.status = "Out of gas".into();
        }),
        ("event absent 0x1::coin::PairCreation", |ours| {
            ours.events.remove(1);
        }),
        ("event added 0x1::coin::PairCreation", |ours| {
            ours.events.push(ours.events[1].clone());
        }),
        ("event order ", |ours| ours.events.swap(0, 1)),
        (
            "event field 0x1::fungible_asset::Creation.decimals",
            |ours| {
                ours.events[0].data["decimals"] = 7.into();
            },
        ),
        ("change absent 0xa 0x1::fungible_asset::Metadata", |ours| {
            ours.changes.remove(3);
        }),
        ("change added 0x1 0x1::fungible_asset::Metadata", |ours| {
            let mut change = ours.changes[3].clone();
            change.place = Place::Resource {
                address: AccountAddress::ONE,
                r#type: "0x1::fungible_asset::Metadata".into(),
            };
            ours.changes.push(change);
        }),
        ("change order ", |ours| ours.changes.swap(0, 1)),
        ("change kind 0xa 0x1::fungible_asset::Metadata", |ours| {
            ours.changes[3].fields = None;
        }),
        ("field 0xa 0x1::fungible_asset::Metadata.symbol", |ours| {
            let fields = ours.changes[3].fields.as_mut();
            fields.expect("fields")["symbol"] = "X".into();
        }),
        ("slot 0xa 0x1::fungible_asset::Metadata", |ours| {
            ours.changes[3].slot = "0x".into();
        }),
    ];
    assert_eq!(compare("s", theirs, theirs), []);
    for (expected, change) in changes {
        let mut ours = theirs.clone();
        change(&mut ours);
        let names: Vec<_> = compare("s", &ours, theirs)
            .iter()
            .map(Difference::name)
            .collect();
        assert_eq!(names, [expected]);
    }
}

#[test]
fn compares_balances_by_their_change_without_the_fee() {
    let mut recording = Recording::read();
    let is_transfer = |step: &&mut Step| step.name == "transfer1";
    let step = recording
        .steps
        .iter_mut()
        .find(is_transfer)
        .expect("the step");
    let Action::Execute(transaction, _) = &step.action else {
        panic!("the step executes a transaction");
    };
    let mut rules = Rules::default();
    let bob = transaction.raw.entry_function().expect("a call").args[0].clone();
    for owner in [
        transaction.raw.sender,
        bcs::from_bytes(&bob).expect("an address"),
    ] {
        rules.fund(owner, 1_000_000_000);
    }
    rules.apply(Some(&**transaction), &mut step.effects);
    let fields = step
        .effects
        .changes
        .iter()
        .flat_map(|change| &change.fields);
    let moved: Vec<_> = fields.filter_map(|fields| fields.get("balance")).collect();
    assert_eq!(moved, ["+1000", "-1000"]);
}
