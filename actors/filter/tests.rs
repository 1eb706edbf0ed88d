//! Tests of decisions for every form of payload, of the text of rules, and of the index against a
//! linear search.

use super::*;
use crate::config::filter_rules::FilterError;
use ledger_test_support::draft::draft;
use ledger_types::{
    EntryFunction,
    transaction::{
        AccountAuthenticator, ExtraConfig, InnerPayload, Multisig, MultisigPayload, Script,
        TransactionAuthenticator, TransactionExecutable, TransactionPayload,
    },
};
use proptest::prelude::*;

const MULTISIG: AccountAddress = AccountAddress::ONE;

fn call(function: &str) -> EntryFunction {
    let (module, name) = function.rsplit_once("::").unwrap();
    EntryFunction {
        module: module.parse().unwrap(),
        function: name.parse().unwrap(),
        type_args: Vec::new(),
        args: Vec::new(),
    }
}

/// Creates a transaction of sender `number`.
fn transaction_from(number: u64, payload: TransactionPayload) -> SignedTransaction {
    let mut signed = draft(number, 0).checked().transaction().clone();
    signed.raw.payload = payload;
    signed
}

fn call_from(number: u64, function: &str) -> SignedTransaction {
    transaction_from(number, TransactionPayload::EntryFunction(call(function)))
}

/// Returns payloads of every wire format that call the function.
fn payload_forms(function: &str) -> Vec<TransactionPayload> {
    let inner = |multisig_address, replay_protection_nonce| {
        TransactionPayload::Payload(InnerPayload::V1 {
            executable: TransactionExecutable::EntryFunction(call(function)),
            extra_config: ExtraConfig::V1 {
                multisig_address,
                replay_protection_nonce,
            },
        })
    };
    vec![
        TransactionPayload::EntryFunction(call(function)),
        TransactionPayload::Multisig(Multisig {
            multisig_address: MULTISIG,
            payload: Some(MultisigPayload::EntryFunction(call(function))),
        }),
        inner(None, None),
        inner(None, Some(7)),
        inner(Some(MULTISIG), None),
        inner(Some(MULTISIG), Some(7)),
    ]
}

fn filter(rules: &str) -> SubmissionFilter {
    FilterRules::parse_list(rules)
        .unwrap_or_else(|error| panic!("{error}"))
        .into()
}

/// Returns the number of the rule that denies the transaction.
fn denied_by(filter: &SubmissionFilter, transaction: &SignedTransaction) -> Option<usize> {
    filter
        .check(transaction)
        .err()
        .map(|filtered| filtered.number)
}

#[test]
fn a_rule_keeps_its_hits_while_it_is_in_force() {
    let sender = draft(5, 0).checked().raw().sender;
    let deny = format!("deny sender {sender}");
    let first = filter(&format!("allow module 0x1::other, {deny}, allow all"));
    let hits = |filter: &SubmissionFilter| filter.hits().collect::<Vec<_>>();
    for _ in 0..3 {
        assert_eq!(denied_by(&first, &call_from(5, "0x1::m::f")), Some(2));
    }
    assert_eq!(denied_by(&first, &call_from(6, "0x1::m::f")), None);
    assert_eq!(hits(&first), [0, 3, 1]);
    let rules = format!("deny function 0x1::m::g, {deny}, {deny}");
    let second = SubmissionFilter::replacing(&first, FilterRules::parse_list(&rules).unwrap());
    assert_eq!(hits(&second), [0, 3, 0]);
    assert_eq!(denied_by(&second, &call_from(5, "0x1::m::g")), Some(1));
    assert_eq!(hits(&second), [1, 3, 0]);
}

#[test]
fn first_matching_rule_decides_and_the_default_is_allow() {
    let sender = draft(5, 0).checked().raw().sender;
    let transaction = call_from(5, "0x1::m::f");
    let cases = [
        (String::new(), None),
        (format!("deny sender {sender}"), Some(1)),
        (format!("allow sender {sender}, deny all"), None),
        (
            format!("deny module 0x1::m, allow sender {sender}"),
            Some(1),
        ),
        (
            "allow function 0x1::m::f, deny module 0x1::m".to_owned(),
            None,
        ),
        (
            "deny module 0x1::m, allow function 0x1::m::f".to_owned(),
            Some(1),
        ),
        (
            "deny sender 0xfff, deny function 0x1::m::f".to_owned(),
            Some(2),
        ),
        (
            "deny function 0x1::m::g, deny module 0x1::n".to_owned(),
            None,
        ),
        (
            "deny function 0x2::m::f, deny module 0x2::m".to_owned(),
            None,
        ),
        ("allow sender 0xfff, deny all".to_owned(), Some(2)),
        (
            format!("allow sender {sender}, deny sender {sender}, deny all"),
            None,
        ),
        ("allow all".to_owned(), None),
    ];
    for (rules, expected) in cases {
        assert_eq!(
            denied_by(&filter(&rules), &transaction),
            expected,
            "{rules}"
        );
    }
}

