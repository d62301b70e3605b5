#!/usr/bin/env bash
# From one command to an answer: builds Plimsoll, starts its reference server and measures how much it holds.
# The server sleeps 5 ms with 16 workers, so the expected answer is about 3200 requests/s.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

OUT=plimsoll-demo

# Ends the server by the id of the process that this script started.
stop_target() {
    kill "$target_pid" 2>/dev/null || true
}

cargo build --release --locked --package plimsoll

exec 3< <(exec target/release/plimsoll target --port 0)
target_pid=$!
trap stop_target EXIT
read -r -t 10 first_line <&3 || {
    echo "demo: the target did not say its address within 10 s" >&2
    exit 1
}
address=$(grep -oE '[0-9.]+:[0-9]+' <<<"$first_line" | head -n 1) || {
    echo "demo: no address in the target's first line: $first_line" >&2
    exit 1
}

target/release/plimsoll "http://$address/sleep?ms=5&workers=16" --name demo --out "$OUT" --force
printf '\nThe table, the figures and the run file are in %s/\n' "$OUT"
