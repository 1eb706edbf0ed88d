//! Links of documents, and paths that comments cite.
//!
//! A link to a file of the repository leads to that file and, in a document, to one of its anchors.
//! A link to another host is checked by its form only.

use super::{
    citations::{anchors_of, citing_files},
    root,
};
use std::{
    fs,
    path::{Component, Path, PathBuf},
};

/// Directories at the root whose files comments cite by their whole path.
const ROOTS: [&str; 8] = [
    ".ci/",
    "actors/",
    "benches/",
    "config/",
    "docs/",
    "examples/",
    "src/",
    "tests/",
];

/// Extensions of files that comments cite.
const CITED: [&str; 12] = [
    "html", "js", "json", "lua", "md", "mjs", "patch", "py", "rs", "sh", "toml", "yml",
];

#[test]
fn links_lead_to_a_file_and_an_anchor_or_are_well_formed() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for document in files_with_extension("md") {
        let text = fs::read_to_string(&document).unwrap();
        for (line, link) in links(&text) {
            count += 1;
            if let Err(reason) = check(&link, &document, &text) {
                wrong.push(format!("{}:{line}: {link}: {reason}", name_of(&document)));
            }
        }
    }
    assert!(count > 100, "only {count} links were found");
    assert!(wrong.is_empty(), "wrong links:\n{}", wrong.join("\n"));
}

#[test]
fn comments_cite_existing_paths() {
    let mut wrong = Vec::new();
    for file in files_with_extension("rs") {
        let text = fs::read_to_string(&file).unwrap();
        for (number, line) in (1..).zip(text.lines()) {
            let paths = cited_paths(line).filter(|path| !exists_beside_or_above(path, &file));
            wrong.extend(paths.map(|path| format!("{}:{number}: {path}", name_of(&file))));
        }
    }
    assert!(
        wrong.is_empty(),
        "comments cite files that do not exist:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn alerts_lead_to_the_section_that_says_what_to_do() {
    let rules = fs::read_to_string(root().join("config/alerts.yml")).unwrap();
    let values = |name: &'static str| {
        let lines = rules.lines().map(str::trim_start);
        lines.filter_map(move |line| line.strip_prefix(name))
    };
    // The guides are written from the root of the repository.
    let document = root().join("README.md");
    let wrong: Vec<_> = values("guide: ")
        .filter(|guide| check(guide, &document, "").is_err())
        .collect();
    assert_eq!(wrong, [] as [&str; 0]);
    let alerts = values("- alert: ").count();
    assert!(alerts > 20, "{alerts} alerts");
    for name in ["guide: ", "summary: ", "description: "] {
        assert_eq!(values(name).count(), alerts, "{name}");
    }
}

/// Returns the files of the repository with this extension.
fn files_with_extension(extension: &str) -> impl Iterator<Item = PathBuf> {
    let files = citing_files().into_iter();
    files.filter(move |path| path.extension().is_some_and(|end| end == extension))
}

/// Returns the path of a file from the root of the repository.
fn name_of(file: &Path) -> String {
    file.strip_prefix(root()).unwrap().display().to_string()
}

/// Returns the targets of the links of a Markdown document with their lines: inline links, images,
/// definitions of references, addresses in angle brackets, and attributes of HTML. Code has none.
fn links(document: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut is_code = false;
    for (number, line) in (1..).zip(document.lines()) {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            // Spans of code are at the odd positions. They stay in the text of a link only.
            let line: String = line.split('`').step_by(2).collect::<Vec<_>>().join("_");
            found.extend(targets(&line).map(|target| (number, target)));
        }
    }
    found
}

/// Returns the targets of the links in a line without code.
fn targets(line: &str) -> impl Iterator<Item = String> {
    let inline = line.split("](").skip(1).map(|rest| {
        let mut depth = 0;
        let end = rest.find(|character| {
            depth += i32::from(character == '(') - i32::from(character == ')');
            depth < 0
        });
        end.map_or(rest, |end| &rest[..end])
    });
    let definition = line
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("]: "))
        .map(|(_, target)| target);
    let in_brackets = line.split('<').skip(1).filter_map(|rest| {
        let (target, _) = rest.split_once('>')?;
        target.starts_with("http").then_some(target)
    });
    let attributes = ["href=\"", "src=\""].into_iter().flat_map(|attribute| {
        let values = line.split(attribute).skip(1);
        values.map(|rest| rest.split('"').next().unwrap_or_default())
    });
    let all = inline.chain(definition).chain(in_brackets);
    let all: Vec<_> = all.chain(attributes).map(without_title).collect();
    all.into_iter()
}

/// Returns the target of a link without its title and its angle brackets.
fn without_title(link: &str) -> String {
    let target = link.split(" \"").next().unwrap_or_default().trim();
    target.trim_matches(['<', '>']).to_owned()
}

/// Checks a link of a document with this text.
///
/// # Errors
///
/// Returns the reason if the link is wrong.
fn check(link: &str, document: &Path, text: &str) -> Result<(), &'static str> {
    if let Some((scheme, rest)) = link.split_once("://") {
        return check_address(scheme, rest);
    }
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    if path.is_empty() {
        return has_anchor(text, anchor);
    }
    let target = resolve(document, path).ok_or("it leaves the repository")?;
    if !target.exists() {
        return Err("no such file");
    }
    if anchor.is_empty() {
        return Ok(());
    }
    if target.extension().is_none_or(|end| end != "md") {
        return Err("only documents have anchors");
    }
    has_anchor(&fs::read_to_string(&target).unwrap(), anchor)
}

