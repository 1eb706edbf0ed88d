#!/usr/bin/env bash
# Builds the fuzzer and runs each target for a time, two at once. Fails where one found something: the input
# stands in the output, with the command that runs it again.
# Usage: run.sh [TARGET...], all targets by default; run.sh --build only builds the fuzzer.
#   FUZZ_SECS  how long each kind of outside input is fuzzed (60); the other targets a third of it
#   FUZZ_JOBS  how many run at once (2)
# What is found new is kept in the target directory (fuzz/found), for the next run there.
# The committed corpus made anew: FUZZ_TARGET=NAME target/debug/fuzz -set_cover_merge=1 -use_counters=0
# -use_cmp=0 NEW_DIRECTORY target/fuzz/found/NAME tests/fuzz/corpus/NAME.
# After a change of the node's dependencies: cp Cargo.lock tests/fuzz/ && cargo metadata -q
# --format-version 1 --manifest-path tests/fuzz/Cargo.toml >/dev/null
set -euo pipefail
cd "$(dirname "$0")"

export FUZZ_SECS=${FUZZ_SECS:-60}
FUZZ_JOBS=${FUZZ_JOBS:-2}
CARGO_TARGET_DIR=$(realpath -m "${CARGO_TARGET_DIR:-../../target}")
export CARGO_TARGET_DIR

RUSTC_WRAPPER="$PWD/rustc.sh" cargo build --locked
if [[ ${1:-} == --build ]]; then
    exit
fi

targets=("$@")
if ((${#targets[@]} == 0)); then
    mapfile -t targets < <(find corpus -mindepth 1 -maxdepth 1 -type d -printf '%f\n' | sort)
fi
printf '%s\n' "${targets[@]}" | xargs -n 1 -P "$FUZZ_JOBS" ./run_target.sh
