//! A task that commits transfers continuously.

use crate::kit::{Client, TestApi, Transfer};
use actix_web::rt;
use ledger_types::SignedTransaction;
use ledger_vm::Chain;
use std::{cell::Cell, rc::Rc};

/// The development account that sends transfers with sequence numbers and with nonces in turn.
pub const MIXED: usize = 0;
/// The development account that sends transfers with sequence numbers only.
pub const SEQUENTIAL: usize = 1;
/// Number of transfers of each kind that an account submits per round.
const PER_ROUND: u64 = 6;

/// A task that commits transfers to `0xb0b` until it is stopped.
pub struct Writer {
    is_over: Rc<Cell<bool>>,
    task: rt::task::JoinHandle<()>,
}

impl Writer {
    /// Starts the task.
    pub fn start(api: &TestApi) -> Self {
        let is_over = Rc::new(Cell::new(false));
        let (client, chain, until) = (api.client.clone(), api.chain.clone(), Rc::clone(&is_over));
        let task = rt::spawn(async move {
            let mut round = 0;
            while !until.get() {
                write(&client, &chain, round).await;
                round += 1;
            }
        });
        Self { is_over, task }
    }

    /// Stops the task after its current round.
    pub async fn stop(self) {
        self.is_over.set(true);
        self.task.await.unwrap();
    }
}

/// Submits one round of transactions and waits until the last ones are committed.
async fn write(client: &Client, chain: &Chain, round: u64) {
    let mut last = Vec::new();
    for from in [MIXED, SEQUENTIAL] {
        for number in round * PER_ROUND..(round + 1) * PER_ROUND {
            let signed = Transfer::new(from, number).sign(chain);
            assert_eq!(client.submit_bcs(&signed).await.status, 202);
            if from == MIXED {
                let signed = orderless(chain, number);
                assert_eq!(client.submit_bcs(&signed).await.status, 202);
            }
            if number + 1 == (round + 1) * PER_ROUND {
                last.push(signed.hash(chain.vendor()));
            }
        }
    }
    for hash in last {
        client.wait(&hash).await;
    }
}

/// Returns an orderless transfer of the mixed account.
fn orderless(chain: &Chain, nonce: u64) -> SignedTransaction {
    Transfer::orderless(MIXED).sign_with_nonce(chain, nonce)
}
