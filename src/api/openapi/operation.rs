//! The description of one operation as data: what a client may send and every answer it may get.

use super::{
    StatusCode,
    errors::{self, DeclaredError},
    parameter::{Parameter, ParameterLocation},
    schemas::SchemaOf,
};
use crate::error::{ErrorCode, Switch};
use serde_json::Value;

/// The groups that operations are shown in.
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
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 7] = [
        Self::Node,
        Self::Transactions,
        Self::Blocks,
        Self::Accounts,
        Self::Events,
        Self::Tables,
        Self::View,
    ];

    /// The name of the group.
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

    /// What the operations of the group are about.
    pub fn description(self) -> &'static str {
        match self {
            Self::Node => "The node itself: the ledger it holds, its health, this document.",
            Self::Transactions => {
                "Submitting transactions, following them, reading committed ones."
            }
            Self::Blocks => "Blocks, with or without their transactions.",
            Self::Accounts => "What the state holds at an address, and what an account has sent.",
            Self::Events => {
                "Streams of events, named by number or by the handle that a resource holds."
            }
            Self::Tables => "Items of tables and single slots of the state.",
            Self::View => "Calls of functions that read the state and change nothing.",
        }
    }
}

/// A media type of a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Media {
    /// JSON.
    Json,
    /// An answer in BCS.
    Bcs,
    /// A signed transaction, or a batch of them, in BCS; the name carries the vendor word of the chain.
    SignedTransactionBcs,
    /// A call of a view function in BCS; the name carries the vendor word of the chain.
    ViewFunctionBcs,
    /// Any other text, by its name.
    Text(&'static str),
    /// Any other bytes, by their name.
    Bytes(&'static str),
}

/// One form of a body.
pub(crate) struct Body {
    pub media: Media,
    /// What the body is, where it is no JSON.
    pub description: &'static str,
    /// The schema of JSON and YAML; other bodies are bytes or text.
    pub schema: Option<SchemaOf>,
    pub example: Option<Value>,
}

/// Where a value of an answer is a parameter of another operation.
pub(crate) struct Link {
    pub name: &'static str,
    pub operation_id: &'static str,
    /// Parameters of that operation, each with the runtime expression that gives its value.
    pub parameters: &'static [(&'static str, &'static str)],
}

/// A successful answer.
pub(crate) struct Success {
    pub status: StatusCode,
    pub description: &'static str,
    pub bodies: Vec<Body>,
    /// Whether it says what the call cost.
    pub gas_used: bool,
    /// Whether it says where the next page begins, where there is one.
    pub cursor: bool,
    pub links: Vec<Link>,
}

impl Success {
    /// An answer with this status.
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

    /// The answer with status 200.
    pub fn ok(description: &'static str) -> Self {
        Self::new(StatusCode::OK, description)
    }

    /// The same with a body in JSON.
    pub fn json(self, schema: SchemaOf, example: Value) -> Self {
        self.value(Media::Json, schema, example)
    }

    /// The same with a body that has a schema, in JSON or what stands for it.
    pub fn value(mut self, media: Media, schema: SchemaOf, example: Value) -> Self {
        self.bodies.push(Body {
            media,
            description: "",
            schema: Some(schema),
            example: Some(example),
        });
        self
    }

    /// The same with a body in BCS, which is what `description` says.
    pub fn bcs(self, description: &'static str) -> Self {
        self.body(Media::Bcs, description)
    }

    /// The same with a body of another type.
    pub fn body(mut self, media: Media, description: &'static str) -> Self {
        self.bodies.push(Body {
            media,
            description,
            schema: None,
            example: None,
        });
        self
    }

    /// The same with the header that says what the call cost.
    pub fn with_gas_used(self) -> Self {
        Self {
            gas_used: true,
            ..self
        }
    }

    /// The same with the header that says where the next page begins.
    pub fn with_cursor(self) -> Self {
        Self {
            cursor: true,
            ..self
        }
    }

    /// The same with a link.
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

/// One operation.
pub(crate) struct Operation {
    /// Its name, unique, in `snake_case`.
    pub id: &'static str,
    pub tag: Tag,
    pub summary: &'static str,
    /// What a client needs to know, in Markdown. `{VENDOR}` stands for the vendor word.
    pub description: &'static str,
    pub parameters: Vec<Parameter>,
    /// The forms of its body, none where it takes none.
    pub request: Vec<Body>,
    pub successes: Vec<Success>,
    pub errors: Vec<DeclaredError>,
    /// Whether it answers also in a form that the operator has turned off.
    pub always_answers: bool,
    /// The part of the interface that the operation belongs to, if an operator can disable it.
    pub switch: Option<Switch>,
}

impl Operation {
    /// An operation with the refusals that any may answer with.
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
            switch: None,
        }
    }

    /// The same for what is asked about the node, not about the ledger: its answers go on when the operator
    /// turns off answers in their form.
    pub fn always_answers(mut self) -> Self {
        self.errors
            .retain(|error| error.code != ErrorCode::ApiDisabled);
        self.always_answers = true;
        self
    }

    /// The same for an operation that responds with 403 while `switch` is off.
    #[allow(
        dead_code,
        reason = "until the operations of submissions name their switch"
    )]
    pub fn needs(self, switch: Switch) -> Self {
        Self {
            switch: Some(switch),
            ..self
        }
    }

    /// The same with a parameter, and the refusals of one that is not of its type.
    pub fn parameter(mut self, parameter: Parameter) -> Self {
        let of_place = match parameter.place {
            ParameterLocation::Path => errors::PATH,
            ParameterLocation::Query => errors::QUERY,
        };
        self.parameters.push(parameter);
        self.errors(of_place)
    }

    /// The same where every text reads as each parameter of the path, so that no such request is refused.
    pub fn any_text_in_path(mut self) -> Self {
        self.errors.retain(|error| *error != errors::PATH_TYPE);
        self
    }

    /// The same with a body in JSON, and the refusals of bodies.
    pub fn json_body(self, schema: SchemaOf, example: Value) -> Self {
        self.request_body(Body {
            media: Media::Json,
            description: "",
            schema: Some(schema),
            example: Some(example),
        })
    }

    /// The same with a body in BCS, which is what `description` says, and the refusals of bodies.
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

    /// The same with a successful answer.
    pub fn success(mut self, success: Success) -> Self {
        self.successes.push(success);
        self
    }

    /// The same with these refusals, each once.
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

    /// Whether this parameter is declared.
    pub fn declares_parameter(&self, place: ParameterLocation, name: &str) -> bool {
        let mut parameters = self.parameters.iter();
        parameters.any(|parameter| (parameter.place, parameter.name) == (place, name))
    }
}
