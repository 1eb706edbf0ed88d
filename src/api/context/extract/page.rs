//! The query parameter `limit`.

use super::{
    argument::{Extract, Inputs},
    parts::RequestParts,
};
use crate::{
    error::ErrorKind,
    model::DecimalText,
    openapi::{ParameterLocation, parameter},
};

const NAME: &str = "limit";

/// Maximum number of items in a page of a list: `limit`, but at most `MAX`, or `DEFAULT` without it
/// (docs/use/interface.md#page-limit).
pub(crate) struct PageLimit<const DEFAULT: usize, const MAX: usize>(pub usize);

impl<const DEFAULT: usize, const MAX: usize> PageLimit<DEFAULT, MAX> {
    /// Describes the parameter.
    pub fn describe(description: &'static str) -> parameter::Parameter {
        parameter::limit(description)
    }
}

impl<const DEFAULT: usize, const MAX: usize> Extract for PageLimit<DEFAULT, MAX> {
    fn declare(inputs: &mut Inputs) {
        inputs.parameters.push((ParameterLocation::Query, NAME));
    }

    fn extract(request: &mut RequestParts<'_>) -> Result<Self, ErrorKind> {
        match request.query.get(NAME)? {
            None => Ok(Self(DEFAULT)),
            Some(DecimalText(0u16)) => Err(ErrorKind::InvalidInput(
                "Given limit value (0) must not be zero".to_owned(),
            )),
            Some(DecimalText(limit)) => Ok(Self(usize::from(limit).min(MAX))),
        }
    }
}
