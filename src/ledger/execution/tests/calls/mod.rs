//! Invalid calls of each entry function and each view function of the ABI. A call has a wrong
//! number of arguments, bytes of an argument, number of type arguments, type, ability, or kind of
//! function, or an item that it needs is missing.
//!
//! Such a transaction is committed, pays its gas, states the reason, and changes nothing.

mod caller;
mod functions;
mod json;
mod missing;

use caller::Caller;
use functions::{Callable, WITHOUT_ABILITIES, callables};
use ledger_framework::{modules::coin::paired_metadata_address, new_chain};
use ledger_types::{AccountAddress, Parameters, StructTag, TYPE_DEPTH_MAX, TypeTag, Vendor};

/// Runs `check` on every function, and asserts that it makes calls.
fn for_each(mut check: impl FnMut(&mut Caller, &Callable)) {
    let mut caller = Caller::new();
    let functions = callables(caller.chain.chain.registry());
    for function in &functions {
        check(&mut caller, function);
    }
    assert!(caller.calls > 0, "no call was made");
}

#[test]
fn rejects_a_wrong_number_of_arguments() {
    for_each(|caller, function| {
        let status = if function.is_entry {
            "NUMBER_OF_ARGUMENTS_MISMATCH"
        } else {
            "INVALID_MAIN_FUNCTION_SIGNATURE"
        };
        let args = function.arguments(caller.chain.chain.registry());
        let extended = [args.clone(), vec![vec![0]]].concat();
        caller.assert_fails(function, &function.type_args(), extended, status);
        if let Some((_, truncated)) = args.split_last() {
            caller.assert_fails(function, &function.type_args(), truncated.to_vec(), status);
        }
    });
}

#[test]
fn rejects_arguments_that_do_not_decode() {
    for_each(|caller, function| {
        let args = function.arguments(caller.chain.chain.registry());
        for index in 0..args.len() {
            // No type has an empty encoding, and no value of a type is a prefix of another.
            let longer = [args[index].clone(), vec![0]].concat();
            for wrong in [vec![], longer] {
                let mut args = args.clone();
                args[index] = wrong;
                caller.assert_fails(
                    function,
                    &function.type_args(),
                    args,
                    "FAILED_TO_DESERIALIZE_ARGUMENT",
                );
            }
        }
    });
}

#[test]
fn rejects_a_wrong_number_of_type_arguments() {
    for_each(|caller, function| {
        let status = "NUMBER_OF_TYPE_ARGUMENTS_MISMATCH";
        let args = function.arguments(caller.chain.chain.registry());
        let type_args = function.type_args();
        caller.assert_fails(
            function,
            &[&type_args[..], &["u8"]].concat(),
            args.clone(),
            status,
        );
        if let Some((_, truncated)) = type_args.split_last() {
            caller.assert_fails(function, truncated, args, status);
        }
    });
}

#[test]
fn rejects_unknown_type_arguments() {
    for_each(|caller, function| {
        let args = function.arguments(caller.chain.chain.registry());
        for index in 0..function.constraints.len() {
            for (unknown, status) in [
                ("0x1::nothing::Nothing", "LINKER_ERROR"),
                ("vector<0x1::a::B>", "LINKER_ERROR"),
                ("0x1::coin::Nothing", "TYPE_RESOLUTION_FAILURE"),
                ("0x1::coin::Coin", "TYPE_RESOLUTION_FAILURE"),
            ] {
                let mut type_args = function.type_args();
                type_args[index] = unknown;
                caller.assert_fails(function, &type_args, args.clone(), status);
            }
        }
    });
}

#[test]
fn rejects_type_arguments_without_required_abilities() {
    for_each(|caller, function| {
        let args = function.arguments(caller.chain.chain.registry());
        for index in 0..function.constraints.len() {
            if !function.constraints[index].is_empty() {
                let mut type_args = function.type_args();
                type_args[index] = WITHOUT_ABILITIES;
                caller.assert_fails(
                    function,
                    &type_args,
                    args.clone(),
                    "CONSTRAINT_NOT_SATISFIED",
                );
            }
        }
    });
}

