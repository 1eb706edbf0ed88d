//! Successful requests of every route, in JSON and in BCS.

use crate::kit::{
    GIT_HASH, Settings, TestApi, Transfer, assert_error,
    layouts::{Index, decode},
    ledger_headers, ok_bcs, ok_json, recipient_store,
};
use ledger_execution::genesis::DEVELOPMENT_BALANCE;
use ledger_framework::modules::{account::Account, fungible_asset::FungibleStore};
use ledger_types::{AccountAddress, FrameworkUpgrade, Parameters};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const STORE: &str = "0x1::fungible_asset::FungibleStore";

#[actix_web::test]
async fn submits_waits_for_and_reads_a_transfer() {
    let api = TestApi::start(Settings::default()).await;
    let transfer = Transfer::new(0, 0);
    let hash = transfer
        .sign(&api.chain)
        .hash(api.chain.vendor())
        .to_string();

    let accepted = api.client.submit_json(&transfer.json(&api.chain)).await;
    assert_eq!(accepted.status, 202, "{}", accepted.text());
    ledger_headers(&accepted, "node");
    let pending = accepted.json();
    assert_eq!(pending["hash"], hash);
    assert_eq!(pending["sender"], transfer.sender().to_string());
    assert_eq!(pending["payload"]["arguments"], json!(["0xb0b", "7"]));
    assert_eq!(pending.get("type"), None);

    let committed = api.client.wait(&hash.parse().unwrap()).await;
    assert_eq!(committed["type"], "user_transaction");
    assert_eq!(committed["success"], true, "{committed}");
    let version = committed["version"].as_str().unwrap();

    let by_hash = api
        .client
        .get(&format!("/v1/transactions/by_hash/{}", &hash[2..]))
        .await;
    assert_eq!(ok_json(&by_hash), committed);
    let by_version = api
        .client
        .get(&format!("/v1/transactions/by_version/{version}"))
        .await;
    assert_eq!(ok_json(&by_version), committed);
    api.stop().await;
}

#[actix_web::test]
async fn responds_to_a_bcs_submission_with_an_empty_body() {
    let api = TestApi::start(Settings::default()).await;
    let signed = Transfer::new(0, 0).sign(&api.chain);
    let media_type = api.client.signed_transaction_type();
    let headers = [
        ("content-type", &media_type[..]),
        ("accept", "application/x-bcs"),
    ];
    let body = bcs::to_bytes(&signed).unwrap();
    let response = api
        .client
        .send("POST", "/v1/transactions", &headers, Some(&body))
        .await;
    assert_eq!((response.status, response.body.len()), (202, 0));
    ledger_headers(&response, "node");

    let hash = signed.hash(api.chain.vendor());
    api.client.wait(&hash).await;
    let found = api
        .client
        .get_bcs(&format!("/v1/transactions/by_hash/{hash}"))
        .await;
    // TransactionData::OnChain, the version, Transaction::User, the signed transaction.
    let mut start = vec![0u8];
    start.extend(2u64.to_le_bytes());
    start.push(0);
    start.extend(&body);
    assert!(ok_bcs(&found).starts_with(&start));
    api.stop().await;
}

#[actix_web::test]
async fn shows_the_same_index_in_bcs_as_in_json() {
    // After some blocks and some pruning, no two numbers are equal.
    let api = TestApi::start(Settings::with_window(6)).await;
    for sequence_number in 0..4 {
        api.commit(&Transfer::new(0, sequence_number)).await;
    }
    while ledger_headers(&api.client.get("/v1").await, "node")[2] == 0 {}
    for path in ["/v1", "/v1/"] {
        let response = api.client.get_bcs(path).await;
        let index: Index = decode(ok_bcs(&response), path);
        let number = |text: &str| text.parse::<u64>().unwrap();
        let numbers = [
            u64::from(index.chain_id),
            number(&index.ledger_version),
            number(&index.oldest_ledger_version),
            number(&index.ledger_timestamp),
            number(&index.epoch),
            number(&index.block_height),
            number(&index.oldest_block_height),
        ];
        assert_eq!(numbers, ledger_headers(&response, "node"));
        let json = ok_json(&api.client.get(path).await);
        assert_eq!(
            json["node_role"], "validator",
            "a node that orders its own blocks"
        );
        assert_eq!(index.node_role, 0);
    }
    api.stop().await;
}

