//! Calls that do not fit, of every entry function and every view function that the ABI shows: the
//! number of arguments, an argument's bytes, the number of type arguments, their names and abilities,
//! and the kind of the function. Each is kept, pays its gas, says why, and changes nothing.

mod kit;

use kit::{GAS_UNIT_PRICE, MemoryChain};
use ledger::{
    AccountAddress, ContractEvent, Framework, FrameworkUpgrade, Genesis, ModuleId, Parameters, StateKey,
    StructTag, TYPE_DEPTH_MAX, TypeTag, Vendor,
    crypto::Ed25519PrivateKey,
    execute::{ViewError, view},
    framework::FRAMEWORK_VERSION,
};
use serde_json::Value;
use std::collections::BTreeMap;

/// A function as its ABI shows it, with types for its type parameters that it takes.
struct Callable {
    name: String,
    is_entry: bool,
    constraints: Vec<Vec<String>>,
    parameters: Vec<String>,
}

/// A type with all the abilities asked for.
fn fitting(constraints: &[String]) -> &'static str {
    if constraints.iter().any(|ability| ability == "key") {
        "0x1::object::ObjectCore"
    } else {
        "u8"
    }
}

/// A type without one of the abilities asked for: no module stands behind it, so it has none.
const WITHOUT_ABILITIES: &str = "0xcafe::m::Marker";

/// A text of the ABI with type arguments for `T0`, `T1` and so on.
fn substitute(text: &str, type_args: &[&str]) -> String {
    let mut text = text.to_owned();
    for (i, argument) in type_args.iter().enumerate() {
        for (before, after) in [("<", ">"), ("<", ","), (" ", ">"), (" ", ",")] {
            let (open, closed) = (
                format!("{before}T{i}{after}"),
                format!("{before}{argument}{after}"),
            );
            text = text.replace(&open, &closed);
        }
        if text == format!("T{i}") {
            text = (*argument).to_owned();
        }
    }
    text
}

fn texts(value: &Value) -> Vec<String> {
    serde_json::from_value(value.clone()).unwrap()
}

fn abi(framework: &Framework, module: &str) -> Value {
    let id: ModuleId = format!("0x1::{module}").parse().unwrap();
    framework.module_abi(&id).unwrap()
}

/// Every function that a client can call.
fn callables(framework: &Framework) -> Vec<Callable> {
    let names = framework.module_names(&AccountAddress::ONE, FRAMEWORK_VERSION);
    let mut found = Vec::new();
    for module in &names {
        for function in abi(framework, module.as_str())["exposed_functions"]
            .as_array()
            .unwrap()
        {
            let constraints = function["generic_type_params"].as_array().unwrap();
            found.push(Callable {
                name: format!("0x1::{module}::{}", function["name"].as_str().unwrap()),
                is_entry: function["is_entry"] == true,
                constraints: constraints.iter().map(|of| texts(&of["constraints"])).collect(),
                parameters: texts(&function["params"])
                    .into_iter()
                    .filter(|text| text != "&signer")
                    .collect(),
            });
        }
    }
    found
}

impl Callable {
    fn type_args(&self) -> Vec<&'static str> {
        self.constraints
            .iter()
            .map(|constraints| fitting(constraints))
            .collect()
    }

    /// Arguments that decode.
    fn arguments(&self, framework: &Framework) -> Vec<Vec<u8>> {
        let type_args = self.type_args();
        let resolved = self.parameters.iter().map(|text| substitute(text, &type_args));
        resolved
            .map(|text| least(framework, &text.parse().unwrap()))
            .collect()
    }
}

/// The object that stands for all: it has every resource that takes no type arguments.
const OBJECT: AccountAddress = AccountAddress::from_low_u64(0x0b1ec7);

/// The least value of a type.
fn least(framework: &Framework, tag: &TypeTag) -> Vec<u8> {
    match tag {
        TypeTag::Bool | TypeTag::U8 | TypeTag::I8 | TypeTag::Vector(_) => vec![0],
        TypeTag::U16 | TypeTag::I16 => vec![0; 2],
        TypeTag::U32 | TypeTag::I32 => vec![0; 4],
        TypeTag::U64 | TypeTag::I64 => vec![0; 8],
        TypeTag::U128 | TypeTag::I128 => vec![0; 16],
        TypeTag::U256 | TypeTag::I256 | TypeTag::Address | TypeTag::Signer => vec![0; 32],
        TypeTag::Struct(tag) => match (tag.module.as_str(), tag.name.as_str()) {
            ("string", "String") | ("option", "Option") => vec![0],
            ("object", "Object") => OBJECT.as_bytes().to_vec(),
            _ => least_struct(framework, tag),
        },
        TypeTag::Function(never) => match *never {},
    }
}