/// Checks the form of a link to another host.
fn check_address(scheme: &str, rest: &str) -> Result<(), &'static str> {
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let is_of_machine = host.starts_with("127.0.0.1") || host.starts_with("localhost");
    if scheme != "https" && !(scheme == "http" && is_of_machine) {
        return Err("the scheme is not https");
    }
    let is_label = |label: &str| {
        let mut characters = label.chars();
        !label.is_empty()
            && characters.all(|character| character.is_alphanumeric() || character == '-')
    };
    let is_name = host.contains('.') && host.split('.').all(is_label);
    if !(is_of_machine || is_name) {
        return Err("no host");
    }
    if path
        .contains(|character: char| character.is_whitespace() || "\"<>\\^`{|}".contains(character))
        || path.ends_with(['.', ',', ';'])
    {
        return Err("a character that an address does not have");
    }
    Ok(())
}

/// Checks that a document has an anchor.
fn has_anchor(document: &str, anchor: &str) -> Result<(), &'static str> {
    if anchors_of(document).contains(anchor) {
        Ok(())
    } else {
        Err("no such anchor")
    }
}

/// Returns the file that a relative link of `document` leads to, or `None` if it is outside of the
/// repository.
fn resolve(document: &Path, link: &str) -> Option<PathBuf> {
    let mut path = document.parent()?.to_owned();
    for component in Path::new(link).components() {
        match component {
            Component::Normal(name) => path.push(name),
            Component::ParentDir => {
                path.pop();
            }
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    path.starts_with(root()).then_some(path)
}

/// Returns the paths that a line of code cites in its comment. A path with a pattern is not one.
fn cited_paths(line: &str) -> impl Iterator<Item = &str> {
    let comment = line.trim_start().strip_prefix("//").unwrap_or_default();
    let is_part = |character: char| character.is_alphanumeric() || "_./-{},*".contains(character);
    let words = comment.split(move |character| !is_part(character));
    let words = words.map(|word| word.trim_end_matches(['.', ',']));
    words.filter(|word| {
        let name = word.rsplit('/').next().unwrap_or_default();
        let extension = name.rsplit_once('.').map_or("", |(_, end)| end);
        let is_pattern = word.contains(['{', '*', ',']);
        let is_relative = word.contains('/') && !word.starts_with('/') && !word.contains("//");
        let is_of_root = ROOTS.iter().any(|start| word.starts_with(start));
        is_relative && !is_pattern && (is_of_root || CITED.contains(&extension))
    })
}

/// Returns whether a path leads to a file from the directory of `file` or from one above it, up to
/// the root of the repository.
fn exists_beside_or_above(path: &str, file: &Path) -> bool {
    let above = file.ancestors().skip(1);
    let mut above = above.take_while(|directory| directory.starts_with(root()));
    above.any(|directory| directory.join(path).exists())
}

#[test]
fn reads_the_links_of_a_document() {
    let document = "# T\n\
                    [a](../b.md#c) and ![d](e/f.svg \"title\") `[g](h)`\n\
                    [the\n`x`](i_(j).md)\n\
                    ```\n[k](l)\n```\n\
                    [m]: https://n.example/o\n\
                    <https://p.example> <img src=\"q.png\">";
    let expected = [
        (2, "../b.md#c"),
        (2, "e/f.svg"),
        (4, "i_(j).md"),
        (8, "https://n.example/o"),
        (9, "https://p.example"),
        (9, "q.png"),
    ];
    let expected = expected.map(|(line, target)| (line, target.to_owned()));
    assert_eq!(links(document), expected);
}

#[test]
fn rejects_links_that_lead_nowhere() {
    let document = root().join("docs/internals/testing.md");
    let rows = [
        ("../use/promises.md", Ok(())),
        ("../use/promises.md#p1", Ok(())),
        ("#kinds", Ok(())),
        ("../../tests", Ok(())),
        ("https://host.example/path?query=1", Ok(())),
        ("http://127.0.0.1:8080/v1", Ok(())),
        ("../use/absent.md", Err("no such file")),
        ("../use/promises.md#p0", Err("no such anchor")),
        ("#absent", Err("no such anchor")),
        ("/docs", Err("it leaves the repository")),
        ("../../../outside.md", Err("it leaves the repository")),
        ("../../Cargo.toml#L1", Err("only documents have anchors")),
        ("http://host.example", Err("the scheme is not https")),
        ("https://host", Err("no host")),
        ("https://host..example/", Err("no host")),
        (
            "https://host.example/a b",
            Err("a character that an address does not have"),
        ),
    ];
    for (link, expected) in rows {
        assert_eq!(check(link, &document, "# Kinds"), expected, "{link}");
    }
}

#[test]
fn reads_the_paths_that_a_comment_cites() {
    let comment =
        "    /// See `wal/mod.rs`, src/store/{a,b}.rs, tests/it. https://host.example/x.rs or a/b";
    let found: Vec<_> = cited_paths(comment).collect();
    assert_eq!(found, ["wal/mod.rs", "tests/it"]);
    assert_eq!(cited_paths("let path = \"wal/mod.rs\";").count(), 0);
    let file = root().join("src/store/write/commit.rs");
    assert!(exists_beside_or_above("wal/mod.rs", &file));
    assert!(!exists_beside_or_above("wal/absent.rs", &file));
}
