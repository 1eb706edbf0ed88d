//! Blocks by version, and the index of a transaction in its block.

use crate::kit::{Settings, TestApi, Transfer, assert_error, ok_bcs, ok_json};
use ledger_crypto::HashValue;
use serde_json::{Value, json};

/// Starts a node with genesis and three blocks of three transactions each: versions 0 to 9.
async fn three_blocks() -> TestApi {
    let api = TestApi::start(Settings::default()).await;
    for number in 0..3 {
        api.commit(&Transfer::new(0, number)).await;
    }
    api
}

#[actix_web::test]
async fn finds_a_block_by_every_version_in_it() {
    let api = three_blocks().await;
    for version in 0..=9u64 {
        let height = version.div_ceil(3);
        let of_version = format!("/v1/blocks/by_version/{version}?with_transactions=true");
        let of_height = format!("/v1/blocks/by_height/{height}?with_transactions=true");
        assert_eq!(
            ok_json(&api.client.get(&of_version).await),
            ok_json(&api.client.get(&of_height).await),
            "version {version}"
        );
        assert_eq!(
            ok_bcs(&api.client.get_bcs(&of_version).await),
            ok_bcs(&api.client.get_bcs(&of_height).await)
        );
    }
    let bare = ok_json(&api.client.get("/v1/blocks/by_version/4").await);
    assert_eq!(
        (&bare["block_height"], bare.get("transactions")),
        (&json!("2"), None)
    );
    for (path, expected) in [
        ("10", (404, "version_not_found")),
        ("ten", (400, "web_framework_error")),
        ("1?with_transactions=yes", (400, "web_framework_error")),
    ] {
        let response = api
            .client
            .get(&format!("/v1/blocks/by_version/{path}"))
            .await;
        assert_error(&response, expected, path);
    }
    api.stop().await;
}

/// Compares BCS responses, which copy stored rows, with those of recent transactions, which the log
/// encoded.
#[actix_web::test]
async fn returns_stored_rows_in_bcs_as_if_encoded_again() {
    let mut api = three_blocks().await;
    let newest = ok_json(&api.client.get("/v1/transactions?limit=3").await);
    let by_hash = |index: usize| {
        format!(
            "/v1/transactions/by_hash/{}",
            newest[index]["hash"].as_str().unwrap()
        )
    };
    let mut from_memory = Vec::new();
    for index in 0..3 {
        from_memory.push(ok_bcs(&api.client.get_bcs(&by_hash(index)).await).to_vec());
    }
    // Recent transactions are read from memory until a restart.
    api = api.restarted().await;
    for (index, expected) in from_memory.iter().enumerate() {
        let stored = api.client.get_bcs(&by_hash(index)).await;
        assert!(ok_bcs(&stored) == expected, "{index}");
    }
    for height in 0..=3u64 {
        let path = format!("/v1/blocks/by_height/{height}");
        let block = ok_json(&api.client.get(&path).await);
        let number = |name: &str| -> u64 { block[name].as_str().unwrap().parse().unwrap() };
        let (first, last) = (number("first_version"), number("last_version"));
        let head = (
            height,
            block["block_hash"]
                .as_str()
                .unwrap()
                .parse::<HashValue>()
                .unwrap(),
        );
        let mut expected = bcs::to_bytes(&(head, number("block_timestamp"), first, last)).unwrap();
        let bare = api.client.get_bcs(&path).await;
        assert_eq!(ok_bcs(&bare), [&expected[..], &[0]].concat());
        let listing = format!("/v1/transactions?start={first}&limit={}", last + 1 - first);
        expected.push(1);
        expected.extend(ok_bcs(&api.client.get_bcs(&listing).await));
        let whole = api
            .client
            .get_bcs(&format!("{path}?with_transactions=true"))
            .await;
        assert!(ok_bcs(&whole) == expected, "{height}");
    }
    api.stop().await;
}

#[actix_web::test]
async fn counts_indices_from_the_first_transaction_of_a_block() {
    let api = three_blocks().await;
    let indices = |value: &Value| -> Vec<u64> {
        let all = value.as_array().unwrap().iter();
        all.map(|info| info["transaction_index"].as_u64().unwrap())
            .collect()
    };
    let get = |query: &str| {
        let (client, path) = (
            &api.client,
            format!("/v1/transactions/auxiliary_info?{query}"),
        );
        async move { client.get(&path).await }
    };
    let all = indices(&ok_json(&get("start_version=0").await));
    assert_eq!(all, [0, 0, 1, 2, 0, 1, 2, 0, 1, 2]);
    for start in 0..=9usize {
        for limit in 1..=10usize {
            let page = indices(&ok_json(
                &get(&format!("start_version={start}&limit={limit}")).await,
            ));
            assert_eq!(
                page,
                all[start..(start + limit).min(10)],
                "{limit} from {start}"
            );
        }
    }
    let bcs = api
        .client
        .get_bcs("/v1/transactions/auxiliary_info?start_version=3&limit=2")
        .await;
    // Two elements of variant 1, with the indices 2 and 0.
    assert_eq!(ok_bcs(&bcs), [2, 1, 2, 0, 0, 0, 1, 0, 0, 0, 0]);
    for (query, expected) in [
        ("", (400, "web_framework_error")),
        ("start_version=10", (400, "invalid_input")),
        ("start_version=0&limit=0", (400, "invalid_input")),
        ("start_version=0&limit=70000", (400, "web_framework_error")),
    ] {
        assert_error(&get(query).await, expected, query);
    }
    api.stop().await;
}

#[actix_web::test]
async fn info_describes_the_node() {
    let api = TestApi::start(Settings::default()).await;
    let info = ok_json(&api.client.get("/v1/info").await);
    assert_eq!(
        info,
        json!({
            "chain_id": "4",
            "node_type": "validator",
            "vendor": "NODE",
            "software_version": env!("CARGO_PKG_VERSION"),
        })
    );
    api.stop().await;
}