#[actix_web::test]
async fn reports_ledger_information_health_and_gas_price() {
    let api = TestApi::start(Settings::default()).await;
    api.commit(&Transfer::new(0, 0)).await;
    for path in ["/v1", "/v1/"] {
        let response = api.client.get(path).await;
        let info = ok_json(&response);
        let [
            chain_id,
            version,
            oldest,
            usecs,
            epoch,
            height,
            oldest_height,
        ] = ledger_headers(&response, "node");
        let expected = json!({
            "chain_id": chain_id,
            "epoch": epoch.to_string(),
            "ledger_version": version.to_string(),
            "oldest_ledger_version": oldest.to_string(),
            "ledger_timestamp": usecs.to_string(),
            "node_role": "validator",
            "oldest_block_height": oldest_height.to_string(),
            "block_height": height.to_string(),
            "git_hash": GIT_HASH,
        });
        assert_eq!(info, expected);
        assert_eq!((chain_id, version, height), (4, 3, 1));
    }
    let health = json!({ "message": "node-node:ok" });
    for path in ["/v1/-/healthy", "/v1/-/healthy?duration_secs=3600"] {
        assert_eq!(ok_json(&api.client.get(path).await), health);
    }

    let gas = api.client.get("/v1/estimate_gas_price").await;
    assert_eq!(ok_json(&gas)["gas_estimate"], 100);
    let gas = api.client.get_bcs("/v1/estimate_gas_price").await;
    assert_eq!(ok_bcs(&gas), 100u64.to_le_bytes());
    api.stop().await;
}

#[actix_web::test]
async fn reads_state_at_the_newest_and_at_an_older_version() {
    let api = TestApi::start(Settings::default()).await;
    let transfer = Transfer::new(0, 0);
    let sender = transfer.sender();
    api.commit(&transfer).await;
    let get = |path: String| {
        let client = api.client.clone();
        async move { client.get(&path).await }
    };

    let account = format!("/v1/accounts/{sender}");
    let key = sender.to_long_hex();
    let expected = |number: &str| json!({ "sequence_number": number, "authentication_key": key });
    assert_eq!(ok_json(&get(account.clone()).await), expected("1"));
    assert_eq!(
        ok_json(&get(format!("{account}?ledger_version=0")).await),
        expected("0")
    );
    let stored = api.client.get_bcs(&account).await;
    let stored: Account = bcs::from_bytes(ok_bcs(&stored)).unwrap();
    assert_eq!(stored.sequence_number, 1);

    let store = format!("/v1/accounts/{}/resource/{STORE}", recipient_store());
    let resource = ok_json(&get(store.clone()).await);
    assert_eq!(resource["type"], STORE);
    assert_eq!(resource["data"]["balance"], "7");
    let resource = api.client.get_bcs(&store).await;
    let resource: FungibleStore = bcs::from_bytes(ok_bcs(&resource)).unwrap();
    assert_eq!(resource.balance, 7);

    for asset in ["0x1::node_coin::NodeCoin", "0xa", "a"] {
        let balance = format!("/v1/accounts/b0b/balance/{asset}?accountAddress=0x1&asset=x");
        assert_eq!(ok_json(&get(balance.clone()).await), 7);
        assert_eq!(
            ok_bcs(&api.client.get_bcs(&balance).await),
            7u64.to_le_bytes()
        );
        assert_eq!(
            ok_json(&get(format!("{balance}&ledger_version=0")).await),
            0
        );
    }
    let initial = format!("/v1/accounts/{sender}/balance/0xa?ledger_version=0");
    assert_eq!(ok_json(&get(initial).await), DEVELOPMENT_BALANCE);
    assert_eq!(
        ok_json(&get("/v1/accounts/0x1/balance/0x5::no::Coin".to_owned()).await),
        0
    );
    api.stop().await;
}

#[actix_web::test]
async fn reads_an_address_without_an_account_as_the_implicit_account() {
    let api = TestApi::start(Settings::default()).await;
    let address = AccountAddress::from_low_u64(0xdead);
    let account = ok_json(&api.client.get("/v1/accounts/0xdead").await);
    let expected = json!({ "sequence_number": "0", "authentication_key": address.to_long_hex() });
    assert_eq!(account, expected);
    let account = api.client.get_bcs("/v1/accounts/0xdead").await;
    let account: Account = bcs::from_bytes(ok_bcs(&account)).unwrap();
    assert_eq!(account, Account::implicit(address));
    api.stop().await;
}

#[actix_web::test]
async fn shows_the_abi_of_a_module() {
    let api = TestApi::start(Settings::default()).await;
    let module = ok_json(&api.client.get("/v1/accounts/0x1/module/node_account").await);
    assert_eq!(module["bytecode"], "0x");
    assert_eq!(module["abi"]["name"], "node_account");
    let functions = module["abi"]["exposed_functions"].as_array().unwrap();
    assert!(
        functions
            .iter()
            .any(|function| function["name"] == "transfer")
    );
    let module = api
        .client
        .get_bcs("/v1/accounts/0x1/module/node_account")
        .await;
    assert_eq!(ok_bcs(&module), b"");
    api.stop().await;
}

