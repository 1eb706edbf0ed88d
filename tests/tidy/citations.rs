//! Citations of documents: each leads to a file of the repository, and to an anchor of it.
//!
//! A citation is a path from the root of the repository, or from the directory of the citing file,
//! with or without an anchor: `docs/use/interface.md#pruned-reads`.

use super::root;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs, iter,
    path::{Path, PathBuf},
};

/// Extensions of files whose text is searched.
const CITING: [&str; 11] = [
    "css", "html", "js", "md", "mjs", "mts", "py", "rs", "sh", "toml", "ts",
];

/// Directories without text of our own.
const SKIPPED: [&str; 4] = ["corpus", "node_modules", "proptest-regressions", "target"];

/// Hidden directories with templates and workflows of a forge.
const FORGES: [&str; 4] = [".forgejo", ".gitea", ".github", ".gitlab"];

/// Series of published standards, whose sections are cited by number.
const STANDARDS: [&str; 2] = ["RFC", "FIPS"];

/// Number of words before the number of a section among which the standard is named.
const NAMED_WITHIN_WORDS: usize = 8;

#[test]
fn citations_lead_to_a_document_and_an_anchor() {
    let mut anchors = BTreeMap::new();
    let mut wrong = Vec::new();
    for path in citing_files() {
        let text = fs::read_to_string(&path).unwrap();
        // In code, a path that begins with `..` is one that the program opens.
        let is_document = path.extension().is_some_and(|end| end == "md");
        for (number, line) in text.lines().enumerate() {
            for citation in citations(line) {
                if !is_document && citation.starts_with("..") {
                    continue;
                }
                if !leads_to_an_anchor(citation, &path, &mut anchors) {
                    let name = path.strip_prefix(root()).unwrap().display();
                    wrong.push(format!("{name}:{}: {citation}", number + 1));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "citations that lead nowhere:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn code_cites_sections_by_number_in_standards_only() {
    let mut wrong = Vec::new();
    for path in citing_files()
        .into_iter()
        .filter(|path| path.extension().is_some_and(|end| end == "rs"))
    {
        let name = path.strip_prefix(root()).unwrap().display().to_string();
        let text = fs::read_to_string(&path).unwrap();
        wrong.extend(sections_without_standard(&text).map(|section| format!("{name}: {section}")));
    }
    assert!(
        wrong.is_empty(),
        "cite a path with an anchor instead:\n{}",
        wrong.join("\n")
    );
}

/// Returns the numbers of sections that are cited without the name of a standard. A citation may be
/// broken over two lines of a comment.
fn sections_without_standard(text: &str) -> impl Iterator<Item = String> {
    let words: Vec<_> = text
        .split_whitespace()
        .filter(|word| !word.starts_with("//"))
        .collect();
    let is_section = |word: &str| {
        let word = word.trim_start_matches(|character: char| !character.is_alphanumeric());
        ["section", "sections", "Section", "Sections"].contains(&word)
    };
    let is_number = |word: &str| word.starts_with(|character: char| character.is_ascii_digit());
    let cited = words
        .windows(2)
        .enumerate()
        .filter(|(_, pair)| is_section(pair[0]) && is_number(pair[1]));
    let unnamed = cited.filter(|(index, _)| {
        let before = &words[index.saturating_sub(NAMED_WITHIN_WORDS)..*index];
        !before
            .iter()
            .any(|word| STANDARDS.iter().any(|standard| word.contains(standard)))
    });
    let found: Vec<_> = unnamed.map(|(_, pair)| pair.join(" ")).collect();
    found.into_iter()
}

#[test]
fn finds_sections_without_a_standard() {
    // Not written out, because the test above reads this file too.
    let cited = |number: u8| format!("section {number}");
    let of_standard = format!("/// A header (RFC 9113,\n/// {}).", cited(5));
    let of_page = format!(
        "/// A rule of the page of design decisions, its\n/// {} of 'two'.",
        cited(8)
    );
    assert_eq!(sections_without_standard(&of_standard).count(), 0);
    let found: Vec<_> = sections_without_standard(&of_page).collect();
    assert_eq!(found, [cited(8)]);
}

/// Returns the files of the repository that may cite documents.
pub(super) fn citing_files() -> Vec<PathBuf> {
    let mut files = vec![root().join(".ci/run")];
    let mut directories = vec![root().to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() {
                let is_read = !name.starts_with('.') || FORGES.contains(&name);
                if is_read && !SKIPPED.contains(&name) {
                    directories.push(path);
                }
            } else if path
                .extension()
                .is_some_and(|end| CITING.iter().any(|citing| end == *citing))
            {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// Returns the words of a line that are paths of documents. The text of a link is
/// ignored, because the link contains the path.
fn citations(line: &str) -> impl Iterator<Item = &str> {
    let is_part = |character: char| character.is_alphanumeric() || "_./#-".contains(character);
    let without_text = |part| str::split_once(part, "](").map_or(part, |(_, rest)| rest);
    let parts = line.split('[').map(without_text);
    let words = parts.flat_map(move |part| part.split(move |character| !is_part(character)));
    let words = words.map(|word| word.trim_end_matches('.'));
    words.filter(|word| {
        let path = word.split('#').next().unwrap();
        // Two slashes are the rest of an address of another host.
        path.len() > ".md".len() && path.ends_with(".md") && !path.starts_with("//")
    })
}

/// Returns whether a citation in a file leads to a document and, if it names one, to an anchor of
/// it.
fn leads_to_an_anchor(
    citation: &str,
    citing: &Path,
    anchors: &mut BTreeMap<PathBuf, BTreeSet<String>>,
) -> bool {
    let (path, anchor) = citation.split_once('#').unwrap_or((citation, ""));
    let candidates = [citing.parent().unwrap().join(path), root().join(path)];
    let Some(document) = candidates.into_iter().find(|candidate| candidate.is_file()) else {
        return false;
    };
    let read = |document: &PathBuf| anchors_of(&fs::read_to_string(document).unwrap());
    let known = anchors
        .entry(document.clone())
        .or_insert_with(|| read(&document));
    anchor.is_empty() || known.contains(anchor)
}

/// Returns the anchors of a Markdown document: of its headings, and those set by `<a id="...">`. A
/// heading that repeats an earlier one has the anchor of that with a number.
pub(super) fn anchors_of(document: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    // A comment in a block of code may begin with `#` too.
    let text = document.split("```").step_by(2).flat_map(str::lines);
    for heading in text.clone().filter(|line| line.starts_with('#')) {
        let slug = slug(heading);
        let numbered = (1..).map(|number| format!("{slug}-{number}"));
        let mut names = iter::once(slug.clone()).chain(numbered);
        let free = names.find(|name| !anchors.contains(name));
        anchors.extend(free);
    }
    let set = text.flat_map(|line| line.split("<a id=\"").skip(1));
    anchors.extend(set.map(|rest| rest.split('"').next().unwrap().to_owned()));
    anchors
}

/// Returns the anchor of a heading.
fn slug(heading: &str) -> String {
    let title = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = title
        .chars()
        .filter(|character| character.is_alphanumeric() || "_- ".contains(*character));
    kept.map(|character| if character == ' ' { '-' } else { character })
        .collect()
}

#[test]
fn reads_the_citations_of_a_line() {
    let line = "[text.md](docs/use/interface.md#invalid-values), see [`docs/use/promises.md`]. \
                https://host.example/x.md or a.mdx, .md";
    let found: Vec<_> = citations(line).collect();
    assert_eq!(
        found,
        [
            "docs/use/interface.md#invalid-values",
            "docs/use/promises.md"
        ]
    );
}

#[test]
fn anchors_are_those_of_headings_and_of_ids() {
    let document = "# Interface rules\n<a id=\"f1\"></a>\n### F1. What `x_y` does\ntext # no heading\n\
         ```sh\n# no heading\n```\n## Interface rules";
    let expected = [
        "f1",
        "f1-what-x_y-does",
        "interface-rules",
        "interface-rules-1",
    ]
    .map(str::to_owned);
    assert_eq!(anchors_of(document), BTreeSet::from(expected));
}
