#!/usr/bin/env bash
# Runs one target of the fuzzer that run.sh built. Usage: run_target.sh TARGET
# Environment: FUZZ_SECS, and CARGO_TARGET_DIR as an absolute path.
set -euo pipefail
cd "$(dirname "$0")"

# Targets of network input and of stored data. The others read files and settings of the operator.
OUTSIDE=" transaction submission types requests rows "
# Longer inputs reach no new code. The limits of the interface have tests of their own.
INPUT_BYTES_MAX=4096
# Seconds for one input, which normally takes microseconds to milliseconds.
INPUT_SECS_MAX=10
MEMORY_MB_MAX=2048
# Number of lines of the log that a failure prints.
LOG_LINES=60

target=$1
fuzzer="$CARGO_TARGET_DIR/debug/fuzz"
kept="$CARGO_TARGET_DIR/fuzz"
found="$kept/found/$target"
broken="$kept/broken/$target"
log="$kept/$target.log"
secs=$FUZZ_SECS
[[ $OUTSIDE == *" $target "* ]] || secs=$(((FUZZ_SECS + 2) / 3))

# Prints one line: inputs run, edges (cov), features (ft) and inputs of the corpus (corp).
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
