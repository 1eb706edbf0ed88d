//! Runs every input of the fuzzer's corpus through its target.
//!
//! So `cargo test` fails if a defect that fuzzing has found returns. `run.sh` runs the fuzzer.

mod targets;

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
        let directory = corpus.join(target.name);
        let mut input_count = 0;
        for input in fs::read_dir(&directory)
            .unwrap_or_else(|error| panic!("{}: {error}", directory.display()))
        {
            let path = input.unwrap().path();
            // The test harness prints this only if the test fails.
            println!("{}", path.display());
            (target.run)(&fs::read(&path).unwrap());
            input_count += 1;
        }
        assert!(input_count > 0, "{} has no inputs", directory.display());
    }
}
