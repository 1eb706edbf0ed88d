//! Differences between the effects of one step on two nodes.

use super::effects::{Change, Effects, Event, Place};
use ledger_test_support::differences::Difference;
use serde_json::{Map, Value};
use std::{collections::BTreeMap, fmt::Display};

/// Returns the differences of `ours` from `theirs` in a step.
pub fn compare(step: &str, ours: &Effects, theirs: &Effects) -> Vec<Difference> {
    let mut differences = Differences {
        step,
        found: Vec::new(),
    };
    if ours.status != theirs.status {
        differences.push(
            "status",
            &ours.status,
            format!(" (reference node {:?})", theirs.status),
        );
    }
    differences.events(&ours.events, &theirs.events);
    differences.changes(&ours.changes, &theirs.changes);
    differences.found
}

/// A collector of the differences in one step.
struct Differences<'a> {
    step: &'a str,
    found: Vec<Difference>,
}

impl Differences<'_> {
    fn push(&mut self, kind: &str, item: &str, detail: String) {
        self.found.push(Difference {
            step: self.step.to_owned(),
            detail,
            ..Difference::new(kind, item)
        });
    }

    fn check(&mut self, kind: &str, item: impl Display, ours: &Value, theirs: &Value) {
        if ours != theirs {
            let detail = format!(" (this node {ours}, reference node {theirs})");
            self.push(kind, &item.to_string(), detail);
        }
    }

    /// Compares the n-th event of each type with the n-th event of that type.
    fn events(&mut self, ours: &[Event], theirs: &[Event]) {
        let common = |events: &[Event], others: &[Event]| -> Vec<String> {
            let mut left: Vec<&str> = others.iter().map(|event| &*event.r#type).collect();
            let mut both = Vec::new();
            for event in events {
                if let Some(found) = left.iter().position(|r#type| *r#type == event.r#type) {
                    left.swap_remove(found);
                    both.push(event.r#type.clone());
                }
            }
            both
        };
        let (ours_types, theirs_types) = (common(ours, theirs), common(theirs, ours));
        self.check("event order", "", &ours_types.into(), &theirs_types.into());
        let (ours, theirs) = (by_type(ours), by_type(theirs));
        let none = Vec::new();
        for (r#type, theirs) in &theirs {
            let ours = ours.get(r#type).unwrap_or(&none);
            for data in theirs.iter().skip(ours.len()) {
                let detail = format!(" (reference node {data})");
                self.push("event absent", r#type, detail);
            }
            for (ours, theirs) in ours.iter().zip(theirs) {
                match (ours, theirs) {
                    (Value::Object(ours), Value::Object(theirs)) => {
                        self.fields("event field", r#type, ours, theirs);
                    }
                    (ours, theirs) => self.check("event data", r#type, ours, theirs),
                }
            }
        }
        for (r#type, ours) in &ours {
            let theirs = theirs.get(r#type).unwrap_or(&none);
            for data in &ours[theirs.len().min(ours.len())..] {
                self.push("event added", r#type, format!(" ({data})"));
            }
        }
    }

    fn changes(&mut self, ours: &[Change], theirs: &[Change]) {
        let common = |changes: &[Change], others: &[Change]| -> Value {
            let places = changes.iter().map(|change| &change.place);
            let is_common = |place: &&Place| others.iter().any(|other| other.place == **place);
            let names = places.filter(is_common).map(ToString::to_string);
            names.collect()
        };
        self.check(
            "change order",
            "",
            &common(ours, theirs),
            &common(theirs, ours),
        );
        for theirs in theirs {
            let place = theirs.place.to_string();
            let Some(ours) = ours.iter().find(|ours| ours.place == theirs.place) else {
                let detail = format!(" (reference node {})", value_of(theirs));
                self.push("change absent", &place, detail);
                continue;
            };
            match (&ours.fields, &theirs.fields) {
                (Some(ours), Some(theirs)) => self.fields("field", &place, ours, theirs),
                _ => self.check("change kind", &place, &value_of(ours), &value_of(theirs)),
            }
            let (ours, theirs) = (&*ours.slot, &*theirs.slot);
            self.check("slot", &place, &ours.into(), &theirs.into());
        }
        for ours in ours {
            if !theirs.iter().any(|theirs| theirs.place == ours.place) {
                let detail = format!(" ({})", value_of(ours));
                self.push("change added", &ours.place.to_string(), detail);
            }
        }
    }

    fn fields(
        &mut self,
        kind: &str,
        item: &str,
        ours: &Map<String, Value>,
        theirs: &Map<String, Value>,
    ) {
        let names = theirs
            .keys()
            .chain(ours.keys().filter(|name| !theirs.contains_key(*name)));
        for name in names {
            let value = |fields: &Map<String, Value>| fields.get(name).cloned();
            let absent = || Value::from("absent");
            self.check(
                kind,
                format_args!("{item}.{name}"),
                &value(ours).unwrap_or_else(absent),
                &value(theirs).unwrap_or_else(absent),
            );
        }
    }
}

fn by_type(events: &[Event]) -> BTreeMap<&str, Vec<Value>> {
    let mut types: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for event in events {
        let of_type = types.entry(&event.r#type).or_default();
        of_type.push(event.data.clone());
    }
    types
}

fn value_of(change: &Change) -> Value {
    change
        .fields
        .clone()
        .map_or_else(|| "deleted".into(), Value::Object)
}
