//! The transactions of this node's clients, in messages to all validators.

use crate::codec::{self, Message};
use crate::context::Shared;
use crate::peers::{Connection, Frame, PeerState, Reach};
use crate::sizes;
use ledger_types::CheckedTransaction;
use std::rc::Rc;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

/// Sends transactions to all connected validators until the node has stopped. They are dropped for
/// a validator that is not connected or whose queue is full: the mempool offers them again.
pub(crate) async fn send_all<N>(
    cx: Rc<Shared<N>>,
    mut outgoing: mpsc::Receiver<Arc<CheckedTransaction>>,
) {
    let mut batch = Vec::with_capacity(sizes::FRAME_TRANSACTIONS_MAX);
    let mut sent_at: Option<Instant> = None;
    loop {
        if outgoing
            .recv_many(&mut batch, sizes::FRAME_TRANSACTIONS_MAX)
            .await
            == 0
        {
            return;
        }
        if batch.len() < sizes::FRAME_TRANSACTIONS_MAX
            && let Some(collected_at) = sent_at.map(|sent_at| sent_at + sizes::COLLECT_TIME)
            && collected_at > Instant::now()
        {
            sleep_until(collected_at).await;
            while batch.len() < sizes::FRAME_TRANSACTIONS_MAX
                && let Ok(transaction) = outgoing.try_recv()
            {
                batch.push(transaction);
            }
        }
        send(&cx, &batch);
        batch.clear();
        sent_at = Some(Instant::now());
    }
}

fn send<N>(cx: &Shared<N>, batch: &[Arc<CheckedTransaction>]) {
    let mut connected: Vec<(Arc<PeerState>, Connection)> = Vec::new();
    for state in cx.peers.all() {
        if state.read(|peer| peer.is_validator && cx.role.connects(peer)) {
            match state.reach() {
                Reach::Connected(connection) => connected.push((state, connection)),
                Reach::Absent(_) => state.traffic.unsent.add(batch.len() as u64),
            }
        }
    }
    if connected.is_empty() {
        return;
    }
    for frame in frames(batch) {
        for (state, connection) in &connected {
            if connection.frames.try_send(frame.clone()).is_err() {
                state.traffic.unsent.add(frame.count as u64);
            }
        }
    }
}

/// Returns the messages with the transactions of `batch`, in order.
fn frames(mut batch: &[Arc<CheckedTransaction>]) -> Vec<Frame> {
    let mut frames = Vec::new();
    while !batch.is_empty() {
        let mut bytes = 0;
        let fits = |transaction: &&Arc<CheckedTransaction>| {
            // The length before a transaction has up to five bytes.
            bytes += transaction.size_bytes() + 5;
            bytes <= sizes::FRAME_BYTES - sizes::FRAME_OVERHEAD_BYTES
        };
        let count = batch.iter().take_while(fits).count().max(1);
        let (first, rest) = batch.split_at(count);
        let encoded = first.iter().map(|transaction| transaction.encoded());
        frames.push(Frame {
            bytes: codec::encode(&Message::Transactions(encoded.collect())),
            count,
        });
        batch = rest;
    }
    frames
}

#[cfg(test)]
mod tests {
    use super::*;
    use ledger_test_support::draft::draft;

    #[test]
    fn transactions_fill_messages_in_order() {
        let large = [7; 60_000];
        let batch: Vec<_> = (0..20)
            .map(|number| draft(1, number).argument(&large).checked())
            .collect();
        let frames = frames(&batch);
        assert_eq!(
            frames.iter().map(|frame| frame.count).collect::<Vec<_>>(),
            [8, 8, 4]
        );
        let mut sent = Vec::new();
        for frame in &frames {
            assert!(frame.bytes.len() <= sizes::FRAME_BYTES);
            let Ok(Message::Transactions(list)) = codec::decode(&frame.bytes[4..]) else {
                panic!("another message");
            };
            sent.extend(list);
        }
        let encoded: Vec<_> = batch
            .iter()
            .map(|transaction| transaction.encoded())
            .collect();
        assert_eq!(sent, encoded);
    }

    #[test]
    fn a_larger_transaction_has_a_message_of_its_own() {
        let large = vec![7; 2 * sizes::FRAME_BYTES];
        let batch = [&large[..], &[], &[]].map(|argument| draft(1, 1).argument(argument).checked());
        let counts: Vec<_> = frames(&batch).iter().map(|frame| frame.count).collect();
        assert_eq!(counts, [1, 2]);
    }
}
