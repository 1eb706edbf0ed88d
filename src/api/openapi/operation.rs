//! The description of an operation, as data: its parameters, its bodies, and all its responses.

use super::{
    StatusCode,
    errors::{self, DeclaredError},
    parameter::{self, Parameter, ParameterLocation},
    schemas::SchemaOf,
};
use crate::{
    error::{ErrorCode, Switch},
    model::{
        MediaTypes,
        format::{BCS, JSON},
    },
};
use serde_json::Value;

/// Groups of operations in the document.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tag {
    Node,
    Transactions,
    Blocks,
    Accounts,
    Events,
    Tables,
    View,
}

impl Tag {
    /// All groups, in the order of the document.
    pub const ALL: [Self; 7] = [
        Self::Node,
        Self::Transactions,
        Self::Blocks,
        Self::Accounts,
        Self::Events,
        Self::Tables,
        Self::View,
    ];

    /// Returns the name of the group.
    pub fn name(self) -> &'static str {
        match self {
            Self::Node => "Node",
            Self::Transactions => "Transactions",
            Self::Blocks => "Blocks",
            Self::Accounts => "Accounts",
            Self::Events => "Events",
            Self::Tables => "Tables",
            Self::View => "View",
        }
    }

    /// Returns the description of the group.
    pub fn description(self) -> &'static str {
        match self {
            Self::Node => "The node: its ledger, its health, and this document.",
            Self::Transactions => {
                "Submission of transactions, waiting for them, and reading committed ones."
            }
            Self::Blocks => "Blocks, with or without their transactions.",
            Self::Accounts => "State at an address, and transactions of an account.",
            Self::Events => {
                "Event streams, identified by creation number or by an event handle in a resource."
            }
            Self::Tables => "Table items and single state values.",
            Self::View => "Calls of functions that read the state and do not change it.",
        }
    }
}

