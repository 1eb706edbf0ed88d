//! The table of verdicts in docs/internals/execution.md.

use ledger_execution::Effect;
use ledger_types::ValidationStatus;
use std::{fs, path::Path};

/// Returns the words of the page for an effect.
fn words(effect: Effect) -> String {
    match effect {
        Effect::Never(reason) => format!("`never`, `{}`", snake_case(&format!("{reason:?}"))),
        Effect::Blocked(cause) => format!("`blocked`, `{}`", snake_case(&format!("{cause:?}"))),
        Effect::WaitsForSequenceNumber => "`can_commit`, waits for `sequence_number`".to_owned(),
        Effect::WaitsForFunds => "`can_commit`, waits for `funds`".to_owned(),
    }
}

fn snake_case(name: &str) -> String {
    let mut text = String::new();
    for character in name.chars() {
        if character.is_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.extend(character.to_lowercase());
    }
    text
}

/// Prints the rows of the page: each effect with its statuses, in the order of their codes.
fn rows() -> String {
    let mut rows: Vec<(Effect, Vec<String>)> = Vec::new();
    for status in (0..=1_000).filter_map(ValidationStatus::from_code) {
        let name = format!("`{}`", status.name());
        let of_status = Effect::of(status);
        match rows.iter_mut().find(|(effect, _)| *effect == of_status) {
            Some((_, names)) => names.push(name),
            None => rows.push((of_status, vec![name])),
        }
    }
    let row = |(effect, names): &(Effect, Vec<String>)| {
        format!("| {} | {} |\n", words(*effect), names.join(", "))
    };
    rows.iter().map(row).collect()
}

#[test]
fn the_documented_table_has_the_effect_of_every_status() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let document = fs::read_to_string(repository.join("docs/internals/execution.md")).unwrap();
    let table = format!("| verdict | statuses |\n|---|---|\n{}\n", rows());
    assert!(
        document.contains(&table),
        "docs/internals/execution.md does not have the table\n{table}"
    );
}
