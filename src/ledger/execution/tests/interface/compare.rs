//! Differences between two modules of the same name.

use super::module::{ErrorCodes, Function, Module, Struct};
use ledger_test_support::differences::Difference;
use std::{collections::BTreeMap, fmt};

/// Refines the kind of a difference by further facts about the item on the reference node.
fn refine_kind(difference: &mut Difference, module: &str, theirs: &Module) {
    let name = difference
        .item
        .strip_prefix(module)
        .and_then(|rest| rest.strip_prefix("::"));
    let name = name.unwrap_or_default();
    let never_raised = |error: &ErrorCodes| error.codes.is_empty();
    match difference.kind.as_str() {
        "error absent" if theirs.errors.get(name).is_some_and(never_raised) => {
            difference.kind = "unused error absent".to_owned();
        }
        "entry added" | "view added" if theirs.other_public_functions.contains(name) => {
            difference.kind = format!(
                "{} made of a public function",
                difference.kind.trim_end_matches(" added")
            );
        }
        _ => {}
    }
}

/// A collector of differences.
#[derive(Default)]
struct Differences(Vec<Difference>);

impl Differences {
    fn check<T: PartialEq + fmt::Debug>(&mut self, kind: &str, item: &str, ours: &T, theirs: &T) {
        if ours != theirs {
            self.0.push(Difference {
                detail: format!(" (this framework {ours:?}, reference node {theirs:?})"),
                ..Difference::new(kind, item)
            });
        }
    }

    /// Compares two maps. `both` compares the items that are in both.
    fn each<T>(
        &mut self,
        kind: &str,
        module: &str,
        (ours, theirs): (&BTreeMap<String, T>, &BTreeMap<String, T>),
        both: impl Fn(&mut Self, &str, &T, &T),
    ) {
        for (name, theirs) in theirs {
            let item = format!("{module}::{name}");
            match ours.get(name) {
                Some(ours) => both(self, &item, ours, theirs),
                None => self
                    .0
                    .push(Difference::new(&format!("{kind} absent"), &item)),
            }
        }
        let added = ours.keys().filter(|name| !theirs.contains_key(*name));
        for name in added {
            self.0.push(Difference::new(
                &format!("{kind} added"),
                &format!("{module}::{name}"),
            ));
        }
    }

    fn structs(&mut self, item: &str, ours: &Struct, theirs: &Struct) {
        self.check("struct abilities", item, &ours.abilities, &theirs.abilities);
        self.check(
            "struct type parameters",
            item,
            &ours.type_params,
            &theirs.type_params,
        );
        self.check("struct is_event", item, &ours.is_event, &theirs.is_event);
        self.check("struct group", item, &ours.group, &theirs.group);
        self.check("enum variants", item, &ours.variants, &theirs.variants);
        self.fields(item, ours, theirs);
    }

    fn fields(&mut self, item: &str, ours: &Struct, theirs: &Struct) {
        fn find<'a>(fields: &'a [(String, String)], name: &str) -> Option<&'a String> {
            fields
                .iter()
                .find(|(field, _)| field == name)
                .map(|(_, of)| of)
        }
        for (name, theirs) in &theirs.fields {
            let item = format!("{item}.{name}");
            match find(&ours.fields, name) {
                Some(ours) => self.check("field type", &item, ours, theirs),
                None => self.0.push(Difference::new("field absent", &item)),
            }
        }
        let added = ours
            .fields
            .iter()
            .filter(|(name, _)| find(&theirs.fields, name).is_none());
        for (name, _) in added {
            self.0
                .push(Difference::new("field added", &format!("{item}.{name}")));
        }
        let common = |fields: &[(String, String)], others: &[(String, String)]| -> Vec<String> {
            let names = fields.iter().map(|(name, _)| name);
            names
                .filter(|name| find(others, name).is_some())
                .cloned()
                .collect()
        };
        let (order, reference) = (
            common(&ours.fields, &theirs.fields),
            common(&theirs.fields, &ours.fields),
        );
        self.check("field order", item, &order, &reference);
    }

    fn functions(&mut self, kind: &str, item: &str, ours: &Function, theirs: &Function) {
        let mut check = |aspect: &str, ours: &dyn fmt::Debug, theirs: &dyn fmt::Debug| {
            self.check(
                &format!("{kind} {aspect}"),
                item,
                &format!("{ours:?}"),
                &format!("{theirs:?}"),
            );
        };
        check("visibility", &ours.visibility, &theirs.visibility);
        check("type parameters", &ours.type_params, &theirs.type_params);
        check("parameters", &ours.params, &theirs.params);
        check("returns", &ours.returns, &theirs.returns);
    }

    fn errors(&mut self, item: &str, ours: &ErrorCodes, theirs: &ErrorCodes) {
        self.check("error value", item, &ours.value, &theirs.value);
        // This framework may raise the error with fewer categories, but not with others.
        if !ours.codes.is_subset(&theirs.codes) {
            self.check("error code", item, &ours.codes, &theirs.codes);
        }
    }
}

/// Returns the differences of `ours` from `theirs`.
pub fn compare(module: &str, ours: &Module, theirs: &Module) -> Vec<Difference> {
    let mut differences = Differences::default();
    differences.each(
        "struct",
        module,
        (&ours.structs, &theirs.structs),
        Differences::structs,
    );
    let (entries, views) = (
        (&ours.entry_functions, &theirs.entry_functions),
        (&ours.view_functions, &theirs.view_functions),
    );
    differences.each(
        "entry",
        module,
        entries,
        |differences, item, ours, theirs| {
            differences.functions("entry", item, ours, theirs);
        },
    );
    differences.each("view", module, views, |differences, item, ours, theirs| {
        differences.functions("view", item, ours, theirs);
    });
    differences.each(
        "error",
        module,
        (&ours.errors, &theirs.errors),
        Differences::errors,
    );
    let mut differences = differences.0;
    for difference in &mut differences {
        refine_kind(difference, module, theirs);
    }
    let callable = |name: &&String| {
        ours.entry_functions.contains_key(*name) || ours.view_functions.contains_key(*name)
    };
    let absent = theirs
        .other_public_functions
        .iter()
        .filter(|name| !callable(name));
    differences.extend(
        absent.map(|name| Difference::new("public function absent", &format!("{module}::{name}"))),
    );
    differences
}
