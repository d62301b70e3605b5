#!/usr/bin/env bash
# Builds Plimsoll and runs every benchmark; results are bench/out/*.json and bench/out/summary.md.
# Ends with 3 when a goal was missed and with 1 when something could not be measured; the rest is measured all the same.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

BENCHMARKS=(cpu_per_request stall knee memory)
OUT=bench/out

cargo build --release --locked --package plimsoll
rm -rf "$OUT"
mkdir -p "$OUT"
python3 bench/harness.py >"$OUT/summary.md"

worst=0
for name in "${BENCHMARKS[@]}"; do
    printf 'bench: %s\n' "$name" >&2
    status=0
    python3 "bench/$name.py" --out "$OUT" || status=$?
    if [ -f "$OUT/$name.md" ]; then
        cat "$OUT/$name.md" >>"$OUT/summary.md"
    else
        printf '## %s\n\ncould not be measured\n\n' "$name" >>"$OUT/summary.md"
    fi
    if [ "$status" -eq 1 ] || { [ "$status" -ne 0 ] && [ "$worst" -eq 0 ]; }; then
        worst=$status
    fi
done
printf 'bench: the tables are in %s/summary.md, the raw figures beside it\n' "$OUT" >&2
exit "$worst"
