//! The memory limits of all requests: bodies that arrive, and responses that are not read.

use crate::kit::{Settings, TestApi, Transfer, unrelated_clients};
use actix_web::{
    App,
    body::{MessageBody as _, to_bytes},
    http::{Method, StatusCode, header},
    test::{TestRequest, call_service, init_service},
};
use ledger_api::configure;
use ledger_test_support::http::RawConnection;
use std::net::{Ipv4Addr, SocketAddr};

/// Size of a body above the limit of small ones, which have a reserved part of the memory.
const LARGE: usize = 100 * 1024;

#[actix_web::test]
async fn limits_the_memory_of_all_unread_responses() {
    let path = "/v1/accounts/0x1/modules";
    let mut settings = Settings::default();
    // Three quarters of it are less than two of the responses.
    settings.api.answers_bytes_max = 150 * 1024;
    let api = TestApi::start(settings).await;
    let app = init_service(App::new().configure(|config| configure(config, &api.state))).await;
    let get = |path: &str| call_service(&app, TestRequest::get().uri(path).to_request());

    let unread = get(path).await;
    assert_eq!(
        unread.status(),
        StatusCode::OK,
        "a single response always fits"
    );
    let rejected = get(path).await;
    assert_eq!(rejected.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(rejected.headers().get(header::RETRY_AFTER).unwrap(), "1");
    assert_eq!(
        get("/v1").await.status(),
        StatusCode::OK,
        "small responses have a reserved part"
    );
    drop(unread);
    let read = get(path).await;
    assert_eq!(read.status(), StatusCode::OK);
    let length = to_bytes(read.into_body()).await.unwrap().len();
    assert!((65 * 1024..112 * 1024).contains(&length), "{length}");
    assert_eq!(
        get(path).await.status(),
        StatusCode::OK,
        "the memory of a response that was read is free"
    );

    let document = "/v1/spec.json";
    let readers = [
        get(document).await,
        get(document).await,
        get(document).await,
    ];
    assert!(
        readers
            .iter()
            .all(|reader| reader.status() == StatusCode::OK),
        "the shared document is not charged"
    );
    api.stop().await;
}

#[actix_web::test]
async fn unread_response_to_head_holds_no_memory() {
    let path = "/v1/accounts/0x1/modules";
    let mut settings = Settings::default();
    // Three quarters of it are less than two of the responses to GET.
    settings.api.answers_bytes_max = 150 * 1024;
    let api = TestApi::start(settings).await;
    let app = init_service(App::new().configure(|config| configure(config, &api.state))).await;
    let send = |request: TestRequest| call_service(&app, request.uri(path).to_request());

    let heads = [
        send(TestRequest::default().method(Method::HEAD)).await,
        send(TestRequest::default().method(Method::HEAD)).await,
    ];
    let unread = send(TestRequest::get()).await;
    assert_eq!(unread.status(), StatusCode::OK);
    for head in &heads {
        assert_eq!(head.status(), StatusCode::OK);
        assert_eq!(
            head.response().body().size(),
            unread.response().body().size()
        );
    }
    // Both need memory while they are made.
    for method in [Method::GET, Method::HEAD] {
        let rejected = send(TestRequest::default().method(method)).await;
        assert_eq!(rejected.status(), StatusCode::SERVICE_UNAVAILABLE);
    }
    drop(heads);
    api.stop().await;
}

/// Sends a request without the last byte of its body, which begins with `body`.
async fn send_without_last_byte(api: &TestApi, body: &[u8]) -> RawConnection {
    let mut connection = api.client.connect().await;
    let head = format!(
        "POST /v1/view HTTP/1.1\r\nhost: node\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n",
        body.len() + 1
    );
    connection.send(head.as_bytes()).await;
    connection.send(body).await;
    connection
}

#[actix_web::test]
async fn limits_the_memory_of_all_arriving_bodies() {
    let mut settings = Settings::default();
    // Three quarters of it are more than one of the bodies, and less than one and a half.
    settings.api.bodies_bytes_max = 2 * LARGE;
    let api = TestApi::start(settings).await;
    let large = vec![b' '; LARGE];
    let post = async || {
        let headers = [("content-type", "application/json")];
        api.client
            .send("POST", "/v1/view", &headers, Some(&large))
            .await
    };
    assert_eq!(post().await.status, 400, "read if alone, but not a call");

    let arriving = send_without_last_byte(&api, &large).await;
    let rejected = loop {
        // Succeeds until the server has read the first body.
        let response = post().await;
        if response.status != 400 {
            break response;
        }
    };
    assert_eq!(
        (rejected.status, &rejected.error_code()[..]),
        (503, "internal_error")
    );
    assert_eq!(rejected.headers["retry-after"], "1");
    // The client has its part of the memory. Small bodies of others have a reserved part.
    let app = init_service(App::new().configure(|config| configure(config, &api.state))).await;
    let key_of = |address: SocketAddr| api.state.client_keys.key_of(address.ip());
    let local = SocketAddr::from((Ipv4Addr::LOCALHOST, 1));
    let mut clients = unrelated_clients(&api.state, 2).into_iter();
    let other = clients.find(|client| key_of(*client) != key_of(local));
    for (client, status) in [(local, 503), (other.unwrap(), 202)] {
        let body = bcs::to_bytes(&Transfer::new(0, 0).sign(&api.chain)).unwrap();
        let request = TestRequest::post()
            .uri("/v1/transactions")
            .peer_addr(client)
            .insert_header((header::CONTENT_TYPE, api.client.signed_transaction_type()))
            .insert_header((header::CONTENT_LENGTH, body.len()))
            .set_payload(body);
        let response = call_service(&app, request.to_request()).await;
        assert_eq!(response.status(), status, "{client}");
    }
    drop(arriving);
    // The memory is released once the node has noticed the closed connection.
    while post().await.status == 503 {}
    api.stop().await;
}

/// Charges each chunk when it arrives, because a chunked body does not declare its length.
#[actix_web::test]
async fn rejects_a_chunked_body_whose_later_chunks_exceed_the_memory() {
    const DECLARED: [(&str, &str); 1] = [("content-type", "application/json")];
    let mut settings = Settings::default();
    // Three quarters of it hold one of the bodies and not two.
    settings.api.bodies_bytes_max = 2 * LARGE;
    let api = TestApi::start(settings).await;
    let large = vec![b' '; LARGE];
    let post = async || {
        api.client
            .send("POST", "/v1/view", &DECLARED, Some(&large))
            .await
    };
    let arriving = send_without_last_byte(&api, &large).await;
    // Succeeds until the server has read the first body.
    while post().await.status != 503 {}
    for first_chunk_bytes in [1, LARGE / 2] {
        let rest = LARGE - first_chunk_bytes;
        let mut chunked =
            b"POST /v1/view HTTP/1.1\r\nhost: node\r\ncontent-type: application/json\r\n\
            transfer-encoding: chunked\r\nconnection: close\r\n\r\n"
                .to_vec();
        for chunk_bytes in [first_chunk_bytes, rest / 2, rest - rest / 2] {
            chunked.extend(format!("{chunk_bytes:x}\r\n").into_bytes());
            chunked.extend_from_slice(&large[..chunk_bytes]);
            chunked.extend_from_slice(b"\r\n");
        }
        chunked.extend_from_slice(b"0\r\n\r\n");
        let rejected = api.client.raw(&chunked).await;
        assert_eq!(
            (rejected.status, &rejected.error_code()[..]),
            (503, "internal_error"),
            "first chunk of {first_chunk_bytes} bytes: {}",
            rejected.text()
        );
    }
    drop(arriving);
    while post().await.status == 503 {}
    api.stop().await;
}

/// Keeps the memory of the body charged, because the response holds the transaction.
#[actix_web::test]
async fn charges_a_submission_until_its_response_is_read() {
    let mut settings = Settings::default();
    // More than one of the two bodies, and less than both.
    settings.api.bodies_bytes_max = 300;
    let api = TestApi::start(settings).await;
    let app = init_service(App::new().configure(|config| configure(config, &api.state))).await;
    let submit = async |from| {
        let body = bcs::to_bytes(&Transfer::new(from, 0).sign(&api.chain)).unwrap();
        assert!((151..300).contains(&body.len()), "{}", body.len());
        let request = TestRequest::post()
            .uri("/v1/transactions")
            .insert_header((header::CONTENT_TYPE, api.client.signed_transaction_type()))
            .insert_header((header::CONTENT_LENGTH, body.len()))
            .set_payload(body);
        call_service(&app, request.to_request()).await
    };
    let accepted = submit(0).await;
    assert_eq!(accepted.status(), StatusCode::ACCEPTED);
    // The part of the response that is left once its head is sent.
    let unread = accepted.into_body();
    let rejected = submit(1).await;
    assert_eq!(rejected.status(), StatusCode::SERVICE_UNAVAILABLE);
    drop(unread);
    assert_eq!(submit(1).await.status(), StatusCode::ACCEPTED);
    api.stop().await;
}

/// Charges the value of a body as many bytes as the body, except the value of a GraphQL query,
/// because its route has a small limit of its own.
#[actix_web::test]
async fn charges_a_graphql_body_once() {
    const BODY_BYTES: usize = 400;
    let mut settings = Settings::default();
    // The submission and one of the bodies fit, but not twice the body.
    settings.api.bodies_bytes_max = 700;
    let api = TestApi::start(settings).await;
    let app = init_service(App::new().configure(|config| configure(config, &api.state))).await;
    let post = async |path, media_type: &str, body: Vec<u8>| {
        let request = TestRequest::post()
            .uri(path)
            .insert_header((header::CONTENT_TYPE, media_type))
            .insert_header((header::CONTENT_LENGTH, body.len()))
            .set_payload(body);
        call_service(&app, request.to_request()).await
    };
    let submission = bcs::to_bytes(&Transfer::new(0, 0).sign(&api.chain)).unwrap();
    assert!(
        (101..300).contains(&submission.len()),
        "{}",
        submission.len()
    );
    let media_type = api.client.signed_transaction_type();
    // A single body never exceeds the budget, so the response to another one holds its bytes.
    let unread = post("/v1/transactions", &media_type, submission).await;
    assert_eq!(unread.status(), StatusCode::ACCEPTED);
    for (path, body, status) in [
        (
            "/v1/graphql",
            r#"{ "query": "{ processor_status { last_success_version } }" }"#,
            StatusCode::OK,
        ),
        (
            "/v1/tables/0x1/raw_item",
            r#"{ "key": "0x00" }"#,
            StatusCode::SERVICE_UNAVAILABLE,
        ),
    ] {
        let padded = format!("{body:BODY_BYTES$}").into_bytes();
        let response = post(path, "application/json", padded).await;
        assert_eq!(response.status(), status, "{path}");
    }
    drop(unread);
    api.stop().await;
}
