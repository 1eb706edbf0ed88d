//! Multisig payloads that exceed a limit of their transaction.

use crate::multisig::vault::{FUNDS, NOBODY, Vault, address, bcs_of, stored_form};
use ledger_execution::{build_chain, development_genesis};
use ledger_test_support::GAS_UNIT_PRICE;
use ledger_types::{Parameters, Vendor};
use serde_json::json;

/// Number of transfers whose events, two each, exceed the limit of 8192 events per transaction.
const TRANSFERS: usize = 4_100;

#[test]
fn a_payload_that_passes_a_limit_ends_the_transaction() {
    let mut vault = Vault::requiring(2);
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
            bcs_of(&vec![NOBODY; TRANSFERS]),
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
        "nothing is told of the payload"
    );
    assert_eq!(
        (vault.holds(), vault.chain.facts(&NOBODY).balance),
        (FUNDS, 0)
    );
    assert_eq!(vault.last_resolved(), json!("0"), "it stays to be executed");
    let paid = before - vault.chain.facts(&address(1)).balance;
    assert_eq!(paid, executed.info.v0().gas_used * GAS_UNIT_PRICE);
}
