//! What is answered where no handler of a listener takes the request, in the error body form; public
//! so that all listeners of the node answer alike.

use crate::error::ErrorKind;
use actix_web::{HttpRequest, Route, http::StatusCode, web};

/// How much of an unknown path is repeated to its sender, in characters.
const UNKNOWN_PATH_CHARS_MAX: usize = 200;

/// 404 for a path that is no route; the `default_service` of an app or a scope.
pub fn unknown_route() -> Route {
    web::to(|request: HttpRequest| async move { no_route(request.path()).response() })
}

/// That a path is no route.
pub(crate) fn no_route(path: &str) -> ErrorKind {
    ErrorKind::UnknownRoute(path.chars().take(UNKNOWN_PATH_CHARS_MAX).collect())
}

/// 405 with `Allow` for a method that a known path does not take; the `default_service` of a
/// resource. `allow` lists the methods that it takes, separated by `, `.
pub fn wrong_method(allow: impl Into<String>) -> Route {
    let allow = allow.into();
    web::to(move || {
        let problem = ErrorKind::MethodNotAllowed(allow.clone());
        async move { problem.response() }
    })
}

/// The problem behind a request that an extractor of actix refused (`web::Bytes`, `web::Json`,
/// `web::Query`, `web::Path`): 413 above `limit_bytes`, which is the limit the extractor was
/// configured with, 500 for a failure of the node, else 400. A handler gets `error` by taking a
/// `Result<Extractor, actix_web::Error>`.
pub fn extraction_error(error: &actix_web::Error, limit_bytes: usize) -> ErrorKind {
    match error.as_response_error().status_code() {
        StatusCode::PAYLOAD_TOO_LARGE => ErrorKind::BodyTooLarge { limit_bytes },
        status if status.is_server_error() => {
            ErrorKind::internal("reading the request failed", error)
        }
        _ => ErrorKind::Syntax(format!("reading the request failed: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::{
        App, HttpResponse,
        http::header,
        test::{TestRequest, call_service, init_service, read_body_json},
        web::Bytes,
    };
    use serde_json::Value;

    const LIMIT_BYTES: usize = 4;

    async fn echo_json(body: Result<web::Json<Value>, actix_web::Error>) -> HttpResponse {
        match body {
            Ok(body) => HttpResponse::Ok().json(body),
            Err(error) => extraction_error(&error, LIMIT_BYTES).response(),
        }
    }

    async fn echo_bytes(body: Result<Bytes, actix_web::Error>) -> HttpResponse {
        match body {
            Ok(body) => HttpResponse::Ok().json(body.len()),
            Err(error) => extraction_error(&error, LIMIT_BYTES).response(),
        }
    }

    async fn answer(request: TestRequest) -> (u16, Option<String>, Value) {
        let app = App::new()
            .app_data(web::PayloadConfig::new(LIMIT_BYTES))
            .app_data(web::JsonConfig::default().limit(LIMIT_BYTES))
            .service(web::resource("/bytes").post(echo_bytes))
            .service(
                web::resource("/json")
                    .post(echo_json)
                    .default_service(wrong_method("POST")),
            )
            .default_service(unknown_route());
        let answer = call_service(&init_service(app).await, request.to_request()).await;
        let allow = answer.headers().get(header::ALLOW);
        let allow = allow.map(|value| value.to_str().unwrap().to_owned());
        (
            answer.status().as_u16(),
            allow,
            read_body_json(answer).await,
        )
    }

    #[actix_web::test]
    async fn what_no_handler_takes_has_the_error_body() {
        let post = |path: &str, body: &'static str| {
            TestRequest::with_uri(path)
                .method(actix_web::http::Method::POST)
                .set_payload(body)
        };
        let json = |body| post("/json", body).insert_header(header::ContentType::json());
        let rows = [
            (TestRequest::with_uri("/none"), 404),
            (TestRequest::with_uri("/json"), 405),
            (post("/bytes", "12345"), 413),
            (json("12345"), 413),
            (json("["), 400),
            (post("/json", "1"), 400),
        ];
        for (request, expected) in rows {
            let (status, allow, body) = answer(request).await;
            assert_eq!(status, expected, "{body}");
            assert_eq!(body["error_code"], "web_framework_error", "{body}");
            assert_eq!(allow.as_deref(), (expected == 405).then_some("POST"));
        }
        assert_eq!(answer(post("/bytes", "1234")).await.0, 200);
        assert_eq!(answer(json("1234")).await.0, 200);
    }

    #[actix_web::test]
    async fn an_unknown_path_is_repeated_up_to_a_length() {
        let path = format!("/{}", "a".repeat(1_000));
        let (_, _, body) = answer(TestRequest::with_uri(&path)).await;
        let expected = format!("not found: no route {}", &path[..UNKNOWN_PATH_CHARS_MAX]);
        assert_eq!(body["message"], expected);
    }
}
