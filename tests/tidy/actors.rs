//! `docs/internals/actors.md` against the code: its tables of actors and messages, and the names
//! that it cites.

use super::root;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};
use syn::{Expr, GenericArgument, ImplItem, Item, ItemImpl, Lit, PathArguments, Type};

/// The page, from the root of the repository.
const PAGE: &str = "docs/internals/actors.md";

/// Directories of `actors/` and `src/` that only tests use.
const TEST_DIRECTORIES: [&str; 4] = ["benches", "simulation", "testing", "tests"];

/// Endings of words with a dot that are names of files, not of settings.
const FILE_ENDINGS: [&str; 7] = ["bcs", "log", "md", "redb", "rs", "tmp", "toml"];

/// A message as the code describes it.
#[derive(Default)]
struct Message {
    /// Name in metrics.
    label: String,
    /// Actors that handle it.
    receivers: BTreeSet<String>,
}

/// The actors that handle each message.
type Receivers = BTreeMap<String, BTreeSet<String>>;

#[test]
fn messages_are_those_of_the_code() {
    let code = messages_of_code().into_iter();
    let code = code.map(|(name, message)| (name, message.receivers));
    let differences = message_differences(&receivers_of_page(&page()), &code.collect());
    assert!(
        differences.is_empty(),
        "the table of messages in {PAGE} is not that of the code:\n{}",
        differences.join("\n")
    );
}

#[test]
fn labels_are_the_names_of_the_messages_in_snake_case() {
    for (name, Message { label, .. }) in messages_of_code() {
        let name = name.strip_suffix("<Q>").unwrap_or(&name);
        assert_eq!(label, snake_case(name), "the label of {name}");
    }
}

#[test]
fn actors_are_those_of_the_code() {
    let mut in_code = BTreeSet::new();
    for (file, text) in sources(&["actors"]) {
        let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
        for item in &parsed.items {
            if let Item::Impl(item) = item
                && implemented_trait(item).is_some_and(|(name, _)| name == "Actor")
            {
                let folder = file.trim_end_matches("mod.rs");
                in_code.insert((type_name(&item.self_ty).to_lowercase(), folder.to_owned()));
            }
        }
    }
    let rows = rows(&page(), "Owners");
    let in_table = rows.iter().map(|row| {
        let [actor, _, folder] = &row[..] else {
            panic!("not three cells: {row:?}");
        };
        (actor.clone(), unquoted(folder).to_owned())
    });
    assert_eq!(in_table.collect::<BTreeSet<_>>(), in_code, "{PAGE}");
}

#[test]
fn names_exist_in_the_code() {
    let page = page();
    let mut unknown: Vec<_> = quoted(&page).filter(|span| !CODE.knows(span)).collect();
    unknown.sort_unstable();
    unknown.dedup();
    assert!(
        unknown.is_empty(),
        "{PAGE} names what the code does not have:\n{}",
        unknown.join("\n")
    );
}

/// The decision record `docs/decisions/actix.md` counts on it.
#[test]
fn actix_is_named_in_the_runtime_only() {
    let mut wrong = Vec::new();
    for (file, text) in sources(&["actors"]) {
        let names_actix = |line: &&str| {
            let is_comment = line.trim_start().starts_with("//");
            !is_comment && line.contains("actix::") && !line.contains("#[actix::test]")
        };
        if !file.starts_with("actors/runtime/") {
            let lines = text.lines().filter(names_actix);
            wrong.extend(lines.map(|line| format!("{file}: {line}")));
        }
    }
    assert!(
        wrong.is_empty(),
        "outside of actors/runtime/:\n{}",
        wrong.join("\n")
    );
}

/// Returns one line for each difference between the table and the code.
fn message_differences(page: &Receivers, code: &Receivers) -> Vec<String> {
    let names: BTreeSet<_> = page.keys().chain(code.keys()).collect();
    let differing = names
        .into_iter()
        .filter(|name| page.get(*name) != code.get(*name));
    differing
        .map(|name| match (page.get(name), code.get(name)) {
            (None, Some(code)) => format!("no row: {name}, {code:?}"),
            (Some(_), None) => format!("no such message: {name}"),
            (page, code) => format!("{name}: {page:?} in the table, {code:?} in the code"),
        })
        .collect()
}

