//! Parameters of the query, percent-decoded and parsed. Parameters that no argument reads are
//! ignored, because SDKs send some. A value that does not parse is rejected with
//! `web_framework_error` and the parameter's name (docs/use/interface.md#invalid-values).

use super::{
    argument::{Extract, Inputs, Parameter},
    parts::{RequestParts, parameter_error},
};
use crate::{
    error::ErrorKind,
    openapi::{ParameterLocation, parameter},
};

/// An optional parameter of the query.
pub(crate) struct QueryParameter<P: Parameter>(pub Option<P::Value>);

impl<P: Parameter> QueryParameter<P> {
    /// Describes the parameter.
    pub fn describe() -> parameter::Parameter {
        parameter::query(P::NAME, P::DESCRIPTION, (P::SCHEMA)(), (P::EXAMPLE)())
    }
}

impl<P: Parameter> Extract for QueryParameter<P> {
    fn declare(inputs: &mut Inputs) {
        inputs.parameters.push((ParameterLocation::Query, P::NAME));
    }

    fn extract(request: &mut RequestParts<'_>) -> Result<Self, ErrorKind> {
        request.query.get(P::NAME).map(Self)
    }
}

/// A required parameter of the query.
pub(crate) struct RequiredQueryParameter<P: Parameter>(pub P::Value);

impl<P: Parameter> RequiredQueryParameter<P> {
    /// Describes the parameter.
    pub fn describe() -> parameter::Parameter {
        parameter::required_query(P::NAME, P::DESCRIPTION, (P::SCHEMA)(), (P::EXAMPLE)())
    }
}

impl<P: Parameter> Extract for RequiredQueryParameter<P> {
    fn declare(inputs: &mut Inputs) {
        QueryParameter::<P>::declare(inputs);
    }

    fn extract(request: &mut RequestParts<'_>) -> Result<Self, ErrorKind> {
        let QueryParameter(value) = QueryParameter::<P>::extract(request)?;
        value
            .map(Self)
            .ok_or_else(|| parameter_error(P::NAME, &"it is missing"))
    }
}
