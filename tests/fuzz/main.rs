//! Runs every input of the fuzzer's corpus through its target, so that `cargo test` covers the
//! inputs that fuzzing has found. `run.sh` beside this file runs the fuzzer.

mod targets;

use std::{fs, path::Path};
use targets::TARGETS;

#[test]
#[expect(
    clippy::print_stdout,
    reason = "the last line names the input that fails"
)]
fn no_input_of_the_corpus_breaks_its_target() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus");
    for target in TARGETS {
        let directory = corpus.join(target.name);
        let mut inputs = 0;
        for input in fs::read_dir(&directory)
            .unwrap_or_else(|error| panic!("{}: {error}", directory.display()))
        {
            let path = input.unwrap().path();
            // Printed only if the test fails.
            println!("{}", path.display());
            (target.run)(&fs::read(&path).unwrap());
            inputs += 1;
        }
        assert!(inputs > 0, "{} holds no input", directory.display());
    }
}
