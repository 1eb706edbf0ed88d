//! Orderless transactions: their JSON form, their protection against replay, and the number that
//! one account may have pending.

use crate::kit::{
    Rejection, Settings, TestApi, Transfer, assert_error, assert_still_commits, exchange, now_secs,
    ok_json, submission,
};
use bytes::Bytes;
use ledger_actors::{MempoolConfig, NodeConfig};
use ledger_crypto::HashValue;
use ledger_test_support::{TestSigner, TransactionSigner as _, orderless_payload};
use ledger_types::{
    AccountAddress, SignedTransaction, StateKey, ValidationStatus as Status,
    transaction::{AccountAuthenticator, TransactionAuthenticator},
};
use serde_json::{Value, json};

/// Validation statuses that the tests of this file cause.
pub const CAUSED: [Status; 3] = [
    Status::SequenceNonceInvalid,
    Status::NonceAlreadyUsed,
    Status::TransactionExpirationTooFarInFuture,
];

/// Returns a transfer by the first account that expires early enough for a nonce.
fn transfer(amount: u64) -> Transfer {
    Transfer {
        amount,
        expiration_timestamp_secs: now_secs() + 60,
        ..Transfer::new(0, u64::MAX)
    }
}

async fn sequence_number(api: &TestApi, address: AccountAddress) -> Value {
    let account = ok_json(&api.client.get(&format!("/v1/accounts/{address}")).await);
    account["sequence_number"].clone()
}

async fn assert_rejected(
    api: &TestApi,
    status: Status,
    words: &'static str,
    signed: SignedTransaction,
) {
    let rejection = Rejection {
        case: status.name(),
        signed,
        status,
        words,
    };
    rejection.assert_rejected(api).await;
}

#[actix_web::test]
async fn shows_the_nonce_of_a_submitted_and_a_committed_transaction() {
    let api = TestApi::start(Settings::default()).await;
    let signed = transfer(7).sign_with_nonce(&api.chain, 5);
    let mut body = submission(&api, &signed);
    // The member is mandatory, and its value is ignored.
    body["sequence_number"] = json!("3");
    let accepted = api.client.submit_json(&body).await;
    assert_eq!(accepted.status, 202, "{}", accepted.text());
    let hash = signed.hash(api.chain.vendor());
    let committed = api.client.wait(&hash).await;
    assert_eq!(committed["success"], true, "{committed}");
    for transaction in [&accepted.json(), &committed] {
        assert_eq!(transaction["hash"], hash.to_string());
        assert_eq!(transaction["sequence_number"], "18446744073709551615");
        assert_eq!(transaction["replay_protection_nonce"], "5");
        assert_eq!(transaction["payload"]["type"], "entry_function_payload");
    }
    assert_eq!(sequence_number(&api, signed.raw.sender).await, "0");
    assert_still_commits(&api).await;
    api.stop().await;
}

#[actix_web::test]
async fn sends_from_an_account_that_has_only_coins() {
    let api = TestApi::start(Settings::default()).await;
    let newcomer = TestSigner::of_every_scheme().remove(0).1;
    let funding = Transfer {
        to: newcomer.address(),
        amount: 1_000_000_000,
        ..Transfer::new(1, 0)
    };
    assert_eq!(api.commit(&funding).await["success"], true);
    let before = sequence_number(&api, newcomer.address()).await;
    let transfer = transfer(7);
    let payload = transfer.payload_with_nonce(&api.chain, 0);
    let signed = newcomer.sign_alone(
        &api.chain,
        transfer.raw(&api.chain, newcomer.address(), payload),
    );
    let committed = api.commit_signed(&signed).await;
    assert_eq!(committed["success"], true, "{committed}");
    assert_eq!(sequence_number(&api, newcomer.address()).await, before);
    api.stop().await;
}

#[actix_web::test]
async fn rejects_a_used_nonce_also_after_a_restart() {
    let mut api = TestApi::start(Settings::default()).await;
    let first = transfer(7).sign_with_nonce(&api.chain, 5);
    assert_eq!(api.commit_signed(&first).await["success"], true);
    let other = transfer(8).sign_with_nonce(&api.chain, 5);
    for restarts in 0..2 {
        if restarts > 0 {
            api = api.restarted().await;
        }
        let again = api.client.submit_bcs(&first).await;
        assert_eq!(again.status, 202, "the same bytes: {}", again.text());
        assert_rejected(&api, Status::NonceAlreadyUsed, "", other.clone()).await;
        // Accounts do not share nonces.
        let of_other_account = Transfer {
            from: 1 + restarts,
            ..transfer(7)
        };
        assert_eq!(
            api.commit_signed(&of_other_account.sign_with_nonce(&api.chain, 5))
                .await["success"],
            true
        );
    }
    assert_still_commits(&api).await;
    api.stop().await;
}

#[actix_web::test]
async fn rejects_an_expiration_too_far_in_the_future() {
    let api = TestApi::start(Settings::default()).await;
    let late = Transfer {
        expiration_timestamp_secs: now_secs() + 200,
        ..transfer(7)
    };
    let words = "an orderless transaction must expire at";
    let late = late.sign_with_nonce(&api.chain, 5);
    assert_rejected(
        &api,
        Status::TransactionExpirationTooFarInFuture,
        words,
        late,
    )
    .await;
    assert_still_commits(&api).await;
    api.stop().await;
}