#[test]
fn matches_a_call_in_every_form_of_payload() {
    for rules in ["deny function 0x1::m::f", "deny module 0x1::m"] {
        let filter = filter(rules);
        for payload in payload_forms("0x1::m::f") {
            let transaction = transaction_from(1, payload);
            assert_eq!(denied_by(&filter, &transaction), Some(1), "{transaction:?}");
        }
        for payload in payload_forms("0x1::n::f") {
            let transaction = transaction_from(1, payload);
            assert_eq!(denied_by(&filter, &transaction), None, "{transaction:?}");
        }
    }
}

#[test]
fn sender_rule_ignores_the_multisig_account() {
    let transaction = transaction_from(2, payload_forms("0x1::m::f").remove(1));
    let rules = filter(&format!("deny sender {MULTISIG}"));
    assert_eq!(denied_by(&rules, &transaction), None);
}

#[test]
fn sender_rule_ignores_the_fee_payer() {
    let mut transaction = call_from(2, "0x1::m::f");
    let payer = draft(3, 0).checked().raw().sender;
    let TransactionAuthenticator::Ed25519 {
        public_key,
        signature,
    } = transaction.authenticator
    else {
        panic!("a draft has one signer");
    };
    let signer = AccountAuthenticator::Ed25519 {
        public_key,
        signature,
    };
    transaction.authenticator = TransactionAuthenticator::FeePayer {
        sender: Box::new(signer.clone()),
        secondary_signer_addresses: Vec::new(),
        secondary_signers: Vec::new(),
        fee_payer_address: payer,
        fee_payer_signer: Box::new(signer),
    };
    let sender = transaction.raw.sender;
    let rules = filter(&format!("deny sender {payer}, deny sender {sender}"));
    assert_eq!(denied_by(&rules, &transaction), Some(2));
}

#[test]
fn matches_a_payload_without_a_function_only_by_sender_and_all() {
    let stored = TransactionPayload::Multisig(Multisig {
        multisig_address: MULTISIG,
        payload: None,
    });
    let script = TransactionPayload::Script(Script {
        code: vec![1].into(),
        type_args: Vec::new(),
        args: Vec::new(),
    });
    for payload in [stored, script] {
        let transaction = transaction_from(1, payload);
        let sender = transaction.raw.sender;
        let call_rules = filter("deny module 0x1::m, deny function 0x1::m::f");
        assert_eq!(denied_by(&call_rules, &transaction), None);
        let all_rules = filter("allow module 0x1::m, deny all");
        assert_eq!(denied_by(&all_rules, &transaction), Some(2));
        let sender_rules = filter(&format!("deny sender {sender}"));
        assert_eq!(denied_by(&sender_rules, &transaction), Some(1));
    }
}

#[test]
fn rejection_names_its_rule() {
    let rejection = filter("allow sender 0xfff, deny module 0x1::m")
        .check(&call_from(1, "0x1::m::f"))
        .unwrap_err();
    assert_eq!(
        rejection.to_string(),
        "Transaction rejected by the submission filter of this node, rule 2: deny module 0x1::m"
    );
}