fn least_struct(framework: &Framework, tag: &StructTag) -> Vec<u8> {
    let module = abi(framework, tag.module.as_str());
    let mut structs = module["structs"].as_array().unwrap().iter();
    let declared = structs
        .find(|declared| declared["name"] == tag.name.as_str())
        .unwrap();
    let printed: Vec<String> = tag.type_args.iter().map(ToString::to_string).collect();
    let type_args: Vec<&str> = printed.iter().map(String::as_str).collect();
    let fields = declared["fields"].as_array().unwrap();
    let least_field = |field: &Value| {
        let text = substitute(field["type"].as_str().unwrap(), &type_args);
        least(framework, &text.parse().unwrap())
    };
    fields.iter().flat_map(least_field).collect()
}

/// Puts [`OBJECT`] into the state.
fn put_object(chain: &mut MemoryChain) {
    let shared = chain.chain.clone();
    let framework = shared.framework();
    let mut members = BTreeMap::new();
    for module in framework.module_names(&AccountAddress::ONE, FRAMEWORK_VERSION) {
        for declared in abi(framework, module.as_str())["structs"].as_array().unwrap() {
            let has_key = texts(&declared["abilities"])
                .iter()
                .any(|ability| ability == "key");
            if has_key && declared["generic_type_params"] == Value::Array(vec![]) {
                let name = declared["name"].as_str().unwrap();
                let tag: StructTag = format!("0x1::{module}::{name}").parse().unwrap();
                let value = least_struct(framework, &tag);
                if framework.group_of(&tag).is_some() {
                    members.insert(tag, value);
                } else {
                    chain
                        .state
                        .insert(StateKey::resource(&OBJECT, &tag), value.into());
                }
            }
        }
    }
    let group = bcs::to_bytes(&members).unwrap();
    chain.state.insert(framework.group_key(&OBJECT), group.into());
}

/// A chain and an account that makes calls that fail.
struct Caller {
    chain: MemoryChain,
    key: Ed25519PrivateKey,
    calls: usize,
}

impl Caller {
    /// The newest version of the framework is on, so that every function can be called.
    fn new() -> Self {
        let newest = FrameworkUpgrade {
            version: FRAMEWORK_VERSION,
            height: 0,
        };
        let parameters = Parameters {
            gas_unit_price_min: 1,
            framework_upgrades: vec![newest],
            ..Parameters::default()
        };
        let mut chain = MemoryChain::new(&Genesis::development(4, Vendor::default(), parameters));
        put_object(&mut chain);
        Self {
            chain,
            key: Genesis::development_accounts().remove(0).private_key,
            calls: 0,
        }
    }

    /// Calls the function, as a transaction or as a view, and expects this `vm_status`.
    fn fails(&mut self, function: &Callable, type_args: &[&str], args: Vec<Vec<u8>>, vm_status: &str) {
        self.calls += 1;
        let status = if function.is_entry {
            self.transact(&function.name, type_args, args)
        } else {
            self.look(&function.name, type_args, args)
        };
        assert_eq!(status, vm_status, "{} <{}>", function.name, type_args.join(", "));
    }

    /// The status of the view's failure.
    fn look(&self, function: &str, type_args: &[&str], args: Vec<Vec<u8>>) -> String {
        let call = self.chain.call(function, type_args, args);
        match view(&self.chain.chain, &self.chain, &call) {
            Ok(_) => "Executed successfully".to_owned(),
            Err(ViewError::Failed(status)) => status.vm_status(&self.chain.chain),
            Err(ViewError::Call(error)) => error.to_string(),
            Err(ViewError::State(error)) => panic!("{function}: {error}"),
        }
    }

    /// The status of the transaction, which pays and leaves nothing else behind.
    fn transact(&mut self, function: &str, type_args: &[&str], args: Vec<Vec<u8>>) -> String {
        let sender = self.key.public_key().account_address();
        let coin = self.chain.chain.framework().native_coin().clone();
        let coin_store = StructTag::framework("coin", "CoinStore", vec![coin]);
        let account = StructTag::framework("account", "Account", vec![]);
        let mut paid_from = [account, coin_store].map(|tag| StateKey::resource(&sender, &tag));
        let before = self.chain.facts(&sender);

        let call = self.chain.call(function, type_args, args);
        let executed = self.chain.run(&self.key, call).transactions[1].clone();

        let info = executed.info.v0();
        let after = self.chain.facts(&sender);
        assert_eq!(after.sequence_number, before.sequence_number + 1, "{function}");
        assert!(
            info.gas_used >= self.least_gas(),
            "{function}: {} gas units",
            info.gas_used
        );
        assert_eq!(
            before.balance - after.balance,
            info.gas_used * GAS_UNIT_PRICE,
            "{function}"
        );
        let types: Vec<String> = executed
            .events
            .iter()
            .map(ContractEvent::type_tag)
            .map(ToString::to_string)
            .collect();
        assert_eq!(types, ["0x1::transaction_fee::FeeStatement"], "{function}");
        let mut written: Vec<&StateKey> = executed.writes.iter().map(|(key, _)| key).collect();
        written.sort_unstable();
        paid_from.sort_unstable();
        assert_eq!(written, paid_from.iter().collect::<Vec<_>>(), "{function}");
        info.status.vm_status(&self.chain.chain)
    }

