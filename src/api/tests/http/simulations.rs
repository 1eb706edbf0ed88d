//! Simulations of transactions.

use crate::kit::{
    RawResponse, Settings, TestApi, Transfer, assert_error, assert_still_commits, ok_bcs, ok_json,
};
use actix_web::{
    App,
    test::{TestRequest, call_service, init_service},
};
use bytes::Bytes;
use ledger_api::configure;
use ledger_crypto::{
    Ed25519Signature,
    webauthn::{Assertion, AssertionSignature},
};
use ledger_execution::genesis::DEVELOPMENT_BALANCE;
use ledger_test_support::function_call;
use ledger_types::{
    AccountAddress, SignedTransaction, TypeTag,
    transaction::{
        AccountAuthenticator, AnyPublicKey, AnySignature, MultiEd25519PublicKey,
        MultiEd25519Signature, TransactionAuthenticator, TransactionPayload,
    },
};
use serde_json::{Value, json};

const PATH: &str = "/v1/transactions/simulate";

/// Returns the transfer with a signature of zeros, as SDKs send it.
pub(super) fn unsigned(api: &TestApi, transfer: &Transfer) -> SignedTransaction {
    let mut signed = transfer.sign(&api.chain);
    signed.authenticator = TransactionAuthenticator::Ed25519 {
        public_key: transfer.account().key.public_key(),
        signature: Ed25519Signature([0; 64]),
    };
    signed
}

async fn simulate(
    api: &TestApi,
    signed: &SignedTransaction,
    query: &str,
    accept: &str,
) -> RawResponse {
    let media_type = api.client.signed_transaction_type();
    let headers = [("content-type", &media_type[..]), ("accept", accept)];
    let body = bcs::to_bytes(signed).unwrap();
    let path = format!("{PATH}{query}");
    api.client.send("POST", &path, &headers, Some(&body)).await
}

/// Returns the only transaction of the response.
fn only(response: &RawResponse) -> Value {
    let array = ok_json(response);
    let [transaction] = &array.as_array().unwrap()[..] else {
        panic!("{array}");
    };
    transaction.clone()
}

