//! Multisig payloads that exceed a limit of their transaction.

use crate::multisig::vault::{FUNDS, UNKNOWN_ADDRESS, Vault, address, bcs_of, stored_form};
use ledger_execution::{build_chain, development_genesis};
use ledger_test_support::GAS_UNIT_PRICE;
use ledger_types::{Parameters, Vendor};
use serde_json::json;

/// Number of transfers whose events, two each, exceed the limit of 8192 events per transaction.
const TRANSFERS: usize = 4_100;

#[test]
fn fails_the_transaction_if_its_payload_exceeds_a_limit() {
    let mut vault = Vault::with_signatures_required(2);
    // A transaction of the default maximum size cannot reach the limit of events.
    let parameters = Parameters {
        gas_unit_price_min: 1,
        transaction_bytes_max: 512 * 1024,
        ..Parameters::default()
    };
    let genesis = development_genesis(4, Vendor::default(), parameters);
    vault.chain.chain = build_chain(&genesis).unwrap();
    let batch = vault.chain.call(
        "0x1::node_account::batch_transfer",
        &[],
        vec![
            bcs_of(&vec![UNKNOWN_ADDRESS; TRANSFERS]),
            bcs_of(&vec![1u64; TRANSFERS]),
        ],
    );
    vault.propose_hash(0, &stored_form(&batch));
    let before = vault.chain.facts(&address(1)).balance;
    let executed = vault
        .try_send(1, vault.payload(Some(batch)), 10_000_000)
        .unwrap();

    assert_eq!(vault.status(&executed), "STORAGE_WRITE_LIMIT_REACHED");
    assert_eq!(
        vault.event_names(&executed).len(),
        0,
        "the payload emits no event"
    );
    assert_eq!(
        (vault.balance(), vault.chain.facts(&UNKNOWN_ADDRESS).balance),
        (FUNDS, 0)
    );
    assert_eq!(
        vault.last_resolved_number(),
        json!("0"),
        "the proposal stays pending"
    );
    let paid = before - vault.chain.facts(&address(1)).balance;
    assert_eq!(paid, executed.info.v0().gas_used * GAS_UNIT_PRICE);
}
