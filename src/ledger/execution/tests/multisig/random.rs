//! Random calls of owners and other accounts on a multisig account.

// The test prints its seed.
#![allow(clippy::print_stdout)]

use crate::multisig::{
    SUCCEEDED,
    vault::{FUNDS, NOBODY, SUCCESS, Vault, bcs_of, key, stored_form},
};
use fastrand::Rng;

/// Owners and another account propose, vote, execute and drop proposals at random. Coins leave the
/// multisig account only through executed payloads, each approved by at least two of three owners.
#[test]
fn coins_leave_by_executed_payloads_alone() {
    const SEED: u64 = 0x6d75_6c74;
    println!("seed {SEED:#x}");
    let mut random = Rng::with_seed(SEED);
    let mut vault = Vault::requiring(2);
    let (mut holds, mut paid_out, mut failed) = (FUNDS, 0, 0);
    for _ in 0..400 {
        let who = random.usize(..4);
        let number = random.u64(1..=8);
        let account = bcs_of(&vault.address);
        let amount = random.choice([1_000, 2_000, FUNDS * 2]).unwrap();
        // A payload fails if it transfers more than the balance.
        let paid = if random.u8(..4) == 0 {
            u64::MAX
        } else {
            amount
        };
        let pay = vault.chain.transfer(NOBODY, paid);
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
                let Ok(executed) = vault.try_send(who, payload, 200_000) else {
                    assert_eq!(vault.holds(), holds);
                    continue;
                };
                let (name, data) = vault.events(&executed).pop().unwrap();
                let approvals: u64 = data["num_approvals"].as_str().unwrap().parse().unwrap();
                assert!((2..=3).contains(&approvals) && who < 3, "{approvals} {who}");
                if name == SUCCEEDED {
                    let before = holds;
                    holds = vault.holds();
                    assert!([1_000, 2_000, FUNDS * 2].contains(&(before - holds)));
                    paid_out += before - holds;
                } else {
                    failed += 1;
                }
                assert_eq!(vault.holds(), holds);
                continue;
            }
        };
        let is_transfer = call.function == "transfer";
        let executed = vault.chain.run(&key(who), call).transactions[1].clone();
        if is_transfer && vault.status(&executed) == SUCCESS {
            holds += amount;
        }
        assert_eq!(vault.holds(), holds);
    }
    assert_eq!(vault.chain.facts(&NOBODY).balance, paid_out);
    assert!(paid_out > 0 && failed > 0, "{paid_out} {failed}");
}
