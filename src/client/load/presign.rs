//! Transfers that are signed before the load begins: signing costs as much as all else that a generator
//! does, and would be taken from the node.

use super::{funding::BenchAccount, plan::Plan, requests::Form};
use indicatif::{ProgressBar, ProgressStyle};
use ledger::ReplayProtector;
use std::{num::NonZero, thread};

/// Signs the plan's transfers, evenly for all accounts of all connections, on all cores.
pub fn sign_all(plan: &Plan, form: &Form, shares: &mut [Vec<BenchAccount>]) {
    if plan.pre_signed == 0 {
        return;
    }
    let connections = shares.len().max(1) as u64;
    let of_connection = plan.pre_signed.div_ceil(connections);
    let progress = bar(of_connection.saturating_mul(connections));
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let of_thread = shares.len().div_ceil(threads).max(1);
    thread::scope(|scope| {
        for shares in shares.chunks_mut(of_thread) {
            let progress = &progress;
            scope.spawn(move || {
                for accounts in shares {
                    sign(plan, form, accounts, of_connection);
                    progress.inc(of_connection);
                }
            });
        }
    });
    progress.finish_and_clear();
}

/// Signs `count` transfers of one connection, which takes its accounts in turns.
fn sign(plan: &Plan, form: &Form, accounts: &mut [BenchAccount], count: u64) {
    let per_account = count.div_ceil(accounts.len().max(1) as u64);
    for account in accounts {
        for ahead in 0..per_account {
            let protector = account.next.after(ahead);
            let transfer = form.sign(plan, account, protector);
            account.signed.push_back(transfer);
        }
    }
}

/// What a protector becomes with the transfers that follow.
pub trait After {
    /// The protector so many transfers later.
    fn after(self, transfers: u64) -> Self;
}

impl After for ReplayProtector {
    fn after(self, transfers: u64) -> Self {
        match self {
            Self::SequenceNumber(number) => Self::SequenceNumber(number.saturating_add(transfers)),
            Self::Nonce(nonce) => Self::Nonce(nonce.wrapping_add(transfers)),
        }
    }
}

/// Shown on a terminal only.
fn bar(transfers: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("signing transfers {wide_bar} {pos}/{len}")
        .expect("the template is valid");
    ProgressBar::new(transfers).with_style(style)
}
