//! The parts of a request from which arguments are read. Path and query are split once per request.

use crate::error::ErrorKind;
use actix_web::{HttpRequest, dev::Payload};
use std::{borrow::Cow, fmt::Display, str::FromStr};

/// Prefix of the path of every route.
pub(crate) const ROOT: &str = "/v1";

/// Maximum number of parameters in a path.
pub(super) const PARAMETERS_MAX: usize = 3;

/// The parts of a request.
pub(crate) struct RequestParts<'r> {
    pub(super) path: PathValues<'r>,
    pub(super) query: QueryValues<'r>,
    pub(super) payload: Payload,
}

impl<'r> RequestParts<'r> {
    /// Splits a request whose path matches `pattern`.
    pub(super) fn new(pattern: &'static str, request: &'r HttpRequest, payload: Payload) -> Self {
        Self {
            path: PathValues::new(pattern, request),
            query: QueryValues::new(request.query_string()),
            payload,
        }
    }
}

/// Returns the name of the parameter in a segment of a route's path, or `None` for a fixed segment.
pub(super) fn name_in_braces(segment: &str) -> Option<&str> {
    segment.strip_prefix('{')?.strip_suffix('}')
}

/// The parameters in a request's path, as pairs of name and text.
pub(super) struct PathValues<'r>([(&'static str, &'r str); PARAMETERS_MAX]);

impl<'r> PathValues<'r> {
    /// Splits the path of a request that matches `pattern`.
    pub fn new(pattern: &'static str, request: &'r HttpRequest) -> Self {
        // actix-web has decoded all characters that do not change the segments of the path.
        let path = request.match_info().as_str();
        let path = path.strip_prefix(ROOT).unwrap_or_default();
        let segments = pattern.split('/').zip(path.split('/'));
        let values = segments.filter_map(|(part, text)| Some((name_in_braces(part)?, text)));
        let mut all = [("", ""); PARAMETERS_MAX];
        for (slot, value) in all.iter_mut().zip(values) {
            *slot = value;
        }
        Self(all)
    }

    /// Returns the text of a parameter, or an empty string if the path does not have it.
    pub fn get(&self, name: &str) -> &'r str {
        let mut values = self.0.iter();
        values
            .find(|(known, _)| *known == name)
            .map_or("", |(_, text)| text)
    }
}

/// The parameters of a query. The query is split when its first parameter is read.
pub(super) struct QueryValues<'r> {
    text: &'r str,
    pairs: Option<Vec<(Cow<'r, str>, Cow<'r, str>)>>,
}

impl<'r> QueryValues<'r> {
    pub fn new(text: &'r str) -> Self {
        Self { text, pairs: None }
    }

    /// Returns the value of a parameter, or `None` if the query does not have it.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::Syntax`] if the value does not parse, or if the query has several.
    pub fn get<T: FromStr<Err: Display>>(&mut self, name: &str) -> Result<Option<T>, ErrorKind> {
        let text = self.text.as_bytes();
        let pairs = self
            .pairs
            .get_or_insert_with(|| form_urlencoded::parse(text).collect());
        let mut values = pairs.iter().filter(|(key, _)| key == name);
        let Some((_, value)) = values.next() else {
            return Ok(None);
        };
        if values.next().is_some() {
            return Err(parameter_error(name, &"given more than once"));
        }
        value
            .parse()
            .map(Some)
            .map_err(|cause| parameter_error(name, &cause))
    }
}

/// Returns the error of a parameter of the query.
pub(super) fn parameter_error(name: &str, cause: &dyn Display) -> ErrorKind {
    ErrorKind::Syntax(format!("failed to parse parameter `{name}`: {cause}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::DecimalText;

    fn version(query: &str) -> Result<Option<DecimalText<u64>>, ErrorKind> {
        QueryValues::new(query).get("version")
    }

    #[test]
    fn ignores_unknown_parameters_and_rejects_repeated_ones() {
        assert_eq!(version("").unwrap(), None);
        assert_eq!(
            version("accountAddress=0x1&accountAddress=0x2&asset=b%3Ac&version=7").unwrap(),
            Some(DecimalText(7))
        );
        for query in [
            "version=",
            "version",
            "version=x",
            "version=-1",
            "version=%2B1",
            "version=1&version=1",
        ] {
            let problem = version(query).unwrap_err().to_string();
            assert!(
                problem.starts_with("failed to parse parameter `version`: "),
                "{problem}"
            );
        }
    }
}
