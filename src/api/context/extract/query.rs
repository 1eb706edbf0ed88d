//! Parameters of the query, percent-decoded and parsed. Parameters that no argument reads are
//! ignored, because SDKs send some. A value that does not parse is `web_framework_error` with the
//! parameter's name (docs/interface.md#rule-3).

use super::{Extract, Inputs, Parameter, RequestParts};
use crate::{
    error::ErrorKind,
    openapi::{ParameterLocation, parameter},
};
use std::{borrow::Cow, fmt::Display, str::FromStr};

/// A parameter of the query, if the request has it.
pub(crate) struct Query<P: Parameter>(pub Option<P::Value>);

impl<P: Parameter> Query<P> {
    /// Describes the parameter.
    pub fn describe() -> parameter::Parameter {
        parameter::query(P::NAME, P::DESCRIPTION, (P::SCHEMA)(), (P::EXAMPLE)())
    }
}

impl<P: Parameter> Extract for Query<P> {
    fn declare(inputs: &mut Inputs) {
        inputs.parameters.push((ParameterLocation::Query, P::NAME));
    }

    fn extract(request: &mut RequestParts<'_>) -> Result<Self, ErrorKind> {
        request.query.get(P::NAME).map(Self)
    }
}

/// A parameter of the query that a request must have.
pub(crate) struct RequiredQuery<P: Parameter>(pub P::Value);

impl<P: Parameter> RequiredQuery<P> {
    /// Describes the parameter.
    pub fn describe() -> parameter::Parameter {
        parameter::required_query(P::NAME, P::DESCRIPTION, (P::SCHEMA)(), (P::EXAMPLE)())
    }
}

impl<P: Parameter> Extract for RequiredQuery<P> {
    fn declare(inputs: &mut Inputs) {
        Query::<P>::declare(inputs);
    }

    fn extract(request: &mut RequestParts<'_>) -> Result<Self, ErrorKind> {
        let Query(value) = Query::<P>::extract(request)?;
        value
            .map(Self)
            .ok_or_else(|| failed(P::NAME, &"it is missing"))
    }
}

fn failed(name: &str, cause: &dyn Display) -> ErrorKind {
    ErrorKind::Syntax(format!("failed to parse parameter `{name}`: {cause}"))
}

/// The parameters in a query. They are split when the first one is read.
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
    /// Returns [`ErrorKind::Syntax`] if the value does not parse, or the query has several.
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
            return Err(failed(name, &"given more than once"));
        }
        value
            .parse()
            .map(Some)
            .map_err(|cause| failed(name, &cause))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::DecimalText;

    fn version(query: &str) -> Result<Option<DecimalText<u64>>, ErrorKind> {
        QueryValues::new(query).get("version")
    }

    #[test]
    fn unknown_query_parameters_are_ignored_and_known_ones_are_read_once() {
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
