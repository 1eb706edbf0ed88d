//! JSON forms of transactions and blocks, from blocks that the ledger executed.

mod schemas;
mod submissions;

use super::changes::ChangeJson;
use super::*;
use crate::model::TableTypes;
use ledger_crypto::{HashValue, hex_text};
use ledger_framework::modules::object::user_derived_address;
use ledger_test_support::{MemoryChain, START_SECS, TestAccount, TransactionBuilder, test_genesis};
use ledger_types::{
    AccountAddress, BlockInfo, CheckedTransaction, ExecutedBlock, Parameters, RawTransaction,
    SignedTransaction, StateKey, Vendor, WriteOp, WriteSet,
    transaction::{TransactionAuthenticator, TransactionPayload},
};
use ledger_vm::Chain;
use serde_json::{Value, json};

/// Creates a development chain that consists of its genesis block.
fn genesis_chain() -> MemoryChain {
    MemoryChain::new(&test_genesis(Parameters::default()))
}

/// A recipient address with leading zeros, which JSON omits.
const RECIPIENT: AccountAddress = AccountAddress::from_low_u64(0xb0b);
const BLOCK_USECS: u64 = START_SECS * 1_000_000;

/// A development chain with a funded account.
struct Fixture {
    chain: Chain,
    genesis: ExecutedBlock,
    account: TestAccount,
}

impl Fixture {
    fn new() -> Self {
        let MemoryChain {
            chain, mut blocks, ..
        } = genesis_chain();
        Self {
            chain,
            genesis: blocks.remove(0),
            account: TestAccount::development().remove(0),
        }
    }

    fn raw(&self, amount: u64) -> RawTransaction {
        TransactionBuilder::transfer(&self.chain, self.account.address, RECIPIENT, amount)
            .expiration_secs(START_SECS + 600)
            .build()
    }

    fn sign(&self, raw: RawTransaction) -> SignedTransaction {
        self.account.sign(&self.chain, raw)
    }

    fn check(&self, amount: u64) -> CheckedTransaction {
        CheckedTransaction::check(
            self.sign(self.raw(amount)),
            self.chain.vendor(),
            self.chain.parameters(),
        )
        .unwrap()
    }

    /// Executes block 1 with one transfer.
    fn block(&self, amount: u64) -> ExecutedBlock {
        genesis_chain().execute(vec![self.check(amount)]).clone()
    }

    fn view(&self, block: &ExecutedBlock, index: usize) -> Value {
        let committed = CommittedJson {
            version: block.first_version + index as u64,
            timestamp_usecs: block.header.timestamp_usecs,
            executed: &block.transactions[index],
            tables: &TableTypes::default(),
        };
        serde_json::to_value(TransactionJson::committed(&self.chain, committed)).unwrap()
    }
}

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<_> = value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    keys.sort_unstable();
    keys
}

const INFO_KEYS: [&str; 9] = [
    "accumulator_root_hash",
    "changes",
    "event_root_hash",
    "gas_used",
    "hash",
    "state_change_hash",
    "success",
    "version",
    "vm_status",
];
const REQUEST_KEYS: [&str; 7] = [
    "expiration_timestamp_secs",
    "gas_unit_price",
    "max_gas_amount",
    "payload",
    "sender",
    "sequence_number",
    "signature",
];

fn assert_keys(value: &Value, groups: &[&[&str]]) {
    let mut expected: Vec<&str> = groups
        .iter()
        .flat_map(|group| group.iter().copied())
        .collect();
    expected.sort_unstable();
    assert_eq!(keys(value), expected);
}

fn is_hash(value: &Value) -> bool {
    value
        .as_str()
        .is_some_and(|text| text.len() == 66 && text.parse::<HashValue>().is_ok())
}

