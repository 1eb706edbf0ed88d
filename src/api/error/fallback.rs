//! Error responses to requests for which a listener has no handler. They are public, so that all
//! listeners of the node send the same ones.

use crate::error::ErrorKind;
use actix_web::{HttpRequest, Route, http::StatusCode, web};

/// Maximum length of the part of an unknown path that the response repeats, in characters.
const UNKNOWN_PATH_CHARS_MAX: usize = 200;

/// Returns a route that responds with 404, for the `default_service` of an app or a scope.
pub fn unknown_route() -> Route {
    web::to(|request: HttpRequest| async move { no_route(request.path()).response() })
}

/// Returns the error of a path that no route has.
pub(crate) fn no_route(path: &str) -> ErrorKind {
    ErrorKind::UnknownRoute(path.chars().take(UNKNOWN_PATH_CHARS_MAX).collect())
}

/// Returns a route that responds with 405, for the `default_service` of a resource. `allow` lists
/// the methods of the resource, separated by `, `.
pub fn wrong_method(allow: impl Into<String>) -> Route {
    let allow = allow.into();
    web::to(move || {
        let problem = ErrorKind::MethodNotAllowed(allow.clone());
        async move { problem.response() }
    })
}

/// Returns the error of a request that an extractor of actix-web rejected (`web::Bytes`,
/// `web::Json`,
/// `web::Query`, `web::Path`).
///
/// Its status is 413 for a body above `limit_bytes`, the limit of the extractor, 500 for a failure
/// of the node, and 400 otherwise. A handler gets `error` as the argument
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

    async fn response(request: TestRequest) -> (u16, Option<String>, Value) {
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
        let response = call_service(&init_service(app).await, request.to_request()).await;
        let allow = response.headers().get(header::ALLOW);
        let allow = allow.map(|value| value.to_str().unwrap().to_owned());
        (
            response.status().as_u16(),
            allow,
            read_body_json(response).await,
        )
    }

    #[actix_web::test]
    async fn responds_with_the_error_body_where_no_handler_matches() {
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
            let (status, allow, body) = response(request).await;
            assert_eq!(status, expected, "{body}");
            assert_eq!(body["error_code"], "web_framework_error", "{body}");
            assert_eq!(allow.as_deref(), (expected == 405).then_some("POST"));
        }
        assert_eq!(response(post("/bytes", "1234")).await.0, 200);
        assert_eq!(response(json("1234")).await.0, 200);
    }

    #[actix_web::test]
    async fn repeats_an_unknown_path_up_to_a_length() {
        let path = format!("/{}", "a".repeat(1_000));
        let (_, _, body) = response(TestRequest::with_uri(&path)).await;
        let expected = format!("not found: no route {}", &path[..UNKNOWN_PATH_CHARS_MAX]);
        assert_eq!(body["message"], expected);
    }
}