/// Returns the state key of the bucket for a nonce of an account, computed as the ledger's own
/// module does.
fn bucket_of(sender: AccountAddress, nonce: u64) -> StateKey {
    let hash = HashValue::sha3_of(&[sender.as_bytes(), &nonce.to_le_bytes()]);
    let number = u64::from_le_bytes(hash.as_bytes()[16..24].try_into().unwrap()) % 65_536;
    let table = HashValue::sha3_of(&[
        AccountAddress::ONE.as_bytes(),
        b"nonce_validation::nonce_table",
    ]);
    let table = AccountAddress::new(*table.as_bytes());
    StateKey::table_item(&table, &bcs::to_bytes(&number).unwrap())
}

/// Starts with a full bucket in genesis, because filling one by requests needs a search over some
/// 33 million nonces.
#[actix_web::test]
async fn rejects_a_nonce_whose_bucket_is_full() {
    let sender = transfer(7).sender();
    let others: Vec<(u128, u64)> = (0..512).map(|digest| (digest, now_secs() + 90)).collect();
    let api = TestApi::start(Settings {
        more_state: vec![(
            bucket_of(sender, 5),
            Bytes::from(bcs::to_bytes(&others).unwrap()),
        )],
        ..Settings::default()
    })
    .await;
    let rejected = transfer(7).sign_with_nonce(&api.chain, 5);
    assert_rejected(
        &api,
        Status::SequenceNonceInvalid,
        "use another nonce",
        rejected,
    )
    .await;
    let other = api
        .commit_signed(&transfer(7).sign_with_nonce(&api.chain, 6))
        .await;
    assert_eq!(other["success"], true, "{other}");
    api.stop().await;
}

#[actix_web::test]
async fn accepts_many_concurrent_transactions_of_one_account() {
    const COUNT: u64 = 200;
    let api = TestApi::start(Settings::default()).await;
    let transfer = transfer(7);
    let all: Vec<_> = (0..COUNT)
        .map(|nonce| transfer.sign_with_nonce(&api.chain, nonce))
        .collect();
    let responses =
        futures::future::join_all(all.iter().map(|signed| api.client.submit_bcs(signed))).await;
    for response in responses {
        assert_eq!(response.status, 202, "{}", response.text());
    }
    for signed in &all {
        let committed = api.client.wait(&signed.hash(api.chain.vendor())).await;
        assert_eq!(committed["success"], true, "{committed}");
    }
    assert_eq!(sequence_number(&api, transfer.sender()).await, "0");
    let path = format!(
        "/v1/accounts/{}/balance/0x1::node_coin::NodeCoin",
        transfer.to
    );
    assert_eq!(ok_json(&api.client.get(&path).await), 7 * COUNT);
    assert_still_commits(&api).await;
    api.stop().await;
}

#[actix_web::test]
async fn responds_507_if_an_account_reaches_its_orderless_capacity() {
    let mempool = MempoolConfig {
        capacity_per_account_orderless: 1,
        ..MempoolConfig::default()
    };
    let api = TestApi::start(Settings {
        node: NodeConfig {
            mempool,
            ..NodeConfig::default()
        },
        ..Settings::default()
    })
    .await;
    // A transaction leaves the mempool once its block is durable, so it takes several tries to
    // submit a second one before that.
    let transfer = transfer(7);
    let mut rejection = None;
    for nonce in 0..10_000 {
        let response = api
            .client
            .submit_bcs(&transfer.sign_with_nonce(&api.chain, nonce))
            .await;
        if response.status != 202 {
            rejection = Some(response);
            break;
        }
    }
    let rejection = rejection.expect("a second transaction while the first is pending");
    assert_error(&rejection, (507, "mempool_is_full"), "a second");
    let body = rejection.json();
    let message = body["message"].as_str().unwrap();
    assert!(
        message.ends_with("orderless transactions from account: 1, Capacity: 1"),
        "{message}"
    );
    // Transactions with a sequence number have a capacity of their own.
    assert_eq!(api.commit(&Transfer::new(0, 0)).await["success"], true);
    api.stop().await;
}

#[actix_web::test]
async fn commits_with_several_signers_and_a_fee_payer() {
    let api = TestApi::start(Settings::default()).await;
    let sender = transfer(7).signer();
    let other = Transfer::new(1, 0).signer();
    for (nonce, payer) in [(1, None), (2, Some(&other))] {
        let raw = transfer(7).raw(
            &api.chain,
            sender.address(),
            orderless_payload(exchange(&api.chain), nonce),
        );
        let signed = sender.sign_together(&api.chain, raw, &[&other], payer);
        let committed = api.commit_signed(&signed).await;
        assert_eq!(committed["success"], true, "{committed}");
        assert_eq!(committed["replay_protection_nonce"], nonce.to_string());
    }
    api.stop().await;
}

/// Simulates at the clock's time, because a block made now would accept the transaction, while the
/// newest block is the genesis, which is long ago.
#[actix_web::test]
async fn simulates_at_the_time_of_the_clock_on_an_idle_ledger() {
    let api = TestApi::start(Settings::default()).await;
    let mut unsigned = transfer(1).sign_with_nonce(&api.chain, 1);
    unsigned.authenticator = TransactionAuthenticator::SingleSender {
        sender: Box::new(AccountAuthenticator::NoAccountAuthenticator),
    };
    let path = "/v1/transactions/simulate";
    let json = submission(&api, &unsigned);
    let simulated = ok_json(&api.client.post_json(path, &json, "application/json").await);
    assert_eq!(
        simulated[0]["vm_status"], "Executed successfully",
        "{simulated}"
    );
    api.stop().await;
}