pub(super) fn page() -> String {
    let path = root().join(PAGE);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the cells of the first table of a section, without its two head lines.
pub(super) fn rows(page: &str, section: &str) -> Vec<Vec<String>> {
    let heading = format!("## {section}");
    let lines = page.lines().skip_while(|line| *line != heading);
    let table = lines
        .skip_while(|line| !line.starts_with('|'))
        .take_while(|line| line.starts_with('|'));
    let cells = |line: &str| {
        let line = line.trim_matches('|');
        line.split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    table.skip(2).map(cells).collect()
}

fn unquoted(cell: &str) -> &str {
    cell.trim_matches('`')
}

/// Reads the table of messages: name, and after the arrow the receivers.
///
/// # Panics
///
/// Panics if a message has two rows.
fn receivers_of_page(page: &str) -> Receivers {
    let mut messages = Receivers::new();
    for row in rows(page, "Messages") {
        let (_, receivers) = row[1].split_once(" -> ").unwrap_or_default();
        let receivers = receivers.split(", ").map(str::to_owned).collect();
        let before = messages.insert(unquoted(&row[0]).to_owned(), receivers);
        assert!(before.is_none(), "{} has two rows", row[0]);
    }
    messages
}

/// Returns the messages that declare a label, with the actors that handle them.
fn messages_of_code() -> BTreeMap<String, Message> {
    let mut messages = BTreeMap::<String, Message>::new();
    for (name, text) in sources(&["actors"]) {
        let file = syn::parse_file(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        for item in &file.items {
            let Item::Impl(item) = item else { continue };
            let Some((name, arguments)) = implemented_trait(item) else {
                continue;
            };
            let implementor = type_name(&item.self_ty);
            match (name.as_str(), arguments.as_slice()) {
                ("ActorMessage", []) => {
                    messages.entry(implementor).or_default().label = label(item);
                }
                ("Handler", [message]) => {
                    let receivers = &mut messages.entry(message.clone()).or_default().receivers;
                    receivers.insert(implementor.to_lowercase());
                }
                _ => {}
            }
        }
    }
    messages
}

/// Returns the name of the trait that is implemented, unless it is named with the crate that it is
/// of, and its type arguments.
fn implemented_trait(item: &ItemImpl) -> Option<(String, Vec<String>)> {
    let (path, _) = item.trait_.as_ref()?;
    if path.segments.len() != 1 {
        return None;
    }
    let last = path.segments.first()?;
    Some((last.ident.to_string(), type_arguments(&last.arguments)))
}

/// Returns the name of a type with its type arguments, without the path to it: `Read<Q>`.
fn type_name(named: &Type) -> String {
    let Type::Path(named) = named else {
        return String::new();
    };
    let last = named.path.segments.last().unwrap();
    let arguments = type_arguments(&last.arguments);
    if arguments.is_empty() {
        return last.ident.to_string();
    }
    format!("{}<{}>", last.ident, arguments.join(", "))
}

fn type_arguments(arguments: &PathArguments) -> Vec<String> {
    let PathArguments::AngleBracketed(arguments) = arguments else {
        return Vec::new();
    };
    let types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(argument) => Some(type_name(argument)),
        _ => None,
    });
    types.collect()
}

/// Returns the name of a type in snake case: `set_paused` for `SetPaused`.
fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

/// Returns the label that an implementation of `ActorMessage` declares.
fn label(item: &ItemImpl) -> String {
    let value = item.items.iter().find_map(|item| match item {
        ImplItem::Const(item) if item.ident == "LABEL" => Some(&item.expr),
        _ => None,
    });
    match value {
        Some(Expr::Lit(literal)) => match &literal.lit {
            Lit::Str(label) => label.value(),
            _ => panic!("a label is a string"),
        },
        _ => panic!("a message declares its label as a literal"),
    }
}

/// Returns the paths from the root and the texts of the Rust files of directories, without those
/// that only tests use.
pub(super) fn sources(directories: &[&str]) -> Vec<(String, String)> {
    let files = directories
        .iter()
        .flat_map(|directory| files_below(&root().join(directory)));
    let files = files.filter(|path| {
        let path = path.strip_prefix(root()).unwrap();
        let mut parts = path.iter().filter_map(|part| part.to_str());
        path.extension().is_some_and(|end| end == "rs")
            && !path.ends_with("tests.rs")
            && !parts.any(|part| TEST_DIRECTORIES.contains(&part))
    });
    let read = |path: PathBuf| {
        let name = path.strip_prefix(root()).unwrap().display().to_string();
        (name, fs::read_to_string(path).unwrap())
    };
    files.map(read).collect()
}

/// Returns all files below a directory, without those of builds.
fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if !path.is_dir() {
                files.push(path);
            } else if !path.ends_with("target") && !path.ends_with("node_modules") {
                directories.push(path);
            }
        }
    }
    files
}

