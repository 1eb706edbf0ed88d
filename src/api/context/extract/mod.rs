//! Arguments of handlers, read from the path, the query, and the body of a request.
//!
//! A handler has a [`RequestContext`](crate::context::RequestContext) and one argument for each
//! input. The route table compares the arguments with the operation, so a handler reads what the
//! document shows. Arguments are read in their order, and the first error is the response.

mod argument;
mod body;
pub(crate) mod format;
mod handler;
mod page;
mod path;
mod query;
mod values;
mod version;

pub(crate) use argument::{Combine, Extract, Parameter};
pub(crate) use body::{JsonBody, JsonOrBcs, JsonOrBcsBody};
pub(crate) use handler::{Handler, HandlerFn, bind};
pub(crate) use page::PageLimit;
pub(crate) use path::Path;
pub(crate) use query::{Query, RequiredQuery};
pub(crate) use values::ROOT;
pub(crate) use version::AtVersion;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        context::{LedgerResponse, RequestContext},
        error::{ApiError, ErrorKind},
        openapi::{Operation, operation::Tag, schemas::schema},
    };
    use serde_json::{Value, json};

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