    /// What any transaction costs, in gas units, by the schedule on the ledger.
    fn least_gas(&self) -> u64 {
        let tag = StructTag::framework("gas_schedule", "GasScheduleV2", vec![]);
        let bytes = &self.chain.state[&StateKey::resource(&AccountAddress::ONE, &tag)];
        let schedule = self
            .chain
            .chain
            .framework()
            .value_to_json(&tag.into(), bytes)
            .unwrap();
        let entry = |key: &str| -> u64 {
            let mut entries = schedule["entries"].as_array().unwrap().iter();
            let entry = entries.find(|entry| entry["key"] == key).unwrap();
            entry["val"].as_str().unwrap().parse().unwrap()
        };
        entry("txn.min_transaction_gas_units").div_ceil(entry("txn.gas_unit_scaling_factor"))
    }
}

/// Runs `check` on every function; there must be some.
fn for_each(mut check: impl FnMut(&mut Caller, &Callable)) {
    let mut caller = Caller::new();
    let functions = callables(caller.chain.chain.framework());
    for function in &functions {
        check(&mut caller, function);
    }
    assert!(caller.calls > 0, "no call was made");
}

#[test]
fn a_wrong_number_of_arguments() {
    for_each(|caller, function| {
        let status = "NUMBER_OF_ARGUMENTS_MISMATCH";
        let args = function.arguments(caller.chain.chain.framework());
        let more = [args.clone(), vec![vec![0]]].concat();
        caller.fails(function, &function.type_args(), more, status);
        if let Some((_, fewer)) = args.split_last() {
            caller.fails(function, &function.type_args(), fewer.to_vec(), status);
        }
    });
}

#[test]
fn arguments_that_are_no_value_of_their_type() {
    for_each(|caller, function| {
        let args = function.arguments(caller.chain.chain.framework());
        for place in 0..args.len() {
            // No type has values without bytes, and none has a value that goes on.
            let longer = [args[place].clone(), vec![0]].concat();
            for wrong in [vec![], longer] {
                let mut args = args.clone();
                args[place] = wrong;
                caller.fails(
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
fn a_wrong_number_of_type_arguments() {
    for_each(|caller, function| {
        let status = "NUMBER_OF_TYPE_ARGUMENTS_MISMATCH";
        let args = function.arguments(caller.chain.chain.framework());
        let type_args = function.type_args();
        caller.fails(
            function,
            &[&type_args[..], &["u8"]].concat(),
            args.clone(),
            status,
        );
        if let Some((_, fewer)) = type_args.split_last() {
            caller.fails(function, fewer, args, status);
        }
    });
}

#[test]
fn type_arguments_that_are_no_types() {
    for_each(|caller, function| {
        let args = function.arguments(caller.chain.chain.framework());
        for place in 0..function.constraints.len() {
            for unknown in [
                "0x1::nothing::Nothing",
                "0x1::coin::Nothing",
                "0x1::coin::Coin",
                "vector<0x1::a::B>",
            ] {
                let mut type_args = function.type_args();
                type_args[place] = unknown;
                caller.fails(function, &type_args, args.clone(), "TYPE_RESOLUTION_FAILURE");
            }
        }
    });
}

#[test]
fn type_arguments_without_the_abilities() {
    for_each(|caller, function| {
        let args = function.arguments(caller.chain.chain.framework());
        for place in 0..function.constraints.len() {
            if !function.constraints[place].is_empty() {
                let mut type_args = function.type_args();
                type_args[place] = WITHOUT_ABILITIES;
                caller.fails(function, &type_args, args.clone(), "CONSTRAINT_NOT_SATISFIED");
            }
        }
    });
}

#[test]
fn entry_functions_are_no_views_and_views_no_entry_functions() {
    for_each(|caller, function| {
        caller.calls += 1;
        let args = function.arguments(caller.chain.chain.framework());
        let (name, type_args) = (&function.name, function.type_args());
        if function.is_entry {
            let answer = caller.look(name, &type_args, args);
            assert_eq!(answer, format!("could not find view function by {name}"));
        } else {
            assert_eq!(caller.transact(name, &type_args, args), "LINKER_ERROR", "{name}");
        }
    });
}

/// The type that nests `depth` deep.
fn nested(depth: usize) -> String {
    (1..depth).fold("u8".to_owned(), |inner, _| format!("vector<{inner}>"))
}

#[test]
fn type_arguments_that_nest_too_deep() {
    // Deeper ones would make resources whose types no reader can parse.
    for_each(|caller, function| {
        let args = function.arguments(caller.chain.chain.framework());
        for place in 0..function.constraints.len() {
            let type_arg = nested(TYPE_DEPTH_MAX);
            let mut type_args = function.type_args();
            type_args[place] = &type_arg;
            caller.fails(function, &type_args, args.clone(), "TYPE_RESOLUTION_FAILURE");
        }
    });
    let mut caller = Caller::new();
    let allowed = nested(TYPE_DEPTH_MAX - 1);
    let status = caller.transact("0x1::coin::register", &[&allowed], vec![]);
    assert!(status.contains("ECOIN_INFO_NOT_PUBLISHED"), "{status}");
}
