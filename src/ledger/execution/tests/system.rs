//! Facts that the ledger reports about itself: chain id, time, height, status, and gas prices.

use ledger_crypto::Ed25519PrivateKey;
use ledger_execution::{development_genesis, view};
use ledger_test_support::{MemoryChain, START_SECS};
use ledger_types::{AccountAddress, FrameworkUpgrade, Parameters, StateKey, StructTag, Vendor};
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

/// Returns a resource at `0x1` in JSON.
fn resource(chain: &MemoryChain, module: &str, name: &str) -> Value {
    let tag = StructTag::framework(module, name, vec![]);
    let bytes = &chain.state[&StateKey::resource(&AccountAddress::ONE, &tag)];
    let registry = chain.chain.registry();
    registry.value_to_json(&tag.into(), bytes).unwrap()
}

#[test]
fn resources_at_0x1_describe_a_chain_of_one_node() {
    let mut chain = chain();
    for _ in 0..2 {
        assert_eq!(
            resource(&chain, "reconfiguration", "Configuration"),
            json!({
                "epoch": chain.tip.epoch.to_string(),
                "last_reconfiguration_time": "0",
                "events": {
                    "counter": "1",
                    "guid": { "id": { "addr": "0x1", "creation_num": "2" } },
                },
            })
        );
        chain.execute(vec![]);
    }
    assert_eq!(resource(&chain, "chain_id", "ChainId"), json!({ "id": 42 }));
    assert_eq!(
        resource(&chain, "code", "PackageRegistry"),
        json!({ "packages": [] })
    );
    assert_eq!(
        resource(&chain, "stake", "ValidatorSet"),
        json!({
            "consensus_scheme": 0,
            "active_validators": [{
                "addr": "0x0",
                "voting_power": "1",
                "config": {
                    "consensus_pubkey": "0x",
                    "network_addresses": "0x",
                    "fullnode_addresses": "0x",
                    "validator_index": "0",
                },
            }],
            "pending_inactive": [],
            "pending_active": [],
            "total_voting_power": "1",
            "total_joining_power": "0",
        })
    );
}

#[test]
fn validator_set_lists_the_validators_of_the_genesis_in_order() {
    let mut genesis = development_genesis(42, Vendor::default(), Parameters::default());
    let key = |seed| Ed25519PrivateKey::from_seed(&[seed; 32]).public_key();
    genesis.validators = vec![key(2), key(1)];
    let chain = MemoryChain::new(&genesis);
    let set = resource(&chain, "stake", "ValidatorSet");
    assert_eq!(set["total_voting_power"], "2");
    for (index, validator) in genesis.validator_set().as_slice().iter().enumerate() {
        let info = &set["active_validators"][index];
        assert_eq!(info["addr"], validator.address.to_string());
        let key = format!("0x{}", hex::encode(validator.public_key.0));
        assert_eq!(info["config"]["consensus_pubkey"], key);
        assert_eq!(info["config"]["validator_index"], index.to_string());
    }
}

/// Returns whether a switch is on, by the view.
fn is_enabled(chain: &MemoryChain, feature: u64) -> bool {
    let arguments = vec![bcs::to_bytes(&feature).unwrap()];
    let call = chain.call("0x1::features::is_enabled", &[], arguments);
    let viewed = view(&chain.chain, chain, &call, None).unwrap();
    viewed.values[0].1[..] == [1]
}

#[test]
fn orderless_transactions_become_a_feature_with_their_framework_version() {
    const MULTISIG_ACCOUNTS: u64 = 10;
    const RANDOMNESS: u64 = 45;
    const ORDERLESS: u64 = 94;
    let upgrade = |version, height| FrameworkUpgrade { version, height };
    let parameters = Parameters {
        framework_upgrades: vec![upgrade(1, 0), upgrade(3, 2)],
        ..Parameters::default()
    };
    let mut chain = MemoryChain::new(&development_genesis(42, Vendor::default(), parameters));
    for expected in [false, false, true, true] {
        assert_eq!(
            is_enabled(&chain, ORDERLESS),
            expected,
            "{}",
            chain.tip.height
        );
        assert!(is_enabled(&chain, MULTISIG_ACCOUNTS));
        for absent in [0, RANDOMNESS, 96, u64::MAX] {
            assert!(!is_enabled(&chain, absent), "{absent}");
        }
        chain.execute(vec![]);
    }
    let newest = MemoryChain::development();
    assert!(is_enabled(&newest, ORDERLESS));
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