#[test]
fn serializes_a_pending_transaction_with_and_without_type() {
    let fixture = Fixture::new();
    let checked = fixture.check(7);
    let TransactionAuthenticator::Ed25519 {
        public_key,
        signature,
    } = &checked.transaction().authenticator
    else {
        panic!("signed with one key");
    };
    let accepted = json!({
        "hash": checked.hash().to_string(),
        "sender": fixture.account.address.to_string(),
        "sequence_number": "0",
        "max_gas_amount": "100000",
        "gas_unit_price": "100",
        "expiration_timestamp_secs": "1700000600",
        "payload": {
            "type": "entry_function_payload",
            "function": "0x1::node_account::transfer",
            "type_arguments": [],
            "arguments": ["0xb0b", "7"],
        },
        "signature": {
            "type": "ed25519_signature",
            "public_key": hex_text(&public_key.0),
            "signature": hex_text(&signature.0),
        },
    });
    let chain = &fixture.chain;
    assert_eq!(
        serde_json::to_value(PendingJson::new(chain, &checked)).unwrap(),
        accepted
    );
    let mut looked_up = accepted;
    looked_up["type"] = json!("pending_transaction");
    assert_eq!(
        serde_json::to_value(TransactionJson::pending(chain, &checked)).unwrap(),
        looked_up
    );
}

#[test]
fn serializes_a_committed_transfer() {
    let fixture = Fixture::new();
    let block = fixture.block(7);
    let view = fixture.view(&block, 1);
    assert_keys(
        &view,
        &[&INFO_KEYS, &REQUEST_KEYS, &["events", "timestamp", "type"]],
    );
    assert_eq!(view["type"], "user_transaction");
    assert_eq!(view["version"], "2");
    assert_eq!(view["success"], true);
    assert_eq!(view["vm_status"], "Executed successfully");
    assert_eq!(view["timestamp"], BLOCK_USECS.to_string());
    for hash in [
        "hash",
        "state_change_hash",
        "event_root_hash",
        "accumulator_root_hash",
    ] {
        assert!(is_hash(&view[hash]), "{hash}: {}", view[hash]);
    }
    let events = view["events"].as_array().unwrap();
    let handle_type = "0x1::fungible_asset::WithdrawEvent";
    let withdraw = events.iter().find(|event| event["type"] == handle_type);
    let withdraw = withdraw.expect("an event of the handle");
    assert_keys(withdraw, &[&["data", "guid", "sequence_number", "type"]]);
    assert_eq!(withdraw["data"], json!({ "amount": "7" }));
    assert_keys(
        &withdraw["guid"],
        &[&["account_address", "creation_number"]],
    );
    let fee = events.last().unwrap();
    assert_eq!(
        fee["guid"],
        json!({ "creation_number": "0", "account_address": "0x0" })
    );
}

#[test]
fn decodes_the_resources_of_changes() {
    let fixture = Fixture::new();
    let view = fixture.view(&fixture.block(7), 1);
    let store = user_derived_address(RECIPIENT, AccountAddress::NATIVE_ASSET).to_string();
    let store_type = "0x1::fungible_asset::FungibleStore";
    let credited = view["changes"]
        .as_array()
        .unwrap()
        .iter()
        .find(|change| change["address"] == store && change["data"]["type"] == store_type)
        .expect("the recipient's store");
    assert_keys(credited, &[&["address", "data", "state_key_hash", "type"]]);
    assert_eq!(credited["type"], "write_resource");
    assert!(is_hash(&credited["state_key_hash"]));
    assert_eq!(credited["data"]["data"]["balance"], "7");
}

#[test]
fn includes_the_abort_of_a_failed_transfer() {
    let fixture = Fixture::new();
    let view = fixture.view(&fixture.block(u64::MAX), 1);
    assert_eq!(view["success"], false);
    let status = view["vm_status"].as_str().unwrap();
    assert!(
        status.starts_with("Move abort in 0x1::fungible_asset: EINSUFFICIENT_BALANCE(0x10004): "),
        "{status}"
    );
}