#[actix_web::test]
async fn lists_modules_in_pages() {
    let api = TestApi::start(Settings::default()).await;
    let path = "/v1/accounts/0x1/modules";
    let response = api.client.get(&format!("{path}?limit=9999")).await;
    let all = ok_json(&response);
    let all = all.as_array().unwrap();
    assert!(
        !response.headers.contains_key("x-node-cursor"),
        "the page is complete"
    );
    assert_eq!(
        ok_json(&api.client.get(path).await).as_array().unwrap(),
        all
    );
    for module in all {
        let name = module["abi"]["name"].as_str().unwrap();
        let alone = api
            .client
            .get(&format!("/v1/accounts/0x1/module/{name}"))
            .await;
        assert_eq!(&ok_json(&alone), module);
    }

    let (mut paged, mut start) = (Vec::new(), String::new());
    loop {
        let response = api.client.get(&format!("{path}?limit=4{start}")).await;
        let page = ok_json(&response);
        assert!(page.as_array().unwrap().len() <= 4);
        paged.extend(page.as_array().unwrap().clone());
        match response.headers.get("x-node-cursor") {
            Some(cursor) => start = format!("&start={cursor}"),
            None => break,
        }
    }
    assert_eq!(&paged, all);
    let of_another = format!("/v1/accounts/0x2/modules?limit=4{start}");
    let response = api.client.get(&of_another).await;
    assert_error(
        &response,
        (400, "invalid_input"),
        "the cursor of another account",
    );

    let in_bcs = api.client.get_bcs(path).await;
    let ids: BTreeMap<String, Vec<u8>> = bcs::from_bytes(ok_bcs(&in_bcs)).unwrap();
    assert_eq!(ids.len(), all.len());
    assert!(ids.contains_key("0x1::node_account"));
    assert_eq!(
        ok_json(&api.client.get("/v1/accounts/0x2/modules").await),
        json!([])
    );
    api.stop().await;
}

#[actix_web::test]
async fn shows_a_module_from_its_height_on() {
    let settings = Settings {
        parameters: Parameters {
            framework_upgrades: vec![FrameworkUpgrade {
                version: 2,
                height: 2,
            }],
            ..Parameters::default()
        },
        ..Settings::default()
    };
    let api = TestApi::start(settings).await;
    let alone = "/v1/accounts/0x1/module/escrow";
    let count = |version: Value| {
        let (client, version) = (api.client.clone(), version.as_str().unwrap().to_owned());
        async move {
            let path = format!("/v1/accounts/0x1/modules?ledger_version={version}");
            ok_json(&client.get(&path).await).as_array().unwrap().len()
        }
    };
    let before = api.commit(&Transfer::new(0, 0)).await["version"].clone();
    assert_error(
        &api.client.get(alone).await,
        (404, "module_not_found"),
        "before",
    );
    let after = api.commit(&Transfer::new(0, 1)).await["version"].clone();
    assert_eq!(
        ok_json(&api.client.get(alone).await)["abi"]["name"],
        "escrow"
    );
    assert!(count(before).await < count(after).await);
    api.stop().await;
}

#[actix_web::test]
async fn reads_blocks_with_and_without_transactions() {
    let api = TestApi::start(Settings::default()).await;
    let committed = api.commit(&Transfer::new(0, 0)).await;
    let bare = ok_json(
        &api.client
            .get("/v1/blocks/by_height/1?with_transactions=false")
            .await,
    );
    assert_eq!(
        bare,
        ok_json(&api.client.get("/v1/blocks/by_height/1").await)
    );
    assert_eq!(bare.get("transactions"), None);
    assert_eq!(bare["block_height"], "1");
    assert_eq!(
        (&bare["first_version"], &bare["last_version"]),
        (&json!("1"), &json!("3"))
    );

    let full = ok_json(
        &api.client
            .get("/v1/blocks/by_height/1?with_transactions=true")
            .await,
    );
    assert_eq!(full["block_hash"], bare["block_hash"]);
    let transactions = full["transactions"].as_array().unwrap();
    let types: Vec<_> = transactions
        .iter()
        .map(|transaction| &transaction["type"])
        .collect();
    assert_eq!(
        types,
        [
            "block_metadata_transaction",
            "user_transaction",
            "block_epilogue_transaction"
        ]
    );
    assert_eq!(transactions[1], committed);
    assert_eq!(full["block_timestamp"], committed["timestamp"]);

    let genesis = ok_json(
        &api.client
            .get("/v1/blocks/by_height/0?with_transactions=true")
            .await,
    );
    assert_eq!(genesis["transactions"][0]["type"], "genesis_transaction");

    let bare = api.client.get_bcs("/v1/blocks/by_height/1").await;
    let full = api
        .client
        .get_bcs("/v1/blocks/by_height/1?with_transactions=true")
        .await;
    let (bare, full) = (ok_bcs(&bare), ok_bcs(&full));
    let common = bare.len() - 1;
    assert_eq!(
        (bare[common], full[common]),
        (0, 1),
        "the option of transactions"
    );
    assert_eq!(bare[..common], full[..common]);
    assert_eq!(full[common + 1], 3, "three transactions");
    api.stop().await;
}

#[actix_web::test]
async fn uses_the_vendor_word_of_the_chain() {
    let settings = Settings {
        vendor: "APTOS".parse().unwrap(),
        ..Settings::default()
    };
    let api = TestApi::start(settings).await;
    let committed = api.commit(&Transfer::new(0, 0)).await;
    assert_eq!(
        committed["payload"]["function"],
        "0x1::aptos_account::transfer"
    );
    let response = api.client.get("/v1/-/healthy").await;
    assert_eq!(response.json(), json!({ "message": "aptos-node:ok" }));
    assert_eq!(ledger_headers(&response, "aptos")[0], 4);
    api.stop().await;
}