/// A media type of a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Media {
    /// JSON.
    Json,
    /// A response in BCS.
    Bcs,
    /// A signed transaction or a batch of them, in BCS. The name contains the vendor word.
    SignedTransactionBcs,
    /// A call of a view function, in BCS. The name contains the vendor word.
    ViewFunctionBcs,
    /// Other text, by the name of the media type.
    Text(&'static str),
    /// Other bytes, by the name of the media type.
    Bytes(&'static str),
}

impl Media {
    /// Returns the name of the type on a chain with these media types.
    pub fn name(self, of_chain: &MediaTypes) -> &str {
        match self {
            Self::Json => JSON,
            Self::Bcs => BCS,
            Self::SignedTransactionBcs => &of_chain.signed_transaction,
            Self::ViewFunctionBcs => &of_chain.view_function,
            Self::Text(name) | Self::Bytes(name) => name,
        }
    }
}

/// A body of a request or response in one media type.
pub(crate) struct Body {
    pub media: Media,
    /// Description of a body without a schema.
    pub description: &'static str,
    /// Schema of JSON and YAML. Other bodies have none.
    pub schema: Option<SchemaOf>,
    pub example: Option<Value>,
}

/// A link from a value of a response to a parameter of another operation.
pub(crate) struct Link {
    pub name: &'static str,
    pub operation_id: &'static str,
    /// Parameters of that operation, each with the runtime expression of its value.
    pub parameters: &'static [(&'static str, &'static str)],
}

/// A successful response.
pub(crate) struct Success {
    pub status: StatusCode,
    pub description: &'static str,
    pub bodies: Vec<Body>,
    /// Whether it has the header with the gas that the call used.
    pub gas_used: bool,
    /// Whether it has the header with the start of the next page.
    pub cursor: bool,
    pub links: Vec<Link>,
}

impl Success {
    /// Creates a response without a body.
    pub fn new(status: StatusCode, description: &'static str) -> Self {
        Self {
            status,
            description,
            bodies: Vec::new(),
            gas_used: false,
            cursor: false,
            links: Vec::new(),
        }
    }

    /// Creates a response with status 200, without a body.
    pub fn ok(description: &'static str) -> Self {
        Self::new(StatusCode::OK, description)
    }

    /// Adds a body in JSON.
    pub fn json(self, schema: SchemaOf, example: Value) -> Self {
        self.value(Media::Json, schema, example)
    }

    /// Adds a body with a schema.
    pub fn value(mut self, media: Media, schema: SchemaOf, example: Value) -> Self {
        self.bodies.push(Body {
            media,
            description: "",
            schema: Some(schema),
            example: Some(example),
        });
        self
    }

    /// Adds a body in BCS.
    pub fn bcs(self, description: &'static str) -> Self {
        self.body(Media::Bcs, description)
    }

    /// Adds a body without a schema.
    pub fn body(mut self, media: Media, description: &'static str) -> Self {
        self.bodies.push(Body {
            media,
            description,
            schema: None,
            example: None,
        });
        self
    }

    /// Adds the header with the gas that the call used.
    pub fn with_gas_used(self) -> Self {
        Self {
            gas_used: true,
            ..self
        }
    }

    /// Adds the header with the start of the next page.
    pub fn with_cursor(self) -> Self {
        Self {
            cursor: true,
            ..self
        }
    }

    /// Adds a link.
    pub fn link(
        mut self,
        name: &'static str,
        operation_id: &'static str,
        parameters: &'static [(&'static str, &'static str)],
    ) -> Self {
        self.links.push(Link {
            name,
            operation_id,
            parameters,
        });
        self
    }
}

/// An operation: what the document has of a route.
pub(crate) struct Operation {
    /// Unique name, in `snake_case`.
    pub id: &'static str,
    pub tag: Tag,
    pub summary: &'static str,
    /// Description in Markdown. `{VENDOR}` is the placeholder of the vendor word.
    pub description: &'static str,
    pub parameters: Vec<Parameter>,
    /// The body of the request in each media type; empty if the operation has no body.
    pub request: Vec<Body>,
    pub successes: Vec<Success>,
    pub errors: Vec<DeclaredError>,
    /// Whether it responds in a format that the operator has disabled, and while the ledger of the
    /// node differs from the one of the validators.
    pub always_answers: bool,
    /// Whether the response depends on the ledger, so that a client may ask for a minimum version.
    pub reads_ledger: bool,
    /// The part of the interface that the operation belongs to, if an operator can disable it.
    pub switch: Option<Switch>,
}

impl Operation {
    /// Creates an operation with the errors of every operation.
    pub fn new(
        id: &'static str,
        tag: Tag,
        summary: &'static str,
        description: &'static str,
    ) -> Self {
        Self {
            id,
            tag,
            summary,
            description,
            parameters: Vec::new(),
            request: Vec::new(),
            successes: Vec::new(),
            errors: errors::COMMON.to_vec(),
            always_answers: false,
            reads_ledger: true,
            switch: None,
        }
    }

    /// Makes the operation respond in a format that the operator has disabled, and if the ledger of
    /// the node differs from the one of the validators. This is for
    /// operations about the node, not about the ledger.
    pub fn always_answers(mut self) -> Self {
        self.errors
            .retain(|error| error.code != ErrorCode::ApiDisabled);
        self.always_answers = true;
        self.reads_no_ledger()
    }

    /// Makes the operation ignore the minimum version of a request. This is for operations that
    /// write, or whose response does not depend on the ledger.
    pub fn reads_no_ledger(self) -> Self {
        Self {
            reads_ledger: false,
            ..self
        }
    }

    /// Adds the parameters of a minimum version and their errors, if the operation reads the
    /// ledger.
    pub fn with_min_version(mut self) -> Self {
        if !self.reads_ledger {
            return self;
        }
        for parameter in parameter::min_version() {
            // An operation may have a timeout of its own.
            if !self.has_parameter(parameter.name) {
                self.parameters.push(parameter);
            }
        }
        self.errors(errors::MIN_VERSION)
    }

    /// Returns whether a parameter with this name is declared.
    pub fn has_parameter(&self, name: &str) -> bool {
        self.parameters.iter().any(|one| one.name == name)
    }

    /// Makes the operation respond with 403 while `switch` is off.
    pub fn needs(self, switch: Switch) -> Self {
        Self {
            switch: Some(switch),
            ..self
        }
    }

    /// Adds a parameter and its errors.
    pub fn parameter(mut self, parameter: Parameter) -> Self {
        let of_place = match parameter.place {
            ParameterLocation::Path => errors::PATH,
            ParameterLocation::Query => errors::QUERY,
            ParameterLocation::Header => &[],
        };
        self.parameters.push(parameter);
        self.errors(of_place)
    }

    /// Adds the parameter of a wait and its error, which is not that of other query parameters.
    pub fn wait_parameter(mut self, parameter: Parameter) -> Self {
        self.parameters.push(parameter);
        self.errors(errors::WAIT)
    }

    /// Removes the error of path parameters, for an operation whose parameters accept any text.
    pub fn any_text_in_path(mut self) -> Self {
        self.errors.retain(|error| *error != errors::PATH_TYPE);
        self
    }

    /// Adds a body in JSON and the errors of bodies.
    pub fn json_body(self, schema: SchemaOf, example: Value) -> Self {
        self.request_body(Body {
            media: Media::Json,
            description: "",
            schema: Some(schema),
            example: Some(example),
        })
    }

    /// Adds a body in BCS and the errors of bodies.
    pub fn bcs_body(self, media: Media, description: &'static str) -> Self {
        self.request_body(Body {
            media,
            description,
            schema: None,
            example: None,
        })
    }

    fn request_body(mut self, body: Body) -> Self {
        self.request.push(body);
        self.errors(errors::BODY)
    }

    /// Adds a successful response.
    pub fn success(mut self, success: Success) -> Self {
        self.successes.push(success);
        self
    }

    /// Adds errors that the operation does not have yet.
    pub fn errors(mut self, errors: &[DeclaredError]) -> Self {
        for error in errors {
            if !self.errors.contains(error) {
                self.errors.push(*error);
            }
        }
        self
    }

    /// Returns whether a success with this status is declared.
    pub fn declares_success(&self, status: u16) -> bool {
        self.successes
            .iter()
            .any(|success| success.status.as_u16() == status)
    }

    /// Returns whether an error with this status and code is declared.
    pub fn declares_error(&self, status: u16, code: ErrorCode) -> bool {
        let mut errors = self.errors.iter();
        errors.any(|error| (error.status.as_u16(), error.code) == (status, code))
    }
}
