//! The declared responses of a route. A test that causes one states it with [`row`], which `table`
//! searches for in the test's source.

use crate::kit::{RawResponse, TestApi, assert_error, ledger_headers, members};
use serde_json::Value;

/// The `error_code` of a success in the table.
pub const SUCCESS: &str = "-";

/// A status and error code of a route.
#[must_use = "a row states a response only if one is compared with it"]
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Method and path below `/v1`, as in the route table.
    pub route: &'static str,
    pub status: u16,
    /// [`SUCCESS`], or the code of the error.
    pub error_code: &'static str,
}

/// Returns the row of this route, status and error code.
pub const fn row(route: &'static str, status: u16, error_code: &'static str) -> Row {
    Row {
        route,
        status,
        error_code,
    }
}

impl Row {
    fn method(&self) -> &'static str {
        self.route.split_once(' ').unwrap().0
    }

    /// Sends a `GET` request and asserts that the response is the one of the row.
    pub async fn get(self, api: &TestApi, path: &str) -> RawResponse {
        self.send(api, path, &[], None).await
    }

    /// Posts a JSON body and asserts that the response is the one of the row.
    pub async fn post(self, api: &TestApi, path: &str, body: &Value) -> RawResponse {
        let body = serde_json::to_vec(body).unwrap();
        let headers = [("content-type", "application/json")];
        self.send(api, path, &headers, Some(&body)).await
    }

    /// Sends a request of the row's route and asserts that the response is the one of the row.
    pub async fn send(
        self,
        api: &TestApi,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&[u8]>,
    ) -> RawResponse {
        assert!(
            self.has_path(path),
            "{path} is not a path of {}",
            self.route
        );
        let response = api.client.send(self.method(), path, headers, body).await;
        let label: String = path.chars().take(100).collect();
        self.assert_matches(&response, &label);
        response
    }

    /// Asserts that the response is the one of the row.
    pub fn assert_matches(self, response: &RawResponse, case: &str) {
        if self.error_code == SUCCESS {
            assert_eq!(response.status, self.status, "{case}: {}", response.text());
            ledger_headers(response, "node");
        } else {
            assert_error(response, (self.status, self.error_code), case);
            let known = ["message", "error_code", "vm_error_code"];
            let body = response.json();
            assert!(
                members(&body).iter().all(|name| known.contains(name)),
                "{case}: {body}"
            );
        }
    }

    /// Returns whether the path belongs to the row's route.
    fn has_path(self, path: &str) -> bool {
        let pattern = self.route.split_once(' ').unwrap().1;
        let path = path.split('?').next().unwrap();
        let Some(path) = path.strip_prefix("/v1") else {
            return false;
        };
        // The ledger information has two paths, with and without a slash at the end.
        let path = if path.is_empty() { "/" } else { path };
        let (pattern, path) = (pattern.split('/'), path.split('/'));
        pattern.clone().count() == path.clone().count()
            && pattern
                .zip(path)
                .all(|(part, given)| part == given || part.starts_with('{'))
    }
}
