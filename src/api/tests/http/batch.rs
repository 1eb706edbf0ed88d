//! Several transactions in one request.

use crate::kit::{Settings, TestApi, Transfer, assert_error, ledger_headers};
use ledger_types::SignedTransaction;
use serde_json::{Value, json};

const PATH: &str = "/v1/transactions/batch";

async fn post(api: &TestApi, body: &Value) -> crate::kit::RawResponse {
    api.client.post_json(PATH, body, "application/json").await
}

/// Posts a batch in BCS. `accept` is the media type of the response.
async fn post_bcs(
    api: &TestApi,
    signed: &[SignedTransaction],
    accept: &str,
) -> crate::kit::RawResponse {
    let media_type = api.client.signed_transaction_type();
    let headers = [("content-type", &media_type[..]), ("accept", accept)];
    let body = bcs::to_bytes(signed).unwrap();
    api.client.send("POST", PATH, &headers, Some(&body)).await
}

/// Returns a transfer with a signature over another transaction.
fn forged(api: &TestApi, number: u64) -> SignedTransaction {
    let mut signed = Transfer::new(1, number).sign(&api.chain);
    signed.raw.gas_unit_price += 1;
    signed
}

#[actix_web::test]
async fn commits_a_batch_of_one_account_in_order() {
    let api = TestApi::start(Settings::default()).await;
    let transfers: Vec<_> = (0..10).map(|number| Transfer::new(0, number)).collect();
    let (first, second) = transfers.split_at(5);
    let body: Vec<Value> = first
        .iter()
        .map(|transfer| transfer.json(&api.chain))
        .collect();
    let response = post(&api, &json!(body)).await;
    assert_eq!(response.status, 202, "{}", response.text());
    ledger_headers(&response, "node");
    assert_eq!(response.json(), json!({ "transaction_failures": [] }));
    let signed: Vec<_> = second
        .iter()
        .map(|transfer| transfer.sign(&api.chain))
        .collect();
    let response = post_bcs(&api, &signed, "application/x-bcs").await;
    assert_eq!(
        (response.status, &response.body[..]),
        (202, &[0][..]),
        "no failures"
    );
    for transfer in &transfers {
        let hash = transfer.sign(&api.chain).hash(api.chain.vendor());
        assert_eq!(api.client.wait(&hash).await["success"], true);
    }
    // An empty batch has no failures.
    assert_eq!(post(&api, &json!([])).await.status, 202);
    api.stop().await;
}

#[actix_web::test]
async fn accepts_the_valid_transactions_of_a_batch_with_invalid_ones() {
    let api = TestApi::start(Settings::default()).await;
    let mut late = Transfer::new(0, 1);
    late.expiration_timestamp_secs = 1;
    let signed = [
        Transfer::new(0, 0).sign(&api.chain),
        forged(&api, 0),
        late.sign(&api.chain),
        Transfer::new(2, 0).sign(&api.chain),
    ];
    let response = post_bcs(&api, &signed, "application/json").await;
    assert_eq!(response.status, 206, "{}", response.text());
    let failures = response.json()["transaction_failures"].clone();
    let errors: Vec<_> = failures.as_array().unwrap().iter().collect();
    let errors: Vec<_> = errors
        .iter()
        .map(|failure| {
            let error = &failure["error"];
            (
                &failure["transaction_index"],
                &error["error_code"],
                &error["vm_error_code"],
            )
        })
        .collect();
    let vm_error = json!("vm_error");
    assert_eq!(
        errors,
        [
            (&json!(1), &vm_error, &json!(1)),
            (&json!(2), &vm_error, &json!(6))
        ]
    );
    for good in [&signed[0], &signed[3]] {
        let committed = api.client.wait(&good.hash(api.chain.vendor())).await;
        assert_eq!(committed["success"], true, "{committed}");
    }

    // In BCS: the message, the number of the error code, the optional status, the index.
    let again = [Transfer::new(2, 1).sign(&api.chain), forged(&api, 0)];
    let response = post_bcs(&api, &again, "application/x-bcs").await;
    assert_eq!(response.status, 206);
    let (message, code, status, index): (String, u8, Option<u64>, u64) =
        bcs::from_bytes(&response.body[1..]).unwrap();
    assert!(message.contains("INVALID_SIGNATURE"), "{message}");
    // `vm_error` is number 14 in the list of error codes, counted from 0.
    assert_eq!((response.body[0], code, status, index), (1, 14, Some(1), 1));

    // A call that does not fit its function fails alone. JSON that is not a transaction fails the
    // whole batch.
    let good = Transfer::new(3, 0).json(&api.chain);
    let mut unknown = good.clone();
    unknown["payload"]["function"] = json!("0x1::coin::nothing");
    let response = post(&api, &json!([unknown, good])).await;
    assert_eq!(response.status, 206, "{}", response.text());
    let failure = &response.json()["transaction_failures"][0];
    assert_eq!(
        (
            &failure["transaction_index"],
            &failure["error"]["error_code"]
        ),
        (&json!(0), &json!("invalid_input"))
    );
    api.stop().await;
}

#[actix_web::test]
async fn rejects_batches_that_are_invalid_too_long_or_malformed() {
    let mut settings = Settings::default();
    // As in config/sdk.toml.
    settings.api.batch_transactions_max = 10;
    let api = TestApi::start(settings).await;
    let forged = [forged(&api, 0), forged(&api, 1)];
    let response = post_bcs(&api, &forged, "application/json").await;
    assert_error(&response, (400, "invalid_input"), "all are forged");
    let words = "All transactions submitted were invalid";
    assert!(response.text().contains(words), "{}", response.text());
    let eleven: Vec<_> = (0..11)
        .map(|number| Transfer::new(0, number).json(&api.chain))
        .collect();
    let response = post(&api, &json!(eleven)).await;
    assert_error(&response, (400, "invalid_input"), "eleven");
    assert!(response.text().contains("too many"), "{}", response.text());
    let sequence_number = api
        .client
        .get(&format!("/v1/accounts/{}", Transfer::new(0, 0).sender()))
        .await;
    assert_eq!(
        sequence_number.json()["sequence_number"],
        "0",
        "none of them is accepted"
    );
    for (body, case) in [
        (json!({}), "not a list"),
        (json!([{}]), "not a transaction"),
    ] {
        assert_error(&post(&api, &body).await, (400, "web_framework_error"), case);
    }
    let media_type = api.client.signed_transaction_type();
    let headers = [("content-type", &media_type[..])];
    // Declares a list of 2^32 - 1 transactions and has none.
    let without_elements = [0xff, 0xff, 0xff, 0xff, 0x0f];
    let response = api
        .client
        .send("POST", PATH, &headers, Some(&without_elements))
        .await;
    assert_error(
        &response,
        (400, "invalid_input"),
        "a length without elements",
    );
    api.stop().await;
}

/// Rejects such a body by its size, because an absent signature is one byte on the wire and a
/// hundred in memory.
#[actix_web::test]
async fn does_not_decode_bodies_larger_than_any_batch() {
    let mut settings = Settings::default();
    settings.api.max_body_bytes = 1 << 20;
    let api = TestApi::start(settings).await;
    let media_type = api.client.signed_transaction_type();
    let headers = [("content-type", &media_type[..])];
    for (more, words) in [
        (1, "Failed to deserialize"),
        (2, "has at most 655361 bytes"),
    ] {
        let body = vec![0; 10 * 65_536 + more];
        let response = api.client.send("POST", PATH, &headers, Some(&body)).await;
        assert_error(&response, (400, "invalid_input"), words);
        assert!(response.text().contains(words), "{}", response.text());
    }
    api.stop().await;
}
