//! Transfers that are signed before the load.
//!
//! A signature costs as much processor time as everything else that the generator does for a
//! transfer, and would take it from a node on the same machine.

use super::{
    account::{SendingAccount, protector_after},
    plan::Plan,
    requests::Requests,
};
use std::{num::NonZero, thread};

/// Signs the transfers that the plan requires in advance, on all cores.
///
/// The transfers are divided evenly among connections, and among the accounts of each.
/// `on_signed` is called from several threads, with the number of transfers signed since its last
/// call.
pub fn sign_in_advance(
    plan: &Plan,
    requests: &Requests,
    accounts_by_connection: &mut [Vec<SendingAccount>],
    on_signed: impl Fn(u64) + Sync,
) {
    if plan.pre_signed == 0 {
        return;
    }
    let per_connection = plan.pre_signed_per_connection();
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let connections_per_thread = accounts_by_connection.len().div_ceil(threads).max(1);
    thread::scope(|scope| {
        for connections in accounts_by_connection.chunks_mut(connections_per_thread) {
            let on_signed = &on_signed;
            scope.spawn(move || {
                for accounts in connections {
                    sign_for_connection(plan, requests, accounts, per_connection);
                    on_signed(per_connection);
                }
            });
        }
    });
}

/// Signs `count` transfers of one connection, which uses its accounts in turns.
fn sign_for_connection(
    plan: &Plan,
    requests: &Requests,
    accounts: &mut [SendingAccount],
    count: u64,
) {
    let per_account = count.div_ceil(accounts.len().max(1) as u64);
    for account in accounts {
        for ahead in 0..per_account {
            let protector = protector_after(account.next_protector, ahead);
            let transfer = requests.sign(plan, account, protector);
            account.signed_in_advance.push_back(transfer);
        }
    }
}
