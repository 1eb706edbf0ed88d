//! The fuzzer: libFuzzer with the target that `FUZZ_TARGET` names. `run.sh` builds it with coverage
//! instrumentation. A build without instrumentation only replays inputs.

#![no_main]

mod targets;

use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;
use targets::{TARGETS, Target};

static TARGET: OnceLock<&'static Target> = OnceLock::new();

fn chosen() -> &'static Target {
    let names = || TARGETS.iter().map(|target| target.name).collect::<Vec<_>>();
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    let target = TARGETS.iter().find(|target| target.name == name);
    target.unwrap_or_else(|| panic!("FUZZ_TARGET is one of {}", names().join(", ")))
}

fuzz_target!(|input: &[u8]| {
    (TARGET.get_or_init(chosen).run)(input);
});
