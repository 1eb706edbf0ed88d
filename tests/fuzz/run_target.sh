#!/usr/bin/env bash
# Runs one target of the fuzzer that run.sh built. Usage: run_target.sh TARGET
# Environment: FUZZ_SECS, and CARGO_TARGET_DIR as an absolute path.
set -euo pipefail
cd "$(dirname "$0")"

# Targets of network input and of stored rows. The others decode files and settings of the operator.
UNTRUSTED_TARGETS=" transaction submission types requests rows "
# Maximum size of an input. Longer ones reach no new code; other tests check the limits of the API.
INPUT_BYTES_MAX=4096
# Time limit of one input, in seconds. An input normally takes microseconds to milliseconds.
INPUT_SECS_MAX=10
MEMORY_MB_MAX=2048
# Number of log lines that a failure prints.
LOG_LINES=60

target=$1
fuzzer="$CARGO_TARGET_DIR/debug/fuzz"
output_dir="$CARGO_TARGET_DIR/fuzz"
corpus="$output_dir/corpus/$target"
found="$output_dir/found/$target"
broken="$output_dir/broken/$target"
log="$output_dir/$target.log"
secs=$FUZZ_SECS
[[ $UNTRUSTED_TARGETS == *" $target "* ]] || secs=$(((FUZZ_SECS + 2) / 3))

# Prints one line: inputs run, edges (cov), features (ft) and inputs of the corpus (corp).
summary() {
    local runs last
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    last=$(grep -aoE 'cov: [0-9]+ ft: [0-9]+ corp: [0-9]+' "$log" | tail -n 1)
    echo "fuzz: $target: $runs inputs in $secs s; $last"
}

# Writes each input of the corpus to a file, named by its line.
unpack() {
    local number=0 line
    while read -r line; do
        number=$((number + 1))
        [[ $line == "#"* ]] || base64 -d <<<"$line" >"$corpus/$number"
    done <"corpus/$target.txt"
}

rm -rf "$corpus" "$broken"
mkdir -p "$corpus" "$found" "$broken"
unpack
if FUZZ_TARGET=$target "$fuzzer" "$found" "$corpus" -dict=dictionary.txt \
    -max_total_time="$secs" -max_len=$INPUT_BYTES_MAX -timeout=$INPUT_SECS_MAX \
    -rss_limit_mb=$MEMORY_MB_MAX -artifact_prefix="$broken/" \
    -print_final_stats=1 >"$log" 2>&1; then
    summary
    exit
fi
{
    tail -n "$LOG_LINES" "$log"
    for input in "$broken"/*; do
        echo "== fuzz: $target fails on this input (base64):"
        base64 -w 0 "$input"
        echo
        echo "Run it again with FUZZ_TARGET=$target $fuzzer $input. To keep it, add its line to"
        echo "tests/fuzz/corpus/$target.txt, which cargo test --test fuzz reads."
    done
} >&2
exit 1
