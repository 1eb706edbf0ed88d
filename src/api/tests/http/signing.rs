//! Every signature scheme: submitted in BCS and in JSON, read back, and simulated.

use crate::kit::{
    RawResponse, Settings, TestApi, Transfer, assert_error, assert_still_commits, exchange,
    ok_json, submission,
};
use ledger_test_support::{TestSigner, TransactionSigner as _};
use ledger_types::{
    SignedTransaction,
    transaction::{AccountAuthenticator, TransactionAuthenticator},
};
use serde_json::{Value, json};

/// Returns a transfer by this signer alone.
fn transfer_of(api: &TestApi, signer: &TestSigner, sequence_number: u64) -> SignedTransaction {
    let transfer = Transfer::new(0, sequence_number);
    let raw = transfer.raw(&api.chain, signer.address(), transfer.payload(&api.chain));
    signer.sign_alone(&api.chain, raw)
}

/// Submits a transaction in JSON and returns its committed form. Asserts that the hash is the one
/// of the BCS form.
async fn commit_json(api: &TestApi, signed: &SignedTransaction) -> Value {
    let accepted = api.client.submit_json(&submission(api, signed)).await;
    assert_eq!(accepted.status, 202, "{}", accepted.text());
    let hash = signed.hash(api.chain.vendor());
    assert_eq!(accepted.json()["hash"], hash.to_string());
    api.client.wait(&hash).await
}

#[actix_web::test]
async fn commits_with_each_kind_of_key() {
    let api = TestApi::start(Settings::default()).await;
    let signers = TestSigner::of_every_scheme();
    api.fund(&signers).await;
    for (kind, signer) in &signers {
        let by_bcs = transfer_of(&api, signer, 0);
        let committed = api.commit_signed(&by_bcs).await;
        assert_eq!(committed["success"], true, "{kind}: {committed}");
        assert_eq!(committed["signature"]["type"], "single_sender", "{kind}");
        assert_eq!(
            committed["signature"],
            submission(&api, &by_bcs)["signature"],
            "{kind}"
        );

        let committed = commit_json(&api, &transfer_of(&api, signer, 1)).await;
        assert_eq!(committed["success"], true, "{kind}: {committed}");
    }
    api.stop().await;
}

#[actix_web::test]
async fn accepts_the_single_object_form_of_the_reference_node() {
    let api = TestApi::start(Settings::default()).await;
    let signers = TestSigner::of_every_scheme();
    api.fund(&signers).await;
    for (kind, signer) in &signers {
        let signed = transfer_of(&api, signer, 0);
        let mut body = submission(&api, &signed);
        let mut flat = body["signature"]["sender"].take();
        flat["type"] = json!("single_sender");
        body["signature"] = flat;
        let accepted = api.client.submit_json(&body).await;
        assert_eq!(accepted.status, 202, "{kind}: {}", accepted.text());
        assert_eq!(
            accepted.json()["hash"],
            signed.hash(api.chain.vendor()).to_string()
        );
    }
    api.stop().await;
}

#[actix_web::test]
async fn commits_with_each_kind_of_secondary_signer_and_fee_payer() {
    let api = TestApi::start(Settings::default()).await;
    let signers = TestSigner::of_every_scheme();
    api.fund(&signers).await;
    let transfer = Transfer::new(0, 0);
    for (number, (kind, sender)) in signers.iter().enumerate() {
        let other = |by: usize| &signers[(number + by) % signers.len()].1;
        let signed = |sequence_number, others: &[&TestSigner], payer| {
            let payload = match others {
                [] => transfer.payload(&api.chain),
                _ => exchange(&api.chain),
            };
            let mut raw = transfer.raw(&api.chain, sender.address(), payload);
            raw.sequence_number = sequence_number;
            sender.sign_together(&api.chain, raw, others, payer)
        };
        let agents = api.commit_signed(&signed(0, &[other(2)], None)).await;
        assert_eq!(agents["success"], true, "{kind}: {agents}");
        let sponsored = commit_json(&api, &signed(1, &[], Some(other(1)))).await;
        assert_eq!(sponsored["success"], true, "{kind}: {sponsored}");
        assert_eq!(
            sponsored["signature"]["fee_payer_address"],
            other(1).address().to_string()
        );
        let both = commit_json(&api, &signed(2, &[other(3)], Some(other(4)))).await;
        assert_eq!(both["success"], true, "{kind}: {both}");
    }
    api.stop().await;
}

#[actix_web::test]
async fn lets_a_sponsor_pay_for_an_unfunded_sender() {
    let api = TestApi::start(Settings::default()).await;
    let sponsor = Transfer::new(1, 0).signer();
    let before = balance(&api, &sponsor).await;
    for (kind, sender) in TestSigner::of_every_scheme() {
        let transfer = Transfer {
            amount: 0,
            ..Transfer::new(0, 0)
        };
        let raw = transfer.raw(&api.chain, sender.address(), transfer.payload(&api.chain));
        let signed = sender.sign_together(&api.chain, raw, &[], Some(&sponsor));
        let committed = api.commit_signed(&signed).await;
        assert_eq!(committed["success"], true, "{kind}: {committed}");
    }
    assert!(balance(&api, &sponsor).await < before);
    api.stop().await;
}