/// Returns the spans in backticks of the page that do not cross a line.
pub(super) fn quoted(page: &str) -> impl Iterator<Item = &str> {
    let outside_of_diagrams = page.split("```").step_by(2).flat_map(str::lines);
    outside_of_diagrams.flat_map(|line| line.split('`').skip(1).step_by(2))
}

/// The names that the code has, read once.
pub(super) static CODE: LazyLock<Code> = LazyLock::new(Code::read);

/// The names that the code has.
pub(super) struct Code {
    words: BTreeSet<String>,
    settings: BTreeSet<String>,
}

impl Code {
    /// Reads sources and settings.
    fn read() -> Self {
        let mut words = BTreeSet::new();
        for directory in ["actors", "config", "src", "tests"] {
            for path in files_below(&root().join(directory)) {
                // The patches of mutations and the documents do not declare names.
                if path
                    .extension()
                    .is_some_and(|end| end == "rs" || end == "toml" || end == "py")
                {
                    let text = fs::read_to_string(path).unwrap();
                    let found = text.split(|character| !is_word(character));
                    words.extend(found.map(str::to_owned));
                }
            }
        }
        let text = fs::read_to_string(root().join("config/node.toml")).unwrap();
        let mut settings = BTreeSet::new();
        collect_keys(&text.parse().unwrap(), "", &mut settings);
        Self { words, settings }
    }

    /// Returns whether a name is that of a setting, or of a section of settings.
    pub(super) fn is_setting(&self, name: &str) -> bool {
        self.settings.contains(name)
    }

    /// Returns whether a span in backticks is a path of the repository, a setting, or made of words
    /// that occur in the code.
    pub(super) fn knows(&self, span: &str) -> bool {
        if span.contains('/') && !span.starts_with('/') && !span.contains(' ') {
            // `invariants.rs` checks the name of a test after a path.
            let path = span.split("::").next().unwrap_or_default();
            return root().join(path).exists();
        }
        let is_of_setting =
            |character: char| character.is_ascii_lowercase() || "._".contains(character);
        let is_file = FILE_ENDINGS
            .iter()
            .any(|ending| span.ends_with(&format!(".{ending}")));
        if span.contains('.') && span.chars().all(is_of_setting) && !is_file {
            return self.is_setting(span);
        }
        let words = span.split(|character| !is_word(character));
        words
            .filter(|word| !word.is_empty())
            .all(|word| self.words.contains(word))
    }
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Collects the keys of a table, with those of the tables in it.
fn collect_keys(table: &toml::Table, prefix: &str, keys: &mut BTreeSet<String>) {
    for (key, value) in table {
        let key = format!("{prefix}{key}");
        if let Some(table) = value.as_table() {
            collect_keys(table, &format!("{key}."), keys);
        }
        keys.insert(key);
    }
}

/// A page with a table of two messages.
const SMALL_PAGE: &str = "\
## Messages

| message | from -> to | answer |
|---|---|---|
| `Submit` | handle -> mempool | oneshot |
| `SetPaused` | storage -> mempool, pruner | - |

## Next
| `Other` | one -> two | - |
";

#[test]
fn reads_the_rows_of_the_table_of_messages() {
    let receivers = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let expected = [
        ("SetPaused".to_owned(), receivers(&["mempool", "pruner"])),
        ("Submit".to_owned(), receivers(&["mempool"])),
    ];
    assert_eq!(receivers_of_page(SMALL_PAGE), Receivers::from(expected));
}

#[test]
fn reports_a_missing_row_an_extra_row_and_a_changed_row() {
    let code = receivers_of_page(SMALL_PAGE);
    let without = |start: &str| -> String {
        let lines = SMALL_PAGE.lines().filter(|line| !line.starts_with(start));
        lines.map(|line| format!("{line}\n")).collect()
    };
    let missing = receivers_of_page(&without("| `Submit`"));
    assert_eq!(message_differences(&code, &code).len(), 0);
    let [row] = &message_differences(&missing, &code)[..] else {
        panic!("one row is missing");
    };
    assert!(row.starts_with("no row: Submit"), "{row}");
    assert_eq!(
        message_differences(&code, &missing),
        ["no such message: Submit"]
    );
    let changed = receivers_of_page(&SMALL_PAGE.replace("mempool, pruner", "mempool"));
    let [row] = &message_differences(&changed, &code)[..] else {
        panic!("one row differs");
    };
    assert!(row.starts_with("SetPaused: "), "{row}");
}
