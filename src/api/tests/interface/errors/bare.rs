//! Rejections by the HTTP layer, which have no error body.

use crate::kit::{Settings, TestApi, assert_still_commits};

/// Responds with 400 to bytes that are not HTTP, and with 431 to headers that are too large.
#[actix_web::test]
async fn rejects_malformed_http_without_a_body() {
    let api = TestApi::start(Settings::default()).await;
    let large = format!(
        "GET /v1 HTTP/1.1\r\nhost: node\r\nx-large: {}\r\n\r\n",
        "a".repeat(1 << 20)
    );
    for (request, status) in [
        (&b"\x16\x03\x01\x02\x00\r\n\r\n"[..], 400),
        (b"GET\r\n\r\n", 400),
        (b"GET /v1 HTTP/1.1\r\nno header\r\n\r\n", 400),
        (
            b"POST /v1/view HTTP/1.1\r\nhost: node\r\ncontent-length: x\r\n\r\n",
            400,
        ),
        (large.as_bytes(), 431),
    ] {
        let label = String::from_utf8_lossy(&request[..request.len().min(40)]);
        let response = api.client.raw(request).await;
        assert_eq!(response.status, status, "{label}");
        assert_eq!(response.text(), "", "{label}");
    }
    assert_still_commits(&api).await;
    api.stop().await;
}
