//! Arguments of handlers, and the check that operations declare the inputs that handlers read.

use super::parts::{PARAMETERS_MAX, RequestParts, name_in_braces};
use crate::{
    error::ErrorKind,
    openapi::{Operation, ParameterLocation, operation::Media},
};
use serde_json::Value;
use std::{fmt::Display, str::FromStr};

/// A parameter of a path or a query, which defines both its parsing and its documentation.
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

/// An argument that combines other arguments and validates their combination.
pub(crate) trait Combine: Sized {
    /// The other arguments, in the order in which they are read.
    type Parts: Extract;

    /// Validates and combines the other arguments.
    ///
    /// # Errors
    ///
    /// Returns the error that is the response. Later arguments are then not read.
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

/// An argument whose error the handler returns itself, after checks that take precedence.
impl<E: Extract> Extract for Result<E, ErrorKind> {
    fn declare(inputs: &mut Inputs) {
        E::declare(inputs);
    }

    fn extract(request: &mut RequestParts<'_>) -> Result<Self, ErrorKind> {
        Ok(E::extract(request))
    }
}

/// The inputs that the arguments of a handler read.
#[derive(Default)]
pub(crate) struct Inputs {
    pub(super) parameters: Vec<(ParameterLocation, &'static str)>,
    /// Media types of the body. Empty if the body is not read.
    pub(super) body: Vec<Media>,
}

impl Inputs {
    /// Returns the inputs of a handler with these arguments.
    pub(super) fn of<Arguments: Extract>() -> Self {
        let mut inputs = Self::default();
        Arguments::declare(&mut inputs);
        inputs
    }

    /// Checks that the operation declares these inputs and no others, and that the path has the
    /// declared parameters.
    ///
    /// # Panics
    ///
    /// Panics if an input is undeclared, not read, or read twice.
    pub(super) fn assert_declared(&self, path: &str, operation: &Operation) {
        let id = operation.id;
        let names = path.split('/').filter_map(name_in_braces);
        let in_path: Vec<_> = names.map(|name| (ParameterLocation::Path, name)).collect();
        assert!(in_path.len() <= PARAMETERS_MAX, "parameters of {path}");
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
