//! Facts that the ledger reports about itself: chain id, time, height, status, and gas prices.

use ledger_execution::{development_genesis, view};
use ledger_test_support::{MemoryChain, START_SECS};
use ledger_types::{AccountAddress, Parameters, StateKey, StructTag, Vendor};
use ledger_vm::cost;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn chain() -> MemoryChain {
    let parameters = Parameters {
        gas_unit_price_min: 7,
        ..Parameters::default()
    };
    MemoryChain::new(&development_genesis(42, Vendor::default(), parameters))
}

/// Returns the value of a view function without arguments.
fn view_value(chain: &MemoryChain, function: &str) -> Value {
    let viewed = view(
        &chain.chain,
        chain,
        &chain.call(function, &[], vec![]),
        None,
    )
    .unwrap();
    let [(tag, bytes)] = viewed.values.as_slice() else {
        panic!("not exactly one value");
    };
    chain.chain.registry().value_to_json(tag, bytes).unwrap()
}

#[test]
fn views_return_the_facts_of_the_newest_block() {
    let mut chain = chain();
    let views = [
        "0x1::chain_id::get",
        "0x1::chain_status::is_genesis",
        "0x1::chain_status::is_operating",
        "0x1::block::get_epoch_interval_secs",
        "0x1::block::get_current_block_height",
        "0x1::timestamp::now_microseconds",
        "0x1::timestamp::now_seconds",
    ];
    let all = |chain: &MemoryChain| views.map(|name| view_value(chain, name));
    let fixed = [json!(42), json!(false), json!(true), json!("7200")];
    assert_eq!(all(&chain)[..4], fixed);
    assert_eq!(all(&chain)[4..], [json!("0"), json!("0"), json!("0")]);

    chain.execute(vec![]);
    chain.execute(vec![]);
    let second_block_secs = START_SECS + 1;
    assert_eq!(all(&chain)[..4], fixed);
    assert_eq!(
        all(&chain)[4..],
        [
            json!("2"),
            json!(format!("{second_block_secs}000000")),
            json!(second_block_secs.to_string())
        ]
    );
}

#[test]
fn gas_schedule_lists_the_charged_prices() {
    let chain = chain();
    let tag = StructTag::framework("gas_schedule", "GasScheduleV2", vec![]);
    let bytes = &chain.state[&StateKey::resource(&AccountAddress::ONE, &tag)];
    let schedule = chain
        .chain
        .registry()
        .value_to_json(&tag.into(), bytes)
        .unwrap();
    let entries = schedule["entries"].as_array().unwrap();
    let by_name: BTreeMap<&str, u64> = entries
        .iter()
        .map(|entry| {
            (
                entry["key"].as_str().unwrap(),
                entry["val"].as_str().unwrap().parse().unwrap(),
            )
        })
        .collect();
    assert_eq!(by_name.len(), entries.len(), "a name occurs twice");
    assert_eq!(by_name["txn.min_price_per_gas_unit"], 7);
    assert_eq!(by_name["txn.max_transaction_size_in_bytes"], 64 * 1024);
    assert_eq!(by_name["move_stdlib.hash.sha3_256.base"], cost::HASH_BASE);
    assert_eq!(by_name["node_framework.native.per_step"], cost::STEP);
    let stored = by_name["node_framework.multisig.stored_payload_per_byte"];
    assert_eq!(stored, by_name["txn.intrinsic_gas_per_byte"]);
}

#[test]
fn charges_a_view_for_its_argument_bytes() {
    let chain = MemoryChain::development();
    let gas = |name: String| {
        let owner = bcs::to_bytes(&AccountAddress::ONE).unwrap();
        let call = chain.call(
            "0x1::registry::contains",
            &[],
            vec![owner, bcs::to_bytes(&name).unwrap()],
        );
        view(&chain.chain, &chain, &call, None).unwrap().gas_used
    };
    let (short, long) = (gas("n".to_owned()), gas("n".repeat(1_000_000)));
    assert!(long > short + 10_000, "{short}, {long}");
}
