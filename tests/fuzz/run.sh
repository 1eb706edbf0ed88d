#!/usr/bin/env bash
# Builds the fuzzer and runs each target for FUZZ_SECS seconds. Exits with 1 if an input breaks a
# target, and prints the input with the command that runs it again.
# Usage: run.sh [TARGET...], all targets by default; run.sh --build only builds the fuzzer.
#   FUZZ_SECS  seconds for each target of network input (60); other targets take a third
#   FUZZ_JOBS  number of targets that run in parallel (2)
# The corpus has a file for each target, corpus/TARGET.txt, with one input per line in base64. Lines
# that begin with # are comments. run_target.sh unpacks it below the target directory (fuzz/corpus),
# and saves new inputs there (fuzz/found), where the next run finds them.
# To minimize the corpus of a target that run.sh has unpacked, keeping the inputs below comments:
#   FUZZ_TARGET=NAME target/debug/fuzz -set_cover_merge=1 -use_counters=0 -use_cmp=0 \
#       NEW_DIRECTORY target/fuzz/found/NAME target/fuzz/corpus/NAME
#   for input in NEW_DIRECTORY/*; do base64 -w 0 "$input"; echo; done | LC_ALL=C sort
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
    mapfile -t targets < <(basename -s .txt corpus/*.txt)
fi
printf '%s\n' "${targets[@]}" | xargs -n 1 -P "$FUZZ_JOBS" ./run_target.sh
