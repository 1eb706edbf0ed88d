#!/usr/bin/env bash
# Runs one target of the fuzzer that run.sh built. Usage: run_target.sh TARGET
# Environment: FUZZ_SECS, and CARGO_TARGET_DIR as an absolute path.
set -euo pipefail
cd "$(dirname "$0")"

# What anyone can send, or what lies on the disk. The others are files and settings of the operator.
OUTSIDE=" transaction submission types requests rows "
# Beyond this inputs say nothing new; the limits of the interface have tests of their own.
INPUT_BYTES_MAX=4096
# For one input, which takes microseconds to milliseconds.
INPUT_SECS_MAX=10
MEMORY_MB_MAX=2048
# What a failure shows of the log.
LOG_LINES=60

target=$1
fuzzer="$CARGO_TARGET_DIR/debug/fuzz"
kept="$CARGO_TARGET_DIR/fuzz"
found="$kept/found/$target"
broken="$kept/broken/$target"
log="$kept/$target.log"
secs=$FUZZ_SECS
[[ $OUTSIDE == *" $target "* ]] || secs=$(((FUZZ_SECS + 2) / 3))

# One line of what the run did: edges (cov), features (ft) and inputs of its corpus (corp).
summary() {
    local runs last
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    last=$(grep -aoE 'cov: [0-9]+ ft: [0-9]+ corp: [0-9]+' "$log" | tail -n 1)
    echo "fuzz: $target: $runs inputs in $secs s; $last"
}

rm -rf "$broken"
mkdir -p "$found" "$broken"
if FUZZ_TARGET=$target "$fuzzer" "$found" "corpus/$target" -dict=dictionary.txt -max_total_time="$secs" \
    -max_len=$INPUT_BYTES_MAX -timeout=$INPUT_SECS_MAX -rss_limit_mb=$MEMORY_MB_MAX \
    -artifact_prefix="$broken/" -print_final_stats=1 >"$log" 2>&1; then
    summary
    exit
fi
{
    tail -n "$LOG_LINES" "$log"
    for input in "$broken"/*; do
        echo "== fuzz: $target breaks on this input (base64):"
        base64 -w 100 "$input"
        echo "Keep it with base64 -d > tests/fuzz/corpus/$target/NAME, and run it again with"
        echo "FUZZ_TARGET=$target $fuzzer tests/fuzz/corpus/$target/NAME, or cargo test --test fuzz"
    done
} >&2
exit 1
