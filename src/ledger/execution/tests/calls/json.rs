//! The same calls in JSON. The JSON form of a call is read as the same call, and an argument that
//! does not fit is rejected with its index.

use crate::calls::{
    caller::Caller,
    functions::{Callable, callables},
};
use ledger_types::EntryFunction;
use ledger_vm::SchemaError;
use serde_json::{Value, json};

/// Reads a call of a function from JSON, as a transaction or as a view.
fn from_json(
    caller: &Caller,
    function: &Callable,
    type_args: &[&str],
    arguments: &[Value],
) -> Result<EntryFunction, SchemaError> {
    let registry = caller.chain.chain.registry();
    let type_args: Vec<String> = type_args.iter().map(ToString::to_string).collect();
    let name = function.name.parse().expect("the name of a function");
    if function.is_entry {
        registry.call_from_json(&name, &type_args, arguments)
    } else {
        registry.view_from_json(&name, &type_args, arguments)
    }
}

/// Runs `check` on every function, with a valid call of it and the JSON form of the arguments.
fn for_each(check: impl Fn(&Caller, &Callable, &EntryFunction, &[Value])) {
    let caller = Caller::new();
    let registry = caller.chain.chain.registry();
    for function in &callables(registry) {
        let args = function.arguments(registry);
        let call = caller
            .chain
            .call(&function.name, &function.type_args(), args);
        let values = registry
            .arguments(&call)
            .map(|(bytes, tag)| registry.value_to_json(&tag.unwrap(), bytes).unwrap());
        let arguments: Vec<_> = values.collect();
        check(&caller, function, &call, &arguments);
    }
}

#[test]
fn reads_a_printed_call_as_the_same_call() {
    for_each(|caller, function, call, arguments| {
        let read = from_json(caller, function, &function.type_args(), arguments);
        assert_eq!(read.as_ref(), Ok(call), "{}", function.name);
    });
}

#[test]
fn rejects_wrong_numbers_of_arguments() {
    for_each(|caller, function, _, arguments| {
        let extended = [arguments, &[json!("1")]].concat();
        let error = from_json(caller, function, &function.type_args(), &extended).unwrap_err();
        let expected = format!("expected {} arguments [", arguments.len());
        assert!(
            error.to_string().starts_with(&expected),
            "{}: {error}",
            function.name
        );

        let type_args = [&function.type_args()[..], &["u8"]].concat();
        let error = from_json(caller, function, &type_args, arguments).unwrap_err();
        let expected = format!(
            "expected {} type arguments, but got {}",
            function.constraints.len(),
            type_args.len()
        );
        assert_eq!(error.to_string(), expected, "{}", function.name);
    });
}

#[test]
fn names_the_index_of_an_argument_of_another_type() {
    for_each(|caller, function, _, arguments| {
        for index in 0..arguments.len() {
            let mut arguments = arguments.to_vec();
            // No declared parameter is a fractional number.
            arguments[index] = json!(1.5);
            let error = from_json(caller, function, &function.type_args(), &arguments).unwrap_err();
            let expected = format!("parse arguments[{index}] failed, expect ");
            assert!(
                error.to_string().starts_with(&expected),
                "{}: {error}",
                function.name
            );
        }
    });
}

#[test]
fn rejects_views_as_entry_functions_and_parses_entry_functions_as_views() {
    for_each(|caller, function, call, arguments| {
        let other = Callable {
            is_entry: !function.is_entry,
            ..function.clone()
        };
        let parsed = from_json(caller, &other, &function.type_args(), arguments);
        if function.is_entry {
            // The call fails when it runs as a view.
            assert_eq!(parsed.unwrap(), *call, "{}", function.name);
        } else {
            assert_eq!(
                parsed.unwrap_err().to_string(),
                format!("could not find entry function by {}", function.name)
            );
        }
    });
}
