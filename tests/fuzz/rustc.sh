#!/usr/bin/env bash
# Stands before rustc when the fuzzer is built (RUSTC_WRAPPER): instruments the node's own crates, so that
# libFuzzer sees which of their code an input reaches. Instrumenting every dependency would cost more time
# for each build and each input than it guides.
# Usage: rustc.sh RUSTC ARGUMENT...
set -euo pipefail

flags=()
if [[ ${CARGO_PKG_NAME:-} == ledger-* ]]; then
    flags=(-Cpasses=sancov-module -Ccodegen-units=1)
    for option in level=4 inline-8bit-counters pc-table trace-compares; do
        flags+=("-Cllvm-args=-sanitizer-coverage-$option")
    done
fi
exec "$@" "${flags[@]}"
