#!/usr/bin/env bash
# Fuzzes every target of fuzz/ for FUZZ_SECONDS each, starting from its corpus.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

SECONDS_EACH=${FUZZ_SECONDS:-60}
# SQLite is linked twice into some targets, which is not an error of the targets.
export ASAN_OPTIONS=detect_odr_violation=0

if [ ! -f fuzz/Cargo.toml ]; then
    echo "fuzz: there is no fuzz/Cargo.toml, so nothing to fuzz" >&2
    exit 1
fi
if ! cargo +nightly fuzz --version >/dev/null 2>&1; then
    echo "fuzz: needs nightly Rust and cargo-fuzz. To get them:" >&2
    echo "    rustup toolchain install nightly --profile minimal" >&2
    echo "    cargo +nightly install cargo-fuzz --locked" >&2
    exit 1
fi
count() {
    sed -n 's/^stat::number_of_executed_units: *//p' "$1"
}

LOG=$(mktemp)
trap 'rm -f "$LOG"' EXIT
total=0
for target in $(cargo +nightly fuzz list); do
    echo "fuzz: $target for $SECONDS_EACH s"
    if ! cargo +nightly fuzz run "$target" -- -max_total_time="$SECONDS_EACH" -timeout=20 -print_final_stats=1 >"$LOG" 2>&1; then
        tail -n 40 "$LOG" >&2
        echo "fuzz: $target failed; the lines above name the input. To play it again:" >&2
        echo "    cargo +nightly fuzz run $target FILE" >&2
        exit 1
    fi
    executions=$(count "$LOG")
    total=$((total + ${executions:-0}))
    printf 'fuzz: %s: %d executions\n' "$target" "${executions:-0}"
done
echo "fuzz: $total executions, no finding"
