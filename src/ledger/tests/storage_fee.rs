//! Room on the ledger: what it costs, what is given back, and where it is free.

use crate::kit::{GAS_UNIT_PRICE, MemoryChain};
use ledger::{ExecutedTransaction, Genesis, Parameters, Vendor, crypto::Ed25519PrivateKey};

fn key() -> Ed25519PrivateKey {
    Genesis::development_accounts().remove(0).private_key
}

/// Runs a call at a gas price; it must succeed.
fn run(chain: &mut MemoryChain, price: u64, function: &str, args: Vec<Vec<u8>>) -> ExecutedTransaction {
    let mut raw = chain.raw(&key(), chain.call(function, &[], args));
    raw.gas_unit_price = price;
    let transaction = chain.sign(&key(), raw);
    let executed = chain.execute(vec![transaction]).transactions[1].clone();
    assert!(executed.info.v0().status.is_success(), "{function}");
    executed
}

/// The fee for room and the refund that a transaction's fee statement tells.
fn fee_and_refund(chain: &MemoryChain, executed: &ExecutedTransaction) -> (u64, u64) {
    let statement = executed.events.last().unwrap();
    let framework = chain.chain.framework();
    let json = framework
        .value_to_json(statement.type_tag(), statement.data())
        .unwrap();
    let number = |name: &str| json[name].as_str().unwrap().parse().unwrap();
    (number("storage_fee_octas"), number("storage_fee_refund_octas"))
}

fn balance(chain: &MemoryChain) -> u64 {
    chain.facts(&key().public_key().account_address()).balance
}

fn record() -> Vec<Vec<u8>> {
    vec![
        bcs::to_bytes("n").unwrap(),
        bcs::to_bytes(&vec![1u8; 500]).unwrap(),
    ]
}

#[test]
fn a_slot_pays_for_its_room_and_gives_it_back() {
    let mut chain = MemoryChain::development();
    run(&mut chain, GAS_UNIT_PRICE, "0x1::registry::initialize", vec![]);
    let made = run(&mut chain, GAS_UNIT_PRICE, "0x1::registry::set", record());
    let (fee, refund) = fee_and_refund(&chain, &made);
    assert!(fee > 400_000 + 400 * 500, "{fee}");
    assert_eq!(refund, 0);
    let before = balance(&chain);
    let name = vec![bcs::to_bytes("n").unwrap()];
    let removed = run(&mut chain, GAS_UNIT_PRICE * 2, "0x1::registry::remove", name);
    // Whatever the price of gas then, what was paid for the slot comes back.
    assert_eq!(fee_and_refund(&chain, &removed), (0, fee));
    let charge = removed.info.v0().gas_used * GAS_UNIT_PRICE * 2;
    assert_eq!(balance(&chain), before - charge + fee);
}

#[test]
fn where_gas_may_be_free_room_is_free_and_nothing_is_given_back() {
    let parameters = Parameters {
        gas_unit_price_min: 0,
        ..Parameters::default()
    };
    let mut chain = MemoryChain::new(&Genesis::development(4, Vendor::default(), parameters));
    run(&mut chain, 0, "0x1::registry::initialize", vec![]);
    for _ in 0..3 {
        let before = balance(&chain);
        run(&mut chain, 0, "0x1::registry::set", record());
        assert_eq!(balance(&chain), before);
        let name = vec![bcs::to_bytes("n").unwrap()];
        let removed = run(&mut chain, 1, "0x1::registry::remove", name);
        assert_eq!(fee_and_refund(&chain, &removed), (0, 0));
        assert_eq!(balance(&chain), before - removed.info.v0().gas_used);
    }
}

#[test]
fn who_allows_too_little_for_room_pays_all_that_was_allowed() {
    let mut chain = MemoryChain::development();
    let before = balance(&chain);
    let to = ledger::AccountAddress::from_low_u64(0x77);
    let mut raw = chain.raw(&key(), chain.transfer(to, 1));
    raw.max_gas_amount = 2_000;
    let transaction = chain.sign(&key(), raw);
    let executed = chain.execute(vec![transaction]).transactions[1].clone();
    let status = executed.info.v0().status.vm_status(&chain.chain);
    assert_eq!(status, "Out of gas");
    assert_eq!(fee_and_refund(&chain, &executed), (0, 0));
    assert_eq!(balance(&chain), before - 2_000 * GAS_UNIT_PRICE);
}
