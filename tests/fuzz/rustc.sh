#!/usr/bin/env bash
# The RUSTC_WRAPPER of the fuzzer's build. It instruments the node's own crates for coverage. Coverage
# of dependencies would guide the fuzzer little and slow down each build and each input.
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