#[test]
fn rejects_functions_of_the_other_kind() {
    for_each(|caller, function| {
        caller.calls += 1;
        let args = function.arguments(caller.chain.chain.registry());
        let (name, type_args) = (&function.name, function.type_args());
        if function.is_entry {
            let status = caller.view_status(name, &type_args, args);
            assert_eq!(status, "INVALID_MAIN_FUNCTION_SIGNATURE", "{name}");
        } else {
            assert_eq!(
                caller.transact(name, &type_args, args),
                "INVALID_MAIN_FUNCTION_SIGNATURE",
                "{name}"
            );
        }
    });
}

/// Returns a type of nesting depth `depth`.
fn nested(depth: usize) -> String {
    (1..depth).fold("u8".to_owned(), |inner, _| format!("vector<{inner}>"))
}

/// Returns [`WITHOUT_ABILITIES`] with `count` type arguments of 100 bytes.
fn type_with_long_arguments(count: usize) -> TypeTag {
    let mut tag: StructTag = WITHOUT_ABILITIES.parse().unwrap();
    let argument: TypeTag = format!("0x2::m::{}", "N".repeat(92)).parse().unwrap();
    tag.type_args = vec![argument; count];
    tag.into()
}

#[test]
fn rejects_type_arguments_with_long_names() {
    let mut caller = Caller::new();
    for (count, expected) in [
        (5, "ECOIN_INFO_NOT_PUBLISHED"),
        (40, "TYPE_RESOLUTION_FAILURE"),
        (300, "TYPE_RESOLUTION_FAILURE"),
    ] {
        let mut call = caller.chain.call("0x1::coin::register", &[], vec![]);
        call.type_args = vec![type_with_long_arguments(count)];
        let executed = caller.chain.run(&caller.key, call).transactions[1].clone();
        let status = caller.chain.chain.vm_status(&executed.info.v0().status);
        assert!(status.contains(expected), "{count}: {status}");
    }
}

#[test]
fn rejects_deeply_nested_type_arguments() {
    // A deeper type would create a resource whose type no reader can parse.
    for_each(|caller, function| {
        let args = function.arguments(caller.chain.chain.registry());
        for index in 0..function.constraints.len() {
            let type_arg = nested(TYPE_DEPTH_MAX);
            let mut type_args = function.type_args();
            type_args[index] = &type_arg;
            caller.assert_fails(
                function,
                &type_args,
                args.clone(),
                "TYPE_RESOLUTION_FAILURE",
            );
        }
    });
    let mut caller = Caller::new();
    let allowed = nested(TYPE_DEPTH_MAX - 1);
    let status = caller.transact("0x1::coin::register", &[&allowed], vec![]);
    assert!(status.contains("ECOIN_INFO_NOT_PUBLISHED"), "{status}");
}

/// If the type of a coin could not be read back, each access to its paired asset would be an error
/// of the state, which stops the chain.
#[test]
fn reads_back_coins_of_the_deepest_and_longest_types() {
    let mut caller = Caller::new();
    let owner = AccountAddress::from_public_key(&caller.key.public_key());
    let longest = vec![format!("0x2::m::{}", "N".repeat(92)); 17].join(", ");
    for type_args in [nested(TYPE_DEPTH_MAX - 2), longest] {
        let coin = format!("{owner}::m::Coin<{type_args}>");
        let mut call = |function: &str, type_args: &[&str], args: Vec<Vec<u8>>| {
            let call = caller.chain.call(function, type_args, args);
            let executed = caller.chain.run(&caller.key, call).transactions[1].clone();
            let status = caller.chain.chain.vm_status(&executed.info.v0().status);
            assert_eq!(status, "Executed successfully", "{function} of {coin}");
        };
        let name = bcs::to_bytes("C").unwrap();
        let initialize = vec![name.clone(), name, vec![0], vec![1]];
        call("0x1::managed_coin::initialize", &[&coin], initialize);
        let (to, amount) = (owner.as_bytes().to_vec(), bcs::to_bytes(&5u64).unwrap());
        call(
            "0x1::managed_coin::mint",
            &[&coin],
            vec![to.clone(), amount.clone()],
        );
        let tag: TypeTag = coin.parse().unwrap();
        let metadata = paired_metadata_address(
            &new_chain(4, Vendor::default(), Parameters::default()),
            &tag,
        );
        let transfer = vec![metadata.as_bytes().to_vec(), to, amount];
        call(
            "0x1::primary_fungible_store::transfer",
            &["0x1::fungible_asset::Metadata"],
            transfer,
        );
    }
}
