//! Arguments of handlers, read from the path, the query, and the body of a request.
//!
//! A handler has a [`RequestContext`](crate::context::RequestContext) and one argument for each
//! input. The route table compares the arguments with the operation, so a handler reads what the
//! document shows. Arguments are read in their order, and the first error is the response.

mod body;
pub(crate) mod format;
mod handler;
mod page;
mod path;
mod query;
mod version;

pub(crate) use body::{JsonBody, JsonOrBcs, JsonOrBcsBody};
pub(crate) use handler::{Handler, HandlerFn, bind};
pub(crate) use page::PageLimit;
pub(crate) use path::{Path, ROOT};
pub(crate) use query::{Query, RequiredQuery};
pub(crate) use version::AtVersion;

use crate::{
    error::ErrorKind,
    openapi::{Operation, ParameterLocation, operation::Media},
};
use actix_web::{HttpRequest, dev::Payload};
use path::PathValues;
use query::QueryValues;
use serde_json::Value;
use std::{fmt::Display, str::FromStr};

/// A parameter of a path or a query. Its reading and its documentation are made from this.
pub(crate) trait Parameter {
    /// Type that the percent-decoded text is parsed as.
    type Value: FromStr<Err: Display>;
    /// Name in the query, or in braces in the path of the route.
    const NAME: &'static str;
    const DESCRIPTION: &'static str;
    /// JSON schema of the text.
    const SCHEMA: fn() -> Value;
    /// A valid value.
    const EXAMPLE: fn() -> Value;
}

/// An argument of a handler.
pub(crate) trait Extract: Sized {
    /// Adds the inputs that [`Self::extract`] reads.
    fn declare(inputs: &mut Inputs);

    /// Reads the argument.
    ///
    /// # Errors
    ///
    /// Returns the error that is the response, unless the handler takes the argument as a `Result`.
    fn extract(request: &mut RequestParts<'_>) -> Result<Self, ErrorKind>;
}

/// An argument made of other arguments, which are checked together.
pub(crate) trait Combine: Sized {
    /// The other arguments, in the order in which they are read.
    type Parts: Extract;

    /// Checks the other arguments.
    ///
    /// # Errors
    ///
    /// Returns the error that is the response. Later arguments are not read then.
    fn combine(parts: Self::Parts) -> Result<Self, ErrorKind>;
}

impl<C: Combine> Extract for C {
    fn declare(inputs: &mut Inputs) {
        C::Parts::declare(inputs);
    }

    fn extract(request: &mut RequestParts<'_>) -> Result<Self, ErrorKind> {
        C::combine(C::Parts::extract(request)?)
    }
}

/// An argument whose error the handler returns itself, after checks that come first.
impl<E: Extract> Extract for Result<E, ErrorKind> {
    fn declare(inputs: &mut Inputs) {
        E::declare(inputs);
    }

    fn extract(request: &mut RequestParts<'_>) -> Result<Self, ErrorKind> {
        Ok(E::extract(request))
    }
}

/// The inputs of a request, from which arguments are read. Path and query are parsed once.
pub(crate) struct RequestParts<'r> {
    path: PathValues<'r>,
    query: QueryValues<'r>,
    payload: Payload,
}

impl<'r> RequestParts<'r> {
    /// Splits a request whose path matches `pattern`.
    fn new(pattern: &'static str, request: &'r HttpRequest, payload: Payload) -> Self {
        Self {
            path: PathValues::new(pattern, request),
            query: QueryValues::new(request.query_string()),
            payload,
        }
    }
}

/// The inputs that the arguments of a handler read.
#[derive(Default)]
pub(crate) struct Inputs {
    parameters: Vec<(ParameterLocation, &'static str)>,
    /// Media types of the body. Empty if the body is not read.
    body: Vec<Media>,
}

impl Inputs {
    /// Returns the inputs of a handler with these arguments.
    fn of<Arguments: Extract>() -> Self {
        let mut inputs = Self::default();
        Arguments::declare(&mut inputs);
        inputs
    }

    /// Checks that the operation declares these inputs and no others, and that the path has the
    /// declared parameters.
    ///
    /// # Panics
    ///
    /// Panics if an input is undeclared, or not read, or read twice.
    fn assert_declared(&self, path: &str, operation: &Operation) {
        let id = operation.id;
        let names = path.split('/').filter_map(path::name_in_braces);
        let in_path: Vec<_> = names.map(|name| (ParameterLocation::Path, name)).collect();
        assert!(
            in_path.len() <= path::PARAMETERS_MAX,
            "parameters of {path}"
        );
        let declared = operation.parameters.iter();
        let declared: Vec<_> = declared.map(|one| (one.place, one.name)).collect();
        let mut declared_in_path = declared.clone();
        declared_in_path.retain(|(place, _)| *place == ParameterLocation::Path);
        assert_eq!(
            sorted(&in_path),
            sorted(&declared_in_path),
            "{path} and {id}"
        );
        assert_eq!(sorted(&self.parameters), sorted(&declared), "reads of {id}");
        let declared: Vec<_> = operation.request.iter().map(|body| body.media).collect();
        assert_eq!(self.body, declared, "body of {id}");
    }
}

fn sorted(parameters: &[(ParameterLocation, &str)]) -> Vec<String> {
    let parameters = parameters.iter();
    let mut names: Vec<_> = parameters
        .map(|(place, name)| format!("{place:?} {name}"))
        .collect();
    names.sort_unstable();
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        context::{LedgerResponse, RequestContext},
        error::ApiError,
        openapi::{operation::Tag, schemas::schema},
    };
    use serde_json::json;

    enum Height {}

    impl Parameter for Height {
        type Value = u64;
        const NAME: &'static str = "height";
        const DESCRIPTION: &'static str = "";
        const SCHEMA: fn() -> Value = || Value::Null;
        const EXAMPLE: fn() -> Value = || Value::Null;
    }

    async fn handler(
        _: RequestContext,
        _: Path<Height>,
        _: JsonBody<u64>,
        _: AtVersion,
    ) -> Result<LedgerResponse, ApiError> {
        Err(ErrorKind::Stopping.into())
    }

    const PATH: &str = "/blocks/{height}";

    fn with_path() -> Operation {
        Operation::new("test", Tag::Node, "", "").parameter(Path::<Height>::describe())
    }

    fn with_path_and_version() -> Operation {
        with_path().parameter(AtVersion::describe())
    }

    fn with_body(operation: Operation) -> Operation {
        operation.json_body(schema::<u64>(), json!(0))
    }

    #[test]
    fn binds_a_handler_to_an_operation_with_the_same_inputs() {
        bind(PATH, handler, &with_body(with_path_and_version()));
    }

    #[test]
    #[should_panic(expected = "reads of test")]
    fn rejects_an_undeclared_parameter() {
        bind(PATH, handler, &with_body(with_path()));
    }

    #[test]
    #[should_panic(expected = "reads of test")]
    fn rejects_a_declared_parameter_that_is_not_read() {
        let operation = with_path_and_version().parameter(PageLimit::<1, 1>::describe(""));
        bind(PATH, handler, &with_body(operation));
    }

    #[test]
    #[should_panic(expected = "/blocks and test")]
    fn rejects_a_parameter_that_the_path_does_not_have() {
        bind("/blocks", handler, &with_body(with_path_and_version()));
    }

    #[test]
    #[should_panic(expected = "body of test")]
    fn rejects_an_undeclared_body() {
        bind(PATH, handler, &with_path_and_version());
    }
}