#[test]
fn parse_error_names_the_text_and_its_cause() {
    let cases = [
        ("forbid sender 0x1", "expected allow or deny first"),
        ("", "expected allow or deny first"),
        ("deny", "expected sender, module, function or all"),
        ("deny payer 0x1", "expected sender, module, function or all"),
        ("deny sender", "take one operand each"),
        ("deny sender 0x1 0x2", "take one operand each"),
        ("deny all 0x1", "take one operand each"),
        ("deny sender 0xg", "invalid address of the sender"),
        ("deny module 0x1", "ADDRESS::NAME"),
        ("deny module 0x1::m::f", "ADDRESS::NAME"),
        ("deny function f", "ADDRESS::MODULE::NAME"),
        ("deny function 0x1::m::1", "ADDRESS::MODULE::NAME"),
    ];
    for (text, message_part) in cases {
        let error = FilterRules::parse(&["allow sender 0x1", text]).unwrap_err();
        let message = error.to_string();
        assert!(
            message.starts_with(&format!("rule 2, {text:?},")),
            "{message}"
        );
        assert!(message.contains(message_part), "{message}");
    }
    let long = "x".repeat(100_000);
    let message = FilterRules::parse(&[long]).unwrap_err().to_string();
    assert!(message.len() < 300, "{}", message.len());
}

#[test]
fn rejects_too_many_rules_and_rules_after_all() {
    let rules = vec!["deny sender 0x1"; FilterRules::RULES_MAX + 1];
    assert!(FilterRules::parse(&rules[1..]).is_ok());
    let error = FilterRules::parse(&rules).unwrap_err();
    assert_eq!(error, FilterError::TooMany(FilterRules::RULES_MAX + 1));
    assert_eq!(
        FilterRules::parse_list("deny sender 0x1, deny all, allow sender 0x2").unwrap_err(),
        FilterError::Unreachable { number: 3, all: 2 }
    );
}

#[test]
fn parses_line_breaks_and_a_trailing_comma() {
    let list = filter("\n  deny sender 0x01,\n\tallow   function 0x1::m::f ,\n");
    assert_eq!(
        list.rules().to_string(),
        "deny sender 0x1, allow function 0x1::m::f"
    );
    assert!(filter(" ").rules().is_empty());
    assert!(FilterRules::parse_list("deny all,,").is_err());
}

fn any_rule() -> impl Strategy<Value = FilterRule> {
    let module = |number: u64| -> ModuleId { format!("0x{number}::m").parse().unwrap() };
    let subject = prop_oneof![
        (0..4u64).prop_map(|number| FilterSubject::Sender(draft(number, 0).checked().raw().sender)),
        (1..4u64).prop_map(move |number| FilterSubject::Module(module(number))),
        (1..4u64, "[fg]").prop_map(move |(number, name)| FilterSubject::Function {
            module: module(number),
            name: name.parse().unwrap(),
        }),
    ];
    (any::<bool>(), subject).prop_map(|(allow, subject)| FilterRule {
        action: if allow {
            FilterAction::Allow
        } else {
            FilterAction::Deny
        },
        subject,
    })
}

/// Returns whether the rule matches the transaction, without the index.
fn matches(rule: &FilterRule, transaction: &SignedTransaction) -> bool {
    let call = transaction.raw.entry_function().unwrap();
    match &rule.subject {
        FilterSubject::Sender(address) => *address == transaction.raw.sender,
        FilterSubject::Module(module) => *module == call.module,
        FilterSubject::Function { module, name } => {
            (module, name) == (&call.module, &call.function)
        }
        FilterSubject::All => true,
    }
}

proptest! {
    #[test]
    fn index_decides_like_a_linear_search(
        mut rules in prop::collection::vec(any_rule(), 0..12),
        last in prop::option::of(any::<bool>()),
        (sender, module, function) in (0..5u64, 1..5u64, "[fgh]"),
    ) {
        rules.extend(last.map(|allow| FilterRule {
            action: if allow { FilterAction::Allow } else { FilterAction::Deny },
            subject: FilterSubject::All,
        }));
        let transaction = call_from(sender, &format!("0x{module}::m::{function}"));
        let first = rules.iter().position(|rule| matches(rule, &transaction));
        let expected = first.filter(|&index| rules[index].action == FilterAction::Deny);
        let filter = SubmissionFilter::from(FilterRules::new(rules.clone()).unwrap());
        prop_assert_eq!(denied_by(&filter, &transaction), expected.map(|index| index + 1));
        prop_assert_eq!(&filter.rules()[..], &rules[..]);
        let reparsed = FilterRules::parse_list(&filter.rules().to_string()).unwrap();
        prop_assert_eq!(&reparsed[..], &rules[..]);
    }

    #[test]
    fn parsing_any_text_does_not_panic(text in "\\PC{0,60}") {
        let _ = FilterRules::parse_list(&text);
    }
}
