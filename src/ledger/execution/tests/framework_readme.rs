//! The excerpts in the README of the framework are up to date: the named file contains each of
//! them.

use std::{fs, path::Path};

/// Marks omitted lines in an excerpt.
const OMISSION: &str = "// ...\n";

/// An excerpt of Rust code, and the file that the README names for it.
struct Excerpt<'a> {
    file: &'a str,
    code: &'a str,
}

/// Returns the excerpts. Each follows a line with only a path and a colon, and an empty line.
fn excerpts(readme: &str) -> Vec<Excerpt<'_>> {
    let blocks = readme.split("```rust\n").collect::<Vec<_>>();
    blocks
        .windows(2)
        .map(|pair| {
            let label = pair[0].trim_end().lines().last().unwrap();
            let file = label
                .strip_prefix('`')
                .and_then(|rest| rest.strip_suffix("`:"))
                .unwrap_or_else(|| panic!("an excerpt after {label:?} names no file"));
            let code = pair[1].split("```").next().unwrap();
            Excerpt { file, code }
        })
        .collect()
}

#[test]
fn finds_every_readme_excerpt_in_its_file() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../framework");
    let readme = fs::read_to_string(directory.join("README.md")).unwrap();
    let excerpts = excerpts(&readme);
    assert!(excerpts.len() >= 6, "there are only {}", excerpts.len());
    for excerpt in excerpts {
        let source = fs::read_to_string(directory.join(excerpt.file)).unwrap();
        let mut rest = source.as_str();
        for part in excerpt.code.split(OMISSION) {
            let Some((_, remainder)) = rest.split_once(part.trim_end()) else {
                panic!(
                    "{} does not contain this part, or not in this order:\n{part}",
                    excerpt.file
                );
            };
            rest = remainder;
        }
    }
}
