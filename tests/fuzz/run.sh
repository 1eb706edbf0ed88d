#!/usr/bin/env bash
# Builds the fuzzer and runs each target for a time, two at once. Ends with 1 where one found something:
# the input stands in the output, with the command that runs it again.
# Usage: run.sh [TARGET...], all targets by default.
#   FUZZ_SECS  how long each target runs (50)
#   FUZZ_JOBS  how many run at once (2)
# What is found new is kept in the target directory (fuzz/found), for the next run there.
# Replay: FUZZ_TARGET=NAME target/debug/fuzz FILE, after a build.
# The committed corpus made anew: FUZZ_TARGET=NAME target/debug/fuzz -merge=1 NEW_DIRECTORY
# target/fuzz/found/NAME tests/fuzz/corpus/NAME.
set -euo pipefail
cd "$(dirname "$0")"

FUZZ_SECS=${FUZZ_SECS:-50}
FUZZ_JOBS=${FUZZ_JOBS:-2}
# As large as the largest that is of interest; the limits of the interface have tests of their own.
INPUT_BYTES_MAX=4096
# Seconds for one input. The slowest takes milliseconds.
INPUT_SECS_MAX=10
MEMORY_MB_MAX=2048

TARGET_DIR=$(realpath -m "${CARGO_TARGET_DIR:-../../target}")
FUZZER="$TARGET_DIR/debug/fuzz"
KEPT="$TARGET_DIR/fuzz"

build() {
    RUSTC_WRAPPER="$PWD/rustc.sh" cargo build --locked --target-dir "$TARGET_DIR"
}

targets() {
    find corpus -mindepth 1 -maxdepth 1 -type d -printf '%f\n' | sort
}

# Runs one target. Usage: fuzz TARGET
fuzz() {
    local target=$1 found="$KEPT/found/$1" log="$KEPT/$1.log"
    local crashes="$KEPT/crashes/$target"
    rm -rf "$crashes"
    mkdir -p "$found" "$crashes"
    if FUZZ_TARGET=$target "$FUZZER" "$found" "corpus/$target" -dict=dictionary.txt \
        -max_total_time="$FUZZ_SECS" -max_len=$INPUT_BYTES_MAX -timeout=$INPUT_SECS_MAX \
        -rss_limit_mb=$MEMORY_MB_MAX -artifact_prefix="$crashes/" -print_final_stats=1 >"$log" 2>&1; then
        report "$target" "$log"
        return
    fi
    tail -n 60 "$log" >&2
    for input in "$crashes"/*; do
        [[ -f $input ]] || continue
        {
            echo "== fuzz: $target breaks on this input (base64):"
            base64 -w 100 "$input"
            echo "Keep it: base64 -d > tests/fuzz/corpus/$target/NAME; then run it again:"
            echo "FUZZ_TARGET=$target $FUZZER tests/fuzz/corpus/$target/NAME"
        } >&2
    done
    return 1
}

# One line of what a run did. Usage: report TARGET LOG
report() {
    local runs last
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$2")
    last=$(grep -E 'cov: [0-9]+ ft: [0-9]+' "$2" | tail -n 1 | sed -E 's/.*cov: ([0-9]+) ft: ([0-9]+) corp: ([0-9]+).*/edges \1, features \2, corpus \3/')
    echo "fuzz: $1: $runs inputs, $last"
}

# Ends with 1 where any of the targets does. Usage: fuzz_all TARGET...
fuzz_all() {
    local status=0 target
    for target in "$@"; do
        while (($(jobs -rp | wc -l) >= FUZZ_JOBS)); do
            wait -n || status=1
        done
        fuzz "$target" &
    done
    while (($(jobs -p | wc -l) > 0)); do
        wait -n || status=1
    done
    return "$status"
}

build
names=("$@")
if ((${#names[@]} == 0)); then
    mapfile -t names < <(targets)
fi
fuzz_all "${names[@]}"