#[actix_web::test]
async fn predicts_the_result_of_the_transaction() {
    let api = TestApi::start(Settings::default()).await;
    let transfer = Transfer::new(0, 0);
    let response = simulate(&api, &unsigned(&api, &transfer), "", "application/json").await;
    let simulated = only(&response);
    assert_eq!(simulated["type"], "user_transaction");
    assert_eq!(simulated["success"], true, "{simulated}");
    assert_eq!(simulated["vm_status"], "Executed successfully");
    assert_eq!(simulated["version"], "0", "the newest version");
    assert_eq!(
        response.headers["x-node-gas-used"],
        simulated["gas_used"].as_str().unwrap()
    );
    let info = ok_json(&api.client.get("/v1").await);
    assert_eq!(info["ledger_version"], "0", "nothing was committed");

    let committed = api.commit(&transfer).await;
    for name in ["gas_used", "vm_status", "payload", "events"] {
        assert_eq!(committed[name], simulated[name], "{name}");
    }
    let keys = |transaction: &Value| {
        let changes = transaction["changes"].as_array().unwrap().iter();
        changes
            .map(|change| change["state_key_hash"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(keys(&committed), keys(&simulated));
    api.stop().await;
}

#[actix_web::test]
async fn simulates_a_transaction_without_any_signature() {
    let api = TestApi::start(Settings::default()).await;
    let transfer = Transfer::new(0, 0);
    let mut absent = unsigned(&api, &transfer);
    absent.authenticator = TransactionAuthenticator::SingleSender {
        sender: Box::new(AccountAuthenticator::NoAccountAuthenticator),
    };
    let by_bcs = only(&simulate(&api, &absent, "", "*/*").await);
    assert_eq!(by_bcs["success"], true, "{by_bcs}");
    let mut body = transfer.json(&api.chain);
    body["signature"] = json!({ "type": "no_account_signature" });
    let by_json = api.client.post_json(PATH, &body, "application/json").await;
    assert_eq!(only(&by_json), by_bcs);
    // Such a transaction can only be simulated.
    assert_error(
        &api.client.submit_json(&body).await,
        (400, "vm_error"),
        "submitted",
    );
    api.stop().await;
}

/// Responses that are not read leave room for the values of a further one, but not for its rendering.
#[actix_web::test]
async fn simulation_that_waits_too_long_for_memory_is_503() {
    const UNREAD: usize = 9;
    let mut settings = Settings::default();
    settings.api.answers_bytes_max = 2 << 20;
    let api = TestApi::start(settings).await;
    let mut large = unsigned(&api, &Transfer::new(0, 0));
    let call = function_call("0x1::coin::transfer", &[], vec![vec![0; 60_000]]);
    large.raw.payload = TransactionPayload::EntryFunction(call);
    let body = bcs::to_bytes(&large).unwrap();
    let app = init_service(App::new().configure(|config| configure(config, &api.state))).await;
    let simulate_large = || {
        let request = TestRequest::post()
            .uri(PATH)
            .insert_header(("content-type", api.client.signed_transaction_type()))
            .set_payload(body.clone());
        call_service(&app, request.to_request())
    };
    let mut unread = Vec::new();
    for _ in 0..UNREAD {
        unread.push(simulate_large().await);
    }
    assert!(unread.iter().all(|response| response.status() == 200));
    // The wait of the last one ends at once, because no other timer is due before.
    tokio::time::pause();
    let late = simulate_large().await;
    assert_eq!(late.status(), 503);
    assert_eq!(late.headers().get("retry-after").unwrap(), "30");
    tokio::time::resume();
    unread.clear();
    assert_eq!(simulate_large().await.status(), 200);
    api.stop().await;
}

#[actix_web::test]
async fn responds_in_bcs() {
    let api = TestApi::start(Settings::default()).await;
    let signed = unsigned(&api, &Transfer::new(0, 0));
    let response = simulate(&api, &signed, "", "application/x-bcs").await;
    // Version 0, Transaction::User, the transaction.
    let mut start = 0u64.to_le_bytes().to_vec();
    start.push(0);
    start.extend(bcs::to_bytes(&signed).unwrap());
    assert!(ok_bcs(&response).starts_with(&start));
    assert!(response.headers["x-node-gas-used"].parse::<u64>().unwrap() > 0);
    api.stop().await;
}

#[actix_web::test]
async fn responds_200_to_a_failed_simulation() {
    let api = TestApi::start(Settings::default()).await;
    let transfer = Transfer {
        amount: u64::MAX,
        ..Transfer::new(0, 0)
    };
    let failed = only(&simulate(&api, &unsigned(&api, &transfer), "", "*/*").await);
    assert_eq!(failed["success"], false);
    let status = failed["vm_status"].as_str().unwrap();
    assert!(
        status.starts_with("Move abort in 0x1::fungible_asset: "),
        "{status}"
    );
    api.stop().await;
}

/// Asserts that a simulation and a submission have the same error, with `words` in its message.
fn assert_same_error(simulated: &RawResponse, submitted: &RawResponse, words: &str) {
    assert_error(simulated, (400, "invalid_input"), words);
    assert_eq!(simulated.json(), submitted.json());
    assert!(simulated.text().contains(words), "{}", simulated.text());
}

#[actix_web::test]
async fn rejects_calls_with_too_many_arguments_as_a_submission_does() {
    let api = TestApi::start(Settings::default()).await;
    let transfer = Transfer::new(0, 0);
    let with = |arguments: usize, type_arguments: usize| {
        let TransactionPayload::EntryFunction(mut call) = transfer.payload(&api.chain) else {
            panic!("a transfer is a call");
        };
        call.args = vec![Bytes::new(); arguments];
        call.type_args = vec![TypeTag::U8; type_arguments];
        let signed = transfer.sign_payload(&api.chain, TransactionPayload::EntryFunction(call));
        SignedTransaction {
            authenticator: unsigned(&api, &transfer).authenticator,
            ..signed
        }
    };
    for (signed, words) in [
        (with(129, 0), "129 arguments, a function has at most 128"),
        (with(2, 33), "33 type arguments, a function has at most 32"),
    ] {
        let simulated = simulate(&api, &signed, "", "*/*").await;
        assert_same_error(&simulated, &api.client.submit_bcs(&signed).await, words);
    }
    // As many as a call may have, but more than this function has, so the execution rejects them.
    for signed in [with(128, 0), with(2, 32)] {
        let simulated = only(&simulate(&api, &signed, "", "*/*").await);
        assert_eq!(simulated["success"], false, "{simulated}");
    }

    // In JSON, arguments are converted by the declaration of the function, which has two.
    let json = transfer.json(&api.chain);
    for (pointer, value) in [
        ("/payload/arguments", json!(vec!["0x1"; 129])),
        ("/payload/type_arguments", json!(vec!["u8"; 33])),
    ] {
        let mut body = json.clone();
        body["signature"]["signature"] = json!(format!("0x{}", "00".repeat(64)));
        *body.pointer_mut(pointer).unwrap() = value;
        let simulated = api.client.post_json(PATH, &body, "application/json").await;
        assert_same_error(
            &simulated,
            &api.client.submit_json(&body).await,
            "arguments",
        );
    }
    assert_still_commits(&api).await;
    api.stop().await;
}

#[actix_web::test]
async fn estimates_the_gas_values_on_request() {
    let api = TestApi::start(Settings::default()).await;
    let cheap = Transfer {
        gas_unit_price: 1,
        ..Transfer::new(0, 0)
    };
    let signed = unsigned(&api, &cheap);
    let rejection = only(&simulate(&api, &signed, "", "*/*").await);
    assert_eq!(rejection["vm_status"], "GAS_UNIT_PRICE_BELOW_MIN_BOUND");

    let estimate = ok_json(&api.client.get("/v1/estimate_gas_price").await);
    let max_gas = api.chain.parameters().max_gas_amount;
    let rows = [
        ("?estimate_gas_unit_price=true", "gas_estimate", 100_000),
        (
            "?estimate_gas_unit_price=true&estimate_prioritized_gas_unit_price=true\
             &estimate_max_gas_amount=false",
            "prioritized_gas_estimate",
            100_000,
        ),
        (
            "?estimate_gas_unit_price=true&estimate_max_gas_amount=true\
             &estimate_prioritized_gas_unit_price=false",
            "gas_estimate",
            max_gas,
        ),
    ];
    for (query, price, max_gas_amount) in rows {
        let simulated = only(&simulate(&api, &signed, query, "*/*").await);
        assert_eq!(simulated["success"], true, "{query}");
        assert_eq!(
            simulated["gas_unit_price"],
            estimate[price].to_string(),
            "{query}"
        );
        assert_eq!(
            simulated["max_gas_amount"],
            max_gas_amount.to_string(),
            "{query}"
        );
    }
    api.stop().await;
}

#[actix_web::test]
async fn limits_the_estimated_gas_to_the_balance_of_the_sender() {
    let api = TestApi::start(Settings::default()).await;
    let price = 10_000_000_000;
    let transfer = Transfer {
        gas_unit_price: price,
        amount: 0,
        ..Transfer::new(0, 0)
    };
    let signed = unsigned(&api, &transfer);
    let simulated = only(&simulate(&api, &signed, "?estimate_max_gas_amount=true", "*/*").await);
    let affordable = DEVELOPMENT_BALANCE / price;
    assert!(affordable < api.chain.parameters().max_gas_amount);
    assert_eq!(simulated["max_gas_amount"], affordable.to_string());
    api.stop().await;
}

#[actix_web::test]
async fn reports_an_insufficient_balance_with_and_without_an_estimate() {
    let api = TestApi::start(Settings {
        more_accounts: 1,
        ..Settings::default()
    })
    .await;
    // One account does not exist, the other one holds 1.
    for sender in [0x5e, 0x1_0000].map(AccountAddress::from_low_u64) {
        let mut signed = unsigned(&api, &Transfer::new(0, 0));
        signed.raw.sender = sender;
        signed.authenticator = TransactionAuthenticator::SingleSender {
            sender: Box::new(AccountAuthenticator::NoAccountAuthenticator),
        };
        for query in ["", "?estimate_max_gas_amount=true"] {
            let rejection = only(&simulate(&api, &signed, query, "*/*").await);
            assert_eq!(
                rejection["vm_status"], "INSUFFICIENT_BALANCE_FOR_TRANSACTION_FEE",
                "{sender}{query}"
            );
        }
    }
    api.stop().await;
}

#[actix_web::test]
async fn rejects_valid_signatures_and_reports_validation_errors() {
    let api = TestApi::start(Settings::default()).await;
    let transfer = Transfer::new(0, 0);
    let signed = transfer.sign(&api.chain);
    let response = simulate(&api, &signed, "", "*/*").await;
    assert_error(&response, (400, "invalid_input"), "a valid signature");
    let body = transfer.json(&api.chain);
    let response = api.client.post_json(PATH, &body, "*/*").await;
    assert_error(
        &response,
        (400, "invalid_input"),
        "a valid signature in JSON",
    );

    let ahead = unsigned(&api, &Transfer::new(0, 9));
    let other_key = SignedTransaction {
        authenticator: unsigned(&api, &Transfer::new(1, 0)).authenticator,
        ..unsigned(&api, &transfer)
    };
    for (signed, status) in [
        (&ahead, "SEQUENCE_NUMBER_TOO_NEW"),
        (&other_key, "INVALID_AUTH_KEY"),
    ] {
        let rejection = only(&simulate(&api, signed, "", "*/*").await);
        assert_eq!(rejection["vm_status"], status);
        assert_eq!(rejection["success"], false);
        assert_eq!(
            (&rejection["gas_used"], &rejection["changes"]),
            (&json!("0"), &json!([]))
        );
    }
    let response = simulate(&api, &ahead, "?estimate_max_gas_amount=yes", "*/*").await;
    assert_error(&response, (400, "web_framework_error"), "not a flag");
    assert_still_commits(&api).await;
    api.stop().await;
}

/// A simulation needs no valid signature, but a well-formed one.
#[actix_web::test]
async fn rejects_malformed_signatures() {
    let api = TestApi::start(Settings::default()).await;
    let transfer = Transfer::new(0, 0);
    let key = [&transfer.account().key.public_key().0[..], &[1]].concat();
    let multi = |key: &[u8], signature_bytes| TransactionAuthenticator::MultiEd25519 {
        public_key: MultiEd25519PublicKey(Bytes::copy_from_slice(key)),
        signature: MultiEd25519Signature(vec![0; signature_bytes].into()),
    };
    let unaccompanied = TransactionAuthenticator::MultiAgent {
        sender: Box::new(AccountAuthenticator::NoAccountAuthenticator),
        secondary_signer_addresses: vec![AccountAddress::ONE],
        secondary_signers: Vec::new(),
    };
    let passkey = |signature: [u8; 64]| TransactionAuthenticator::SingleSender {
        sender: Box::new(AccountAuthenticator::SingleKey {
            public_key: AnyPublicKey::Secp256r1Ecdsa(vec![4; 65].into()),
            signature: AnySignature::WebAuthn(Assertion {
                signature: AssertionSignature::Secp256r1Ecdsa(signature.to_vec().into()),
                authenticator_data: Bytes::new(),
                client_data_json: Bytes::new(),
            }),
        }),
    };
    for (case, authenticator, status) in [
        ("a short signature", multi(&key, 67), 400),
        ("a short key", multi(&key[1..], 68), 400),
        ("no signature of a signer", unaccompanied, 400),
        ("a signature of zeros", multi(&key, 68), 200),
        ("a passkey's signature of zeros", passkey([0; 64]), 400),
        ("a passkey's signature of ones", passkey([1; 64]), 200),
    ] {
        let signed = SignedTransaction {
            authenticator,
            ..unsigned(&api, &transfer)
        };
        let response = simulate(&api, &signed, "", "*/*").await;
        assert_eq!(response.status, status, "{case}: {}", response.text());
        if status == 400 {
            assert_error(&response, (400, "invalid_input"), case);
        }
    }
    api.stop().await;
}

#[actix_web::test]
async fn names_the_module_or_function_that_a_call_misses() {
    let api = TestApi::start(Settings::default()).await;
    let transfer = Transfer::new(0, 0);
    let address = format!("{:064x}", 1);
    for (function, status) in [
        (
            "0x1::meme::mint",
            format!(
                "LINKER_ERROR\nExecution failed with message: Linker Error: Module \
                 {address}::meme doesn't exist"
            ),
        ),
        (
            "0x1::coin::mint_all",
            "FUNCTION_RESOLUTION_FAILURE\nExecution failed with message: Function \
             0x1::coin::mint_all does not exist"
                .to_owned(),
        ),
        (
            "0x1::coin::balance",
            "INVALID_MAIN_FUNCTION_SIGNATURE".to_owned(),
        ),
    ] {
        let call = function_call(function, &[], vec![]);
        let mut signed = transfer.sign_payload(&api.chain, TransactionPayload::EntryFunction(call));
        signed.authenticator = unsigned(&api, &transfer).authenticator;
        let simulated = only(&simulate(&api, &signed, "", "*/*").await);
        assert_eq!(simulated["success"], false, "{function}");
        assert_eq!(simulated["vm_status"], *status, "{function}");
    }
    api.stop().await;
}

/// A simulation is not consensus, so the time of the machine may end it. A block must not depend on
/// it.
#[actix_web::test]
async fn a_simulation_beyond_its_time_is_out_of_gas_and_its_block_is_not() {
    let mut settings = Settings::default();
    settings.node.work.call_time_max_ms = 1;
    let api = TestApi::start(settings).await;
    let transfer = Transfer::new(0, 0);
    let arguments = [json!(vec!["0xb0b"; 1_500]), json!(vec!["1"; 1_500])];
    let registry = api.chain.registry();
    let function = "0x1::node_account::batch_transfer".parse().unwrap();
    let call = registry.call_from_json(&function, &[], &arguments);
    let payload = TransactionPayload::EntryFunction(call.unwrap());
    let batch = transfer.sign_payload(&api.chain, payload);
    let mut unsigned = batch.clone();
    unsigned.authenticator = TransactionAuthenticator::Ed25519 {
        public_key: transfer.account().key.public_key(),
        signature: Ed25519Signature([0; 64]),
    };
    let simulated = only(&simulate(&api, &unsigned, "", "*/*").await);
    assert_eq!(simulated["success"], false);
    assert_eq!(simulated["vm_status"], "Out of gas");
    let committed = api.commit_signed(&batch).await;
    assert_eq!(committed["success"], true, "{committed}");
    api.stop().await;
}
