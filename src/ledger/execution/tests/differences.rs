//! The lists of differences from the reference node.

use ledger_test_support::differences::{Allowed, Difference};

#[test]
fn matches_an_item_or_all_items_of_a_kind() {
    for (listed, item, fits) in [
        ("a::b", "a::b", true),
        ("a::b", "a::bc", false),
        ("a::*", "a::b", false),
        ("*", "a::b", true),
        ("_ a::b", "0x1 a::b", true),
        ("_ a::b", "a::b", false),
        ("0x2 a::b", "0x1 a::b", false),
        ("a::b[_]", "a::b[0x1]", true),
        ("a::b[_]", "a::b", false),
        ("a::b[_]", "a::c[0x1]", false),
    ] {
        let allowed = Allowed::read(&format!(
            "[[difference]]\nkind = 'k'\nitems = ['{listed}']\nreason = 'r'"
        ));
        let reason = allowed.reason(&Difference::new("k", item));
        assert_eq!(reason.is_some(), fits, "{listed} {item}");
    }
}

#[test]
fn names_unlisted_steps_and_entries_without_a_difference() {
    let difference = |step: &str| Difference {
        step: step.to_owned(),
        ..Difference::new("event absent", "a::b")
    };
    let (found, steps) = (
        [difference("one"), difference("two")],
        ["one", "two", "three"],
    );
    let entry = |steps: &str| {
        Allowed::read(&format!(
            "[[difference]]\nkind = \"event absent\"\nitems = [\"a::b\"]\n{steps}\nreason = \"r\""
        ))
    };
    for (listed, unlisted, unused) in [
        ("steps = ['one', 'two']", vec![], vec![]),
        ("steps = ['*']\nexcept = ['three']", vec![], vec![]),
        ("steps = ['one']", vec!["two"], vec![]),
        ("steps = ['*']", vec![], vec!["three: event absent a::b"]),
        (
            "steps = ['one', 'two', 'four']",
            vec![],
            vec!["four: no such step"],
        ),
    ] {
        let allowed = entry(listed);
        let without_reason = found.iter().filter(|found| allowed.reason(found).is_none());
        let without_reason: Vec<_> = without_reason.map(|found| found.step.as_str()).collect();
        assert_eq!(without_reason, unlisted, "{listed}");
        assert_eq!(allowed.unused_items(&found, &steps), unused, "{listed}");
    }
}

#[test]
fn matches_patterns_of_steps_and_names_those_without_a_difference() {
    let found = ["get.one.json", "get.two.bcs"].map(|step| Difference {
        step: step.to_owned(),
        ..Difference::new("header", "vary")
    });
    for (among, unlisted, unused) in [
        ("'*'", vec![], vec![]),
        ("'get.*.json', 'get.two.*'", vec![], vec![]),
        ("'*.json'", vec!["get.two.bcs"], vec![]),
        ("'*', 'post.*'", vec![], vec!["header post.*"]),
        (
            "'one*', '*two'",
            vec!["get.one.json", "get.two.bcs"],
            vec!["header vary", "header one*", "header *two"],
        ),
    ] {
        let allowed = Allowed::read(&format!(
            "[[difference]]\nkind = 'header'\nitems = ['vary']\namong = [{among}]\nreason = 'r'"
        ));
        let without_reason = found.iter().filter(|found| allowed.reason(found).is_none());
        let without_reason: Vec<_> = without_reason.map(|found| found.step.as_str()).collect();
        assert_eq!(without_reason, unlisted, "{among}");
        assert_eq!(allowed.unused_items(&found, &[]), unused, "{among}");
    }
}
