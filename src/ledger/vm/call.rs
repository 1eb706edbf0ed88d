//! Calls of entry and view functions in the JSON form of the interface, and the types of their
//! arguments and results.

use crate::{Function, ModuleRegistry, SchemaError, TypeSignature};
use bytes::Bytes;
use ledger_types::{EntryFunction, FunctionId, TYPE_DEPTH_MAX, TypeTag};
use serde_json::Value;

/// Maximum number of characters of client input that an error message repeats.
const ECHO_CHARS_MAX: usize = 200;

/// Returns client input as error messages repeat it, truncated to [`ECHO_CHARS_MAX`] characters.
pub(crate) fn truncated(text: &str) -> String {
    let mut start: String = text.chars().take(ECHO_CHARS_MAX).collect();
    if start.len() < text.len() {
        start.push_str("...");
    }
    start
}

/// The kind of function that a call may name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CallKind {
    Entry,
    View,
}

fn unknown_function(kind: CallKind, function: &FunctionId) -> SchemaError {
    let kind = match kind {
        CallKind::Entry => "entry",
        CallKind::View => "view",
    };
    SchemaError(format!("could not find {kind} function by {function}"))
}

impl Function {
    /// Returns the declared types of the arguments in a call, which are all parameters but the
    /// signers.
    fn argument_types(&self) -> impl Iterator<Item = &TypeSignature> {
        self.parameters
            .iter()
            .filter(|parameter| !matches!(parameter, TypeSignature::SignerReference))
    }
}

impl ModuleRegistry {
    /// Builds a call of an entry function from JSON.
    ///
    /// # Errors
    ///
    /// Returns [`SchemaError`] if the entry function is unknown, if the number of type arguments or
    /// arguments is wrong, or if one of them is invalid.
    pub fn call_from_json(
        &self,
        function: &FunctionId,
        type_arguments: &[String],
        arguments: &[Value],
    ) -> Result<EntryFunction, SchemaError> {
        self.parse_call(CallKind::Entry, function, type_arguments, arguments)
    }

    /// Builds a call of a view function from JSON, in the form of a call of an entry function. The
    /// function may be an entry function, whose call fails as a view.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::call_from_json`], for view functions.
    pub fn view_from_json(
        &self,
        function: &FunctionId,
        type_arguments: &[String],
        arguments: &[Value],
    ) -> Result<EntryFunction, SchemaError> {
        self.parse_call(CallKind::View, function, type_arguments, arguments)
    }

    fn parse_call(
        &self,
        kind: CallKind,
        function: &FunctionId,
        type_arguments: &[String],
        arguments: &[Value],
    ) -> Result<EntryFunction, SchemaError> {
        let unknown = || unknown_function(kind, function);
        let FunctionId {
            module,
            function: name,
        } = function;
        let declared = self
            .function(module, name)
            .filter(|function| function.is_entry() || kind == CallKind::View)
            .ok_or_else(unknown)?;
        let type_args = parse_type_arguments(declared, type_arguments)?;
        let expected: Vec<TypeTag> = declared
            .argument_types()
            .map(|signature| signature.resolve(&type_args, &self.vendor))
            .collect::<Option<_>>()
            .ok_or_else(unknown)?;
        if expected.len() != arguments.len() {
            let names: Vec<String> = expected.iter().map(expected_type_name).collect();
            return Err(SchemaError(format!(
                "expected {} arguments [{}], but got {} ({})",
                expected.len(),
                names.join(", "),
                arguments.len(),
                truncated(&Value::from(arguments.to_vec()).to_string())
            )));
        }
        let args = expected
            .iter()
            .zip(arguments)
            .enumerate()
            .map(|(i, (tag, value))| {
                self.value_from_json(tag, value)
                    .map(Into::into)
                    .map_err(|error| {
                        SchemaError(format!(
                            "parse arguments[{i}] failed, expect {}, caused by error: {error}",
                            expected_type_name(tag)
                        ))
                    })
            })
            .collect::<Result<_, _>>()?;
        Ok(EntryFunction {
            module: module.clone(),
            function: name.clone(),
            type_args,
            args,
        })
    }

    /// Returns the types of the results of `function` with these type arguments, or `None` if one
    /// does not resolve.
    pub fn return_types(&self, function: &Function, type_args: &[TypeTag]) -> Option<Vec<TypeTag>> {
        function
            .returns
            .iter()
            .map(|value| value.resolve(type_args, &self.vendor))
            .collect()
    }

    /// Returns the arguments of a call with their types. A type is `None` if the framework does not
    /// declare the function or the argument.
    pub fn arguments<'c>(
        &self,
        call: &'c EntryFunction,
    ) -> impl Iterator<Item = (&'c Bytes, Option<TypeTag>)> {
        let declared = self.function(&call.module, &call.function);
        let mut types = declared
            .into_iter()
            .flat_map(Function::argument_types)
            .map(|signature| signature.resolve(&call.type_args, &self.vendor));
        call.args
            .iter()
            .map(move |bytes| (bytes, types.next().flatten()))
    }
}

fn parse_type_arguments(
    declared: &Function,
    texts: &[String],
) -> Result<Vec<TypeTag>, SchemaError> {
    let expected = declared.type_parameters.len();
    if texts.len() != expected {
        return Err(SchemaError(format!(
            "expected {expected} type arguments, but got {}",
            texts.len()
        )));
    }
    let parse_one = |(i, text): (usize, &String)| {
        let error =
            |cause: String| SchemaError(format!("parse type_arguments[{i}] failed: {cause}"));
        let tag: TypeTag = text
            .parse()
            .map_err(|e: ledger_types::TypeParseError| error(e.to_string()))?;
        // Reserves one level for a struct that has the type as its argument.
        if tag.depth() >= TYPE_DEPTH_MAX {
            Err(error("nested too deep".to_owned()))
        } else {
            Ok(tag)
        }
    };
    texts.iter().enumerate().map(parse_one).collect()
}

/// Returns the name of an expected type in error messages: the JSON form, then the type.
fn expected_type_name(tag: &TypeTag) -> String {
    match tag {
        TypeTag::Bool => "bool".to_owned(),
        TypeTag::U8 | TypeTag::U16 | TypeTag::U32 | TypeTag::I8 | TypeTag::I16 | TypeTag::I32 => {
            format!("integer<{tag}>")
        }
        TypeTag::Vector(item) if **item != TypeTag::U8 => {
            format!("array<{}>", expected_type_name(item))
        }
        other => format!("string<{other}>"),
    }
}
