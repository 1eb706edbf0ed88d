//! Runs every input of the fuzzer's corpus through its target.
//!
//! So `cargo test` fails if a defect that fuzzing has found returns. `run.sh` runs the fuzzer.

mod targets;

use base64::{Engine, prelude::BASE64_STANDARD};
use std::{fs, path::Path};
use targets::TARGETS;

#[test]
#[expect(
    clippy::print_stdout,
    reason = "the last line of a failed test names its input"
)]
fn every_corpus_input_satisfies_its_target() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus");
    for target in TARGETS {
        let path = corpus.join(format!("{}.txt", target.name));
        let text =
            fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut input_count = 0;
        for (line, number) in text.lines().zip(1..) {
            if line.starts_with('#') {
                continue;
            }
            // The test harness prints this only if the test fails.
            println!("{}:{number}", path.display());
            (target.run)(&BASE64_STANDARD.decode(line).unwrap());
            input_count += 1;
        }
        assert!(input_count > 0, "{} has no inputs", path.display());
    }
}
