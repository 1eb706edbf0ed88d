//! Batches with recipients that cannot be paid.

use super::*;
use ledger_crypto::Ed25519PrivateKey;
use ledger_types::{Parameters, Vendor};
use std::cell::Cell;

/// Returns a transaction whose sequence number is the number of payments.
fn funded(payments: &[Payment]) -> Funded {
    let chain = ChainIdentity {
        id: 4,
        vendor: Vendor::default(),
    };
    let signer = Signer::new(Ed25519PrivateKey::from_seed(&[7; 32]));
    let terms = Terms {
        max_gas_amount: 1_000_000,
        gas_unit_price: GAS_UNIT_PRICE,
        expiration_timestamp_secs: u64::MAX,
    };
    let number = ReplayProtector::SequenceNumber(payments.len() as u64);
    let call = signer::batch_transfer(&chain.vendor, payments);
    let signed = signer.sign(&chain, number, call, terms);
    Funded {
        transaction: Arc::new(
            CheckedTransaction::check(signed, &chain.vendor, &Parameters::default()).unwrap(),
        ),
    }
}

/// Serves a batch with unpayable recipients. Returns the paid requests, and the number of attempts.
async fn served(count: u64, unpayable: &[u64]) -> (Vec<u64>, usize) {
    let to = AccountAddress::from_low_u64;
    let (mut batch, mut answers) = (Vec::new(), Vec::new());
    for number in 0..count {
        let (reply, answer) = oneshot::channel();
        let (to, amount) = (to(number), 5);
        batch.push(Request { to, amount, reply });
        answers.push(answer);
    }
    let attempts = Cell::new(0);
    let unpayable: Vec<_> = unpayable.iter().map(|number| to(*number)).collect();
    serve(batch, async |payments| {
        attempts.set(attempts.get() + 1);
        match payments
            .iter()
            .any(|payment| unpayable.contains(&payment.recipient))
        {
            true => Err(FaucetError::Failed("it aborts".to_owned())),
            false => Ok(funded(payments)),
        }
    })
    .await;
    let mut paid = Vec::new();
    for (number, answer) in (0..).zip(answers) {
        match answer.await.unwrap() {
            Ok(_) => paid.push(number),
            Err(error) => assert!(matches!(error, FaucetError::Failed(_)), "{error}"),
        }
    }
    (paid, attempts.get())
}

#[tokio::test]
async fn pays_others_in_few_transactions_if_one_recipient_is_unpayable() {
    let all: Vec<u64> = (0..100).collect();
    assert_eq!(served(100, &[]).await, (all.clone(), 1));
    for bad in [0, 1, 49, 50, 63, 99] {
        let (paid, attempts) = served(100, &[bad]).await;
        let others: Vec<_> = all
            .iter()
            .copied()
            .filter(|number| *number != bad)
            .collect();
        assert_eq!(paid, others);
        // The batch, and two parts of each size down to one request.
        assert!(attempts <= 15, "{attempts} transactions for {bad}");
    }
}

#[tokio::test]
async fn responds_to_every_request_however_many_fail() {
    assert_eq!(served(1, &[0]).await, (vec![], 1));
    assert_eq!(served(3, &[0, 1, 2]).await, (vec![], 5));
    assert_eq!(served(7, &[1, 2, 6]).await.0, [0, 3, 4, 5]);
}

#[tokio::test]
async fn does_not_split_a_batch_after_an_error_of_the_node() {
    let (reply, first) = oneshot::channel();
    let (other, second) = oneshot::channel();
    let to = AccountAddress::from_low_u64(2);
    let batch = [reply, other].map(|reply| Request {
        to,
        amount: 5,
        reply,
    });
    let attempts = Cell::new(0);
    serve(batch.into(), async |_| {
        attempts.set(attempts.get() + 1);
        Err(FaucetError::Stopping)
    })
    .await;
    for answer in [first, second] {
        assert!(matches!(answer.await.unwrap(), Err(FaucetError::Stopping)));
    }
    assert_eq!(attempts.get(), 1);
}
