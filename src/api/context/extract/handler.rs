//! Handlers: functions of a [`RequestContext`] and of arguments extracted from the request.

use super::{
    argument::{Extract, Inputs},
    min_version::MinVersionReader,
    parts::RequestParts,
};
use crate::{
    context::{IntoResponse, RequestContext},
    error::{ApiError, ErrorKind},
    openapi::Operation,
};
use actix_web::{HttpResponse, dev::Payload};
use futures::future::{FutureExt as _, LocalBoxFuture, TryFutureExt as _, ready};
use std::rc::Rc;

/// A handler bound to the extraction of its arguments.
pub(crate) type Handler =
    Rc<dyn Fn(RequestContext, Payload) -> LocalBoxFuture<'static, Result<HttpResponse, ApiError>>>;

/// Binds a handler to the arguments of its route. `path` has its parameters in braces.
///
/// The handler runs when the ledger has the minimum version of the request, if the operation
/// declares the parameters of one.
///
/// # Panics
///
/// Panics if the operation does not declare exactly the inputs that the arguments read, or if the
/// path has other parameters.
pub(crate) fn bind<Arguments, H, F, R>(
    path: &'static str,
    handler: H,
    operation: &Operation,
) -> Handler
where
    Arguments: Extract + 'static,
    H: HandlerFn<Arguments, Future = F> + 'static,
    F: Future<Output = Result<R, ApiError>> + 'static,
    R: IntoResponse,
{
    let mut inputs = Inputs::of::<Arguments>();
    let min_version = MinVersionReader::of(operation);
    if min_version.is_some() {
        MinVersionReader::declare(&mut inputs);
    }
    inputs.assert_declared(path, operation);
    let handler = Rc::new(handler);
    Rc::new(move |cx: RequestContext, payload| {
        let read = || {
            let mut parts = RequestParts::new(path, cx.request(), payload);
            let arguments = Arguments::extract(&mut parts)?;
            let awaited = min_version.map(|reader| reader.read(&cx, &mut parts));
            Ok::<_, ApiError>((arguments, awaited.transpose()?.flatten()))
        };
        let (arguments, awaited) = match read() {
            Ok(read) => read,
            Err(error) => return ready(Err(error)).boxed_local(),
        };
        let state = Rc::clone(&cx.state);
        let into_response = move |response: R| response.into_response(&state.headers);
        match awaited {
            None => {
                let response = handler.call(cx, arguments);
                response.map_ok(into_response).boxed_local()
            }
            Some(awaited) => {
                let handler = Rc::clone(&handler);
                async move {
                    awaited.wait(&cx).await?;
                    handler.call(cx, arguments).await.map(into_response)
                }
                .boxed_local()
            }
        }
    })
}

/// A function of a [`RequestContext`] and of `Arguments`, a tuple of [`Extract`] types.
pub(crate) trait HandlerFn<Arguments> {
    type Future;

    fn call(&self, cx: RequestContext, arguments: Arguments) -> Self::Future;
}

macro_rules! implement_for_arguments {
    ($($argument:ident)*) => {
        #[allow(unused_variables, reason = "a tuple without arguments reads nothing")]
        impl<$($argument: Extract),*> Extract for ($($argument,)*) {
            fn declare(inputs: &mut Inputs) {
                $($argument::declare(inputs);)*
            }

            fn extract(request: &mut RequestParts<'_>) -> Result<Self, ErrorKind> {
                // The expressions of a tuple are evaluated from left to right.
                Ok(($($argument::extract(request)?,)*))
            }
        }

        impl<F, O, $($argument),*> HandlerFn<($($argument,)*)> for F
        where
            F: Fn(RequestContext, $($argument),*) -> O,
        {
            type Future = O;

            #[allow(non_snake_case, reason = "an argument is named as its type")]
            fn call(&self, cx: RequestContext, ($($argument,)*): ($($argument,)*)) -> O {
                self(cx, $($argument),*)
            }
        }
    };
}

implement_for_arguments!();
implement_for_arguments!(A);
implement_for_arguments!(A B);
implement_for_arguments!(A B C);
implement_for_arguments!(A B C D);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        context::{
            LedgerResponse,
            extract::{AtVersion, JsonBody, PageLimit, Parameter, Path},
        },
        openapi::{operation::Tag, schemas::schema},
    };
    use serde_json::{Value, json};

    /// The parameter `height` of a path.
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
