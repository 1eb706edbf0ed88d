//! Random calls of owners and other accounts on a multisig account.

// The test prints its seed.
#![allow(clippy::print_stdout)]

use crate::multisig::{
    SUCCEEDED,
    vault::{FUNDS, SUCCESS, UNKNOWN_ADDRESS, Vault, bcs_of, key, stored_form},
};
use fastrand::Rng;

/// Owners and another account propose, vote, execute and drop proposals at random. Coins leave the
/// multisig account only through executed payloads, each approved by at least two of three owners.
#[test]
fn pays_out_coins_only_through_executed_payloads() {
    const SEED: u64 = 0x6d75_6c74;
    println!("seed {SEED:#x}");
    let mut random = Rng::with_seed(SEED);
    let mut vault = Vault::with_signatures_required(2);
    let (mut balance, mut paid_out, mut failed) = (FUNDS, 0, 0);
    for _ in 0..400 {
        let sender = random.usize(..4);
        let number = random.u64(1..=8);
        let account = bcs_of(&vault.address);
        let amount = random.choice([1_000, 2_000, FUNDS * 2]).unwrap();
        // A payload fails if it transfers more than the balance.
        let transferred = if random.u8(..4) == 0 {
            u64::MAX
        } else {
            amount
        };
        let pay = vault.chain.transfer(UNKNOWN_ADDRESS, transferred);
        let call = match random.u8(..7) {
            0 => vault.call(
                "create_transaction",
                vec![account, bcs_of(&stored_form(&pay))],
            ),
            1 => vault.call("approve_transaction", vec![account, bcs_of(&number)]),
            2 => vault.call("reject_transaction", vec![account, bcs_of(&number)]),
            3 => vault.call("execute_rejected_transaction", vec![account]),
            4 => vault.chain.transfer(vault.address, amount),
            _ => {
                let payload = vault.payload((random.u8(..3) == 0).then_some(pay));
                let Ok(executed) = vault.try_send(sender, payload, 200_000) else {
                    assert_eq!(vault.balance(), balance);
                    continue;
                };
                let (name, data) = vault.events(&executed).pop().unwrap();
                let approvals: u64 = data["num_approvals"].as_str().unwrap().parse().unwrap();
                assert!(
                    (2..=3).contains(&approvals) && sender < 3,
                    "{approvals} {sender}"
                );
                if name == SUCCEEDED {
                    let before = balance;
                    balance = vault.balance();
                    assert!([1_000, 2_000, FUNDS * 2].contains(&(before - balance)));
                    paid_out += before - balance;
                } else {
                    failed += 1;
                }
                assert_eq!(vault.balance(), balance);
                continue;
            }
        };
        let is_transfer = call.function == "transfer";
        let executed = vault.chain.run(&key(sender), call).transactions[1].clone();
        if is_transfer && vault.status(&executed) == SUCCESS {
            balance += amount;
        }
        assert_eq!(vault.balance(), balance);
    }
    assert_eq!(vault.chain.facts(&UNKNOWN_ADDRESS).balance, paid_out);
    assert!(paid_out > 0 && failed > 0, "{paid_out} {failed}");
}