async fn balance(api: &TestApi, signer: &TestSigner) -> u64 {
    let path = format!(
        "/v1/accounts/{}/balance/0x1::{}_coin::{}Coin",
        signer.address(),
        "node",
        "Node"
    );
    ok_json(&api.client.get(&path).await).as_u64().unwrap()
}

async fn simulate(api: &TestApi, signed: &SignedTransaction) -> RawResponse {
    let path = "/v1/transactions/simulate";
    api.client
        .post_json(path, &submission(api, signed), "application/json")
        .await
}

/// Returns the transaction with an invalid signature, which is over another message, as SDKs send
/// it to be simulated.
fn with_invalid_signature(
    api: &TestApi,
    signer: &TestSigner,
    signed: &SignedTransaction,
) -> SignedTransaction {
    let mut other = signed.raw.clone();
    other.sequence_number += 1;
    let authenticator = signer.sign_alone(&api.chain, other).authenticator;
    SignedTransaction {
        raw: signed.raw.clone(),
        authenticator,
    }
}

#[actix_web::test]
async fn simulates_each_kind_of_key_with_an_invalid_signature() {
    let api = TestApi::start(Settings::default()).await;
    let signers = TestSigner::of_every_scheme();
    api.fund(&signers).await;
    for (kind, signer) in &signers {
        let signed = transfer_of(&api, signer, 0);
        assert_error(&simulate(&api, &signed).await, (400, "invalid_input"), kind);
        let unsigned = with_invalid_signature(&api, signer, &signed);
        let simulated = ok_json(&simulate(&api, &unsigned).await);
        assert_eq!(simulated[0]["success"], true, "{kind}: {simulated}");
        let response = api.client.submit_bcs(&unsigned).await;
        assert_error(&response, (400, "vm_error"), kind);
        assert_eq!(
            response.json()["vm_error_code"],
            1,
            "{kind}: {}",
            response.text()
        );
    }
    api.stop().await;
}

#[actix_web::test]
async fn simulates_without_the_signatures_of_other_signers() {
    let api = TestApi::start(Settings::default()).await;
    let (first, second) = (Transfer::new(0, 0), Transfer::new(1, 0));
    let sender = TestSigner::Unsigned(first.sender());
    let other = TestSigner::Unsigned(second.sender());
    let raw = || first.raw(&api.chain, first.sender(), first.payload(&api.chain));
    let by_two = || first.raw(&api.chain, first.sender(), exchange(&api.chain));
    for signed in [
        sender.sign_together(&api.chain, by_two(), &[&other], None),
        sender.sign_together(&api.chain, raw(), &[], Some(&other)),
        sender.sign_together(&api.chain, by_two(), &[&other], Some(&other)),
    ] {
        let simulated = ok_json(&simulate(&api, &signed).await);
        assert_eq!(simulated[0]["success"], true, "{simulated}");
        assert_eq!(api.client.submit_bcs(&signed).await.status, 400);
    }
    let twice = sender.sign_together(&api.chain, raw(), &[&sender], None);
    let simulated = ok_json(&simulate(&api, &twice).await);
    assert_eq!(simulated[0]["vm_status"], "SIGNERS_CONTAIN_DUPLICATES");
    assert_still_commits(&api).await;
    api.stop().await;
}

/// Preserves the length of a bitmap that is shorter than the SDKs', because the hash covers it.
#[actix_web::test]
async fn preserves_a_short_bitmap() {
    let api = TestApi::start(Settings::default()).await;
    let signers: Vec<_> = TestSigner::of_every_scheme()
        .into_iter()
        .filter(|(_, signer)| matches!(signer, TestSigner::MultiKey { .. }))
        .collect();
    api.fund(&signers).await;
    let mut signed = transfer_of(&api, &signers[0].1, 0);
    let TransactionAuthenticator::SingleSender { sender } = &mut signed.authenticator else {
        panic!("{signed:?}");
    };
    let AccountAuthenticator::MultiKey {
        signatures_bitmap, ..
    } = sender.as_mut()
    else {
        panic!("{sender:?}");
    };
    signatures_bitmap.truncate(1);
    let committed = commit_json(&api, &signed).await;
    assert_eq!(committed["success"], true, "{committed}");
    assert_eq!(
        committed["signature"]["sender"]["signatures_bitmap"],
        "0x60"
    );
    api.stop().await;
}

#[actix_web::test]
async fn rejects_invalid_signature_indices_with_the_reason() {
    let api = TestApi::start(Settings::default()).await;
    let (_, signer) = TestSigner::of_every_scheme().pop().expect("a multi key");
    let good = submission(&api, &transfer_of(&api, &signer, 0));
    let pointer = "/signature/sender/signatures/0/index";
    for (index, reason) in [
        (json!(2), "ascending and unique: 2 follows 2"),
        (json!(32), "2 follows 32"),
    ] {
        let mut body = good.clone();
        *body.pointer_mut(pointer).unwrap() = index;
        let response = api.client.submit_json(&body).await;
        assert_error(&response, (400, "invalid_input"), reason);
        let message = response.json()["message"].as_str().unwrap().to_owned();
        assert!(message.contains(reason), "{message}");
    }
    assert_still_commits(&api).await;
    api.stop().await;
}