#[test]
fn serializes_block_metadata_and_epilogue() {
    let fixture = Fixture::new();
    let block = fixture.block(7);
    let metadata = fixture.view(&block, 0);
    let own = [
        "block_metadata_extension",
        "epoch",
        "events",
        "failed_proposer_indices",
        "id",
        "previous_block_votes_bitvec",
        "proposer",
        "round",
        "timestamp",
        "type",
    ];
    assert_keys(&metadata, &[&INFO_KEYS, &own]);
    assert_eq!(metadata["type"], "block_metadata_transaction");
    assert_eq!(metadata["id"], block.tip.block_hash.to_string());
    assert_eq!(
        metadata["block_metadata_extension"],
        json!({ "type": "v1", "randomness": null })
    );
    assert_eq!(metadata["previous_block_votes_bitvec"], json!([128]));
    let event = &metadata["events"][0]["data"];
    assert_eq!(event["previous_block_votes_bitvec"], "0x80");

    let epilogue = fixture.view(&block, 2);
    assert_keys(
        &epilogue,
        &[&INFO_KEYS, &["block_end_info", "timestamp", "type"]],
    );
    assert_eq!(epilogue["type"], "block_epilogue_transaction");
    assert_eq!(epilogue["block_end_info"]["block_gas_limit_reached"], false);
    assert!(epilogue["block_end_info"]["block_effective_block_gas_units"].is_number());
}

#[test]
fn serializes_genesis() {
    let fixture = Fixture::new();
    let view = fixture.view(&fixture.genesis, 0);
    assert_keys(&view, &[&INFO_KEYS, &["events", "payload", "type"]]);
    assert_eq!(view["type"], "genesis_transaction");
    assert_eq!(view["version"], "0");
    assert_eq!(view["payload"]["type"], "write_set_payload");
    let write_set = &view["payload"]["write_set"];
    assert_eq!(write_set["type"], "direct_write_set");
    assert_eq!(write_set["changes"], view["changes"]);
}

#[test]
fn omits_the_transactions_of_a_block_unless_given() {
    let fixture = Fixture::new();
    let executed = fixture.block(7);
    let info = BlockInfo::from(&executed);
    let bare = serde_json::to_value(BlockJson::new(&info)).unwrap();
    let expected = json!({
        "block_height": "1",
        "block_hash": executed.tip.block_hash.to_string(),
        "block_timestamp": BLOCK_USECS.to_string(),
        "first_version": "1",
        "last_version": "3",
    });
    assert_eq!(bare, expected);
    let text = [&BlockJson::begin(&info).unwrap(), BlockJson::END].concat();
    let mut without_any = serde_json::from_slice::<Value>(&text).unwrap();
    let transactions = without_any.as_object_mut().unwrap().remove("transactions");
    assert_eq!(transactions, Some(json!([])));
    assert_eq!(without_any, expected);
}

#[test]
fn serializes_deletions_of_each_kind() {
    let fixture = Fixture::new();
    let address = AccountAddress::from_low_u64(0xb0b);
    let group = "0x1::object::ObjectGroup".parse().unwrap();
    let mut keys = [
        StateKey::resource_group(&address, &group),
        StateKey::module(&"0xb0b::m".parse().unwrap()),
        StateKey::table_item(&address, b"k"),
    ];
    keys.sort();
    let deletions = keys.into_iter().map(|key| (key, WriteOp::Delete)).collect();
    let writes = WriteSet::from_ascending(deletions);
    let changes = ChangeJson::of_write_set(&fixture.chain, &writes, &TableTypes::default());
    let mut view = serde_json::to_value(changes).unwrap();
    for change in view.as_array_mut().unwrap() {
        let hash = change.as_object_mut().unwrap().remove("state_key_hash");
        assert!(is_hash(&hash.unwrap()));
    }
    let expected = json!([
        { "type": "delete_module", "address": "0xb0b", "module": "0xb0b::m" },
        { "type": "delete_resource", "address": "0xb0b", "resource": "0x1::object::ObjectGroup" },
        { "type": "delete_table_item", "handle": address.to_long_hex(), "key": "0x6b" },
    ]);
    assert_eq!(view, expected);
}
