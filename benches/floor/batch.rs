//! Signature checks of a batch, divided among threads of their own.
//!
//! One connection can then use all cores. The HTTP thread that received the batch decodes it, and
//! appends it to the log after all parts were checked.

use crate::checker::{Rejection, equation, hash};
use actix_web::web::Bytes;
use ledger_crypto::{DecodedKeys, HashValue, ed25519::batch};
use ledger_framework::new_chain;
use ledger_types::{
    Parameters, SignedTransaction, Vendor, transaction::SIGNED_TRANSACTION_DEPTH_MAX,
};
use ledger_vm::Chain;
use std::{
    io,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
};
use tokio::sync::oneshot;

/// Number of transactions of a part: the largest sum of equations that gains time, and small enough
/// that all threads finish at nearly the same time.
const PART_TRANSACTIONS: usize = 16;
/// Maximum number of parts that wait for a thread: those of 256 batches of 1,000.
const PARTS_MAX: usize = 16_384;

/// A transaction and its bytes in the body.
struct Element {
    transaction: SignedTransaction,
    bytes: Bytes,
}

/// A part of a batch.
struct Part {
    elements: Vec<Element>,
    verdict: oneshot::Sender<Result<Checked, Rejection>>,
}

/// The elements of a valid part with their hashes, in order.
type Checked = Vec<(HashValue, Bytes)>;

/// The threads that check parts. Clones share them.
#[derive(Clone)]
pub struct BatchChecker(SyncSender<Part>);

impl BatchChecker {
    /// Starts `threads` threads, which end with the process.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system if a thread cannot be started.
    pub fn start(threads: usize, chain_id: u8) -> io::Result<Self> {
        let (sender, receiver) = sync_channel(PARTS_MAX);
        let receiver = Arc::new(Mutex::new(receiver));
        for _ in 0..threads {
            let receiver = Arc::clone(&receiver);
            thread::Builder::new()
                .name("batch".to_owned())
                .spawn(move || check_parts(&receiver, chain_id))?;
        }
        Ok(Self(sender))
    }

    /// Decodes a BCS vector of signed transactions and checks all of them.
    ///
    /// # Errors
    ///
    /// * [`Rejection::Form`] if the body is not such a vector.
    /// * [`Rejection::Signature`] if a signature is not valid.
    pub async fn check(&self, body: &Bytes) -> Result<Vec<Checked>, Rejection> {
        let mut elements = decode(body)?.into_iter().peekable();
        let mut verdicts = Vec::new();
        while elements.peek().is_some() {
            let (verdict, answer) = oneshot::channel();
            let elements = elements.by_ref().take(PART_TRANSACTIONS).collect();
            // An error means that the process ends.
            let _ = self.0.send(Part { elements, verdict });
            verdicts.push(answer);
        }
        let mut parts = Vec::with_capacity(verdicts.len());
        for verdict in verdicts {
            parts.push(verdict.await.unwrap_or(Err(Rejection::Signature))?);
        }
        Ok(parts)
    }
}

/// Decodes a BCS vector, and finds the bytes of each transaction: the encoding is canonical.
fn decode(body: &Bytes) -> Result<Vec<Element>, Rejection> {
    let transactions: Vec<SignedTransaction> =
        bcs::from_bytes_with_limit(body, SIGNED_TRANSACTION_DEPTH_MAX)
            .map_err(|_| Rejection::Form)?;
    let sizes: Vec<_> = transactions
        .iter()
        .map(SignedTransaction::size_bytes)
        .collect();
    // The bytes of the count precede the first transaction.
    let mut start = body.len().saturating_sub(sizes.iter().sum());
    let elements = transactions
        .into_iter()
        .zip(sizes)
        .map(|(transaction, size)| {
            let bytes = body.slice(start..start + size);
            start += size;
            Element { transaction, bytes }
        });
    Ok(elements.collect())
}

/// Checks parts until the last sender is dropped.
fn check_parts(receiver: &Mutex<Receiver<Part>>, chain_id: u8) {
    let chain = new_chain(chain_id, Vendor::default(), Parameters::default());
    let mut keys = DecodedKeys::default();
    loop {
        let part = receiver
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .recv();
        let Ok(part) = part else { return };
        // An error means that the client has closed its connection.
        let _ = part
            .verdict
            .send(check_part(&chain, &mut keys, part.elements));
    }
}

fn check_part(
    chain: &Chain,
    keys: &mut DecodedKeys,
    elements: Vec<Element>,
) -> Result<Checked, Rejection> {
    let mut equations = Vec::with_capacity(elements.len());
    for Element { transaction, bytes } in &elements {
        equations.extend(equation(chain, keys, transaction, bytes)?);
    }
    if !batch::check(&equations).into_iter().all(|holds| holds) {
        return Err(Rejection::Signature);
    }
    let hashed = elements
        .into_iter()
        .map(|Element { bytes, .. }| (hash(chain, &bytes), bytes));
    Ok(hashed.collect())
}
